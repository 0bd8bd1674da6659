"""Extension E.4: your own tests, on two right and three faulty implementations; grading has many more."""

import pytest

from autograder.assignment.stand_ins.own_tests import HANDED_OUT
from autograder.testing.comparison import expect
from autograder.testing.own_tests import looks_inside, named_tests
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_e_4

RIGHT, FAULTY = (
    [(tests, name) for tests, known in HANDED_OUT.items() for name in known if name.startswith(kind)]
    for kind in ("right", "fault")
)


def failures_of(submission: SubmissionUnderTest, tests: str, implementation: str) -> dict[str, str]:
    """The tests of a class that an implementation fails, with the reason."""
    found, failed = named_tests(submission.sources["own_tests"][1], tests), {}
    if all(found.values()):
        raise NotImplementedError(next(iter(found.values()), f"{tests} has no tests"))
    for test in (test for test, todo in found.items() if not todo):
        said = submission.apply("try_test", f"own_tests.{tests}", test, implementation, [1])
        if said[-1]:
            failed[test] = said[-1]
    return failed


def test_no_test_looks_inside(submission: SubmissionUnderTest) -> None:
    seen = looks_inside(submission.sources["own_tests"][1])
    got = f"line {seen[0]} of own_tests.py: {seen[1]}" if seen else ""
    expect(not seen, "your tests", "tests that use what they get, PyTorch and pytest", got, "compare results only")


@pytest.mark.parametrize("tests, name", RIGHT)
def test_right_code_passes(submission: SubmissionUnderTest, tests: str, name: str) -> None:
    failed = failures_of(submission, tests, name)
    got = "; ".join(f"{test}: {why}" for test, why in failed.items())
    look_at = "does the docstring say so? A test that rejects right code counts for nothing"
    expect(not failed, f"{tests} on right code", "all of your tests pass", got, look_at)


@pytest.mark.parametrize("tests, name", FAULTY)
def test_a_fault_is_found(submission: SubmissionUnderTest, tests: str, name: str) -> None:
    found = failures_of(submission, tests, name)
    fault = name.partition(": ")[2]
    expect(bool(found), f"{tests} on code that {fault}", "one of your tests fails", "all pass", "what does it change?")
