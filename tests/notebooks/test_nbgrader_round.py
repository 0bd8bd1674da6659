"""nbgrader's whole round with its own commands, and our sandboxed marks in its gradebook."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.scoring import read_references
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

NAME = read_assignment().name
FIRST = "1_building_blocks.ipynb"

pytestmark = pytest.mark.slow

CONFIG = """
load_subconfig("nbgrader_config.py", path={real!r})
c.CourseDirectory.root = {root!r}
"""


class Round:
    """A course's folder, and nbgrader's commands in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "nbgrader_config.py").write_text(CONFIG.format(real=str(ROOT / "notebooks"), root=str(root)))
        programs = str(Path(sys.executable).parent)
        # Nothing of the user's own settings; torch's threads as everywhere.
        self.environment = {
            "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
            "HOME": str(root),
            "JUPYTER_PLATFORM_DIRS": "1",
            "OMP_NUM_THREADS": "1",
        }

    def run(self, *command: str, cwd: Path | None = None) -> None:
        finished = subprocess.run(
            command, cwd=cwd or self.root, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert finished.returncode == 0, (finished.stdout + finished.stderr)[-3000:]

    def scores(self) -> dict[str, float]:
        """What nbgrader exports, by student; it has one row for each notebook handed in or not."""
        self.run("nbgrader", "export", "--to", str(self.root / "grades.csv"))
        rows = csv.DictReader(io.StringIO((self.root / "grades.csv").read_text()))
        return {row["student_id"]: float(row["score"]) for row in rows if row["assignment"] == NAME}

    def feedback(self, student: str, name: str) -> str:
        self.run("nbgrader", "generate_feedback", NAME, "--student", student, "--force")
        return (self.root / "feedback" / student / NAME / f"{name}.html").read_text()


@pytest.fixture(scope="module")
def course_round(course, tmp_path_factory) -> Round:
    """Generated, handed in by one student, collected and graded by nbgrader itself."""
    made = Round(tmp_path_factory.mktemp("course"))
    for path, content in course.source.items():
        target = made.root / "source" / NAME / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    made.run("nbgrader", "generate_assignment", NAME)
    archives = made.root / "downloaded" / NAME / "archive"
    archives.mkdir(parents=True)
    with zipfile.ZipFile(archives / "half.zip", "w") as archive:
        archive.writestr(f"notebooks/{FIRST}", course.source[FIRST])
        archive.writestr("notebooks/.ipynb_checkpoints/old.ipynb", course.release[FIRST])
        archive.writestr("notebooks/translations.txt", "nothing like it\n" * 971)
    made.run("nbgrader", "zip_collect", NAME)
    made.run("nbgrader", "autograde", NAME)
    return made


def test_nbgrader_generates_what_make_release_ships(course_round, course) -> None:
    for path, content in course.release.items():
        assert (course_round.root / "release" / NAME / path).read_bytes() == content


def test_an_archive_is_collected_and_graded(course_round) -> None:
    collected = {path.name for path in (course_round.root / "submitted" / "half" / NAME).iterdir()}
    assert {FIRST, "translations.txt"} <= collected and "old.ipynb" not in collected
    graded = (course_round.root / "autograded" / "half" / NAME / FIRST).read_text()
    assert re.search(r"1\.4 Layer normalisation: (\d+) of \1 tests pass, 10 of 10 points", graded)


def test_marks_are_in_export_and_feedback(course_round, tmp_path) -> None:
    """Those of nbgrader: tasks 1.1 to 1.6. Ours, of Python files: all but the share of a part with a fault."""
    folder = tmp_path / "class" / "files"
    folder.mkdir(parents=True)
    for path in (ROOT / "reference").glob("*.py"):
        (folder / path.name).write_text(path.read_text().replace(" * math.sqrt(self.d_model)", ""))
    translations = "\n".join(read_references(ROOT / "data/private/fren.test.bpe"))
    (folder / "translations.txt").write_text(translations)
    options = ["--to-nbgrader", str(course_round.root), "--output", str(tmp_path / "marks")]
    course_round.run(sys.executable, "-m", "autograder", "grade-class", str(folder.parent), *options, cwd=ROOT)
    assert course_round.scores() == {"half": 52.0, "files": 104.0}, "with the bonus of E.6"
    notebook = json.loads((course_round.root / "autograded/files" / NAME / FIRST).read_text())
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    assert "failed: 2 of 4 points" in cells["test_1_1"]["outputs"][0]["text"]
    assert "nn.Embedding(vocab_size, d_model)" in cells["task_1_1_InputEmbedding"]["source"]
    assert "passed: 5 of 5 points" in course_round.feedback("files", "3_training_and_translation")
