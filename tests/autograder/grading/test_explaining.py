"""A failure is named by what its tests see."""

import pytest

from autograder.course.catalogue import Fault
from autograder.grading.explaining import name


def fault(id_: str) -> Fault:
    return Fault(id_, "attention.scaled", "1.2", f"does {id_}", f"look at {id_}", "subtle", (), "a.toml")


def pattern(*tests: int, numbers: str = "0000") -> frozenset[str]:
    return frozenset(f"test {test}{numbers}" for test in tests)


KNOWN = [(fault("a"), pattern(1, 2, 3, 4)), *((fault(id_), pattern(5)) for id_ in "bc")]
KNOWN += [(fault(id_), pattern(6)) for id_ in "defghi"]
EXACTLY, NEARLY = (
    "Your code behaves exactly like code that does",
    "In nearly all tests your code behaves like code that does",
)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (pattern(1, 2, 3, 4), f"{EXACTLY} a.\nHint: look at a"),
        (pattern(1, 2, 3, 4, 9), f"{NEARLY} a.\nHint: look at a"),
        (pattern(1, 2, 3), None),
        (pattern(5), f"{EXACTLY} b.\nThe tests cannot tell this from code that does c.\nHint: look at b"),
        (
            pattern(6),
            f"{EXACTLY} d.\nThe tests cannot tell this from code that does e; code that does f; code that does g; "
            "2 more.\nHint: look at d",
        ),
        (pattern(1, 2, 3, 4, numbers="1111"), None),
        (pattern(), None),
    ],
)
def test_a_failure_is_named_by_the_known_faults_that_look_like_it(seen, expected):
    diagnosis, _ = name(KNOWN, seen)
    assert (diagnosis and diagnosis.text) == expected
