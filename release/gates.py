"""The gates: what a release has to prove before it leaves, and how all of these proofs run.

Those of `inspection.py` read the files. The others, here, run the tests: on the reference, the skeleton, single
solutions and notebooks, which are graded as one class, and on unpacked archives.
"""

import html
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .build import Release
from .contents import ARCHIVE_FOLDER, ENTRY
from .inspection import keeps_private, no_solution_survives, nothing_is_opaque
from .legible import strings_of_data
from .packing import GRADESCOPE_ZIP, STUDENT_ZIP, members_of
from .skeleton import TRANSLATIONS, Project, coded_tasks, read_folder, strip_files

AT_A_TIME = 2  # so many gates run at once: most wait for a process, and each process has one thread
SHOWN_FAULTS = 20
INSTALLED = "installed"
_FIXED = {"LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


Gate = Callable[[Project, Release], list[str]]
"""A proof about a release: one line for each fault; none means passed."""


def run_gates(gates: Mapping[str, Gate], project: Project, release: Release) -> dict[str, list[str]]:
    """Run all gates, also after a failed one; print each with its faults as it ends, and return the faults."""

    def run(name: str) -> list[str]:
        start = time.perf_counter()
        faults = gates[name](project, release)
        shown = faults[:SHOWN_FAULTS] + [f"and {len(faults) - SHOWN_FAULTS} more"] * (len(faults) > SHOWN_FAULTS)
        head = f"{'✗' if faults else '✓'} {time.perf_counter() - start:5.1f} s  {name}"
        print("\n    ".join([head, *shown]), flush=True)
        return faults

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return dict(zip(gates, pool.map(run, gates), strict=True))


def write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files by path into a folder of a gate's own."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


class Mark(NamedTuple):
    """One task of one submission: points, state, and the message for its student."""

    score: float
    state: str
    message: str


Files = Mapping[str, bytes]
Shown = tuple[Files, Collection[str]]
"""The files of a submission by path, and all texts that its student is shown."""
Trial = tuple[Files, Collection[str]]
"""A submission with known marks: its files by path, and the tasks that are solved in it."""


def marks_are_right(project: Project, release: Release) -> list[str]:
    """The reference earns all points, the skeleton none, and each solution, put back alone, those of its own task."""
    faults: list[str] = []
    shown: dict[str, Shown] = {}
    trials = trials_of(release, read_folder(project.reference))
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        folder = Path(name)
        for entry, (files, _) in trials.items():
            write_all(files, folder / "class" / entry)
        write_all(release.folder, folder / release.assignment.package)
        command: list[str | Path] = ["-m", "autograder", "grade-class", folder / "class", "--output", folder / "marks"]
        command += ["--release", folder / release.assignment.package, "--jobs", str(AT_A_TIME)]
        finished = run_python(command, project.root)
        if finished.returncode:
            return [f"`python -m autograder grade-class`: {ending_of(finished)}"]
        for entry, (files, solved) in trials.items():
            record = json.loads((folder / "marks" / "records" / f"{entry}.json").read_bytes())
            parts = record["judgement"]["parts"]
            marks = {part["number"]: Mark(part["score"] or 0, part["state"], part["message"]) for part in parts}
            page = (folder / "marks" / "students" / f"{entry}.html").read_text(encoding="utf-8").partition("<body")[2]
            texts = strings_of_data([record["judgement"][name] for name in ("parts", "notes", "internals")])
            shown[entry] = files, {*texts, *map(html.unescape, re.split("<[^>]*>", page))}
            faults += [f"{entry}: {fault}" for fault in wrong_marks(release, solved, marks)]
    return [*faults, *shown_to_students(release, shown)]


def shown_to_students(release: Release, shown: Mapping[str, Shown]) -> Iterator[str]:
    """Yield a line for each statement of a solution that a grader shows a student who has not written it."""

    @cache  # most texts are the same for all students
    def statements_in(path: str, content: bytes) -> set[str]:
        return {*map(str, release.leak_finder.statements_in(path, content))}

    for entry, (files, texts) in shown.items():
        seen = {piece for text in texts for piece in statements_in("shown.txt", text.encode())}
        written = {piece for path, content in files.items() for piece in statements_in(path, content)}
        yield from (f"{entry}: the student is shown {piece}" for piece in sorted(seen - written))


def trials_of(release: Release, reference: Files) -> dict[str, Trial]:
    """The submissions to grade, by name. Extensions are put back by halves, with all the regular tasks they extend."""
    tasks = coded_tasks(release.assignment)
    everything = {task.number for task in tasks}
    judged_by_bleu = {task.number for task in release.assignment.tasks if task.threshold is not None}
    regular = [task.number for task in tasks if not task.extension]
    extensions = [task.number for task in tasks if task.extension]
    solved = everything | (judged_by_bleu if TRANSLATIONS in reference else set())
    trials: dict[str, Trial] = {"reference": (reference, solved), "skeleton": (release.skeleton.files, ())}
    alone = {f"task-{number}": {number} for number in regular}
    for name, numbers in {**alone, "odd": {*regular, *extensions[::2]}, "even": {*regular, *extensions[1::2]}}.items():
        trials[name] = strip_files(release.skeleton.sources, numbers), numbers
    for name, files in release.course._asdict().items() if release.course else ():
        notebooks = {path: content for path, content in files.items() if path.endswith(".ipynb")}
        trials[f"notebooks-{name}"] = notebooks, everything if name == "source" else ()
    return trials


def wrong_marks(release: Release, solved: Collection[str], marks: Mapping[str, Mark]) -> Iterator[str]:
    """Yield a line for each task that has other points than it should."""
    for task in release.assignment.tasks:
        mark = marks.get(task.number, Mark(0, "not in the results", ""))
        named = f"task {task.number} ({task.name})"
        if task.number in solved and (mark.score, mark.state) != (task.points, "passed"):
            lines = [line.strip() for line in mark.message.splitlines() if line.strip()]
            yield f"{named}: {mark.score:g} of {task.points:g}, {mark.state}: {' | '.join(lines[:4])[:400]}"
        elif mark.score and task.number not in solved and not (solved and task.extension):
            yield f"{named} is not solved, and earns {mark.score:g} points"


def archive_works(project: Project, release: Release) -> list[str]:
    """Elsewhere, the unpacked archive tests the first task, as the handout says; then everything, solved."""
    assignment = release.assignment
    task = next(task for task in coded_tasks(assignment) if task not in assignment.held_back)
    with tempfile.TemporaryDirectory(prefix="unpacked-") as name:
        folder = unpack(release.outputs[f"dist/{STUDENT_ZIP}"], Path(name))
        first = run_python(["-m", "pytest", "-p", "no:cacheprovider", "-m", task.marker], folder)
        if first.returncode != 1 or f"TODO {task.number}: " not in first.stdout:
            fault = f"`pytest -m {task.marker}`: expected failing tests that show TODO {task.number}"
            return [f"{fault}, got {ending_of(first)}"]
        write_all(_solutions(release), folder / assignment.package)
        solved = run_python(["-m", "pytest", "-p", "no:cacheprovider", "-q"], folder)
    return [f"with all solutions every test should pass, got {ending_of(solved)}"] if solved.returncode else []


def unpack(archive: bytes, folder: Path) -> Path:
    """Unpack the students' archive, and its wheel beside it as pip would; return the students' folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(folder)
    for wheel in (folder / ARCHIVE_FOLDER).glob("*.whl"):
        with zipfile.ZipFile(wheel) as opened:
            opened.extractall(folder / INSTALLED)
    return folder / ARCHIVE_FOLDER


def gradescope_grades(project: Project, release: Release) -> list[str]:
    """Unpacked as Gradescope and `setup.sh` do, the archive grades by the program that `run_autograder` calls."""
    solutions = _solutions(release)
    with tempfile.TemporaryDirectory(prefix="gradescope-") as name:
        root = Path(name)
        members = members_of(GRADESCOPE_ZIP, release.outputs[f"dist/{GRADESCOPE_ZIP}"])
        write_all({path.rpartition("!")[2]: content for path, content in members}, root / "source")
        write_all(solutions, root / "submission")
        module = ENTRY.removesuffix(".py").replace("/", ".")
        finished = run_python(["-s", "-m", module, "--root", str(root)], root / "source")
        try:
            results = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
            marks = {
                row["number"]: Mark(row.get("score", 0), row.get("status", ""), row.get("output") or "")
                for row in results["tests"]
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            return [f"no usable results ({type(error).__name__}); {ending_of(finished)}"]
    texts = strings_of_data([content for name, content in results.items() if name != "extra_data"])
    wrong = wrong_marks(release, [task.number for task in coded_tasks(release.assignment)], marks)
    return [*wrong, *shown_to_students(release, {"results.json": (solutions, set(texts))})]


def _solutions(release: Release) -> dict[str, bytes]:
    return {path: source.text.encode() for path, source in release.skeleton.sources.items()}


def misconceptions_fit(project: Project, release: Release) -> list[str]:
    """Each misconception is found where it should be; a word renamed in a solution is renamed in them, too."""
    if not (release.assignment.folder / "misconceptions").is_dir():
        return []
    done = run_python(["-m", "autograder.course.catalogue", str(project.reference.resolve())], project.root)
    return {0: [], 1: done.stdout.splitlines()}.get(done.returncode, [ending_of(done)])


def run_python(arguments: Sequence[str | Path], folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run this Python in a folder with none of the user's settings; what `unpack` has put beside it is installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    kept |= {"PYTHONPATH": str(folder.parent / INSTALLED)} if (folder.parent / INSTALLED).is_dir() else {}
    return subprocess.run(  # noqa: S603 (the arguments are the gates' own)
        [sys.executable, *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**kept, **_FIXED},
        check=False,
    )


def ending_of(finished: subprocess.CompletedProcess[str]) -> str:
    """Return the status of a process, with pytest's first failure or else the end of its output."""
    output = finished.stderr.strip() or finished.stdout.strip() or "it printed nothing"
    failure = re.search(r"^_{3,} (.+) _{3,}\n(?:.*\n)*?E +(.+)", finished.stdout, re.MULTILINE)
    return f"status {finished.returncode}: {': '.join(failure.groups()) if failure else output[-400:]}"


GATES: dict[str, Gate] = {
    "all marks are right": marks_are_right,  # the longest first
    "the archive works unpacked": archive_works,
    "the Gradescope archive grades": gradescope_grades,
    "the misconceptions fit": misconceptions_fit,
    "students get nothing opaque": nothing_is_opaque,
    "no solution survives": no_solution_survives,
    "private data stays": keeps_private,
}
