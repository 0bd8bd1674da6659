"""Gate: what students unpack works by itself: the tests find the skeleton and show its TODOs."""

import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ..archives.audience import STUDENT_ZIP
from ..archives.student import ARCHIVE_FOLDER
from ..skeleton.build import coded_tasks
from .base import Verdict, Workspace
from .environment import clean_environment
from .grading import shows_todo

TEST_SECONDS = 120


def kit_runs(workspace: Workspace) -> Verdict:
    """Unpacks the archive elsewhere and tests the first task, as the handout says."""
    task = coded_tasks(workspace.release.assignment)[0]
    packed = workspace.release.outputs[f"dist/{STUDENT_ZIP}"]
    command = ["-m", "pytest", "-m", task.marker]
    shown = "python " + " ".join(command)
    with tempfile.TemporaryDirectory(prefix="unpacked-") as folder:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            archive.extractall(folder)
        try:
            finished = subprocess.run(
                [sys.executable, *command, "-p", "no:cacheprovider"],
                cwd=Path(folder) / ARCHIVE_FOLDER,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=TEST_SECONDS,
                env=clean_environment(),
            )
        except subprocess.TimeoutExpired:
            return Verdict("no end", [f"`{shown}` took more than {TEST_SECONDS} s in the unpacked archive"])
    regions = workspace.release.skeleton.regions.values()
    messages = [region.message for found in regions for region in found if region.hint.number == task.number]
    if finished.returncode == 1 and shows_todo(finished.stdout, messages):
        return Verdict(f"`{shown}` shows the TODO", [])
    said = (finished.stdout + finished.stderr).strip()[-400:]
    what = f"`{shown}` in the unpacked archive: expected failing tests that show TODO {task.number}"
    return Verdict("it does not", [f"{what}, got status {finished.returncode}: {said}"])
