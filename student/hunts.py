"""Bug hunts (extension E.7): find the line that was changed in your own code.

    python -m student hunt anna               # your hunts: your name, or number, as the course knows you
    python -m pytest -m task_e_7

The first command shows the lines of your components of 1.2, 1.3 and 1.4, once their tests pass. A box is such a
component with one line changed. Call it from Python, beside your code as it is; both take tensors or lists of numbers:

    from autograder.own_work.boxes import box, right
    box("1.4", "anna")([[[1, 3, 1, 3, 1, 3, 1, 3]]])
    right("1.4", "anna")([[[1, 3, 1, 3, 1, 3, 1, 3]]])

If you change the code, you get other hunts: leave this task for the end.
"""

from collections.abc import Sequence
from typing import Any


def findings(hunts: Sequence[Any], student: str = "your name") -> dict[str, dict[str, Any]]:
    """Report the changed line of each hunt, its code in the box, and an input on which box and code differ.

    A line is a number of the listing, and an input is a list of arguments. An example, about code that nobody has:

    return {"1.4": {"line": 3, "now": "mean = x.sum(dim=-1)", "input": [[[[1, 2, 3, 4, 5, 6, 7, 8]]]]}}

    Args:
        hunts: your hunts, for those who let a program search: `hunt.number`, `hunt.box`, `hunt.right`, `hunt.inputs`
            (an example), and `hunt.guess(6, "…")`, your code with other code in line 6.
        student: put your name or number here, as the course knows you.
    """
    # TODO E.7: one entry for each of your hunts; which experiment shows where the mistake is?
    raise NotImplementedError("TODO E.7")
