"""Bug hunts (extension E.7): find out what is wrong with a component that shows no code.

    python -m student hunt anna               # your hunts: your name, or number, as the course knows you
    python -m pytest -m task_e_7

The first command shows your three hunts with what a user of the model sees, the kinds of mistake, and the entries for
the dictionary below. Call the box from Python, beside a right one:

    from autograder.testing.hunts import box, right
    box(9)([[[1, 0]]], [[[1, 0]]], [[[2]]])
    right(9)([[[1, 0]]], [[[1, 0]]], [[[2]]])

A box opens once your own component is right. At home, any kind of mistake passes; grading knows which is right.
"""

from typing import Any


def findings() -> dict[Any, Any]:
    """Your name, and for each hunt an input on which right and wrong differ, the right output, and the kind of mistake.

    The input is a list of the arguments. An example, about box(99)([[[1, -1]]]), which nobody has; two decimals
    are enough:

    return {"name": "anna", 99: {"input": [[[[1, -1]]]], "right": [[[1, 0]]], "kind": "step"}}
    """
    # TODO E.7: one entry for each of your hunts; which experiment tells what the mistake is?
    raise NotImplementedError("TODO E.7")
