"""Each platform's download the whole way: taken in, graded in the sandbox, marks and feedback back to the platform.

The assignment is the small one of `tests/example`.
"""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom import grading as class_grading
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.skeleton import make_skeleton, read_folder

from .conftest import opening_with

EXAMPLE = ROOT / "tests" / "example"
ASSIGNMENT = EXAMPLE / "autograder" / "assignment"
FILES = ("affine.py", "loss.py", "regressor.py")

pytestmark = pytest.mark.usefixtures("fixed_secret")


def answers(fault: bool = False) -> dict[str, str]:
    """The files of a right submission, or of one without the bias."""
    texts = {name: (EXAMPLE / "reference" / name).read_text() for name in FILES}
    if fault:
        texts["affine.py"] = texts["affine.py"].replace("x @ self.weight + self.bias", "x @ self.weight")
    return texts


def packed(texts: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return content.getvalue()


def put(path: Path, content: str | bytes | dict[str, str]) -> None:
    """Writes a file, or a folder of files."""
    if isinstance(content, dict):
        for name, text in content.items():
            put(path / name, text)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def canvas(folder: Path) -> str:
    for number, (name, text) in enumerate(answers().items()):
        put(folder / f"smithanna_11_{70 + number}_{name}", text)
    put(folder / "smithanna_11_60_affine-1.py", "raise ValueError('the second of three uploads')\n")
    (folder / "smithanna_11_70_affine.py").rename(folder / "smithanna_11_70_affine-2.py")
    put(folder / "bergbob_LATE_12_73_hand_in.zip", packed(answers(fault=True)))
    put(folder / "stranger_99_74_work.zip", packed(answers()))
    put(folder / "grades.csv", "a,b\n")
    return (
        "Student,ID,SIS User ID,SIS Login ID,Section,A small regression by hand (7),Current Score\n"
        "    Points Possible,,,,,10,(read only)\n"
        '"Smith, Anna",11,u1,as,Lecture,,\n"Berg, Bob",12,u2,bb,Lecture,,\n"Clark, Carl",13,u3,cc,Lecture,55,\n'
    )


def moodle(folder: Path) -> str:
    put(folder / "Anna Smith_101_assignsubmission_file_", answers())
    put(folder / "Bob Berg_102_assignsubmission_file_" / "work.zip", packed(answers(fault=True)))
    put(folder / "Carl Clark_103_assignsubmission_onlinetext_" / "onlinetext.html", "<p>Here it is</p>")
    put(folder / "Dora Stranger_999_assignsubmission_file_" / "work.zip", packed(answers()))
    return (
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments\n"
        "Participant 101,Anna Smith,a@uni.example,Submitted,,10.00,-,\n"
        "Participant 102,Bob Berg,b@uni.example,Submitted,,10.00,-,\n"
        'Participant 103,Carl Clark,c@uni.example,,5.00,10.00,"Monday, 2 November 2026, 3:04 PM",by hand\n'
    )


def gradescope(folder: Path) -> str:
    put(folder / "submission_1", answers())
    put(folder / "submission_2", answers(fault=True))
    put(folder / "submission_3", {"notes.txt": "not mentioned"})
    put(
        folder / "submission_metadata.yml",
        "submission_1:\n  :submitters:\n  - :name: Anna Smith\n    :sid: u1\n  :created_at: 2026-11-02 17:34:00 Z\n"
        "submission_2:\n  :submitters:\n  - :name: B. Berg\n    :sid: u2\n  - :name: Eve Evans\n    :sid: u5\n",
    )
    return (
        "First Name,Last Name,SID,Email,Sections\nAnna,Smith,u1,,1\nBob,Berg,u2,,1\nCarl,Clark,u3,,1\nEve,Evans,u5,,2\n"
    )


def plain(folder: Path) -> str:
    put(folder / "anna", answers())
    put(folder / "bob.zip", packed(answers(fault=True)))
    put(folder / "README.md", "what this is")
    return "id,name,e-mail\nanna,Anna Smith,\nbob,Bob Berg,\ncarl,Carl Clark,\n"


LAYOUTS = {one.__name__: one for one in (canvas, moodle, gradescope, plain)}


@pytest.fixture(scope="module")
def grade(tmp_path_factory):
    """Grades a download by the true grader, whose zygote is started once; the status, and the folder of marks."""
    skeleton = tmp_path_factory.mktemp("release")
    for name, content in make_skeleton(
        read_folder(EXAMPLE / "reference"), read_assignment(ASSIGNMENT), "reference"
    ).files.items():
        (skeleton / name).write_bytes(content)
    patch = pytest.MonkeyPatch()
    with Zygote(read_assignment(ASSIGNMENT)) as zygote:
        patch.setattr(class_grading, "open_grader", opening_with(zygote))

        def run(folder: Path, *options: object) -> tuple[int, Path]:
            marks = folder.parent / "marks"
            arguments = ["grade-class", folder, "--output", marks, "--assignment", ASSIGNMENT, "--release", skeleton]
            return main([*map(str, arguments), "--jobs", "1", *map(str, options)]), marks

        yield run
    patch.undo()


def rows_of(path: Path) -> list[dict[str, str]]:
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf"), "spreadsheets take it for UTF-8"
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("layout", ["plain", *(pytest.param(name, marks=pytest.mark.slow) for name in [*LAYOUTS][:-1])])
def test_from_the_download_to_the_platform(layout, grade, tmp_path, capsys):
    text = LAYOUTS[layout](tmp_path / "class")
    put(tmp_path / "roster.csv", text)
    before = sorted((path, path.read_bytes()) for path in (tmp_path / "class").rglob("*") if path.is_file())
    status, marks = grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    printed = capsys.readouterr().out
    assert before == sorted((path, path.read_bytes()) for path in (tmp_path / "class").rglob("*") if path.is_file())
    assert status == (layout in ("canvas", "moodle")), "1 where a submission is nobody's"
    assert "2 submissions, mean 8.0, median 8.0, of 10" in printed, "nothing but their marks is in the mean"
    assert "nothing handed in (1): Carl Clark" in printed and "left out:" in printed
    students = {row["name"]: row for row in rows_of(marks / "summary.csv")}
    scores = {name: (row["score"], row["status"]) for name, row in students.items()}
    expected = {
        "Anna Smith": ("10.0", "graded"),
        "Bob Berg": ("6.0", "graded"),
        "Carl Clark": ("", "nothing handed in"),
    }
    assert scores == expected | ({"Eve Evans": ("6.0", "graded")} if layout == "gradescope" else {})
    assert [name for name, row in students.items() if row["late"] == "late"] == ["Bob Berg"] * (layout == "canvas")
    assert len(list((marks / "records").iterdir())) == 2
    left_out = {one["entry"]: one["reason"] for one in json.loads((marks / "summary.json").read_text())["left_out"]}
    assert left_out and all(left_out.values())
    page = (marks / "class.html").read_text()
    assert "Anna Smith" in page and "Carl Clark" in page
    if layout == "gradescope":
        assert "Bob Berg, Eve Evans" in page

    platform = layout if layout in ("canvas", "moodle") else "plain"
    options = ["--roster", str(tmp_path / "roster.csv"), "--assignment", str(ASSIGNMENT)]
    assert main(["export-marks", str(marks), "--for", platform, *options]) == 0
    assert "no score: Carl Clark (nothing handed in)" in capsys.readouterr().err
    table = rows_of(marks / "export" / f"{platform}.csv")
    with zipfile.ZipFile(marks / "export" / f"{platform}-feedback.zip") as archive:
        names = archive.namelist()
        assert all("of 10 points" in archive.read(name).decode() for name in names)
    if platform == "canvas":
        assert [list(row.values()) for row in table] == [
            ["    Points Possible", "", "", "", "", "10"],
            ["Smith, Anna", "11", "u1", "as", "Lecture", "10"],
            ["Berg, Bob", "12", "u2", "bb", "Lecture", "6"],
        ], "Carl's mark, given by hand, would be removed by an empty cell"
        assert list(table[0])[5] == "A small regression by hand (7)"
        assert names == ["bergbob_LATE_12_73_feedback.html", "smithanna_11_72_feedback.html"]
    elif platform == "moodle":
        assert [row["Grade"] for row in table] == ["10", "6", "5.00"], "Carl's line stays as it was"
        assert (
            table[1]["Feedback comments"] == "1.1 Affine map: 0 of 4 (failed)"
            and table[2]["Feedback comments"] == "by hand"
        )
        assert list(table[0]) == text.splitlines()[0].split(",")
        assert names == [f"{name}_assignfeedback_file_feedback.html" for name in ("Anna Smith_101", "Bob Berg_102")]
    else:
        scores = [row["score"] for row in table]
        assert scores == ["10", "6", "", *(["6"] if layout == "gradescope" else [])]
        assert len(names) == sum(map(bool, scores))


def test_of_two_attempts_the_last_counts_and_an_undecided_one_needs_review(grade, tmp_path, capsys):
    for attempt, fault in (("1", True), ("2", False)):
        put(tmp_path / "class" / f"submission_{attempt}", answers(fault))
    put(tmp_path / "class" / "submission_3", answers())
    put(tmp_path / "class" / "submission_4", answers())
    who = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: {}\n"
    time = "  :created_at: 2026-11-{} 17:34:00 Z\n"
    text = who.format(1, "Anna", "u1") + time.format("02") + who.format(2, "Anna", "u1") + time.format("05")
    put(tmp_path / "class" / "submission_metadata.yml", text + who.format(3, "Bob", "u2") + who.format(4, "Bob", "u2"))
    status, marks = grade(tmp_path / "class")
    printed = capsys.readouterr().out
    assert status == 1 and "needs review, since nothing tells which submission counts: Bob" in printed
    anna, bob = rows_of(marks / "summary.csv")
    assert (anna["submission"], anna["score"]) == ("submission_2", "10.0")
    assert (bob["status"], bob["score"]) == ("needs review", "") and "submission_3, submission_4" in bob["reason"]
    assert main(["export-marks", str(marks), "--for", "plain", "--assignment", str(ASSIGNMENT)]) == 0
    assert [row["score"] for row in rows_of(marks / "export" / "plain.csv")] == ["10", ""]
