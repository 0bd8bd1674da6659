"""Gates that grade: the reference, the skeleton, the skeleton with single solutions, and the notebooks.

All of these are graded as one class by `python -m autograder grade-class`, so that PyTorch is imported and the tests
are collected once.
"""

import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, Task
from foundation.counting import counted

from ..build import Release
from ..skeleton.build import TRANSLATIONS, Skeleton, coded_tasks, read_folder, strip_files
from .running import ProcessError, Verdict, Workspace, ending_of, run_python, write_all

SECONDS = 900
REFERENCE, SKELETON, SOLVED, OPEN = "reference", "skeleton", "notebooks-solved", "notebooks-open"
MARKS = (
    "the reference earns all",
    "the skeleton earns none",
    "grafts earn their points",
    "the notebooks earn their share",
)
MISCONCEPTIONS = "misconceptions"


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
    submissions = class_of(release, read_folder(workspace.project.reference))
    marks = grade_class(workspace.project.root, workspace.package, submissions)
    tasks = release.assignment.tasks if TRANSLATIONS in submissions[REFERENCE] else coded_tasks(release.assignment)
    return [
        full_marks(marks[REFERENCE], tasks),  # BLEU is counted only where there are translations
        skeleton_earns_none(release, marks[SKELETON]),
        grafts_earn_their_points(release, marks),
        notebooks_earn_their_share(release, marks) if release.course else Verdict("no notebooks"),
    ]


def class_of(release: Release, reference: Mapping[str, bytes]) -> dict[str, Mapping[str, bytes]]:
    """The submissions to grade: the files of each by path."""
    submissions: dict[str, Mapping[str, bytes]] = {REFERENCE: reference, SKELETON: release.skeleton.files}
    for entry, numbers in grafts_of(release.assignment).items():
        submissions[entry] = with_solutions(release.skeleton, numbers)
    if release.course:
        for entry, files in ((SOLVED, release.course.source), (OPEN, release.course.release)):
            submissions[entry] = {path: content for path, content in files.items() if path.endswith(".ipynb")}
    return submissions


def grafts_of(assignment: Assignment) -> dict[str, set[str]]:
    """Versions of the skeleton, each with the tasks whose solutions are put back.

    Each task alone, each extension with all regular tasks, since it extends these, and all tasks together.
    """
    tasks = coded_tasks(assignment)
    regular = {task.number for task in tasks if not task.extension}
    versions = {
        f"task-{task.number}-with-all-regular-ones" if task.extension else f"task-{task.number}-alone": (
            regular | {task.number} if task.extension else {task.number}
        )
        for task in tasks
    }
    return versions | {"all-tasks": {task.number for task in tasks}}


def with_solutions(skeleton: Skeleton, numbers: Collection[str]) -> dict[str, bytes]:
    """The skeleton's files with the solutions of these tasks in their places, and the imports they need."""
    regions = {
        path: [region for region in found if region.hint.number not in numbers]
        for path, found in skeleton.regions.items()
    }
    return {path: text.encode() for path, text in strip_files(skeleton.sources, regions).items()}


def grade_class(root: Path, skeleton: Path, submissions: Mapping[str, Mapping[str, bytes]]) -> dict[str, Marks]:
    """Runs the autograder as an instructor does; the marks of each submission.

    Args:
        root: of the project.
        skeleton: the new one, from which the autograder takes files that a submission lacks.
        submissions: name -> files by path.

    Raises:
        ProcessError: where the record of a submission is missing or not as expected, or it takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        folder = Path(name)
        for entry, files in submissions.items():
            write_all(files, folder / "class" / entry)
        paths = [str(folder / "class"), "--output", str(folder / "marks"), "--release", str(skeleton.resolve())]
        finished = run_python(["-m", "autograder", "grade-class", *paths, "--jobs", "1"], SECONDS, root)
        try:
            return {entry: _read_marks(folder / "marks" / "records" / f"{entry}.json") for entry in submissions}
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"`python -m autograder grade-class` left no usable record ({type(error).__name__}: {error})"
            raise ProcessError(f"{what}; {ending_of(finished)}") from None


def _read_marks(record: Path) -> Marks:
    parts = json.loads(record.read_text(encoding="utf-8"))["judgement"]["parts"]
    return {part["number"]: Mark(part["score"] or 0, part["state"], part["message"]) for part in parts}


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
    """Each solution, put back alone, earns its task's points and no others; all of them earn everything."""
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


def misconceptions_fit(workspace: Workspace) -> Verdict:
    """Each misconception is found where it should be; a word renamed in a solution is renamed in them, too."""
    folder = workspace.release.assignment.folder / MISCONCEPTIONS
    if not folder.is_dir():
        return Verdict("none")
    reference = str(workspace.project.reference.resolve())
    done = run_python(["-m", "autograder.diagnosis", reference], SECONDS, workspace.project.root)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        return Verdict("not looked at", [ending_of(done)])
    if done.returncode:
        return Verdict("some do not fit", [f"{folder.relative_to(folder.parents[2])}/{line}" for line in lines])
    return Verdict(f"{counted(int(lines[0]), 'misconception')} fit the reference")
