"""`python -m release build`: the same bytes each time, whole files only, nothing lost; bad input is named.

Every gate closes for the fault that it is there for; `tests/project/test_recipes.py` has the example pass them.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from foundation.places import ROOT
from release import __main__ as cli
from release import gates
from release.build import Project, Release, make_release, write_release
from release.gates import Mark
from release.packing import checksum
from release.skeleton import ASSIGNMENT_FILE

from .conftest import ROOM, contents, edit


@pytest.fixture
def built(project: Project) -> Project:
    write_release(make_release(project), project.root)
    return project


SECOND_BUILD = """import json, os, sys, time
from pathlib import Path
from release.build import Project, make_release
from release.packing import checksum
now, root = time.time, Path(sys.argv[1])
time.time = lambda: now() + 10 * 365 * 86_400
os.umask(0o077)
made = make_release(Project(root)).outputs
print(json.dumps({path: checksum(content) for path, content in made.items()}))
"""


def test_another_build_elsewhere_and_at_another_time_gives_the_same_bytes(project: Project, example_release) -> None:
    """Other folder, hash seed, clock, time zone and umask."""
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SECOND_BUILD, str(project.root)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {path: checksum(text) for path, text in example_release.outputs.items()}


def test_a_failed_gate_leaves_everything_as_it_was(run, built: Project, monkeypatch) -> None:
    edit(built.reference / "affine.py", "Affine maps", "Maps")
    before = contents(built.root)
    monkeypatch.setattr(cli, "GATES", {"closed": lambda *_: ["a.py:1: wrong"]})
    status, out, err = run("build")
    assert status == 1 and "✗   0.0 s  closed" in out and "a.py:1: wrong" in out and "a gate failed" in err
    assert contents(built.root) == before


def test_a_change_of_the_reference_is_mended(built: Project) -> None:
    assert write_release(make_release(built), built.root) == []
    (built.root / "student" / "notes.py").write_text("mine\n")
    edit(built.reference / "affine.py", "Affine maps", "Maps")
    (built.reference / "more.py").write_text("x = 1\n")
    changed = write_release(make_release(built), built.root)
    archives = {f"dist/{name}.zip" for name in ("student", "gradescope", "instructor")}
    assert {"student/affine.py", "student/more.py", *archives, "dist/MANIFEST.json"} == set(changed)
    (built.reference / "more.py").unlink()
    assert "student/more.py" in write_release(make_release(built), built.root)
    assert not (built.root / "student" / "more.py").exists() and (built.root / "student" / "notes.py").is_file()


@pytest.fixture
def problem(project: Project, run) -> Callable[..., str]:
    """The line that stops a build, which writes nothing."""

    def build(*arguments: str) -> str:
        status, out, err = run("build", *arguments)
        assert (status, out) == (2, "") and not (project.root / "dist").exists()
        [line] = err.removesuffix("release: stopped; nothing was written\n").splitlines()
        return line

    return build


DEV, SOURCES = "data/corpus/fren.dev.bpe", "data/corpus/fren.test.src.bpe"
REFERENCES, HANDOUT = "data/private/fren.test.bpe", f"{ROOM}/handout.md"


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        (DEV, b"a|||b\nun chien\ta dog\n", f"{DEV}:2: is no pair; expected `source|||target`"),
        (SOURCES, b"one\n\xe9", f"{SOURCES}:2: is not UTF-8"),
        (REFERENCES, b"the cat .\nthe dog .\n", f"{REFERENCES}: has 2 lines, but {SOURCES} has 1; each line needs"),
        (HANDOUT, b"# One\n{{ due\n", "handout.md:2: unexpected end of template"),
        (HANDOUT, b"{{ titel }}\n", "handout.md: 'titel' is undefined; in double braces, write one of ass"),
    ],
)
def test_a_damaged_file_is_one_line(path: str, content: bytes, says: str, project, problem) -> None:
    (project.root / path).write_bytes(content)
    assert problem().startswith(says)


def test_a_corpus_without_its_references_has_a_remedy(project, problem) -> None:
    (project.root / REFERENCES).unlink()
    assert problem().startswith(f"{REFERENCES}: no such file; copy data/corpus/ and data/private/ together")


def test_a_wrong_folder_or_assignment_is_one_line(project, problem) -> None:
    project.reference.rename(project.root / "solutions")
    assert problem().endswith("reference: no files there; the marked solution belongs there")
    edit(project.root / ROOM / "assignment.toml", 'number = "1.1"', "number = 1")
    assert "assignment.toml: task 1" in problem()


LEAK = "        return x @ self.weight + self.bias\n"
TESTS = "assignment/component_tests"
FAILING = b"import pytest\n\n@pytest.mark.given\ndef test_it():\n    assert 0\n"


def test_a_misconception_that_does_not_fit_closes(project: Project, example_release: Release) -> None:
    """A name in the solution has become another."""
    assignment = replace(example_release.assignment, path=project.root / ASSIGNMENT_FILE)
    release = replace(example_release, skeleton=replace(example_release.skeleton, assignment=assignment))
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
        (f"{TESTS}/test_a.py", FAILING, "should pass, got status 1: test_it: assert 0"),
    ],
)
def test_an_archive_that_does_not_work_closes(project, doctored, name, test, says, monkeypatch) -> None:
    if "status 1" in says:  # what comes first is as it should be
        first, run_python = subprocess.CompletedProcess("", 1, "TODO 1.1: ", ""), gates.run_python
        monkeypatch.setattr(
            gates, "run_python", lambda words, folder: run_python(words, folder) if "-q" in words else first
        )
    (fault,) = gates.archive_works(project, doctored(**{name: test}))
    assert says in fault


def test_a_grader_that_does_not_start_closes(project: Project, example_release, doctored) -> None:
    broken = {"autograder/reports/gradescope.py": b"raise SystemExit('broken')\n"}
    (fault,) = gates.gradescope_grades(project, doctored(archive="gradescope.zip", **broken))
    assert "broken" in fault
    (project.root / "autograder" / "__main__.py").write_text("raise SystemExit('cannot start')\n")
    (fault,) = gates.run_gates({"marks": gates.marks_are_right}, project, example_release)["marks"]
    assert "status 1: cannot start" in fault


def test_a_solution_that_a_student_is_shown_closes(example_release: Release, reference_files) -> None:
    """The one who has not written it."""
    shown = {
        "anna": (example_release.skeleton.files, {"expected: y", f"got: {LEAK}"}),
        "bob": (reference_files, {LEAK}),
    }
    [anna] = gates.shown_to_students(example_release, shown)
    assert anna == "anna: the student is shown reference/affine.py:23 (TODO 1.1)"


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
