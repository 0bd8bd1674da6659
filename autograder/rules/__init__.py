"""Finds forbidden short-cuts in the text of a submission, without running it.

    hits = find_short_cuts(intake.sources, ["layers.LayerNorm"], assignment.contract.forbidden)
    hits["layers.LayerNorm"]        # [ShortCut(module="layers", line=12, name="torch.nn.LayerNorm", code="…")]

A short-cut costs the component that contains it, or that uses a helper which contains it, in any of the submission's
modules. Code that no component uses costs nothing: experiments, tests, code under `if __name__ == "__main__"`. Neither
do comments, docstrings, annotations, comparisons (`isinstance(x, nn.LayerNorm)`) and own classes of such a name.

Names are followed through imports, plain assignments, attributes and `getattr` with a constant name. What is better
hidden raises when it runs, in the worker (`autograder/sandbox/worker/shortcuts.py`); names that are computed are listed
for a person to read.

    names.py       what a name stands for
    short_cuts.py  which component uses what, told to students; uses of internals, listed for a person

Why this is not a library: `docs/explanation/decisions.md`.
"""

from .short_cuts import ShortCut, explain_short_cuts, find_internals, find_short_cuts, tell_short_cuts

__all__ = ["ShortCut", "explain_short_cuts", "find_internals", "find_short_cuts", "tell_short_cuts"]
