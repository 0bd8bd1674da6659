"""Two gates: what students unpack works by itself, and so does what Gradescope unpacks."""

import io
import json
import tempfile
import zipfile
from pathlib import Path

from ..archives.contents import ARCHIVE_FOLDER, ENTRY
from ..archives.packing import GRADESCOPE_ZIP, STUDENT_ZIP, members_of
from ..skeleton.build import coded_tasks
from .marks import Mark, full_marks, shows_todo
from .running import Verdict, Workspace, ending_of, run_python, write_all

SECONDS = 900
MODULE = ENTRY.removesuffix(".py").replace("/", ".")
_NO_CACHE = ("-p", "no:cacheprovider")


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
        first = run_python([*command, *_NO_CACHE], SECONDS, folder)
        if first.returncode != 1 or not shows_todo(first.stdout, release.skeleton, task):
            what = f"{shown} in the unpacked archive: expected failing tests that show TODO {task.number}"
            return Verdict("it does not", [f"{what}, got {ending_of(first)}"])
        if (folder / release.assignment.package / "__main__.py").is_file():
            asks_for_help = ["-m", release.assignment.package, "--help"]
            answered = run_python(asks_for_help, SECONDS, folder)
            if answered.returncode:
                what = f"`python {' '.join(asks_for_help)}` in the unpacked archive"
                return Verdict("it does not", [f"{what} ends with {ending_of(answered)}"])
        write_all(_solutions(workspace), folder / release.assignment.package)
        solved = run_python(["-m", "pytest", "-q", *_NO_CACHE], SECONDS, folder)
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
        finished = run_python(["-s", "-m", MODULE, "--root", str(root)], SECONDS, root / "source")
        try:
            rows = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))["tests"]
            marks = {
                row["number"]: Mark(row.get("score", 0), row.get("status", ""), row.get("output") or "") for row in rows
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"`python -m {MODULE}` in the unpacked archive left no usable results ({type(error).__name__})"
            return Verdict("no result", [f"{what}; {ending_of(finished)}"])
    return full_marks(marks, coded_tasks(workspace.release.assignment))


def _solutions(workspace: Workspace) -> dict[str, bytes]:
    """The files of the reference that are handed out stripped."""
    return {path: source.text.encode() for path, source in workspace.release.skeleton.sources.items()}
