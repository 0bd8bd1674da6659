"""Every gate opens for the example, and closes for the fault that it is there for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from release.archives.archive import make_zip
from release.build import Project, Release, make_release, write_files
from release.gates import GATES, Gate, Verdict, Workspace, no_solution_survives, run_gates
from release.gates.files import compiles, keeps_private, stands_alone
from release.gates.grading import reference_earns_all, shows_todo, skeleton_earns_none
from release.gates.kit import kit_runs
from release.gates.reproducible import is_reproducible
from release.gates.todos import raise_faults, todos_raise

Doctor = Callable[..., Workspace]


@pytest.fixture
def workspace(project: Project, tmp_path: Path) -> Workspace:
    release = make_release(project)
    folder = tmp_path / "workspace"
    write_files(release.outputs, folder)
    return Workspace(project, release, folder)


@pytest.fixture
def with_files(workspace: Workspace) -> Doctor:
    """The workspace with other skeleton files, and with files added to the students' archive."""

    def doctor(skeleton: Mapping[str, str] | None = None, archive: Mapping[str, bytes] | None = None) -> Workspace:
        release = workspace.release
        changed = {path: text.encode() for path, text in (skeleton or {}).items()}
        stripped = replace(release.skeleton, files={**release.skeleton.files, **changed})
        outputs = {**release.outputs, **{f"student/{path}": content for path, content in changed.items()}}
        inside = {**release.archives["student.zip"], **(archive or {})}
        outputs["dist/student.zip"] = make_zip(inside)
        doctored = Release(
            release.assignment, stripped, {**release.folder, **changed}, {"student.zip": inside}, outputs
        )
        write_files(outputs, workspace.folder)
        return Workspace(workspace.project, doctored, workspace.folder)

    return doctor


def test_all_quick_gates_open(workspace: Workspace) -> None:
    for gate in (compiles, stands_alone, no_solution_survives, keeps_private, is_reproducible):
        assert gate(workspace).faults == []


def test_invalid_python_and_warnings_close(with_files: Doctor) -> None:
    broken = with_files({"mean.py": "def f(:\n"}, {"assignment/autograder/a.py": b'x = "\\d"\n'})
    faults = compiles(broken).faults
    assert any(fault.startswith("student/mean.py:1: does not compile") for fault in faults)
    assert any(fault.startswith("dist/student.zip!assignment/autograder/a.py:1") for fault in faults)


@pytest.mark.parametrize(
    "line",
    ["from reference.table import Table", "# run: python -m reference train", "# see reference/table.py"],
)
def test_a_mention_of_the_reference_closes(with_files: Doctor, line: str) -> None:
    (fault,) = stands_alone(with_files({"extra.py": f"x = 1\n{line}\n"})).faults
    assert fault.startswith("student/extra.py:2: names 'reference'")


def test_the_word_reference_is_allowed(with_files: Doctor) -> None:
    assert stands_alone(with_files({"extra.py": "# BLEU against a reference translation\n"})).faults == []


def test_a_surviving_solution_closes(with_files: Doctor) -> None:
    leak = b"    return dot(values, weights) / total\n"
    (fault,) = no_solution_survives(with_files(archive={"assignment/notes.md": leak})).faults
    assert fault.startswith("dist/student.zip!assignment/notes.md:1: a copy of reference/mean.py:16")


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("assignment/data/private/x", b"x", "stays with the instructor"),
        ("assignment/reference/x.py", b"x = 1", "stays with the instructor"),
        ("assignment/tests/x.py", b"x = 1", "stays with the instructor"),
        ("assignment/notes.txt", b"the cow is eating over there .\n", "holds 1 lines of data/private/"),
        ("assignment/notes.bpe", b"x|||the c@@ ow is eating over there .\n", "holds 1 lines"),
    ],
)
def test_private_data_closes(with_files: Doctor, path: str, content: bytes, says: str) -> None:
    (fault,) = keeps_private(with_files(archive={path: content})).faults
    assert says in fault and fault.startswith(f"dist/student.zip!{path}")


def test_a_copy_of_a_private_file_closes(with_files: Doctor) -> None:
    content = (Path(__file__).with_name("example") / "reference" / "answers.py").read_bytes()
    (fault,) = keeps_private(with_files(archive={"assignment/a.py": content})).faults
    assert "is the same as reference/answers.py" in fault


@pytest.mark.slow
def test_other_bytes_in_the_second_build_close(with_files: Doctor) -> None:
    faults = is_reproducible(with_files({"mean.py": "# made at 12:00\n"})).faults
    assert "student/mean.py: two builds differ" in faults


@pytest.mark.slow
def test_a_second_build_that_fails_closes(workspace: Workspace) -> None:
    (workspace.project.reference / "mean.py").write_text("def f(:\n")
    assert "is not valid Python" in is_reproducible(workspace).faults[0]


def test_raise_statements_are_proven_by_syntax(skeleton) -> None:
    text = skeleton.files["table.py"].decode()
    regions = skeleton.regions["table.py"]
    assert raise_faults("table.py", text, regions) == []
    statement = 'raise NotImplementedError("TODO 1.1")'
    assert text.count(statement) == len(regions) == 2
    assert raise_faults("table.py", text.replace(statement, "return None", 1), regions)
    assert raise_faults("table.py", text.replace("look each token up", "do it"), regions)
    assert raise_faults("table.py", text.replace(statement, f"pass\n        {statement}", 1), regions)
    assert raise_faults("table.py", text.replace("def forward", "def backward"), regions)


@pytest.mark.slow
def test_a_todo_that_raises_something_else_closes(workspace: Workspace, with_files: Doctor) -> None:
    mean = workspace.release.skeleton.files["mean.py"].decode()
    verdict = todos_raise(with_files({"mean.py": mean.replace('Error("TODO E.1', 'Error("TODO E.2')}))
    assert "mean.py: diagonal raises NotImplementedError('TODO E.2')" in verdict.faults
    assert "mean.py: 2 regions, but 1 statements that raise their messages" in verdict.faults
    assert verdict.summary == "4 TODOs in 4 functions, 3 of these called"


def test_a_skeleton_that_does_not_import_closes(with_files: Doctor) -> None:
    verdict = todos_raise(with_files({"mean.py": "import nowhere_to_be_found\n"}))
    assert verdict.summary == "the skeleton does not import"
    assert any("import a_submission: ModuleNotFoundError" in fault for fault in verdict.faults)
    assert any("import student: ModuleNotFoundError" in fault for fault in verdict.faults)


def test_an_archive_that_does_not_work_closes(with_files: Doctor) -> None:
    broken = with_files(archive={"assignment/autograder/assignment/tests/conftest.py": b"import nowhere_to_be_found\n"})
    (fault,) = kit_runs(broken).faults
    assert "expected failing tests that show TODO 1.1, got status 4" in fault


@pytest.fixture
def grader(workspace: Workspace) -> Callable[[str], None]:
    """Replaces the autograder by a script that knows `results`."""

    def replace_grader(script: str) -> None:
        head = "import json, sys\nfrom pathlib import Path\nresults = Path(sys.argv[4])\n"
        (workspace.project.root / "autograder" / "__main__.py").write_text(head + script)

    return replace_grader


def rows(**changes: object) -> str:
    """A script that writes full marks, but for the changed entries of task 1.2."""
    tests = [
        {"number": "1.1", "score": 4, "max_score": 4, "status": "passed", "output": ""},
        {"number": "1.2", "score": 6, "max_score": 6, "status": "passed", "output": "", **changes},
        {"number": "4.1", "score": 0, "max_score": 5, "status": "failed", "output": "no translations.txt"},
        {"number": "E.1", "score": 0, "max_score": 0, "status": "passed", "output": ""},
    ]
    return f"results.write_text(json.dumps({{'tests': json.loads({json.dumps(tests)!r})}}))\n"


def test_full_marks_open_without_translations(workspace: Workspace, grader: Callable[[str], None]) -> None:
    grader(rows())
    assert reference_earns_all(workspace) == Verdict("10 of 10 points", [])


def test_bleu_counts_where_there_are_translations(workspace: Workspace, grader: Callable[[str], None]) -> None:
    grader(rows())
    (workspace.project.reference / "translations.txt").write_text("the cat\n")
    (fault,) = reference_earns_all(workspace).faults
    assert fault == "task 4.1 (bleu_beginner): 0 of 5, failed: no translations.txt"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (
            rows(score=3, status="failed", output="\nthe mean is wrong\n"),
            "1.2 (attention): 3 of 6, failed: the mean",
        ),
        (rows(number="9.9"), "task 1.2 (attention) is not in the results"),
        (rows(score=None), "TypeError"),
        ("sys.exit('cannot start')", "status 1: cannot start"),
        ("pass", "status 0; results: FileNotFoundError"),
        ("results.write_text('{')", "JSONDecodeError"),
        ("results.write_text('{}')", "KeyError: 'tests'"),
    ],
)
def test_lost_points_and_unusable_results_close(
    workspace: Workspace, grader: Callable[[str], None], script: str, says: str
) -> None:
    grader(script)
    faults = reference_earns_all(workspace).faults
    assert any(says in fault for fault in faults), faults


def test_points_for_the_empty_skeleton_close(workspace: Workspace, grader: Callable[[str], None]) -> None:
    grader(rows())
    faults = skeleton_earns_none(workspace).faults
    assert "task 1.1 (embedding): the empty skeleton earns 4 points" in faults
    assert "task 1.2 (attention): no TODO message: no output" in faults


def test_a_grader_without_end_closes(workspace: Workspace, grader: Callable[[str], None], monkeypatch) -> None:
    monkeypatch.setattr("release.gates.grading.GRADE_SECONDS", 0.3)
    grader("import time\ntime.sleep(30)")
    assert "took more than 0.3 s" in reference_earns_all(workspace).faults[0]


def test_a_message_is_found_however_its_lines_are_broken() -> None:
    assert shows_todo("E  NotImplementedError: TODO 1.1: do\n    this", ["TODO 1.1: do this"])
    assert not shows_todo("TODO 1.2: do this", ["TODO 1.1: do this"])


def test_a_failed_gate_does_not_stop_the_others(workspace: Workspace) -> None:
    gates = [Gate("one", lambda _: Verdict("no", ["fault"])), Gate("two", lambda _: Verdict("yes"))]
    results = run_gates(gates, workspace, quiet=True)
    assert [(result.name, result.has_passed) for result in results] == [("one", False), ("two", True)]


def test_the_names_of_gates_differ() -> None:
    assert len({gate.name for gate in GATES}) == len(GATES)
