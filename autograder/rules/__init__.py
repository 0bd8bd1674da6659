"""Short-cuts that the assignment forbids, found in the text of a submission without running it.

    hits = find_short_cuts(intake.sources, ["layers.LayerNorm", "attention.MultiHeadedAttention"])
    hits["layers.LayerNorm"]        # [ShortCut(module="layers", line=12, name="torch.nn.LayerNorm", code="…")]

A short-cut costs the component in which it stands, or which uses the helper in which it stands, in any of the
submission's modules. Code that no component uses costs nothing: trials, tests, what stands under
`if __name__ == "__main__"`; nor do comments, docstrings, annotations, comparisons (`isinstance(x, nn.LayerNorm)`)
and own classes that bear such a name.

Names are followed through what can be known from the text: aliases, imports of all kinds, `getattr`, `vars`,
`__import__`, texts that are put together from constants, `exec` of such texts. What is hidden better is caught when it
runs, in the worker (`autograder/sandbox/worker/shortcuts.py`).

`forbidden` has the list, `modules` and `scopes` know what names mean where, `evaluation` and `folding` what
expressions come to (in terms of `values`), `uses` which component uses what, `syntax` has what it asks of single
nodes, `messages` says it to students.
"""

from .messages import explain_short_cuts, tell_short_cuts
from .uses import ShortCut, find_short_cuts

__all__ = ["ShortCut", "explain_short_cuts", "find_short_cuts", "tell_short_cuts"]
