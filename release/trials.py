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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.command_line import UserError

from .build import Release
from .contents import ARCHIVE_FOLDER, ENTRY
from .gates import (
    Gate,
    Workspace,
    keeps_private,
    names_known_tasks,
    no_solution_survives,
    write_all,
)
from .packing import GRADESCOPE_ZIP, STUDENT_ZIP, members_of
from .skeleton import TRANSLATIONS, Skeleton, coded_tasks, read_folder, strip_files

MISCONCEPTIONS = "misconceptions"
GRADESCOPE = ENTRY.removesuffix(".py").replace("/", ".")

INSTALLED = "installed"
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


@dataclass(frozen=True)
class Trial:
    """A submission with known marks: its files by path, and the tasks that are solved in it."""

    files: Mapping[str, bytes]
    solved: Collection[str]


def marks_are_right(workspace: Workspace) -> list[str]:
    """The reference earns all points, the skeleton none, and each solution, put back alone, those of its own task."""
    release = workspace.release
    trials = trials_of(release, read_folder(workspace.project.reference))
    try:
        marks = _grade_class(workspace.project.root, workspace.package, trials)
    except UserError as error:
        return [str(error)]
    return [f"{name}: {fault}" for name in trials for fault in wrong_marks(release, trials[name].solved, marks[name])]


def trials_of(release: Release, reference: Mapping[str, bytes]) -> dict[str, Trial]:
    """The submissions to grade, by name.

    Each extension is put back with all regular tasks, since it extends these.
    """
    tasks = coded_tasks(release.assignment)
    everything = {task.number for task in tasks}
    judged_by_bleu = {task.number for task in release.assignment.tasks if task.threshold is not None}
    regular = {task.number for task in tasks if not task.extension}
    trials = {
        "reference": Trial(reference, everything | (judged_by_bleu if TRANSLATIONS in reference else set())),
        "skeleton": Trial(release.skeleton.files, ()),
    }
    for task in tasks:
        numbers = regular | {task.number} if task.extension else {task.number}
        trials[f"task-{task.number}"] = Trial(_with_solutions(release.skeleton, numbers), numbers)
    if release.course:
        for name, files, solved in (
            ("notebooks-solved", release.course.source, everything),
            ("notebooks-open", release.course.release, ()),
        ):
            notebooks = {path: content for path, content in files.items() if path.endswith(".ipynb")}
            trials[name] = Trial(notebooks, solved)
    return trials


def _with_solutions(skeleton: Skeleton, numbers: Collection[str]) -> dict[str, bytes]:
    """The skeleton's files with the solutions of these tasks in their places, and the imports they need."""
    regions = {
        path: [region for region in found if region.number not in numbers] for path, found in skeleton.regions.items()
    }
    return {path: text.encode() for path, text in strip_files(skeleton.sources, regions).items()}


def _grade_class(root: Path, skeleton: Path, trials: Mapping[str, Trial]) -> dict[str, Marks]:
    """Runs the autograder as an instructor does; the marks of each submission.

    Raises:
        UserError: where it fails.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        folder = Path(name)
        for entry, trial in trials.items():
            write_all(trial.files, folder / "class" / entry)
        paths = [str(folder / "class"), "--output", str(folder / "marks"), "--release", str(skeleton.resolve())]
        finished = run_python(["-m", "autograder", "grade-class", *paths, "--jobs", "1"], root)
        if finished.returncode:
            raise UserError(f"`python -m autograder grade-class`: {ending_of(finished)}")
        files = {entry: folder / "marks" / "records" / f"{entry}.json" for entry in trials}
        parts = {entry: json.loads(path.read_bytes())["judgement"]["parts"] for entry, path in files.items()}
    return {
        entry: {part["number"]: Mark(part["score"] or 0, part["state"], part["message"]) for part in several}
        for entry, several in parts.items()
    }


def wrong_marks(release: Release, solved: Collection[str], marks: Marks) -> Iterator[str]:
    """One line for each task that has other points than it should."""
    for task in release.assignment.tasks:
        mark = marks.get(task.number, Mark(0, "not in the results", ""))
        named = f"task {task.number} ({task.name})"
        if task.number in solved:
            if mark.score != task.points or mark.state != "passed":
                yield f"{named}: {mark.score:g} of {task.points:g}, {mark.state}: {_beginning(mark.message)}"
        elif mark.score and not (solved and task.extension):
            yield f"{named} is not solved, and earns {mark.score:g} points"


def _beginning(text: str) -> str:
    """The first lines that are not empty, as one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[:4])[:400]


def archive_works(workspace: Workspace) -> list[str]:
    """Unpacks the archive elsewhere and tests the first task, as the handout says; then everything, solved."""
    release = workspace.release
    task, package = coded_tasks(release.assignment)[0], release.assignment.package
    with tempfile.TemporaryDirectory(prefix="unpacked-") as name:
        folder = unpack(release.outputs[f"dist/{STUDENT_ZIP}"], Path(name))
        first = run_python(["-m", "pytest", "-m", task.marker, *_NO_CACHE], folder)
        if first.returncode != 1 or f"TODO {task.number}: " not in first.stdout:
            what = f"`pytest -m {task.marker}`: expected failing tests that show TODO {task.number}"
            return [f"{what}, got {ending_of(first)}"]
        write_all(_solutions(workspace), folder / package)
        solved = run_python(["-m", "pytest", "-q", *_NO_CACHE], folder)
    return [f"with all solutions every test should pass, got {ending_of(solved)}"] if solved.returncode else []


def unpack(archive: bytes, folder: Path) -> Path:
    """Unpacks the students' archive, and its wheel beside it as pip would; returns the students' folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(folder)
    for wheel in (folder / ARCHIVE_FOLDER).glob("*.whl"):
        with zipfile.ZipFile(wheel) as opened:
            opened.extractall(folder / INSTALLED)
    return folder / ARCHIVE_FOLDER


def gradescope_grades(workspace: Workspace) -> list[str]:
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
            return [f"no usable results ({type(error).__name__}); {ending_of(finished)}"]
    tasks = coded_tasks(workspace.release.assignment)
    return list(wrong_marks(workspace.release, [task.number for task in tasks], marks))


def _solutions(workspace: Workspace) -> dict[str, bytes]:
    """The files of the reference that are handed out stripped."""
    return {path: source.text.encode() for path, source in workspace.release.skeleton.sources.items()}


def misconceptions_fit(workspace: Workspace) -> list[str]:
    """Each misconception is found where it should be; a word renamed in a solution is renamed in them, too."""
    if not (workspace.release.assignment.folder / MISCONCEPTIONS).is_dir():
        return []
    reference = str(workspace.project.reference.resolve())
    done = run_python(["-m", "autograder.catalogue", reference], workspace.project.root)
    if done.returncode not in (0, 1):
        return [ending_of(done)]
    return done.stdout.splitlines() if done.returncode else []


def run_python(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs this Python in a folder: one thread, UTF-8, no bytecode files, none of the user's settings for Python.

    What `unpack` has put beside the folder counts as installed.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    kept |= {"PYTHONPATH": str(folder.parent / INSTALLED)} if (folder.parent / INSTALLED).is_dir() else {}
    return subprocess.run(  # noqa: S603 (the arguments are the gates' own)
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**kept, **_FIXED},
        check=False,
    )


def ending_of(finished: subprocess.CompletedProcess[str]) -> str:
    """How a process ended, with the end of what it printed."""
    said = finished.stderr.strip() or finished.stdout.strip() or "it printed nothing"
    return f"status {finished.returncode}: {said[-400:]}"


GATES: dict[str, Gate] = {
    "all marks are right": marks_are_right,  # the longest first
    "the archive works unpacked": archive_works,
    "the Gradescope archive grades": gradescope_grades,
    "the misconceptions fit": misconceptions_fit,
    "no solution survives": no_solution_survives,
    "private data stays": keeps_private,
    "only tasks that exist are named": names_known_tasks,
}
