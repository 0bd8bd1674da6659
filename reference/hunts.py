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
    ### BEGIN SOLUTION
    no, yes = False, True
    zero, one, two, three = [0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [-0.25, -0.25, -0.25, 0.75]
    found = [
        ("scale", [[[0]]], [[[1.73, 0, 0]]]),
        ("mask", [[[3, 0]], [[1]]], [[[-3.51, -1.65, -3.51, -1.39, -3.51, -1.65, -3.51, -1.39]]]),
        ("scale", [[[[1, -1, 1, -1]]]], [[[1, -1, 1, -1]]]),
        ("count", [[[[1, 3, 0]]], 1], [1.39, 0.5, [zero, three, zero, zero]]),
        ("count", [[[5, 0, 0], [3, 4, 6]], 4], [[5], [3, 4, 6]]),
        ("tensor", [[[two]], [[zero, two]], [[one, zero]]], [[[[0.06, 0, 0, 0]]], [[[[0.06, 0.94]], [[0.5, 0.5]]]]]),
        ("count", [2], [[yes, no], [yes, yes]]),
        ("tensor", [[[[6, -6, 2, -2]]]], [[[1.47, -1.18, 0.29, -0.59]]]),
        ("scale", [[[one]], [[[4, 0, 0, 0], zero]], [[[1], [0]]]], [[[[0.88]]], [[[0.88, 0.12]]]]),
        ("count", [[[[1, 3]], [[1, 3]]], 2], [1.39, 0.5, [zero, three, zero, zero]]),
        ("axis", [[[[1, -1, 1, -1], [3, -3, 3, -3]]]], [[[1, -1, 1, -1], [1, -1, 1, -1]]]),
        ("limits", [[[[7, -7, 0, 0]]]], [[[7, 0, 0, 0]]]),
        (
            "step",
            [[[3]], [[1, 1]]],
            [
                [
                    [-3.51, -1.65, -3.51, -1.39, -3.51, -1.65, -3.51, -1.39],
                    [-3.38, -1.63, -3.64, -1.41, -3.38, -1.63, -3.64, -1.41],
                ]
            ],
        ),
        ("axis", [[[3, 5]], [[1]]], [[[-3.42, -1.08, -3.56, -2.31, -3.42, -1.08, -3.56, -2.31]]]),
        ("count", [[[1, 2]]], [[[0, 1.73, 0], [0, 0, 1.73]]]),
        ("batch", [[[5, 0, 0], [3, 4, 6]], 4], [[5], [3, 4, 6]]),
        ("step", [[[[1, 3]], [[1, 3]]], 1], [1.06, 0.25, [zero, [-0.34, -0.34, -0.34, 1.01], zero, zero]]),
        (
            "count",
            [[[zero]], [[zero, zero]], [[zero, [2, 2, 2, 2]]]],
            [[[[1, 1, 1, 1]]], [[[[0.5, 0.5]], [[0.5, 0.5]]]]],
        ),
        (
            "batch",
            [[[3, 0], [4, 5]], [[1], [1]]],
            [
                [[-3.51, -1.65, -3.51, -1.39, -3.51, -1.65, -3.51, -1.39]],
                [[-3.22, -0.97, -3.51, -2.99, -3.22, -0.97, -3.51, -2.99]],
            ],
        ),
        ("order", [[[[4, 2, 0, -2]]]], [[[1.47, 0.29, -0.59, -1.18]]]),
        (
            "axis",
            [[[two, two]], [[two, two]], [[two, two]]],
            [[[two, two]], [[[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]]],
        ),
        ("order", [[[[1, 3]]], 1, 0.1], [1.39, 0.5, [zero, [-0.03, -0.03, -0.03, 0.09], zero, zero]]),
        ("scale", [[[4, 3]], [[4]]], [[[-1.22, -3.05, -3.85, -2, -1.22, -3.05, -3.85, -2]]]),
        ("limits", [[[[100]]], [[[1], [0]]], [[[1], [0]]]], [[[[1]]], [[[1, 0]]]]),
        ("tensor", [[[[4, 0, 0, 0]]], [[[0, 0, 4, 0]]]], [[[0.25, -0.89, 1.53, -0.89]]]),
        ("result", [[[[0]]], [[[0], [0]]], [[[1], [3]]], [[[yes, no]]]], [[[[1]]], [[[1, 0]]]]),
        (
            "count",
            [[[[1, 3, 0]], [[1, 2, 2]]], 2],
            [1.39, 0.5, [zero, [-0.17, -0.17, 0.17, 0.17], [-0.08, -0.08, 0.25, -0.08], zero]],
        ),
        (
            "order",
            [[[[4, 0, 0, 0], [0, 4, 0, 0]]], [[[0, 0, 4, 0]]]],
            [[[0.25, -0.89, 1.53, -0.89], [-0.89, 0.25, 1.53, -0.89]]],
        ),
        ("axis", [[[[1, 1, 1, 1], zero]]], [[[1, 1, 1, 1], zero]]),
        (
            "mask",
            [[[[4, 0, 0, 0], [0, 0, 4, 0]]], [[[yes, no], [yes, no]]]],
            [[[1.73, -0.58, -0.58, -0.58], [1.63, -0.82, 0.02, -0.82]]],
        ),
        ("axis", [[[[1, 0]]], [[[0, 0], [2, 0], [0, 0]]], [[[1], [2], [3]]]], [[[[2]]], [[[0.16, 0.67, 0.16]]]]),
        ("mask", [[[3, 5, 0, 0, 0]], [[1]]], [[[-3.42, -1.08, -3.56, -2.31, -3.42, -1.08, -3.56, -2.31]]]),
        ("count", [[[3, 4]], 2], [[3, 4]]),
        ("scale", [[[two]], [[two, zero]], [[one, zero]]], [[[[0.94, 0, 0, 0]]], [[[[0.94, 0.06]], [[0.5, 0.5]]]]]),
        ("limits", [[[[4, 0, 0, 0]]]], [[[1.73, -0.58, -0.58, -0.58]]]),
        ("tensor", [[[[4, 0, 0, 0]]], [[[0, 0, 4, 0]]]], [[[-0.41, -0.66, 1.72, -0.66]]]),
        ("tensor", [[[3, 4]], 2], [[3, 4]]),
    ]
    entries = {n: {"input": given, "right": due, "kind": kind} for n, (kind, given, due) in enumerate(found, start=1)}
    return {"name": "the reference", **entries}
    ### END SOLUTION
