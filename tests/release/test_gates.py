"""Every gate closes for the fault that it is there for; `tests/project/test_recipes.py` has the example pass them."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from release import gates
from release.build import Project, Release
from release.gates import Mark
from release.skeleton import ASSIGNMENT_FILE

Doctor = Callable[..., Release]

LEAK = "        return x @ self.weight + self.bias\n"
TESTS = "assignment/component_tests"


def test_a_misconception_that_does_not_fit_closes(project: Project, example_release: Release, edit) -> None:
    """A name in the solution has become another."""
    assignment = replace(example_release.assignment, path=project.root / ASSIGNMENT_FILE)
    release = replace(example_release, assignment=assignment)
    assert gates.misconceptions_fit(project, release) == []
    affine = project.reference / "affine.py"
    affine.write_text(affine.read_text().replace("self.bias", "self.shift"))
    faults = gates.misconceptions_fit(project, release)
    assert faults and all(re.match(r"affine.toml: fault [\w-]+: `find` occurs 0 times", fault) for fault in faults)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "test", "says"),
    [
        (f"{TESTS}/conftest.py", b"import nowhere\n", "expected failing tests that show TODO 1.1, got status 4"),
        (f"{TESTS}/test_a.py", b"def test_it():\n    assert 0\n", "with all solutions every test should pass"),
    ],
)
def test_an_archive_that_does_not_work_closes(project, doctored: Doctor, name: str, test: bytes, says: str) -> None:
    (fault,) = gates.archive_works(project, doctored(**{name: test}))
    assert says in fault


def test_a_grader_that_does_not_start_closes(project: Project, example_release, doctored: Doctor) -> None:
    broken = {"autograder/reports/gradescope.py": b"raise SystemExit('broken')\n"}
    (fault,) = gates.gradescope_grades(project, doctored(archive="gradescope.zip", **broken))
    assert "broken" in fault
    program = project.root / "autograder" / "__main__.py"
    program.unlink()  # a link to that of other tests
    program.write_text("raise SystemExit('cannot start')\n")
    (fault,) = gates.run_gates({"marks": gates.marks_are_right}, project, example_release)["marks"]
    assert "status 1: cannot start" in fault


def test_a_solution_that_a_student_is_shown_closes(example_release: Release, reference_files) -> None:
    """The one who has not written it; what nobody can read is shown to nobody."""
    own, secret = hashlib.sha256(reference_files["loss.py"]), hashlib.sha512(LEAK.encode())
    bob = (reference_files, {LEAK})
    shown = {
        "anna": (example_release.skeleton.files, {"expected: y", f"got: {LEAK}"}),
        "bob": bob,
        "cem": (reference_files, {own.hexdigest(), secret.hexdigest()}),
    }
    anna, cem = gates.shown_to_students(example_release, shown)
    assert anna == "anna: the student is shown reference/affine.py:23 (TODO 1.1)"
    assert cem.startswith("cem: the student is shown 128 digits of an encoding (")
    assert not list(gates.shown_to_students(example_release, {"bob": bob}))


PASSED = {"1.1": Mark(4, "passed", ""), "1.2": Mark(2, "passed", ""), "2.1": Mark(4, "passed", "")}
EMPTY = {number: Mark(0, "not attempted", "") for number in (*PASSED, "4.1")}


@pytest.mark.parametrize(
    ("solved", "changes", "faults"),
    [
        ({"1.1", "1.2", "2.1"}, PASSED, []),
        ({"1.1"}, {"1.1": PASSED["1.1"]}, []),
        ({"4.1"}, {"4.1": Mark(0, "failed", "BLEU = 0.00")}, ["task 4.1 (bleu_beginner): 0 of 5, failed: BLEU = 0.00"]),
        ({"1.2"}, {"1.2": Mark(1, "failed", "\nno\nmean\n")}, ["task 1.2 (loss): 1 of 2, failed: no | mean"]),
        ({"1.1"}, PASSED, ["task 1.2 (loss) is not solved, and earns 2 points"]),
        ((), {"1.1": PASSED["1.1"]}, ["task 1.1 (affine) is not solved, and earns 4 points"]),
    ],
)
def test_wrong_marks_close(example_release: Release, solved, changes: Mapping[str, Mark], faults: list[str]) -> None:
    assert list(gates.wrong_marks(example_release, solved, EMPTY | changes)) == faults
