"""Gate: what is uploaded to Gradescope grades: unpacked elsewhere, it gives the reference every point."""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from ..archives.audience import GRADESCOPE_ZIP
from ..archives.gradescope import ENTRY, GRADER_ARCHIVE
from ..skeleton.build import coded_tasks
from .base import Verdict, Workspace
from .environment import clean_environment
from .grading import lost_points, rows_of

SECONDS = 300
MODULE = ENTRY.removesuffix("/__main__.py").replace("/", ".")


def gradescope_grades(workspace: Workspace) -> Verdict:
    """Unpacks the archive as Gradescope and `setup.sh` do, and runs the program that `run_autograder` calls."""
    release = workspace.release
    with tempfile.TemporaryDirectory(prefix="gradescope-") as name:
        root = Path(name)
        with zipfile.ZipFile(io.BytesIO(release.outputs[f"dist/{GRADESCOPE_ZIP}"])) as archive:
            archive.extractall(root / "source")
        with tarfile.open(root / "source" / GRADER_ARCHIVE) as archive:
            archive.extractall(root / "source", filter="data")
        (root / "submission").mkdir()
        for path, source in release.skeleton.sources.items():
            (root / "submission" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "submission" / path).write_text(source.text, encoding="utf-8")
        try:
            finished = subprocess.run(
                [sys.executable, "-s", "-m", MODULE, "--root", str(root)],
                cwd=root / "source",
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=SECONDS,
                env=clean_environment(),
            )
        except subprocess.TimeoutExpired:
            return Verdict("no result", [f"`python -m {MODULE}` took more than {SECONDS} s in the unpacked archive"])
        try:
            rows = rows_of(json.loads((root / "results" / "results.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            said = (finished.stderr.strip() or finished.stdout.strip() or "it said nothing")[-400:]
            return Verdict("no result", [f"`python -m {MODULE}` in the unpacked archive: {error!r}: {said}"])
    tasks = coded_tasks(release.assignment)
    points = sum(rows[task.number]["score"] for task in tasks if task.number in rows)
    return Verdict(f"{points:g} of {sum(task.points for task in tasks):g} points", lost_points(rows, tasks))
