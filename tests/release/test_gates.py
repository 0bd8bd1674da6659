"""Every gate opens for the example, and closes for the fault that it is there for."""

import re
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.places import ASSIGNMENT_FILE, REFERENCE, ROOT
from release.archives.packing import make_zip
from release.build import Project, Release
from release.gates import GATES
from release.gates.class_grading import (
    NAMES,
    Mark,
    grafts_earn_their_points,
    grafts_of,
    marks_are_right,
    reference_earns_all,
    skeleton_earns_none,
)
from release.gates.files import compiles, keeps_private, names_known_tasks, no_solution_survives, stands_alone
from release.gates.misconceptions import misconceptions_fit
from release.gates.running import Gate, Verdict, Workspace, gate, run_gates
from release.gates.second_build import builds_agree
from release.gates.student_archive import archive_works
from release.gates.todos import raise_faults, shows_todo, todos_raise
from release.placing import write_files

Doctor = Callable[..., Workspace]


@pytest.fixture
def workspace(project: Project, example_release: Release, tmp_path: Path) -> Workspace:
    folder = tmp_path / "workspace"
    write_files(example_release.outputs, folder)
    return Workspace(project, example_release, folder)


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
    for check in (compiles, stands_alone, no_solution_survives, keeps_private, names_known_tasks, builds_agree):
        assert list(check(workspace).faults) == []


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


def test_a_task_that_is_gone_closes(with_files: Doctor) -> None:
    text = "# first task 1.1, then\n# (Extension E.7) and section 3.4\n"
    (fault,) = names_known_tasks(with_files({"mean.py": text})).faults
    assert fault.startswith(
        "student/mean.py:2: names 'Extension E.7', but there is no such task: # (Extension E.7) and"
    )


def test_a_misconception_that_does_not_fit_closes(workspace: Workspace, tmp_path: Path) -> None:
    """The kit's own, since the example has none; the solutions are a copy, in which a name is another."""
    assert misconceptions_fit(workspace) == Verdict("none")
    assignment, reference = replace(workspace.release.assignment, path=ASSIGNMENT_FILE), tmp_path / "solutions"
    shutil.copytree(REFERENCE, reference, ignore=shutil.ignore_patterns("__pycache__"))
    kit = Workspace(Project(ROOT, reference, tmp_path), replace(workspace.release, assignment=assignment), tmp_path)
    assert misconceptions_fit(kit).faults == ()
    layers = reference / "layers.py"
    layers.write_text(layers.read_text().replace("variance", "var"))
    faults = misconceptions_fit(kit).faults
    assert len(faults) > 5
    for fault in faults:
        assert re.match(
            r"autograder/assignment/misconceptions/layer_norm.toml: fault [\w-]+: `find` occurs 0 times", fault
        )


@pytest.mark.parametrize("file", ["reference/table.py", "given/extras/answers.py"])
def test_a_copy_of_a_private_file_closes(with_files: Doctor, file: str) -> None:
    content = (Path(__file__).with_name("tiny_project") / file).read_bytes()
    (fault,) = keeps_private(with_files(archive={"assignment/a.py": content})).faults
    assert f"is the same as {file}" in fault


@pytest.mark.slow
def test_other_bytes_in_the_second_build_close(with_files: Doctor) -> None:
    faults = builds_agree(with_files({"mean.py": "# made at 12:00\n"})).faults
    assert "student/mean.py: two builds differ" in faults


@pytest.mark.slow
def test_a_second_build_that_fails_closes(workspace: Workspace) -> None:
    (workspace.project.reference / "mean.py").write_text("def f(:\n")
    assert "is not valid Python" in builds_agree(workspace).faults[0]


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
    assert verdict.summary == "4 TODOs in 4 functions, 4 of these called"


def test_a_skeleton_that_does_not_import_closes(with_files: Doctor) -> None:
    verdict = todos_raise(with_files({"mean.py": "import nowhere_to_be_found\n"}))
    assert verdict.summary == "the skeleton does not import"
    assert any("import a_submission: ModuleNotFoundError" in fault for fault in verdict.faults)
    assert any("import student: ModuleNotFoundError" in fault for fault in verdict.faults)


def test_an_archive_that_does_not_work_closes(with_files: Doctor) -> None:
    broken = with_files(archive={"assignment/autograder/assignment/tests/conftest.py": b"import nowhere_to_be_found\n"})
    (fault,) = archive_works(broken).faults
    assert "expected failing tests that show TODO 1.1, got status 4" in fault


@pytest.mark.slow
def test_an_archive_whose_tests_refuse_the_solutions_closes(with_files: Doctor) -> None:
    test = b"import pytest\n@pytest.mark.task_1_2\ndef test_it():\n    assert False\n"
    (fault,) = archive_works(with_files(archive={"assignment/autograder/assignment/tests/test_a.py": test})).faults
    assert "with all solutions: expected every test to pass, got status 1" in fault


PASSED = {"1.1": Mark(4, "passed", ""), "1.2": Mark(6, "passed", ""), "E.1": Mark(0, "passed", "")}
EMPTY = {
    "1.1": Mark(0, "not attempted", "TODO 1.1: make the rows, all of them zero."),
    "1.2": Mark(0, "not attempted", "TODO 1.2: divide the weighted sum by the sum of the weights."),
    "E.1": Mark(0, "not attempted", ""),
    "4.1": Mark(0, "not attempted", "no translations.txt"),
}


def test_full_marks_open_without_translations(example_release: Release) -> None:
    assert reference_earns_all(example_release, PASSED, has_translations=False) == Verdict("10 of 10 points", [])


def test_bleu_counts_where_there_are_translations(example_release: Release) -> None:
    marks = {**PASSED, "4.1": Mark(0, "failed", "BLEU = 0.00")}
    (fault,) = reference_earns_all(example_release, marks, has_translations=True).faults
    assert fault == "task 4.1 (bleu_beginner): 0 of 5, failed: BLEU = 0.00"


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (PASSED | {"1.2": Mark(3, "failed", "\nno\nmean\n")}, "1.2 (attention): 3 of 6, failed: no | mean"),
        (PASSED | {"1.2": Mark(6, "grader error", "")}, "task 1.2 (attention): 6 of 6, grader error"),
        ({"1.1": PASSED["1.1"], "E.1": PASSED["E.1"]}, "task 1.2 (attention) is not in the results"),
    ],
)
def test_lost_points_close(example_release: Release, marks: dict[str, Mark], says: str) -> None:
    (fault,) = reference_earns_all(example_release, marks, has_translations=False).faults
    assert says in fault


def test_points_for_the_empty_skeleton_close(example_release: Release) -> None:
    assert skeleton_earns_none(example_release, EMPTY) == Verdict("0 points, 2 of 2 TODO messages", [])
    verdict = skeleton_earns_none(example_release, EMPTY | {"1.1": PASSED["1.1"], "1.2": Mark(0, "error", "a\n\nb")})
    assert list(verdict.faults) == [
        "task 1.1 (embedding): the empty skeleton earns 4 points",
        "task 1.1 (embedding): no TODO message: no message",
        "task 1.2 (attention): no TODO message: a | b",
    ]


def test_a_solution_that_earns_another_tasks_points_closes(example_release: Release) -> None:
    grafts = grafts_of(example_release.assignment)
    assert [graft.title for graft in grafts] == [
        "task 1.1 alone",
        "task 1.2 alone",
        "extension E.1 and all regular tasks",
        "all tasks",
    ]
    marks = {
        graft.entry: {number: (PASSED if number in graft.numbers else EMPTY)[number] for number in EMPTY}
        for graft in grafts
    }
    assert grafts_earn_their_points(example_release, marks) == Verdict("4 versions of the skeleton", [])
    marks["task-1.1-alone"] = marks["all-tasks"]
    marks["all-tasks"] = EMPTY
    assert list(grafts_earn_their_points(example_release, marks).faults) == [
        "task 1.1 alone: task 1.2 (attention) is not in it, and earns 6 points",
        "all tasks: task 1.1 (embedding) earns 0 of 4, not attempted",
        "all tasks: task 1.2 (attention) earns 0 of 6, not attempted",
        "all tasks: task E.1 (diagonal_mask) earns 0 of 0, not attempted",
    ]


def test_the_class_is_graded(workspace: Workspace) -> None:
    assert [verdict.faults for verdict in marks_are_right(workspace)] == [[], [], [], ()]


@pytest.fixture
def grader(workspace: Workspace) -> Callable[[str], None]:
    """Replaces the autograder by a script that knows the folder of the `records`."""

    def replace_grader(script: str) -> None:
        head = "import json, sys\nfrom pathlib import Path\nrecords = Path(sys.argv[4]) / 'records'\n"
        (workspace.project.root / "autograder" / "__main__.py").write_text(head + script)

    return replace_grader


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("sys.exit('cannot start')", "status 1: cannot start"),
        ("pass", "(FileNotFoundError"),
        ("records.mkdir(parents=True); (records / 'reference.json').write_text('{')", "(JSONDecodeError"),
        ("records.mkdir(parents=True); (records / 'reference.json').write_text('{}')", "(KeyError: 'judgement')"),
    ],
)
def test_unusable_records_close(workspace: Workspace, grader: Callable[[str], None], script: str, says: str) -> None:
    grader(script)
    verdicts = marks_are_right(workspace)
    assert len(verdicts) == len(NAMES) and all(says in verdict.faults[0] for verdict in verdicts)


def test_a_grader_without_end_closes(workspace: Workspace, grader: Callable[[str], None], monkeypatch) -> None:
    monkeypatch.setattr("release.gates.class_grading.SECONDS", 0.3)
    grader("import time\ntime.sleep(30)")
    assert "took more than 0.3 s" in marks_are_right(workspace)[0].faults[0]


def test_a_message_is_found_however_its_lines_are_broken(skeleton, assignment) -> None:
    first, second, *_ = assignment.tasks
    shown = "E  NotImplementedError: TODO 1.1: make the\n    rows,\nall of them zero."
    assert shows_todo(shown, skeleton, first) and not shows_todo(shown, skeleton, second)
    assert not shows_todo("TODO 1.1", skeleton, first)


def test_a_failed_gate_does_not_stop_the_others(workspace: Workspace) -> None:
    shared = Gate(("two", "three"), lambda _: [Verdict("yes"), Verdict("no", ["fault"])], starts_process=True)
    gates = [gate("one", lambda _: Verdict("no", ["fault"])), shared, gate("four", lambda _: Verdict("yes"))]
    results = run_gates(gates, workspace, quiet=True)
    passed = [(result.name, result.has_passed) for result in results]
    assert passed == [("one", False), ("two", True), ("three", False), ("four", True)]
    assert results[2].seconds == 0


def test_gates_that_start_processes_run_at_once(workspace: Workspace) -> None:
    both = threading.Barrier(2, timeout=10)

    def meet(_: Workspace) -> Verdict:
        both.wait()
        return Verdict("met")

    gates = [gate("one", meet, starts_process=True), gate("two", meet, starts_process=True)]
    assert all(result.has_passed for result in run_gates(gates, workspace, quiet=True))


def test_gates_of_this_process_run_while_others_wait(workspace: Workspace) -> None:
    both = threading.Barrier(2, timeout=10)

    def meet(_: Workspace) -> Verdict:
        both.wait()
        return Verdict("met")

    gates = [gate("here", meet), gate("elsewhere", meet, starts_process=True)]
    results = run_gates(gates, workspace, quiet=True)
    assert [(result.name, result.has_passed) for result in results] == [("here", True), ("elsewhere", True)]


def test_the_names_of_gates_differ() -> None:
    names = [name for each in GATES for name in each.names]
    assert len(set(names)) == len(names) == 15
