"""Each platform's download the whole way: taken in, graded by a stub, marks and feedback back to the platform."""

import zipfile

import pytest

from autograder.testing.results import State, TaskResult

from ..conftest import ASSIGNMENT, StubGrader
from ..submissions import changed_assignment, rows_of

TITLE, WRONG, ZIP = ASSIGNMENT.title, "# wrong\n", "a zip of what is wrong"
CANVAS = (
    {
        "smithanna_11_70_layers.py": WRONG,
        "smithanna_11_71_layers-1.py": WRONG,
        "smithanna_11_72_layers-2.py": "# the last of three uploads\n",
        "bergbob_LATE_12_73_hand_in.zip": ZIP,
        "stranger_99_74_work.zip": ZIP,
        "grades.csv": "a,b\n",
    },
    f"Student,ID,SIS User ID,SIS Login ID,Section,{TITLE} (7),Current Score\n"
    "    Points Possible,,,,,100,(read only)\n"
    '"Smith, Anna",11,u1,as,Lecture,,\n"Berg, Bob",12,u2,bb,Lecture,,\n"Clark, Carl",13,u3,cc,Lecture,55,\n'
    '"Student, Test",9,,,Lecture,,\n',
)
MOODLE = (
    {
        "Anna Smith_101_assignsubmission_file_/layers.py": "",
        "Bob Berg_102_assignsubmission_file_/work.zip": ZIP,
        "Carl Clark_103_assignsubmission_onlinetext_/onlinetext.html": "<p>Here it is</p>",
        "Dora Stranger_999_assignsubmission_file_/work.zip": ZIP,
    },
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments\n"
    "Participant 101,Anna Smith,a@uni.example,Submitted,,100.00,-,\n"
    "Participant 102,Bob Berg,b@uni.example,Submitted,,100.00,-,\n"
    'Participant 103,Carl Clark,c@uni.example,,5.00,100.00,"Monday, 2 November 2026, 3:04 PM",by hand\n',
)
GRADESCOPE = (
    {
        "submission_1/layers.py": "",
        "submission_2/layers.py": WRONG,
        "submission_3/notes.txt": "not mentioned",
        "submission_metadata.yml": "submission_1:\n  :submitters:\n  - :name: Anna Smith\n    :sid: u1\n"
        "  :created_at: 2026-11-02 17:34:00 Z\n"
        "submission_2:\n  :submitters:\n  - :name: B. Berg\n    :sid: u2\n  - :name: Eve Evans\n    :sid: u5\n",
    },
    "First Name,Last Name,SID,Email,Sections\nAnna,Smith,u1,,1\nBob,Berg,u2,,1\nCarl,Clark,u3,,1\nEve,Evans,u5,,2\n",
)
BRIGHTSPACE = (
    {
        "31-9 - Anna Smith - Nov 2, 2026 304 PM/layers.py": WRONG,
        "31-9 - Anna Smith - Nov 2, 2026 1010 PM/layers.py": "# the later one\n",
        "32-9 - Bob Berg - Nov 3, 2026 800 AM - work.zip": ZIP,
        "index.html": "<p>all of them</p>",
        "notes.txt": "ours",
    },
    f"OrgDefinedId,Username,Last Name,First Name,{TITLE} Points Grade <Numeric MaxPoints:100>,End-of-Line Indicator\n"
    "#u1,#as,Smith,Anna,,#\n#u2,#bb,Berg,Bob,,#\n#u3,#cc,Clark,Carl,55,#\n",
)
BLACKBOARD = (
    {
        "HW_as_attempt_2026-11-02-15-04-00_layers.py": WRONG,
        "HW_as_attempt_2026-11-02-15-04-00.txt": "Name: Anna Smith (as)\nAssignment: HW\n",
        "HW_as_attempt_2026-11-02-22-10-00_layers.py": "# the later one\n",
        "HW_as_attempt_2026-11-02-22-10-00.txt": "Name: Anna Smith (as)\n",
        "HW_bb_attempt_2026-11-03-08-00-00_work.zip": ZIP,
        "HW_bb_attempt_2026-11-03-08-00-00.txt": "Name: Bob Berg (bb)\n",
        "HW_cc_attempt_2026-11-03-08-00-00.txt": "Name: Carl Clark (cc)\nComments: see my e-mail\n",
    },
    f"Last Name,First Name,Username,Student ID,{TITLE} [Total Pts: 100 Score] |4711\n"
    "Smith,Anna,as,u1,\nBerg,Bob,bb,u2,\nClark,Carl,cc,u3,55\n",
)
LAYOUTS = {"canvas": CANVAS, "moodle": MOODLE, "gradescope": GRADESCOPE}
LAYOUTS |= {"brightspace": BRIGHTSPACE, "blackboard": BLACKBOARD}
EXPORTED = {
    "canvas": f"\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,{TITLE} (7)\r\n"
    '    Points Possible,,,,,100\r\n"Smith, Anna",11,u1,as,Lecture,100\r\n"Berg, Bob",12,u2,bb,Lecture,86\r\n',
    "moodle": "\ufeff"
    + "\r\n".join(MOODLE[1].splitlines()[:1])
    + "\r\nParticipant 101,Anna Smith,a@uni.example,Submitted,100,100.00,-,all points\r\n"
    "Participant 102,Bob Berg,b@uni.example,Submitted,86,100.00,-,"
    "1.2 Scaled dot-product attention: 0 of 14 (failed)\r\n"
    'Participant 103,Carl Clark,c@uni.example,,5.00,100.00,"Monday, 2 November 2026, 3:04 PM",by hand\r\n',
    "brightspace": f"OrgDefinedId,Username,{TITLE} Points Grade <Numeric MaxPoints:100>,End-of-Line Indicator\r\n"
    "#u1,#as,100,#\r\n#u2,#bb,86,#\r\n",
    "blackboard": f"\ufeffLast Name,First Name,Username,{TITLE} [Total Pts: 100 Score] |4711\r\n"
    "Smith,Anna,as,100\r\nBerg,Bob,bb,86\r\n",
}
"""A student without a score has no line, which would remove a mark given by hand there; in Moodle's it stays."""
FEEDBACK = {
    "canvas": ["bergbob_LATE_12_73_feedback.html", "smithanna_11_72_feedback.html"],
    "moodle": ["Anna Smith_101_assignfeedback_file_feedback.html", "Bob Berg_102_assignfeedback_file_feedback.html"],
    "brightspace": [
        "31-9 - Anna Smith - Nov 2, 2026 1010 PM/feedback.html",
        "32-9 - Bob Berg - Nov 3, 2026 800 AM/feedback.html",
    ],
}


class Judging(StubGrader):
    """A wrong submission loses attention."""

    def parts(self, intake):
        yield from super().parts(intake)
        if intake.sources["layers"][1] == WRONG:
            yield [TaskResult(ASSIGNMENT.tasks[1], State.FAILED, 0.0, "why")]


@pytest.fixture
def lay(typed, use, tmp_path):
    """Writes a download, and a roster if there is one, for the commands."""
    use(Judging)
    typed.folder = tmp_path / "download"

    def write(files: dict[str, str], roster: str = "", encoding: str = "utf-8") -> None:
        for name, content in files.items():
            path = typed.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content == ZIP:
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr("layers.py", WRONG)
            else:
                path.write_text(content)
        if roster:
            (tmp_path / "roster.csv").write_text(roster, encoding=encoding)
            typed.options = ["--roster", tmp_path / "roster.csv"]

    return write


@pytest.mark.parametrize("layout", LAYOUTS)
def test_from_the_download_to_the_platform(layout, lay, typed, output):
    lay(*LAYOUTS[layout], encoding="utf-16" if layout == "blackboard" else "utf-8")
    assert typed.grade() == (layout in ("canvas", "moodle")), "1 where a submission is nobody's"
    figures = "mean 90.7, median 86.0" if layout == "gradescope" else "mean 93.0, median 93.0"
    assert f"2 submissions, {figures}, of 100" in typed.out, "nothing but their marks is in the mean"
    assert "nothing handed in (1): Carl Clark" in typed.out
    students = {row["name"]: row for row in rows_of(output / "summary.csv")}
    expected = {"Anna Smith": "100.0 graded", "Bob Berg": "86.0 graded", "Carl Clark": " nothing handed in"}
    expected |= {"Eve Evans": "86.0 graded"} if layout == "gradescope" else {}
    assert {name: f"{row['score']} {row['status']}" for name, row in students.items()} == expected
    assert [name for name, row in students.items() if row["late"] == "late"] == ["Bob Berg"] * (layout == "canvas")
    assert students["Anna Smith"]["id"] == {"moodle": "Participant 101"}.get(layout, "u1")
    assert len(list((output / "records").iterdir())) == 2
    page = (output / "class.html").read_text()
    assert ("Eve Evans</a>" in page) == (layout == "gradescope") and "Bob Berg</a>" in page and "Carl Clark" in page
    assert "Not graded" in page
    if layout not in EXPORTED:
        return
    assert typed.run("export-marks", output, "--for", layout, *typed.options) == 0
    archive = output / "export" / f"{layout}-feedback.zip"
    assert "no score: Carl Clark (nothing handed in)" in typed.err
    assert (output / "export" / f"{layout}.csv").read_bytes().decode() == EXPORTED[layout]
    assert archive.exists() == (archive.name in typed.out) == (layout in FEEDBACK)
    if layout in FEEDBACK:
        with zipfile.ZipFile(archive) as pages:
            assert pages.namelist() == FEEDBACK[layout]
            assert all("of 100 points" in pages.read(name).decode() for name in FEEDBACK[layout])


def test_a_class_as_text_and_a_group_that_shares_a_submission(lay, typed):
    files, roster = CANVAS
    lay(files, roster)
    assert typed.run("list-class", typed.folder, *typed.options) == 1
    assert typed.out.split("\n\n") == [
        f"{typed.folder}: Canvas\n2 submissions, from 2 of 3 students",
        "  bergbob_12    Bob Berg; late\n  smithanna_11  Anna Smith",
        "for you to decide:\n  stranger_99: fits no student in the roster, or not for sure, or more than one",
        "nothing handed in:\n  Carl Clark (u3)",
        "left out:\n  grades.csv: not named as Canvas names submissions\n",
    ]
    assert typed.run("list-class", typed.folder) == 0 and "3 submissions\n" in typed.out, (
        "nobody is known to be missing"
    )
    heading, *lines = roster.splitlines()
    lines = [f"{line},{'G' * ('Bob' in line or 'Carl' in line)}" for line in lines]
    lay({}, "\n".join([f"{heading},group", *lines, ""]))
    typed.grade()
    assert typed.scores() == {"u1": 100, "u2": 86, "u3": 86}


def test_of_two_attempts_the_last_counts_and_an_undecided_one_needs_review(lay, typed):
    files = {f"submission_{n}/layers.py": WRONG if n == 1 else "" for n in (1, 2, 3, 4)}
    who = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: {}\n"
    time = "  :created_at: 2026-11-{} 17:34:00 Z\n"
    text = who.format(1, "Anna", "u1") + time.format("02") + who.format(2, "Anna", "u1") + time.format("05")
    text += who.format(3, "Bob", "u2") + who.format(4, "Bob", "u2")
    lay(files | {"submission_metadata.yml": text})
    assert typed.grade() == 1
    assert "look at these first:\n  Bob: several submissions, and it is not known which" in typed.out
    anna, bob = typed.row("u1"), typed.row("u2")
    assert (anna["submission"], anna["score"]) == ("submission_2", 100)
    assert (bob["status"], bob["score"]) == ("needs review", None) and "submission_3, submission_4" in bob["reason"]


TIMES = {"anna": "2026-12-25 15:58:23 UTC", "bob": "2026-12-25 15:58:23.9 CET", "carl": "2026-12-25 17:58 +0100"}
TIMES |= {"dora": "yesterday", "eve": ""}
IN_NBGRADER = {f"submitted/{name}/transformer/layers.py": f"# {name}" for name in (*TIMES, "fay")}
IN_NBGRADER |= {f"submitted/{name}/transformer/timestamp.txt": time for name, time in TIMES.items()}
WORKSHEET = (
    "Identifier,Full name,Status,Maximum Grade,Grade,Feedback comments,Last modified (submission)\n"
    'Participant 0,Anna,Submitted,90.00,-,,"Friday, 25 December 2026, 3:00 PM"\n'
    'Participant 1,Bob,Submitted - 1 day late,90.00,-,,"Saturday, 26 December 2026, 4:10 PM"\n'
    'Participant 2,Carl,Submitted,90.00,-,,"gestern"\nParticipant 3,Dora,Submitted,90.00,-,,"-"\n'
)
IN_MOODLE = {
    f"{name}_{n}_assignsubmission_file/layers.py": f"# {n}" for n, name in enumerate(("Anna", "Bob", "Carl", "Dora"))
}
LATE = {  # files, roster, due; score, late, late days; lines of `grade-class` and of `list-class`
    "nbgrader": (
        IN_NBGRADER,
        "id\nanna\nbob\ncarl\ndora\neve\nfay\n",
        "2026-12-25T15:00:00Z",
        ["90.0 late 1", "100.0 no 0", "90.0 late 1", *[" unknown "] * 3],
        ["dora: the time of submission cannot be read", "with `late` (3): dora, eve, fay\n"],
        ["the time cannot be read: 'yesterday' in timestamp.txt"],
    ),
    "moodle": (
        IN_MOODLE,
        WORKSHEET,
        "2026-12-25T15:00:00+01:00",
        ["100.0 no 0", "80.0 late 2", " unknown ", "100.0  "],
        ["\nlate (1): Bob\n", "with `late` (1): Carl\n", "so they count as on time (1): Dora\n"],
        ["Bob; 2026-12-26 16:10; 2 days late\n"],
    ),
}


@pytest.mark.parametrize("layout", LATE)
def test_no_late_penalty_is_lost_with_the_way_in_which_a_time_is_written(layout, lay, typed, output, tmp_path):
    files, roster, due, rows, graded, listed = LATE[layout]
    lay(files, roster)
    late = f"due = {due}\npercent_per_day = 10"
    typed.assignment = ["--assignment", changed_assignment(tmp_path / "assignment.toml", late=late)]
    assert typed.grade() == 1 and all(line in typed.out for line in graded)
    of_class = rows_of(output / "summary.csv")
    assert [f"{row['score']} {row['late']} {row['late_days']}" for row in of_class] == rows
    assert "the time of submission cannot be read (" in (output / "class.html").read_text()
    assert typed.run("list-class", typed.folder, *typed.options, *typed.assignment) == 1
    assert all(line in typed.out for line in listed)
    if layout == "moodle":
        assert typed.run("list-class", typed.folder, *typed.options) == 0
        assert "Bob; 2026-12-26 16:10; late\n" in typed.out, "without a due date"
