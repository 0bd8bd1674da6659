"""Extension E.4: your own tests, on two right and three faulty implementations; grading has many more."""

import re
from functools import partial

import pytest

from assignment.stand_ins.own_tests import HANDED_OUT
from autograder.own_work.student_lines import definition_of, expect_no_own_imports, named_tests
from autograder.testing.case import SubmissionUnderTest
from autograder.testing.comparison import expect
from foundation.assignment_file import read_assignment

pytestmark = pytest.mark.task_e_4


def failures_of(submission: SubmissionUnderTest, tests: str, kind: str) -> dict[str, dict[str, str]]:
    """For each right, or faulty, implementation the tests that fail, with the reason."""
    definition_of(f"own_tests.{tests}", submission.sources)  # raises where there is none
    text = submission.sources["own_tests"][1]
    expect_no_own_imports("own_tests", text, read_assignment().package)
    named = named_tests(text, tests)
    if all(named.values()):
        raise NotImplementedError(next(iter(named.values()), f"{tests} has no tests"))
    written = [test for test, todo in named.items() if not todo]
    return {
        name: {test: failure for test in written if (failure := try_once(submission, tests, test, name))}
        for name in HANDED_OUT[tests]
        if name.startswith(kind)
    }


def try_once(submission: SubmissionUnderTest, tests: str, test: str, implementation: str) -> str:
    make = partial(HANDED_OUT[tests].get, implementation)
    reason = str(submission.apply("try_test", f"own_tests.{tests}", test, make, [1])[-1])
    return re.sub(r"^line (\d+)", lambda line: submission.locate("own_tests", int(line[1])) or line[0], reason)


each_class = pytest.mark.parametrize("tests", HANDED_OUT)


@each_class
def test_right_code_passes(submission: SubmissionUnderTest, tests: str) -> None:
    failures = failures_of(submission, tests, "right")
    got = [f"{test} fails on {name} ({why})" for name, failed in failures.items() for test, why in failed.items()]
    look_at = f"does the docstring of what {tests} tests say so? A test that rejects right code counts for nothing"
    expect(not got, f"{tests} on right code", "all of your tests pass", "; ".join(got), look_at)


@each_class
def test_faulty_code_is_found(submission: SubmissionUnderTest, tests: str) -> None:
    wrong = {test for failed in failures_of(submission, tests, "right").values() for test in failed}
    failures = failures_of(submission, tests, "fault")
    missed = [name.partition(": ")[2] for name, failed in failures.items() if failed.keys() <= wrong]
    got = f"all pass on code that {', and on code that '.join(missed)}"
    look_at = f"for which call in a test of {tests} would such code return something else than right code?"
    expect(not missed, f"{tests} on faulty code", "a test that fails on each", got, look_at)
