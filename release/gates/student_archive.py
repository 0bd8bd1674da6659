"""Gate: what students unpack works by itself: its tests find the skeleton, show its TODOs, and accept the solutions."""

import io
import tempfile
import zipfile
from pathlib import Path

from ..archives.audience import STUDENT_ZIP
from ..archives.student import ARCHIVE_FOLDER
from ..skeleton.build import coded_tasks
from .child_process import TooSlowError, ending_of, run_python
from .running import Verdict, Workspace
from .todos import shows_todo

SECONDS = 120
_NO_CACHE = ("-p", "no:cacheprovider")


def archive_works(workspace: Workspace) -> Verdict:
    """Unpacks the archive elsewhere and tests the first task, as the handout says; then everything, solved."""
    release = workspace.release
    task = coded_tasks(release.assignment)[0]
    command = ["-m", "pytest", "-m", task.marker]
    shown = "python " + " ".join(command)
    with tempfile.TemporaryDirectory(prefix="unpacked-") as name:
        with zipfile.ZipFile(io.BytesIO(release.outputs[f"dist/{STUDENT_ZIP}"])) as archive:
            archive.extractall(name)
        folder = Path(name) / ARCHIVE_FOLDER
        try:
            first = run_python([*command, *_NO_CACHE], SECONDS, folder=folder)
            if f"{release.assignment.package}/__main__.py" in release.outputs:
                shown_help = run_python(["-m", release.assignment.package, "--help"], SECONDS, folder=folder)
                if shown_help.returncode:
                    what = f"`python -m {release.assignment.package} --help` in the unpacked archive"
                    return Verdict("it does not", [f"{what} ends with {ending_of(shown_help)}"])
            if first.returncode != 1 or not shows_todo(first.stdout, release.skeleton, task):
                what = f"`{shown}` in the unpacked archive: expected failing tests that show TODO {task.number}"
                return Verdict("it does not", [f"{what}, got {ending_of(first)}"])
            for path, source in release.skeleton.sources.items():
                (folder / release.assignment.package / path).write_text(source.text, encoding="utf-8")
            solved = run_python(["-m", "pytest", "-q", *_NO_CACHE], SECONDS, folder=folder)
        except TooSlowError as error:
            return Verdict("no end", [f"{error}, in the unpacked archive"])
    if solved.returncode:
        what = "`python -m pytest` in the unpacked archive, with all solutions: expected every test to pass"
        return Verdict("it does not", [f"{what}, got {ending_of(solved)}"])
    return Verdict(f"`{shown}` shows the TODO; with all solutions every test passes")
