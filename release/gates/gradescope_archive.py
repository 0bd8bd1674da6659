"""Gate: what is uploaded to Gradescope grades: unpacked elsewhere, it gives the reference every point."""

import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path

from ..archives.audience import GRADESCOPE_ZIP
from ..archives.gradescope import ENTRY, GRADER_ARCHIVE
from ..skeleton.build import coded_tasks
from .child_process import TooSlowError, ending_of, run_python
from .class_grading import Mark, full_marks
from .running import Verdict, Workspace

SECONDS = 300
MODULE = ENTRY.removesuffix("/__main__.py").replace("/", ".")


def gradescope_grades(workspace: Workspace) -> Verdict:
    """Unpacks the archive as Gradescope and `setup.sh` do, and runs the program that `run_autograder` calls."""
    release = workspace.release
    with tempfile.TemporaryDirectory(prefix="gradescope-") as name:
        root = Path(name)
        with zipfile.ZipFile(io.BytesIO(release.outputs[f"dist/{GRADESCOPE_ZIP}"])) as archive:
            archive.extractall(root / "source")  # noqa: S202 (packed by this build)
        with tarfile.open(root / "source" / GRADER_ARCHIVE) as inner:
            if hasattr(tarfile, "data_filter"):  # the first releases of Python 3.11 have no filters
                inner.extraction_filter = tarfile.data_filter
            inner.extractall(root / "source")  # noqa: S202 (packed by this build)
        for path, source in release.skeleton.sources.items():
            (root / "submission" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "submission" / path).write_text(source.text, encoding="utf-8")
        try:
            finished = run_python(["-s", "-m", MODULE, "--root", str(root)], SECONDS, folder=root / "source")
            marks = _read_results(root / "results" / "results.json")
        except TooSlowError as error:
            return Verdict("no result", [f"{error}, in the unpacked archive"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"`python -m {MODULE}` in the unpacked archive left no usable results ({type(error).__name__})"
            return Verdict("no result", [f"{what}; {ending_of(finished)}"])
    return full_marks(marks, coded_tasks(release.assignment))


def _read_results(path: Path) -> dict[str, Mark]:
    """The marks in Gradescope's `results.json`, by number of the task; a task without a mark has no score there."""
    rows = json.loads(path.read_text(encoding="utf-8"))["tests"]
    return {
        str(row["number"]): Mark(
            float(row.get("score", 0)), str(row.get("status", "without a mark")), str(row.get("output") or "")
        )
        for row in rows
    }
