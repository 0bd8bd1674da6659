"""Finds forbidden short-cuts in the text of a submission, without running it.

    hits = find_short_cuts(intake.sources, ["layers.LayerNorm"], assignment.contract.forbidden)
    hits["layers.LayerNorm"]        # [ShortCut(module="layers", line=12, name="torch.nn.LayerNorm", code="…")]

A short-cut costs the component that contains it, or that uses a helper which contains it, in any of the submission's
modules. Code that no component uses costs nothing: experiments, tests, code under `if __name__ == "__main__"`. Neither
do comments, docstrings, annotations, comparisons (`isinstance(x, nn.LayerNorm)`) and own classes of such a name.

Names are followed as far as the text tells: aliases, imports of all kinds, `getattr`, `vars`, `__import__`, strings
built from constants, `exec` of such strings. Better hidden short-cuts are caught when they run, in the worker
(`autograder/sandbox/worker/shortcuts.py`).

    forbidden.py     is a name on the list?                folding.py   strings built from constants
    module_names.py  names at the top level of a module   values.py    possible values of expressions
    scopes.py        names in functions and classes       uses.py      which component uses what
    evaluation.py    possible values of an expression     syntax.py    questions about single nodes
    messages.py      the text that students read    internals.py  what is allowed, but worth a look

Why this is not a library: `docs/explanation/decisions/static-evaluator.md`.
"""

from .evaluation import Evaluator
from .forbidden import ForbiddenNames
from .internals import find_internals
from .messages import explain_short_cuts, tell_short_cuts
from .uses import ShortCut, find_short_cuts
from .values import Binding

__all__ = [
    "Binding",
    "Evaluator",
    "ForbiddenNames",
    "ShortCut",
    "explain_short_cuts",
    "find_internals",
    "find_short_cuts",
    "tell_short_cuts",
]
