"""Gate: every solution, put back into the skeleton alone, earns its task's points; all of them earn everything."""

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

from autograder.grading.marks import Outcome, judge_task
from foundation.assignment_file import Assignment

from ..archives.audience import STUDENT_ZIP
from ..archives.student import ARCHIVE_FOLDER
from ..skeleton.build import Skeleton, coded_tasks, strip_files
from .base import Verdict, Workspace
from .environment import clean_environment

SCRIPT = Path(__file__).with_name("try_versions.py")
SECONDS = 300


def grafts_earn_their_points(workspace: Workspace) -> Verdict:
    """Tries the versions in the unpacked students' archive, with the tests that are in it, as students do.

    An extension is tried on top of all regular tasks, since it extends what they ask for.
    """
    release = workspace.release
    grafts = grafts_of(release.assignment)
    request = {name: graft(release.skeleton, numbers) for name, numbers in grafts.items()}
    with tempfile.TemporaryDirectory(prefix="grafts-") as folder:
        with zipfile.ZipFile(io.BytesIO(release.outputs[f"dist/{STUDENT_ZIP}"])) as archive:
            archive.extractall(folder)
        try:
            finished = subprocess.run(
                [sys.executable, str(SCRIPT), str(Path(folder) / ARCHIVE_FOLDER), release.assignment.package],
                input=json.dumps(request),
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=SECONDS,
                env=clean_environment(),
            )
        except subprocess.TimeoutExpired:
            return Verdict("no end", [f"the tests on {len(grafts)} versions took more than {SECONDS} s"])
    try:
        answers = json.loads(finished.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        said = finished.stderr.strip()[-400:]
        return Verdict("no result", [f"the process ended with status {finished.returncode}: {said}"])
    assignment = release.assignment
    faults = [fault for name in grafts for fault in faults_of(name, grafts[name], answers[name], assignment)]
    return Verdict(f"{len(grafts)} versions of the skeleton", faults)


def grafts_of(assignment: Assignment) -> dict[str, set[str]]:
    """Which tasks' solutions are put back in each version."""
    tasks = coded_tasks(assignment)
    regular = {task.number for task in tasks if not task.extension}
    versions = {f"task {number} alone": {number} for number in sorted(regular)}
    versions |= {
        f"extension {task.number} and all regular tasks": {task.number, *regular} for task in tasks if task.extension
    }
    return {**versions, "all tasks": {task.number for task in tasks}}


def graft(skeleton: Skeleton, numbers: Collection[str]) -> dict[str, str]:
    """The skeleton's Python files with the solutions of these tasks in their places, and the imports they need."""
    regions = {
        path: [region for region in found if region.hint.number not in numbers]
        for path, found in skeleton.regions.items()
    }
    return strip_files(skeleton.sources, regions)


def faults_of(name: str, numbers: set[str], outcomes: list[dict], assignment: Assignment) -> Iterator[str]:
    """One line for each task that does not earn what it should: everything if it is in, nothing if it is not."""
    for task in coded_tasks(assignment):
        found = [
            Outcome("test", "passed" if outcome["has_passed"] else "failed", "", outcome["is_core"])
            for outcome in outcomes
            if task.marker in outcome["markers"]
        ]
        result = judge_task(task, found, assignment.credit)
        if task.number in numbers and result.state != "passed":
            n_failed = sum(outcome.state != "passed" for outcome in found)
            yield f"{name}: task {task.number} ({task.name}) fails {n_failed} of its {len(found)} tests"
        elif task.number not in numbers and not task.extension and result.score:
            yield f"{name}: task {task.number} ({task.name}) is not in it, and earns {result.score:g} points"
