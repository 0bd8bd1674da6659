"""Each platform's download as its code or documentation has it, the whole way: read, graded by a stub, handed back."""

import zipfile
from dataclasses import dataclass, field
from datetime import UTC

import pytest

from autograder.intake.submission import take_in
from autograder.platforms.download import read_download
from autograder.platforms.platform import read_time
from foundation.command_line import UserError
from foundation.places import SKELETON

from ..conftest import ASSIGNMENT, WRONG, by_text, rows_of

TITLE = ASSIGNMENT.title


@dataclass
class Layout:
    """A download of a class: Anna's work is correct, Bob's is not, Carl has handed in no file."""

    files: dict[str, str]  # an archive holds its text as layers.py
    submissions: dict[str, list[str]]  # the people of each: `NAME IDS [late] [TIME]`
    strays: dict[str, str] = field(default_factory=dict)  # how the reasons begin
    roster: str = ""
    exported: list[str] = field(default_factory=list)  # lines of the file to import
    feedback: list[str] = field(default_factory=list)  # files in the archive


def named(*names: str) -> dict[str, str]:
    return {name: f"# {name}\n" for name in names}


CANVAS = Layout(
    {
        "smithanna_11_70_layers.py": WRONG,
        "smithanna_11_71_layers-1.py": WRONG,
        "smithanna_11_72_layers-2.py": "# the last of three uploads\n",
        "bergbob_LATE_12_73_hand_in_1_2.zip": WRONG,
        **named("clarkcarl_13_text.html", "dora_14_link.html", "grades.csv", "o_brien_3_text.html"),
        **named("anon_AbC12_98_layers.py", "LATE_anon_XyZ34_99_layers.py"),  # graded anonymously
        **named("nun\u0303ezjose\u0301_LATE_1_678_layers.py", "शर्माप्रिया_2_679_layers.py"),
    },
    {
        "anon_AbC12": [""],
        "anon_XyZ34": [" late"],
        "bergbob_12": ["bergbob 12 late"],
        "nun\u0303ezjose\u0301_1": ["nun\u0303ezjose\u0301 1 late"],
        "smithanna_11": ["smithanna 11"],
        "शर्माप्रिया_2": ["शर्माप्रिया 2"],
    },
    {
        "clarkcarl_13_text.html": "a text entry, which only",
        "dora_14_link.html": "a link",
        "grades.csv": "not named as Canvas",
        "o_brien_3_text.html": "a text entry",
    },
    f"Student,ID,SIS User ID,SIS Login ID,Section,{TITLE} (7),Current Score\n"
    "    Points Possible,,,,,100,(read only)\n"
    '"Smith, Anna",11,u1,as,Lecture,,\n"Berg, Bob",12,u2,bb,Lecture,,\n"Clark, Carl",13,u3,cc,Lecture,55,\n'
    '"Student, Test",9,,,Lecture,,\n',
    [
        f"\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,{TITLE} (7)",
        "    Points Possible,,,,,100",
        '"Smith, Anna",11,u1,as,Lecture,100',
        '"Berg, Bob",12,u2,bb,Lecture,86',
    ],
    ["bergbob_LATE_12_73_feedback.html", "smithanna_11_72_feedback.html"],
)
MOODLE_HEADING = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments"
MOODLE = Layout(
    {
        "Bob Berg_102_assignsubmission_file_/work.zip": WRONG,
        **named("Anna Smith_101_assignsubmission_file/layers.py", "README.txt"),
        **named("Bob Berg_102_assignsubmission_onlinetext/onlinetext.html"),
        **named("Carl Clark_103_assignsubmission_onlinetext_/onlinetext.html"),
        **named("Default group_assignsubmission_file/layers.py", "Eve_105_assignsubmission_file_work_2.zip"),
        **named(*(f"Dora_104_assignsubmission_file_{name}" for name in ("layers.py", "attention.py"))),
    },
    {
        "Anna Smith_101_assignsubmission_file": ["Anna Smith 101"],
        "Bob Berg_102_assignsubmission_file_": ["Bob Berg 102"],
        "Default group_assignsubmission_file": ["Default group"],
        "Dora_104": ["Dora 104"],
        "Eve_105": ["Eve 105"],
    },
    {
        "Bob Berg_102_assignsubmission_onlinetext": "a text typed into Moodle",
        "Carl Clark_103_assignsubmission_onlinetext_": "a text typed into Moodle",
        "README.txt": "not named as Moodle",
    },
    f"{MOODLE_HEADING}\n"
    "Participant 101,Anna Smith,a@uni.example,Submitted,,100.00,-,\n"
    "Participant 102,Bob Berg,b@uni.example,Submitted,,100.00,-,\n"
    'Participant 103,Carl Clark,c@uni.example,,5.00,100.00,"Monday, 2 November 2026, 3:04 PM",by hand\n',
    [
        f"\ufeff{MOODLE_HEADING}",
        "Participant 101,Anna Smith,a@uni.example,Submitted,100,100.00,-,all points",
        "Participant 102,Bob Berg,b@uni.example,Submitted,86,100.00,-,"
        "1.2 Scaled dot-product attention: 0 of 14 (failed)",
    ],
    ["Anna Smith_101_assignfeedback_file_feedback.html", "Bob Berg_102_assignfeedback_file_feedback.html"],
)
METADATA = """\
submission_1:
  :submitters:
  - :name: Anna Smith
    :sid: '007'
    :email: anna@uni.example
  :created_at: 2026-11-02 17:34:00 Z
  :results:
    output: |-
      not: "- valid"
submission_2:
  :submitters:
  - :name: B. Berg
    :sid: 8
  - :name: Eve Evans
    :sid: '9'
submission_3:
  :submitters: []
submission_4:
  :submitters: []
"""
GRADESCOPE = Layout(
    {
        **named("submission_1/layers.py", "submission_3/layers.py", "submission_9/layers.py"),
        "submission_2/layers.py": WRONG,
        "submission_metadata.yml": METADATA,
    },
    {
        "submission_1": ["Anna Smith 007 anna@uni.example 2026-11-02T17:34:00+00:00"],
        "submission_2": ["B. Berg 8", "Eve Evans 9"],
        "submission_3": [],
    },
    {"submission_4": "mentioned in the metadata, but not there", "submission_9": "not mentioned in the metadata"},
    "First Name,Last Name,SID,Email,Sections\nAnna,Smith,007,,1\nBob,Berg,8,,1\nCarl,Clark,u3,,1\nEve,Evans,9,,2\n",
)
BRIGHTSPACE = Layout(
    {
        "31-9 - Anna-Lena Smith - Oct 3, 2026 1145 PM/layers.py": WRONG,
        "32-9 - Bob Berg - Oct 5, 2026 1200 PM - work.zip": WRONG,
        **named(*(f"31-9 - Anna-Lena Smith - Oct 4, 2026 905 AM/{name}" for name in ("layers.py", "model.py"))),
        **named("33-9 - Group 3- Oct 5, 2026 1200 PM/work.zip", "index.html", "grades.csv"),
        **named(*(f"7-9 - Eve - Oct 3, 2026 1145 PM - {name}" for name in ("layers.py", "a - b.py", "c.zip"))),
    },
    {
        "31-9 - Anna-Lena Smith - Oct 3, 2026 1145 PM": ["Anna-Lena Smith 31 2026-10-03T23:45:00"],
        "31-9 - Anna-Lena Smith - Oct 4, 2026 905 AM": ["Anna-Lena Smith 31 2026-10-04T09:05:00"],
        "32-9 - Bob Berg - Oct 5, 2026 1200 PM": ["Bob Berg 32 2026-10-05T12:00:00"],
        "33-9 - Group 3- Oct 5, 2026 1200 PM": ["Group 3 33 2026-10-05T12:00:00"],
        "7-9 - Eve - Oct 3, 2026 1145 PM": ["Eve 7 2026-10-03T23:45:00"],
    },
    {"grades.csv": "not named as Brightspace"},
    f"OrgDefinedId,Username,Last Name,First Name,{TITLE} Points Grade <Numeric MaxPoints:100>,End-of-Line Indicator\n"
    "#u1,#as,Smith,Anna-Lena,,#\n#u2,#bb,Berg,Bob,,#\n#u3,#cc,Clark,Carl,55,#\n",
    [
        f"OrgDefinedId,Username,{TITLE} Points Grade <Numeric MaxPoints:100>,End-of-Line Indicator",
        "#u1,#as,100,#",
        "#u2,#bb,86,#",
    ],
    [
        "31-9 - Anna-Lena Smith - Oct 4, 2026 905 AM/feedback.html",
        "32-9 - Bob Berg - Oct 5, 2026 1200 PM/feedback.html",
    ],
)
BLACKBOARD = Layout(
    {
        "HW_1_as_attempt_2026-11-02-15-04-00_layers.py": WRONG,
        "HW_1_von_berg_attempt_2026-11-03-08-00-00_a.zip": WRONG,
        "HW_1_von_berg_attempt_2026-11-03-08-00-00.txt": "Name: Bob Berg (von_berg)\nComments: (anna)\n",
        **named(*(f"HW_1_as_attempt_2026-11-02-22-10-00{end}" for end in ("_layers.py", "_my_model.py", ".txt"))),
        **named("HW_1_cc_attempt_2026-11-03-08-00-00.txt", "notes.pdf"),
    },
    {
        "HW_1_as_attempt_2026-11-02-15-04-00": [" as as 2026-11-02T15:04:00"],
        "HW_1_as_attempt_2026-11-02-22-10-00": [" as as 2026-11-02T22:10:00"],
        "HW_1_von_berg_attempt_2026-11-03-08-00-00": ["Bob Berg von_berg von_berg 2026-11-03T08:00:00"],
    },
    {"HW_1_cc_attempt_2026-11-03-08-00-00.txt": "an attempt without a file", "notes.pdf": "not named as Blackboard"},
    f"Last Name,First Name,Username,Student ID,{TITLE} [Total Pts: 100 Score] |4711\n"
    "Smith,Anna,as,u1,\nBerg,Bob,von_berg,u2,\nClark,Carl,cc,u3,55\n",
    [
        f"\ufeffLast Name,First Name,Username,{TITLE} [Total Pts: 100 Score] |4711",
        "Smith,Anna,as,100",
        "Berg,Bob,von_berg,86",
    ],
)
PACKAGE = "plain, with the package's own folder"
LAYOUTS = {
    "canvas": CANVAS,
    "moodle": MOODLE,
    "gradescope": GRADESCOPE,
    "brightspace": BRIGHTSPACE,
    "blackboard": BLACKBOARD,
    "nbgrader": Layout(
        {
            **named(*(f"{name}/hw/layers.py" for name in ("anna", "bob", "dora")), "carl/.keep"),
            **dict.fromkeys(("anna/hw/timestamp.txt", "dora/hw/timestamp.txt"), "2026-11-02 15:58:23.948203 UTC"),
        },
        {
            "anna": [" anna 2026-11-02T15:58:23.948203+00:00"],
            "bob": [" bob"],
            "dora": [" dora 2026-11-02T15:58:23.948203+00:00"],
        },
        {"carl": "no assignment's folder in it, or not readable"},
    ),
    "git": Layout(
        {
            **named(*(f"hw-1-{name}/layers.py" for name in ("ann-s", "bob", "carl", "dan")), "old/x", "scores.csv"),
            **named(*(f"{name}/.git/HEAD" for name in ("hw-1-ann-s", "hw-1-bob", "hw-1-dan", "sandbox"))),
        },
        {f"hw-1-{name}": [f" {name}"] for name in ("ann-s", "bob", "carl", "dan")},
        {"old": "not named hw-1-", "sandbox": "not named hw-1-", "scores.csv": "a file beside the clones"},
    ),
    "plain": Layout(
        named("anna/layers.py", "bob.zip", "README.md", "grades.csv", "__later/x"),
        {"anna": ["anna anna"], "bob.zip": ["bob bob"]},
        {"README.md": "neither a folder", "grades.csv": "neither a folder", "__later": "a hidden name"},
    ),
    PACKAGE: Layout(
        named("anna/student/layers.py", "bob/student/layers.py"), {"anna": ["anna anna"], "bob": ["bob bob"]}
    ),
}


def read(folder, layout=None):
    return read_download(folder, ASSIGNMENT, layout)


@pytest.mark.parametrize("case", LAYOUTS)
def test_a_download(lay, case):
    """Submissions with their people and times, and strays with their reasons; each submission can be taken in."""
    layout = LAYOUTS[case]
    download = read(lay(layout.files))
    assert download.layout == case.partition(",")[0]
    shown = {}
    for each in download.submissions:
        more = ["late"] * bool(each.is_late) + ([each.submitted.isoformat()] if each.submitted else [])
        shown[each.entry] = [" ".join([who.name, *who.ids.values(), *more]) for who in each.people]
        assert "layers" in take_in(each.source, SKELETON, ASSIGNMENT).submitted
    assert shown == layout.submissions
    assert {each.entry: each.reason[: len(layout.strays[each.entry])] for each in download.strays} == layout.strays


@pytest.mark.parametrize(
    ("case", "intruder"),
    [
        ("canvas", "eve_104_2004_x_assignsubmission_file_a.zip"),
        ("canvas", "submission_metadata.yml"),
        ("moodle", "Eve_104_assignsubmission_file_1_2_layers.py"),
        ("plain", "eve_1_2_layers.zip"),
        (PACKAGE, "bob/student/timestamp.txt"),
        ("plain", "hw-eve/.git/HEAD"),
    ],
)
def test_no_student_decides_on_the_layout(lay, case, intruder):
    """Names that a student chooses may look like another platform's; the others' work counts as before."""
    before = read(lay(LAYOUTS[case].files))
    after = read(lay({intruder: "2026-11-02 15:58:23 UTC"}))
    assert before.layout == after.layout == case.partition(",")[0]
    assert {each.entry for each in before.submissions} <= {each.entry for each in after.submissions}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-25 15:58:23.948203 CET", "14:58:23.948203"),
        ("2026-12-25 15:58:23 EST", "20:58:23"),
        ("2026-12-25T15:58:23.948203+05:30", "10:28:23.948203"),
        ("2026-12-25 15:58:23", "15:58:23"),
        ("25 Dec 2026 03:58 PM", "15:58:00"),
        *((text, None) for text in ("2026-12-25 15:58:23 XYZ", "yesterday", "")),
        *((text, None) for text in ("2026-12-25 15:58:23 UTC+1", "15:58", "2026-12-25" + " " * 100)),
    ],
)
def test_a_time_is_read_as_nbgrader_reads_it_or_for_a_person_to_decide(text, expected):
    time = read_time(text)
    assert (time and time.time().isoformat()) == expected and (time is None or time.tzinfo == UTC)


def test_clones_without_their_history_are_known_by_the_layout_that_is_named(lay):
    submissions = read(lay(named("hw-anna/layers.py", "hw-bob/layers.py")), "git").submissions
    assert [each.people[0].ids["github"] for each in submissions] == ["anna", "bob"]


@pytest.mark.parametrize("case", ["canvas", "plain"])
def test_one_extra_folder_around_the_submissions_is_passed(lay, case):
    download = read(lay({f"sub/{name}": text for name, text in LAYOUTS[case].files.items()}))
    assert {each.entry for each in download.submissions} == LAYOUTS[case].submissions.keys()


@pytest.mark.parametrize(
    ("names", "layout", "words"),
    [
        (["anna_1_2_layers.py", "bob_2_3_layers.py"], "plain", "no submission in it"),
        (["anna/hw1/1.ipynb", "anna/hw2/1.ipynb"], "nbgrader", "anna: several assignments, hw1 and hw2"),
        (["layers.py"], None, "contains layers.py, so it is a submission itself"),
        (["submission_11/layers.py", "submission_metadata.yml"], None, "submission_metadata.yml: not of Gradescope's"),
        ([], None, "No such file"),
    ],
)
def test_what_is_no_class_is_refused_in_one_line(lay, tmp_path, names, layout, words):
    lay(named(*names))
    with pytest.raises(UserError, match=words) as caught:
        read(tmp_path / "download", layout)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", [case for case, layout in LAYOUTS.items() if layout.roster])
def test_from_the_download_to_the_platform(case, lay, typed, use, output):
    layout, has_partner = LAYOUTS[case], case == "gradescope"
    typed.folder = lay(layout.files)
    typed.enrol(layout.roster, "utf-16" if case == "blackboard" else "utf-8")
    use(by_text)
    assert typed.grade() == (case != "blackboard"), "1 where a submission is nobody's"
    figures = "mean 90.7, median 86.0" if has_partner else "mean 93.0, median 93.0"
    assert f"2 submissions, {figures}, of 100" in typed.out, "nothing but their marks is in the mean"
    assert "nothing handed in (1): Carl Clark" in typed.out
    anna, bob, carl, *eve = rows_of(output / "summary.csv")
    assert [f"{row['score']} {row['status']}" for row in (anna, carl)] == ["100.0 graded", " nothing handed in"]
    assert [row["score"] for row in (bob, *eve)] == ["86.0"] * (1 + has_partner)
    assert (bob["late"] == "late") == (case == "canvas")
    page = (output / "class.html").read_text()
    assert "Eve Evans</a>" * has_partner in page and "Bob Berg</a>" in page and "Carl Clark" in page
    if not layout.exported:
        return
    assert typed.run("export-marks", output, "--for", case, *typed.options) == 0
    assert "no score: Carl Clark (nothing handed in)" in typed.err
    exported = (output / "export" / f"{case}.csv").read_bytes().decode()
    assert exported == "".join(f"{line}\r\n" for line in layout.exported)
    archive = output / "export" / f"{case}-feedback.zip"
    assert archive.exists() == (archive.name in typed.out) == bool(layout.feedback)
    if layout.feedback:
        with zipfile.ZipFile(archive) as pages:
            assert pages.namelist() == layout.feedback
            assert all("of 100 points" in pages.read(name).decode() for name in layout.feedback)
