"""A failure is named by what its tests see."""

import pytest

from autograder.course.catalogue import Fault
from autograder.grading.explaining import name


def fault(id_: str) -> Fault:
    return Fault(id_, "attention.scaled", "1.2", f"does {id_}", f"look at {id_}", "subtle", (), "a.toml")


def pattern(*tests: int, numbers: str = "0000") -> frozenset[str]:
    return frozenset(f"test {test}{numbers}" for test in tests)


KNOWN = [
    (fault("a"), pattern(1, 2, 3, 4)),
    (fault("b"), pattern(5)),
    (fault("c"), pattern(5)),
]


@pytest.mark.parametrize(
    "seen, expected",
    [
        (pattern(1, 2, 3, 4), "Your code behaves exactly like code that does a.\nHint: look at a"),
        (
            pattern(1, 2, 3, 4, 9),
            "In nearly all tests your code behaves like code that does a.\nHint: look at a",
        ),
        (pattern(1, 2, 3), None),
        (
            pattern(5),
            "Your code behaves exactly like code that does b.\n"
            "The tests cannot tell this from code that does c.\nHint: look at b",
        ),
        (pattern(1, 2, 3, 4, numbers="1111"), None),
        (pattern(), None),
    ],
)
def test_names(seen, expected):
    found, _ = name(KNOWN, seen)
    assert (found and found.text) == expected
