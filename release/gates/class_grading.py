"""Four gates: the marks of the reference, the skeleton, the skeleton with single solutions, and the notebooks.

All of these are graded as one class by `python -m autograder grade-class`, so that PyTorch is imported and the tests
are collected once.
"""

import json
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, Task

from ..build import Release
from ..skeleton.build import TRANSLATIONS, Skeleton, coded_tasks, read_folder, strip_files
from .child_process import TooSlowError, ending_of, run_python
from .running import Verdict, Workspace
from .todos import shows_todo

SECONDS = 300
REFERENCE, SKELETON, SOLVED, OPEN = "reference", "skeleton", "notebooks-solved", "notebooks-open"
NAMES = (
    "the reference earns all",
    "the skeleton earns none",
    "grafts earn their points",
    "the notebooks earn their share",
)


class GradingError(Exception):
    """The autograder did not give usable marks; the text says why."""


@dataclass(frozen=True)
class Mark:
    """One task of one submission: points, state, and what the student is told."""

    score: float
    state: str
    message: str


@dataclass(frozen=True)
class Graft:
    """A version of the skeleton: its title, and the tasks whose solutions are put back."""

    title: str
    numbers: frozenset[str]

    @property
    def entry(self) -> str:
        """The name of its folder in the class."""
        return self.title.replace(" ", "-")


Marks = Mapping[str, Mark]
"""By number of the task."""


def marks_are_right(workspace: Workspace) -> list[Verdict]:
    """Grades the class and judges its marks: one verdict for each of NAMES."""
    release = workspace.release
    submissions = class_of(release, read_folder(workspace.project.reference))
    try:
        marks = grade_class(workspace.project.root, workspace.package, submissions)
    except (GradingError, TooSlowError) as error:
        return [Verdict("no result", [str(error)])] * len(NAMES)
    return [
        reference_earns_all(release, marks[REFERENCE], TRANSLATIONS in submissions[REFERENCE]),
        skeleton_earns_none(release, marks[SKELETON]),
        grafts_earn_their_points(release, marks),
        notebooks_earn_their_share(release, marks),
    ]


def class_of(release: Release, reference: Mapping[str, bytes]) -> dict[str, Mapping[str, bytes]]:
    """The submissions to grade: the files of each by path."""
    submissions: dict[str, Mapping[str, bytes]] = {REFERENCE: reference, SKELETON: release.skeleton.files}
    for graft in grafts_of(release.assignment):
        submissions[graft.entry] = with_solutions(release.skeleton, graft.numbers)
    if release.course:
        for entry, files in ((SOLVED, release.course.source), (OPEN, release.course.release)):
            submissions[entry] = {path: content for path, content in files.items() if path.endswith(".ipynb")}
    return submissions


def grafts_of(assignment: Assignment) -> list[Graft]:
    """Each task alone, each extension with all regular tasks, since it extends these, and all tasks together."""
    tasks = coded_tasks(assignment)
    regular = frozenset(task.number for task in tasks if not task.extension)
    versions = [Graft(f"task {number} alone", frozenset({number})) for number in sorted(regular)]
    versions += [
        Graft(f"extension {task.number} and all regular tasks", regular | {task.number})
        for task in tasks
        if task.extension
    ]
    return [*versions, Graft("all tasks", frozenset(task.number for task in tasks))]


def with_solutions(skeleton: Skeleton, numbers: Collection[str]) -> dict[str, bytes]:
    """The skeleton's files with the solutions of these tasks in their places, and the imports they need."""
    regions = {
        path: [region for region in found if region.hint.number not in numbers]
        for path, found in skeleton.regions.items()
    }
    return {path: text.encode() for path, text in strip_files(skeleton.sources, regions).items()}


def grade_class(
    root: Path, skeleton: Path, submissions: Mapping[str, Mapping[str, bytes]]
) -> dict[str, dict[str, Mark]]:
    """Runs the autograder as an instructor does; the marks of each submission by number of the task.

    Args:
        root: of the project.
        skeleton: the new one, from which the autograder takes files that a submission lacks.
        submissions: name -> files by path.

    Raises:
        GradingError: where the record of a submission is missing or not as expected.
        TooSlowError: where it takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        folder = Path(name)
        for entry, files in submissions.items():
            for path, content in files.items():
                file = folder / "class" / entry / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        paths = [str(folder / "class"), "--output", str(folder / "marks"), "--release", str(skeleton.resolve())]
        arguments = ["-m", "autograder", "grade-class", *paths, "--jobs", "1"]
        finished = run_python(arguments, SECONDS, folder=root)
        try:
            return {entry: _read_marks(folder / "marks" / "records" / f"{entry}.json") for entry in submissions}
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"`python -m autograder grade-class` left no usable record ({type(error).__name__}: {error})"
            raise GradingError(f"{what}; {ending_of(finished)}") from None


def _read_marks(record: Path) -> dict[str, Mark]:
    parts = json.loads(record.read_text(encoding="utf-8"))["judgement"]["parts"]
    return {
        str(part["number"]): Mark(float(part["score"] or 0), str(part["state"]), str(part["message"])) for part in parts
    }


def reference_earns_all(release: Release, marks: Marks, has_translations: bool) -> Verdict:
    """Every task that is judged by code has full marks; BLEU is counted only where there are translations."""
    tasks = release.assignment.tasks if has_translations else coded_tasks(release.assignment)
    return full_marks(marks, tasks)


def full_marks(marks: Marks, tasks: Iterable[Task]) -> Verdict:
    """Whether each of the tasks has all its points."""
    tasks = list(tasks)
    faults = []
    for task in tasks:
        mark = marks.get(task.number)
        if mark is None:
            faults.append(f"task {task.number} ({task.name}) is not in the results")
        elif mark.score != task.points or mark.state != "passed":
            lost = f"{mark.score:g} of {task.points:g}, {mark.state}"
            faults.append(f"task {task.number} ({task.name}): {lost}: {_beginning(mark.message)}")
    points = sum(marks[task.number].score for task in tasks if task.number in marks)
    return Verdict(f"{points:g} of {sum(task.points for task in tasks):g} points", faults)


def skeleton_earns_none(release: Release, marks: Marks) -> Verdict:
    """No task has a point, and each that is judged by code tells the student what to do."""
    faults = [
        f"task {task.number} ({task.name}): the empty skeleton earns {marks[task.number].score:g} points"
        for task in release.assignment.tasks
        if task.number in marks and marks[task.number].score != 0
    ]
    regular = [task for task in coded_tasks(release.assignment) if not task.extension]
    unreadable = _without_todo(release, marks, regular)
    return Verdict(f"0 points, {len(regular) - len(unreadable)} of {len(regular)} TODO messages", faults + unreadable)


def grafts_earn_their_points(release: Release, marks: Mapping[str, Marks]) -> Verdict:
    """Each solution, put back alone, earns its task's points and no others; all of them earn everything."""
    faults = []
    grafts = grafts_of(release.assignment)
    for graft in grafts:
        for task in coded_tasks(release.assignment):
            mark = marks[graft.entry].get(task.number, Mark(0.0, "missing", ""))
            where = f"{graft.title}: task {task.number} ({task.name})"
            if task.number in graft.numbers and (mark.state != "passed" or mark.score != task.points):
                faults.append(f"{where} earns {mark.score:g} of {task.points:g}, {mark.state}")
            elif task.number not in graft.numbers and not task.extension and mark.score:
                faults.append(f"{where} is not in it, and earns {mark.score:g} points")
    return Verdict(f"{len(grafts)} versions of the skeleton", faults)


def notebooks_earn_their_share(release: Release, marks: Mapping[str, Marks]) -> Verdict:
    """With solutions all points that code can earn; as handed out none, and the TODOs are shown."""
    if release.course is None:
        return Verdict("no notebooks")
    tasks = coded_tasks(release.assignment)
    faults = [f"with solutions: {fault}" for fault in full_marks(marks[SOLVED], tasks).faults]
    faults += [
        f"task {task.number}: the empty notebook earns {marks[OPEN][task.number].score:g} points"
        for task in tasks
        if marks[OPEN][task.number].score != 0
    ]
    regular = [task for task in tasks if not task.extension]
    faults += [f"as handed out: {fault}" for fault in _without_todo(release, marks[OPEN], regular)]
    points = [sum(mark.score for mark in marks[entry].values()) for entry in (SOLVED, OPEN)]
    return Verdict(f"solved {points[0]:g}, as handed out {points[1]:g} points", faults)


def _without_todo(release: Release, marks: Marks, tasks: Sequence[Task]) -> list[str]:
    """One line for each task whose message does not say what is still to be done."""
    messages = {task: marks[task.number].message if task.number in marks else "" for task in tasks}
    return [
        f"task {task.number} ({task.name}): no TODO message: {_beginning(message) or 'no message'}"
        for task, message in messages.items()
        if not shows_todo(message, release.skeleton, task)
    ]


def _beginning(text: str) -> str:
    """The first lines that are not empty, as one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[:4])[:400]
