"""The gates that run the tests: on the reference, the skeleton, single solutions, notebooks, and unpacked archives.

All but the archives are graded as one class by `python -m autograder grade-class`, so that PyTorch is imported and the
tests are collected once.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, Task
from foundation.texts import counted

from .build import Release
from .contents import ARCHIVE_FOLDER, ENTRY
from .gates import (
    Gate,
    ProcessError,
    Verdict,
    Workspace,
    gate,
    holds_tests_back,
    keeps_private,
    names_known_tasks,
    no_solution_survives,
    stands_alone,
    write_all,
)
from .packing import GRADESCOPE_ZIP, STUDENT_ZIP, members_of
from .skeleton import TRANSLATIONS, Skeleton, coded_tasks, read_folder, strip_files

SECONDS = 900
REFERENCE, SKELETON, SOLVED, OPEN = "reference", "skeleton", "notebooks-solved", "notebooks-open"
MARKS = (
    "the reference earns all",
    "the skeleton earns none",
    "grafts earn their points",
    "the notebooks earn their share",
)
MISCONCEPTIONS = "misconceptions"
GRADESCOPE = ENTRY.removesuffix(".py").replace("/", ".")

_NO_CACHE = ("-p", "no:cacheprovider")
_KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
_FIXED = {"LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


@dataclass(frozen=True)
class Mark:
    """One task of one submission: points, state, and what the student is told."""

    score: float
    state: str
    message: str


Marks = Mapping[str, Mark]
"""By number of the task."""


def marks_are_right(workspace: Workspace) -> list[Verdict]:
    """Grades the class and judges its marks: one verdict for each of MARKS."""
    release = workspace.release
    submissions = _class_of(release, read_folder(workspace.project.reference))
    marks = _grade_class(workspace.project.root, workspace.package, submissions)
    has_all = TRANSLATIONS in submissions[REFERENCE]
    tasks = [task for task in release.assignment.tasks if task.components or (has_all and task.threshold)]
    return [
        full_marks(marks[REFERENCE], tasks),  # BLEU is counted only where there are translations
        skeleton_earns_none(release, marks[SKELETON]),
        grafts_earn_their_points(release, marks),
        notebooks_earn_their_share(release, marks) if release.course else Verdict("no notebooks"),
    ]


def _class_of(release: Release, reference: Mapping[str, bytes]) -> dict[str, Mapping[str, bytes]]:
    """The submissions to grade: the files of each by path."""
    submissions: dict[str, Mapping[str, bytes]] = {REFERENCE: reference, SKELETON: release.skeleton.files}
    for entry, numbers in grafts_of(release.assignment).items():
        submissions[entry] = _with_solutions(release.skeleton, numbers)
    if release.course:
        for entry, files in ((SOLVED, release.course.source), (OPEN, release.course.release)):
            submissions[entry] = {path: content for path, content in files.items() if path.endswith(".ipynb")}
    return submissions


def grafts_of(assignment: Assignment) -> dict[str, set[str]]:
    """Versions of the skeleton, each with the tasks whose solutions are put back.

    Each task alone, and each extension with all regular tasks, since it extends these.
    """
    tasks = coded_tasks(assignment)
    regular = {task.number for task in tasks if not task.extension}
    return {
        f"task-{task.number}-with-all-regular-ones" if task.extension else f"task-{task.number}-alone": (
            regular | {task.number} if task.extension else {task.number}
        )
        for task in tasks
    }


def _with_solutions(skeleton: Skeleton, numbers: Collection[str]) -> dict[str, bytes]:
    """The skeleton's files with the solutions of these tasks in their places, and the imports they need."""
    regions = {
        path: [region for region in found if region.hint.number not in numbers]
        for path, found in skeleton.regions.items()
    }
    return {path: text.encode() for path, text in strip_files(skeleton.sources, regions).items()}


def _grade_class(root: Path, skeleton: Path, submissions: Mapping[str, Mapping[str, bytes]]) -> dict[str, Marks]:
    """Runs the autograder as an instructor does; the marks of each submission.

    Raises:
        ProcessError: where the record of a submission is missing or not as expected, or it takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        folder = Path(name)
        for entry, files in submissions.items():
            write_all(files, folder / "class" / entry)
        paths = [str(folder / "class"), "--output", str(folder / "marks"), "--release", str(skeleton.resolve())]
        finished = run_python(["-m", "autograder", "grade-class", *paths, "--jobs", "1"], root)
        marks: dict[str, Marks] = {}
        try:
            for entry in submissions:
                record = json.loads((folder / "marks" / "records" / f"{entry}.json").read_text(encoding="utf-8"))
                parts = record["judgement"]["parts"]
                marks[entry] = {
                    part["number"]: Mark(part["score"] or 0, part["state"], part["message"]) for part in parts
                }
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"`python -m autograder grade-class` left no usable record ({type(error).__name__}: {error})"
            raise ProcessError(f"{what}; {ending_of(finished)}") from None
        return marks


def full_marks(marks: Marks, tasks: Iterable[Task]) -> Verdict:
    """Whether each of the tasks has all its points."""
    tasks = list(tasks)
    faults = []
    for task in tasks:
        mark = marks.get(task.number)
        if mark is None:
            faults.append(f"{_named(task)} is not in the results")
        elif mark.score != task.points or mark.state != "passed":
            lost = f"{mark.score:g} of {task.points:g}, {mark.state}"
            faults.append(f"{_named(task)}: {lost}: {_beginning(mark.message)}")
    points = sum(marks[task.number].score for task in tasks if task.number in marks)
    return Verdict(f"{points:g} of {sum(task.points for task in tasks):g} points", faults)


def skeleton_earns_none(release: Release, marks: Marks) -> Verdict:
    """No task has a point, and each that is judged by code tells the student what to do."""
    faults = [*_points_of(release.assignment.tasks, marks), *_without_todo(release, marks)]
    n_tasks = sum(not task.extension for task in coded_tasks(release.assignment))
    return Verdict(f"0 points, {n_tasks} TODO messages", faults)


def grafts_earn_their_points(release: Release, marks: Mapping[str, Marks]) -> Verdict:
    """Each solution, put back alone, earns its task's points and no others."""
    faults = []
    grafts = grafts_of(release.assignment)
    tasks = coded_tasks(release.assignment)
    for entry, numbers in grafts.items():
        found = full_marks(marks[entry], [task for task in tasks if task.number in numbers]).faults
        others = [task for task in tasks if task.number not in numbers and not task.extension]
        faults += [f"{entry}: {fault}" for fault in (*found, *_points_of(others, marks[entry]))]
    return Verdict(f"{len(grafts)} versions of the skeleton", faults)


def notebooks_earn_their_share(release: Release, marks: Mapping[str, Marks]) -> Verdict:
    """With solutions all points that code can earn; as handed out none, and the TODOs are shown."""
    solved = full_marks(marks[SOLVED], coded_tasks(release.assignment))
    faults = [f"with solutions: {fault}" for fault in solved.faults]
    open_faults = [*_points_of(release.assignment.tasks, marks[OPEN]), *_without_todo(release, marks[OPEN])]
    faults += [f"as handed out: {fault}" for fault in open_faults]
    return Verdict(f"solved {solved.summary}, as handed out none", faults)


def _points_of(tasks: Iterable[Task], marks: Marks) -> Iterator[str]:
    """One line for each task that has points, where none should."""
    for task in tasks:
        if task.number in marks and marks[task.number].score:
            yield f"{_named(task)} is not solved, and earns {marks[task.number].score:g} points"


def _without_todo(release: Release, marks: Marks) -> Iterator[str]:
    """One line for each regular task whose message does not say what is still to be done."""
    for task in coded_tasks(release.assignment):
        message = marks[task.number].message if task.number in marks else ""
        if not task.extension and not shows_todo(message, release.skeleton, task):
            yield f"{_named(task)}: no TODO message: {_beginning(message) or 'no message'}"


def shows_todo(text: str, skeleton: Skeleton, task: Task) -> bool:
    """Whether a text says what one of the task's TODOs says, however its lines are broken."""
    flat = " ".join(text.split())
    regions = (region for found in skeleton.regions.values() for region in found)
    return any(region.hint.number == task.number and " ".join(region.message.split()) in flat for region in regions)


def _named(task: Task) -> str:
    return f"task {task.number} ({task.name})"


def _beginning(text: str) -> str:
    """The first lines that are not empty, as one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[:4])[:400]


def archive_works(workspace: Workspace) -> Verdict:
    """Unpacks the archive elsewhere and tests the first task, as the handout says; then everything, solved."""
    release = workspace.release
    task = coded_tasks(release.assignment)[0]
    command = ["-m", "pytest", "-m", task.marker]
    shown = f"`python {' '.join(command)}`"
    with tempfile.TemporaryDirectory(prefix="unpacked-") as name:
        with zipfile.ZipFile(io.BytesIO(release.outputs[f"dist/{STUDENT_ZIP}"])) as archive:
            archive.extractall(name)
        folder = Path(name) / ARCHIVE_FOLDER
        first = run_python([*command, *_NO_CACHE], folder)
        if first.returncode != 1 or f"TODO {task.number}: " not in first.stdout:
            what = f"{shown} in the unpacked archive: expected failing tests that show TODO {task.number}"
            return Verdict("it does not", [f"{what}, got {ending_of(first)}"])
        if (folder / release.assignment.package / "__main__.py").is_file():
            asks_for_help = ["-m", release.assignment.package, "--help"]
            answered = run_python(asks_for_help, folder)
            if answered.returncode:
                what = f"`python {' '.join(asks_for_help)}` in the unpacked archive"
                return Verdict("it does not", [f"{what} ends with {ending_of(answered)}"])
        write_all(_solutions(workspace), folder / release.assignment.package)
        solved = run_python(["-m", "pytest", "-q", *_NO_CACHE], folder)
    if solved.returncode:
        what = "`python -m pytest` in the unpacked archive, with all solutions: expected every test to pass"
        return Verdict("it does not", [f"{what}, got {ending_of(solved)}"])
    return Verdict(f"{shown} shows the TODO; with all solutions every test passes")


def gradescope_grades(workspace: Workspace) -> Verdict:
    """Unpacks the archive as Gradescope and `setup.sh` do, and runs the program that `run_autograder` calls."""
    with tempfile.TemporaryDirectory(prefix="gradescope-") as name:
        root = Path(name)
        members = members_of(GRADESCOPE_ZIP, workspace.release.outputs[f"dist/{GRADESCOPE_ZIP}"])
        write_all({path.rpartition("!")[2]: content for path, content in members}, root / "source")
        write_all(_solutions(workspace), root / "submission")
        finished = run_python(["-s", "-m", GRADESCOPE, "--root", str(root)], root / "source")
        try:
            rows = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))["tests"]
            marks = {
                row["number"]: Mark(row.get("score", 0), row.get("status", ""), row.get("output") or "") for row in rows
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"`python -m {GRADESCOPE}` in the unpacked archive left no usable results ({type(error).__name__})"
            return Verdict("no result", [f"{what}; {ending_of(finished)}"])
    return full_marks(marks, coded_tasks(workspace.release.assignment))


def _solutions(workspace: Workspace) -> dict[str, bytes]:
    """The files of the reference that are handed out stripped."""
    return {path: source.text.encode() for path, source in workspace.release.skeleton.sources.items()}


def misconceptions_fit(workspace: Workspace) -> Verdict:
    """Each misconception is found where it should be; a word renamed in a solution is renamed in them, too."""
    folder = workspace.release.assignment.folder / MISCONCEPTIONS
    if not folder.is_dir():
        return Verdict("none")
    reference = str(workspace.project.reference.resolve())
    done = run_python(["-m", "autograder.diagnosis", reference], workspace.project.root)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        return Verdict("not looked at", [ending_of(done)])
    if done.returncode:
        return Verdict("some do not fit", [f"{folder.relative_to(folder.parents[2])}/{line}" for line in lines])
    return Verdict(f"{counted(int(lines[0]), 'misconception')} fit the reference")


def run_python(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs this Python in a folder: one thread, UTF-8, no bytecode files, none of the user's settings for Python.

    Raises:
        ProcessError: where it takes longer than SECONDS.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        return subprocess.run(  # noqa: S603 (the arguments are the gates' own)
            [sys.executable, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            env={**kept, **_FIXED},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProcessError(f"`{' '.join(['python', *arguments])}` took more than {SECONDS:g} s") from None


def ending_of(finished: subprocess.CompletedProcess[str]) -> str:
    """How a process ended, with the end of what it printed."""
    said = finished.stderr.strip() or finished.stdout.strip() or "it printed nothing"
    return f"status {finished.returncode}: {said[-400:]}"


GATES = (
    Gate(MARKS, marks_are_right),  # the longest first
    gate("the archive works unpacked", archive_works),
    gate("the Gradescope archive grades", gradescope_grades),
    gate("the misconceptions fit", misconceptions_fit),
    gate("the skeleton stands alone", stands_alone),
    gate("no solution survives", no_solution_survives),
    gate("private data stays", keeps_private),
    gate("only tasks that exist are named", names_known_tasks),
    gate("tests are held back", holds_tests_back),
)
