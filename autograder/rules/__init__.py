"""Finds forbidden short-cuts in the text of a submission, without running it.

    hits = find_short_cuts(intake.sources, ["layers.LayerNorm"], assignment.contract.forbidden)
    hits["layers.LayerNorm"]        # [ShortCut(module="layers", line=12, name="torch.nn.LayerNorm", code="…")]

A short-cut costs the component that contains it, or that uses a helper which contains it, in any of the submission's
modules. Code that no component uses costs nothing: experiments, tests, code under `if __name__ == "__main__"`. Neither
do comments, docstrings, annotations, comparisons (`isinstance(x, nn.LayerNorm)`) and own classes of such a name.

Names are followed as far as imports, assignments and attributes tell. What is better hidden is caught when it runs, in
the worker (`autograder/sandbox/worker/shortcuts.py`), and names that are computed are listed for a person to read.

    forbidden.py   is a name on the list?                       names.py      what a name may stand for
    short_cuts.py  which component uses what, told to students  internals.py  what is allowed, but worth a look

Why this is not a library: `docs/explanation/decisions/static-evaluator.md`.
"""

from .forbidden import ForbiddenNames
from .internals import find_internals
from .names import Evaluator
from .short_cuts import ShortCut, explain_short_cuts, find_short_cuts, tell_short_cuts

__all__ = [
    "Evaluator",
    "ForbiddenNames",
    "ShortCut",
    "explain_short_cuts",
    "find_internals",
    "find_short_cuts",
    "tell_short_cuts",
]
