"""nbgrader's whole round with its own commands, and our sandboxed marks in its gradebook.

All marks of a student are written or none. Slips are named in one line before anything is graded.
"""

import csv
import html
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from nbconvert.filters import markdown2html

from autograder.__main__ import main
from autograder.classroom.marks import Decision, mark_of
from autograder.grading.record import Record, new_record
from autograder.grading.scoring import read_references
from autograder.platforms.platform import Student
from autograder.reports.gradebook import Gradebook, _filled
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import LatePolicy
from foundation.command_line import UserError
from foundation.places import ROOT
from release.gates import write_all

from ..autograder.conftest import judged

NAME = read_assignment().name
FIRST = "1_building_blocks.ipynb"

CONFIG = """
load_subconfig("nbgrader_config.py", path={real!r})
c.CourseDirectory.root = {root!r}
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_the_whole_round(course, tmp_path) -> None:
    """One student hands in a notebook, another files.

    Marks of nbgrader: tasks 1.1 to 1.6. Ours: BLEU, and the share of one part with a fault; the others are open.
    """
    root, files = tmp_path / "course", tmp_path / "class" / "files"
    # Nothing of the user's own settings; torch's threads as everywhere.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": path, "HOME": str(root), "JUPYTER_PLATFORM_DIRS": "1", "OMP_NUM_THREADS": "1"}

    def run(*command: str, cwd: Path = root) -> None:
        done = subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]

    write_all(course.source, root / "source" / NAME)
    (root / "nbgrader_config.py").write_text(CONFIG.format(real=str(ROOT / "notebooks"), root=str(root)))
    run("nbgrader", "generate_assignment", NAME)
    for name, content in course.release.items():
        assert (root / "release" / NAME / name).read_bytes() == content, "what make release ships"
    archives = root / "downloaded" / NAME / "archive"
    archives.mkdir(parents=True)
    with zipfile.ZipFile(archives / "half_2026-12-18T235900.zip", "w") as archive:
        archive.writestr(f"notebooks/{FIRST}", course.source[FIRST])
        archive.writestr("notebooks/.ipynb_checkpoints/old.ipynb", course.release[FIRST])
        archive.writestr("notebooks/translations.txt", "nothing like it\n" * 971)
    run("nbgrader", "zip_collect", NAME)
    run("nbgrader", "autograde", NAME)
    collected = root / "submitted" / "half" / NAME
    assert (collected / "timestamp.txt").read_text().startswith("2026-12-18 23:59:00"), "from the archive's name"
    assert {FIRST, "translations.txt"} <= {path.name for path in collected.iterdir()}
    assert not (collected / "old.ipynb").exists()
    graded = (root / "autograded" / "half" / NAME / FIRST).read_text()
    assert re.search(r"1\.4 Layer normalisation: (\d+) of \1 tests pass, 10 of 10 points", graded)

    files.mkdir(parents=True)
    embedding = (ROOT / "reference" / "embedding.py").read_text()
    (files / "embedding.py").write_text(embedding.replace(" * math.sqrt(self.d_model)", ""))
    (files / "translations.txt").write_text("\n".join(read_references(ROOT / "data/private/fren.test.bpe")))
    options = ["--to-nbgrader", str(root), "--output", str(tmp_path / "marks")]
    run(sys.executable, "-m", "autograder", "grade-class", str(files.parent), *options, cwd=ROOT)
    run("nbgrader", "export", "--to", str(tmp_path / "grades.csv"))
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    rows = [row for row in csv.DictReader(lines) if row["assignment"] == NAME]
    assert {row["student_id"]: float(row["score"]) for row in rows} == {"half": 52.0, "files": 12.0}
    assert {row["max_score"] for row in rows} == {"100.0"}
    notebook = json.loads((root / "autograded" / "files" / NAME / FIRST).read_text())
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    assert "failed: 2 of 4 points" in cells["test_1_1"]["outputs"][0]["text"]
    assert "nn.Embedding(vocab_size, d_model)" in cells["task_1_1_InputEmbedding"]["source"]
    run("nbgrader", "generate_feedback", NAME, "--student", "files", "--force")
    page = root / "feedback" / "files" / NAME / "3_training_and_translation.html"
    assert "passed: 5 of 5 points" in page.read_text()


def test_what_a_student_wrote_is_text_and_no_markup() -> None:
    """Pages of nbgrader run the scripts in a cell, and follow its links."""
    cell = {"cell_type": "markdown", "metadata": {"nbgrader": {"solution": True, "grade_id": "test_e_5"}}}
    shown = markdown2html(
        _filled(cell, {}, {}, "# It fell\n\n</pre><script>x</script> [a](javascript:x) $a<b$")["source"]
    )
    assert set(re.findall(r"<(\w+)", shown)) == {"pre"}
    assert html.unescape(shown).count("# It fell\n\n</pre><script>x</script> [a](javascript:x) $a<b$") == 1


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    (folder / "nbgrader_config.py").touch()
    return folder


@pytest.fixture
def theirs(empty_course, assignment) -> Iterator[Any]:
    """The gradebook as nbgrader sees it."""
    from nbgrader.api import Gradebook as Book

    Gradebook(str(empty_course), assignment).write("nobody", mark_of(content(assignment).judgement), None)
    with Book(f"sqlite:///{empty_course / 'gradebook.db'}") as book:
        yield book


def content(assignment, **states: str) -> Record:
    """Every part is passed but those named by their task."""
    results = judged({task.number: State(states[task.name]) for task in assignment.tasks if task.name in states})
    return new_record("anna", assignment, "0" * 16).judged(results)


@pytest.mark.slow
def test_marks_replace_those_of_an_earlier_run_but_no_humans(empty_course, assignment, theirs) -> None:
    """Where the grader dies between two marks, none of the new ones is there."""

    def score(record: Record) -> float:
        Gradebook(str(empty_course), assignment).write("anna", mark_of(record.judgement), None)
        theirs.db.expire_all()
        return theirs.find_submission(NAME, "anna").score

    whole = content(assignment)
    assert score(whole) == 100.0
    notebooks = theirs.find_assignment(NAME).notebooks
    answers = {cell.name for notebook in notebooks for cell in notebook.solution_cells}
    assert {"task_1_1_InputEmbedding", "task_2_3_Encoder"} <= answers, "to which people can add comments"
    assert score(content(assignment, attention="failed", layer_norm="timeout")) == 76.0
    assert score(whole) == 100.0
    parts = list(whole.judgement.parts)
    parts[0] = parts[0].changed(state=State.FAILED, score=0.0)
    parts[7] = parts[7].model_copy(update={"score": "half of them"})
    with pytest.raises(UserError, match="could not convert string to float"):
        score(whole.changed(judgement=whole.judgement.model_copy(update={"parts": tuple(parts)})))
    theirs.db.expire_all()
    assert theirs.find_submission(NAME, "anna").score == 100.0

    def waiting() -> list[str]:
        notebooks = theirs.find_submission(NAME, "anna").notebooks
        return [grade.cell.name for notebook in notebooks for grade in notebook.grades if grade.needs_manual_grade]

    assert score(content(assignment, attention="grader error")) == 86.0 and waiting() == ["test_1_2"]
    theirs.find_grade("test_1_2", "1_building_blocks", NAME, "anna").manual_score = 9.0
    theirs.db.commit()
    assert score(whole) == 95.0, "what a human gave stands until a human changes it"
    assert waiting() == ["test_1_2"]


@pytest.mark.parametrize("course", ["", "nowhere"])
def test_what_is_no_course_is_one_line(tmp_path, monkeypatch, capsys, course) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class" / "anna").mkdir(parents=True)
    assert main(["grade-class", "class", "--to-nbgrader", course]) == 2
    line = capsys.readouterr().err
    assert f"--to-nbgrader {course}: is not an nbgrader course (it has no" in line and line.count("\n") == 1


@pytest.mark.slow
def test_the_gradebook_says_what_the_summary_says(empty_course, assignment, theirs) -> None:
    """With late days, decisions on the whole, and a time that nobody knows; the bonus is extra credit."""
    book, zone = Gradebook(str(empty_course), assignment), timezone(timedelta(hours=1))
    policy = LatePolicy(due=datetime(2026, 12, 18, tzinfo=UTC), percent_per_day=20.0)
    judgement = content(assignment, attention="failed").judgement

    def decision(kind: str, value: float) -> dict:
        return {(kind, ""): Decision(student="x", kind=kind, value=value, text="x", by="tina")}

    cases = {
        "on_time": ({"submitted": policy.due}, {}),
        "late": ({"submitted": (policy.due + timedelta(hours=30)).astimezone(zone)}, {}),
        "unknown": ({"unread_time": "none"}, {}),
        "oral": ({"submitted": policy.due + timedelta(hours=30)}, decision("points", 71.0)),
        "excused": ({"submitted": policy.due}, decision("excused", 1)),
    }
    for student, (time, decided) in cases.items():
        member = Student(id=student, name="Ana, de la Cruz", ids={"email": "a@x"}, **time)
        for mark in (
            mark_of(content(assignment).judgement),  # an earlier run gave all points
            mark_of(judgement, decided, policy, member),
        ):
            book.write(student, mark, None, member)
    theirs.db.expire_all()
    known, submission = theirs.find_student("late"), theirs.find_submission(NAME, "late")
    assert (known.first_name, known.last_name, known.email) == ("Ana de la", "Cruz", "a@x")
    assert submission.timestamp == datetime(2026, 12, 19, 6)  # noqa: DTZ001  nbgrader's are UTC, and do not say so

    def net(student: str) -> float:
        submission = theirs.find_submission(NAME, student)
        return round(submission.score - submission.late_submission_penalty, 2)

    assert {name: net(name) for name in cases} == {"on_time": 86, "late": 51.6, "unknown": 0, "oral": 71, "excused": 0}
    assert theirs.find_submission(NAME, "late").max_score == 100
    assert book.take_back(["late", "nobody-there"]) == ["late"]
    theirs.db.expire_all()
    assert net("late") == 0
