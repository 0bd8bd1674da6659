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

pytestmark = pytest.mark.slow

CONFIG = """
load_subconfig("nbgrader_config.py", path={real!r})
c.CourseDirectory.root = {root!r}
"""


class Round:
    """A course's folder, and nbgrader's commands in it."""

    def __init__(self, root: Path, course) -> None:
        self.root = root
        (root / "nbgrader_config.py").write_text(CONFIG.format(real=str(ROOT / "notebooks"), root=str(root)))
        write(root / "source" / NAME, course.source)
        programs = str(Path(sys.executable).parent)
        # Nothing of the user's own settings; torch's threads as everywhere.
        self.environment = {
            "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
            "HOME": str(root),
            "JUPYTER_PLATFORM_DIRS": "1",
            "OMP_NUM_THREADS": "1",
        }

    def nbgrader(self, *arguments: str) -> str:
        return self.run("nbgrader", *arguments)

    def grade(self, submission: Path, student: str) -> str:
        options = ["--to-nbgrader", str(self.root), "--student", student, "--results", str(self.root / "r.json")]
        return self.run(sys.executable, "-m", "autograder", "grade", str(submission), *options, cwd=ROOT)

    def run(self, *command: str, cwd: Path | None = None) -> str:
        finished = subprocess.run(
            command, cwd=cwd or self.root, env=self.environment, capture_output=True, text=True, timeout=600
        )
        said = finished.stdout + finished.stderr
        assert finished.returncode == 0, said[-3000:]
        return said

    def exported(self, *options: str) -> dict[str, dict[str, str]]:
        """What nbgrader exports, by student; it has one row for each notebook handed in or not."""
        self.nbgrader("export", "--to", str(self.root / "grades.csv"), *options)
        rows = csv.DictReader(io.StringIO((self.root / "grades.csv").read_text()))
        return {row["student_id"]: row for row in rows if row["assignment"] == NAME}


def write(folder: Path, files) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


@pytest.fixture(scope="module")
def course_round(course, tmp_path_factory) -> Round:
    """Generated, handed in by three students, collected and graded by nbgrader itself."""
    made = Round(tmp_path_factory.mktemp("course"), course)
    made.nbgrader("generate_assignment", NAME)
    solved, left_open = (
        {path: content for path, content in files.items() if path.endswith(".ipynb")}
        for files in (course.source, course.release)
    )
    translations = "\n".join(read_references(ROOT / "data/private/fren.test.bpe")).encode()
    first, second = "1_building_blocks.ipynb", "2_layers_and_model.ipynb"
    write(made.root / "submitted" / "solved" / NAME, {**solved, "translations.txt": translations})
    write(made.root / "submitted" / "open" / NAME, left_open)
    archives = made.root / "downloaded" / NAME / "archive"
    archives.mkdir(parents=True)
    with zipfile.ZipFile(archives / "half.zip", "w") as archive:
        archive.writestr(f"notebooks/{first}", solved[first])
        archive.writestr(f"notebooks/{second}", left_open[second])  # what is not handed in counts as nothing
        archive.writestr("notebooks/.ipynb_checkpoints/old.ipynb", left_open[second])
        archive.writestr("notebooks/translations.txt", "nothing like it\n" * 971)
    made.nbgrader("zip_collect", NAME)
    made.nbgrader("autograde", NAME)
    return made


def test_an_archive_of_the_whole_folder_is_collected_with_its_translations(course_round) -> None:
    collected = {path.name for path in (course_round.root / "submitted" / "half" / NAME).iterdir()}
    assert {"1_building_blocks.ipynb", "2_layers_and_model.ipynb", "translations.txt"} <= collected
    assert "old.ipynb" not in collected
    assert {path.name for path in (course_round.root / "submitted").iterdir()} == {"solved", "open", "half"}


def test_nbgrader_generates_what_make_release_ships(course_round, course) -> None:
    for path, content in course.release.items():
        assert (course_round.root / "release" / NAME / path).read_bytes() == content


def test_everyone_earns_their_share(course_round) -> None:
    """All but BLEU, whose references nbgrader does not have; tasks 1.1 to 1.5; nothing."""
    scores = {student: float(row["score"]) for student, row in course_round.exported().items()}
    assert scores == {"solved": 90.0, "half": 48.0, "open": 0.0}


def test_feedback_is_made_for_all(course_round) -> None:
    course_round.nbgrader("generate_feedback", NAME)
    page = course_round.root / "feedback" / "half" / NAME / "1_building_blocks.html"
    assert re.search(r"1\.4 Layer normalisation: (\d+) of \1 tests pass, 10 of 10 points", page.read_text())
    page = course_round.root / "feedback" / "half" / NAME / "2_layers_and_model.html"
    assert "TODO 2.1" in page.read_text()


class TestOurMarks:
    def test_they_are_in_export_and_feedback(self, course_round) -> None:
        course_round.grade(course_round.root / "submitted" / "solved" / NAME, "solved")
        assert float(course_round.exported()["solved"]["score"]) == 100.0
        course_round.nbgrader("generate_feedback", NAME, "--student", "solved", "--force")
        folder = course_round.root / "feedback" / "solved" / NAME
        assert "passed: 5 of 5 points" in (folder / "3_training_and_translation.html").read_text()

    def test_python_files_are_as_good_as_notebooks(self, course_round, tmp_path) -> None:
        """A fault in one part, in files: the share of its task, and the message in the feedback."""
        for path in (ROOT / "reference").glob("*.py"):
            text = path.read_text()
            (tmp_path / path.name).write_text(text.replace(" * math.sqrt(self.d_model)", ""))
        course_round.grade(tmp_path, "files")
        assert float(course_round.exported()["files"]["score"]) == 86.0
        notebook = json.loads((course_round.root / "autograded/files" / NAME / "1_building_blocks.ipynb").read_text())
        cells = {cell["id"]: cell for cell in notebook["cells"]}
        assert "failed: 0 of 4 points" in cells["test_1_1"]["outputs"][0]["text"]
        assert "nn.Embedding(vocab_size, d_model)" in cells["task_1_1_InputEmbedding"]["source"]
