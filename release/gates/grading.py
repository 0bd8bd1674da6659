"""Gates: the autograder gives the reference every point, and the skeleton none, with readable TODOs."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from foundation.assignment_file import Task

from ..skeleton.build import TRANSLATIONS, coded_tasks
from .base import Verdict, Workspace
from .environment import clean_environment

GRADE_SECONDS = 300
COMMAND = "python -m autograder grade"


class GradingError(Exception):
    """The autograder did not give a usable result; the text says why."""


def reference_earns_all(workspace: Workspace) -> Verdict:
    """Every task that is judged by code has full marks; BLEU is counted only where there are translations."""
    project = workspace.project
    has_translations = (project.reference / TRANSLATIONS).is_file()
    tasks = workspace.release.assignment.tasks if has_translations else coded_tasks(workspace.release.assignment)
    try:
        rows = grade(project.root, project.reference, workspace.package)
    except GradingError as error:
        return Verdict("no result", [str(error)])
    points = sum(rows[task.number]["score"] for task in tasks if task.number in rows)
    return Verdict(f"{points:g} of {sum(task.points for task in tasks):g} points", lost_points(rows, tasks))


def lost_points(rows: Mapping[str, dict], tasks: Sequence[Task]) -> list[str]:
    """One line for each of the tasks without full marks."""
    faults = []
    for task in tasks:
        row = rows.get(task.number)
        if row is None:
            faults.append(f"task {task.number} ({task.name}) is not in the results")
        elif row["score"] != row["max_score"] or row["status"] != "passed":
            lost = f"{row['score']:g} of {row['max_score']:g}, {row['status']}"
            faults.append(f"task {task.number} ({task.name}): {lost}: {_beginning(row['output'])}")
    return faults


def skeleton_earns_none(workspace: Workspace) -> Verdict:
    """No task has a point, and each that is judged by code tells the student what is to be done."""
    assignment = workspace.release.assignment
    try:
        rows = grade(workspace.project.root, workspace.package, workspace.package)
    except GradingError as error:
        return Verdict("no result", [str(error)])
    faults = [
        f"task {task.number} ({task.name}): the empty skeleton earns {rows[task.number]['score']:g} points"
        for task in assignment.tasks
        if task.number in rows and rows[task.number]["score"] != 0
    ]
    regular = [task for task in coded_tasks(assignment) if not task.extension]
    n_readable = 0
    for task in regular:
        output = rows.get(task.number, {}).get("output", "")
        if shows_todo(output, _messages(workspace, task)):
            n_readable += 1
        else:
            faults.append(f"task {task.number} ({task.name}): no TODO message: {_beginning(output) or 'no output'}")
    return Verdict(f"0 points, {n_readable} of {len(regular)} TODO messages", faults)


def shows_todo(output: str, messages: list[str]) -> bool:
    """Whether one of the messages stands in the output, however its lines are broken."""
    flat = " ".join(output.split())
    return any(" ".join(message.split()) in flat for message in messages)


def grade(root: Path, submission: Path, skeleton: Path) -> dict[str, dict]:
    """Runs the autograder as an instructor does; its results by task number.

    Args:
        root: of the project.
        submission: the folder to grade.
        skeleton: the new one, from which the autograder takes files that a submission lacks.

    Raises:
        GradingError: where it fails, takes too long, or its results are not in Gradescope's shape.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        results = Path(folder) / "results.json"
        paths = [str(submission.resolve()), "--results", str(results), "--release", str(skeleton.resolve())]
        command = [sys.executable, "-m", "autograder", "grade", *paths]
        try:
            finished = subprocess.run(
                command,
                cwd=root,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=GRADE_SECONDS,
                env=clean_environment(),
            )
        except subprocess.TimeoutExpired:
            raise GradingError(f"`{COMMAND} {submission}` took more than {GRADE_SECONDS} s") from None
        said = (finished.stderr.strip() or finished.stdout.strip() or "it said nothing")[-400:]
        ended = f"`{COMMAND} {submission}` ended with status {finished.returncode}"
        if finished.returncode != 0:
            raise GradingError(f"{ended}: {said}")
        try:
            return rows_of(json.loads(results.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise GradingError(f"{ended}; results: {type(error).__name__}: {error}; {said}") from None


def rows_of(results: dict) -> dict[str, dict]:
    """The entries of results in Gradescope's shape by task number. Raises: KeyError, TypeError, ValueError."""
    return {str(row["number"]): _checked(row) for row in results["tests"]}


def _checked(row: dict) -> dict:
    """The entry with all that is needed of it, or KeyError or ValueError."""
    numbers = {key: float(row[key]) for key in ("score", "max_score")}
    return numbers | {"status": str(row["status"]), "output": str(row.get("output") or "")}


def _messages(workspace: Workspace, task: Task) -> list[str]:
    regions = workspace.release.skeleton.regions.values()
    return [region.message for found in regions for region in found if region.hint.number == task.number]


def _beginning(output: str) -> str:
    """The first lines with text, as one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " | ".join(lines[:4])[:400]
