"""Downloads of each platform, laid out as its own source code or documentation has it."""

import zipfile
from datetime import UTC

import pytest

from autograder.intake.submission import take_in
from autograder.platforms.download import read_download
from autograder.platforms.platform import read_time
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import SKELETON

ASSIGNMENT = read_assignment()


@pytest.fixture
def lay(tmp_path):
    """Writes files into a folder named `download`; text becomes a file, a dictionary an archive."""

    def write(*names, **contents):
        for name in names:
            path = tmp_path / "download" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(".zip"):
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr("layers.py", f"# of {name}\n")
            else:
                path.write_text(contents.get(name, f"# {name}\n"))
        return tmp_path / "download"

    return write


def read(folder, layout=None):
    return read_download(folder, ASSIGNMENT, layout)


METADATA = """\
submission_11:
  :submitters:
  - :name: Anna Smith
    :sid: '007'
    :email: anna@uni.example
  :results:
    output: |-
      not: "- valid"
submission_12:
  :submitters:
  - :name: Bob
    :sid: 8
  - :name: Carl
    :sid: '9'
submission_13:
  :submitters: []
submission_14:
  :submitters: []
"""
STAMP = "2026-11-02 15:58:23.948203 UTC"

PACKAGE = "plain, with the package's own folder"
DOWNLOADS = {
    "canvas": (
        ["smithanna_12350_678919_layers.py", "smithanna_12350_678920_attention.py", "carl_12352_text.html"]
        + ["bob_LATE_12351_678921_hand_in_1_2.zip", "dora_12353_link.html", "grades.csv", "o_brien_3_text.html"]
        + ["anon_AbC12_98_layers.py", "LATE_anon_XyZ34_99_layers.py"]  # graded anonymously
        + ["nun\u0303ezjose\u0301_LATE_1_678_layers.py", "शर्माप्रिया_2_679_layers.py"],
        {
            "anon_AbC12": [""],
            "anon_XyZ34": [" late"],
            "bob_12351": ["bob 12351 late"],
            "nun\u0303ezjose\u0301_1": ["nun\u0303ezjose\u0301 1 late"],
            "smithanna_12350": ["smithanna 12350"],
            "शर्माप्रिया_2": ["शर्माप्रिया 2"],
        },
        {
            "carl_12352_text.html": "a text entry, which only",
            "dora_12353_link.html": "a link",
            "grades.csv": "not named",
            "o_brien_3_text.html": "a text entry",
        },
    ),
    "moodle": (
        ["Anna Smith_101_assignsubmission_file/layers.py", "Bob von Berg_102_assignsubmission_file_/work.zip"]
        + ["Bob von Berg_102_assignsubmission_onlinetext/onlinetext.html", "README.txt"]
        + ["Carl_103_assignsubmission_onlinetext_/onlinetext.html", "Default group_assignsubmission_file/layers.py"]
        + [f"Dora_104_assignsubmission_file_{name}" for name in ("layers.py", "attention.py")]  # without folders
        + ["Eve_105_assignsubmission_file_work_2.zip"],
        {
            "Anna Smith_101_assignsubmission_file": ["Anna Smith 101"],
            "Bob von Berg_102_assignsubmission_file_": ["Bob von Berg 102"],
            "Default group_assignsubmission_file": ["Default group"],
            "Dora_104": ["Dora 104"],
            "Eve_105": ["Eve 105"],
        },
        {
            "Bob von Berg_102_assignsubmission_onlinetext": "a text typed into Moodle",
            "Carl_103_assignsubmission_onlinetext_": "a text typed into Moodle",
            "README.txt": "not named",
        },
    ),
    "gradescope": (
        [f"submission_{number}/layers.py" for number in (11, 12, 13, 9)] + ["submission_metadata.yml"],
        {
            "submission_11": ["Anna Smith 007 anna@uni.example"],
            "submission_12": ["Bob 8", "Carl 9"],
            "submission_13": [],
        },
        {"submission_14": "mentioned in the metadata, but not there", "submission_9": "not mentioned in the metadata"},
    ),
    "nbgrader": (
        ["anna/hw/layers.py", "anna/hw/timestamp.txt", "bob/hw/layers.py", "carl/.keep", "dora/hw/layers.py"]
        + ["dora/hw/timestamp.txt"],
        {"anna": [" anna"], "bob": [" bob"], "dora": [" dora"]},
        {"carl": "no assignment's folder in it, or not readable"},
    ),
    "brightspace": (
        [f"149435-250879 - Anna-Lena Smith - Oct 3, 2026 1145 PM/{name}" for name in ("layers.py", "model.py")]
        + ["149435-250879 - Anna-Lena Smith - Oct 4, 2026 905 AM/layers.py", "index.html", "grades.csv"]
        + ["149436-250879 - Group 3- Oct 5, 2026 1200 PM/work.zip"]
        + [f"7-9 - Carl - Oct 3, 2026 1145 PM - {name}" for name in ("layers.py", "a - b.py", "c.zip")],
        {
            "149435-250879 - Anna-Lena Smith - Oct 3, 2026 1145 PM": ["Anna-Lena Smith 149435"],
            "149435-250879 - Anna-Lena Smith - Oct 4, 2026 905 AM": ["Anna-Lena Smith 149435"],
            "149436-250879 - Group 3- Oct 5, 2026 1200 PM": ["Group 3 149436"],
            "7-9 - Carl - Oct 3, 2026 1145 PM": ["Carl 7"],
        },
        {"grades.csv": "not named"},
    ),
    "blackboard": (
        [f"HW_1_2_asmith_attempt_2026-10-03-23-45-12{end}" for end in ("_layers.py", "_my_model.py", ".txt")]
        + ["HW_1_2_von_berg_attempt_2026-10-04-08-00-00_a.zip", "HW_1_2_von_berg_attempt_2026-10-04-08-00-00.txt"]
        + ["HW_1_2_carl_attempt_2026-10-04-09-00-00.txt", "HW_1_2_dora_attempt_2026-10-04-09-00-00_x.zip", "notes.pdf"],
        {
            "HW_1_2_asmith_attempt_2026-10-03-23-45-12": [" asmith asmith"],
            "HW_1_2_von_berg_attempt_2026-10-04-08-00-00": ["Bob von Berg von_berg von_berg"],
            "HW_1_2_dora_attempt_2026-10-04-09-00-00": [" dora dora"],
        },
        {"HW_1_2_carl_attempt_2026-10-04-09-00-00.txt": "an attempt without a file", "notes.pdf": "not named"},
    ),
    "git": (
        [f"transformer-{name}/{file}" for name in ("anna-s", "bob", "dan") for file in (".git/HEAD", "layers.py")]
        + ["transformer-carl/layers.py", "old/x", "scores.csv"],
        {f"transformer-{name}": [f" {name}"] for name in ("anna-s", "bob", "carl", "dan")},
        {"old": "not named transformer-", "scores.csv": "a file beside the clones"},
    ),
    "git, named after users alone": (
        [f"{name}/{file}" for name in ("anna", "bob") for file in (".git/HEAD", "layers.py")],
        {"anna": [" anna"], "bob": [" bob"]},
        {},
    ),
    "plain": (
        ["anna/layers.py", "bob.zip", "README.md", "grades.csv", "__later/x"],
        {"anna": ["anna anna"], "bob.zip": ["bob bob"]},
        {"README.md": "neither a folder", "grades.csv": "neither a folder", "__later": "hidden"},
    ),
    PACKAGE: (
        ["anna/student/layers.py", "bob/student/layers.py"],
        {"anna": ["anna anna"], "bob": ["bob bob"]},
        {},
    ),
}


@pytest.mark.parametrize("case", DOWNLOADS)
def test_a_download(lay, case):
    """People as `NAME IDS [late]`, and strays with their reasons; each submission can be taken in."""
    names, submissions, strays = DOWNLOADS[case]
    stamps = {name: STAMP for name in names if name.endswith("timestamp.txt")}
    receipt = {"HW_1_2_von_berg_attempt_2026-10-04-08-00-00.txt": "Name: Bob von Berg (von_berg)\nComments: (anna)\n"}
    download = read(lay(*names, **stamps, **receipt, **{"submission_metadata.yml": METADATA}))
    assert download.layout == case.partition(",")[0]
    shown = {
        each.entry: [" ".join([who.name, *who.ids.values(), *["late"] * bool(each.is_late)]) for who in each.people]
        for each in download.submissions
    }
    assert shown == submissions
    assert {stray.entry: stray.reason[: len(strays[stray.entry])] for stray in download.strays} == strays
    for submission in download.submissions:
        assert "layers" in take_in(submission.source, SKELETON, ASSIGNMENT).submitted


@pytest.mark.parametrize(
    ("layout", "intruder"),
    [
        ("canvas", "eve_104_2004_x_assignsubmission_file_a.zip"),
        ("canvas", "submission_metadata.yml"),
        ("moodle", "Eve_104_assignsubmission_file_1_2_layers.py"),
        ("plain", "eve_1_2_layers.zip"),
        (PACKAGE, "bob/student/timestamp.txt"),
        ("plain", "hw-eve/.git/HEAD"),
    ],
)
def test_no_student_decides_on_the_layout(lay, layout, intruder):
    """Names that a student chooses may look like another platform's; the others' work counts as before."""
    before = read(lay(*DOWNLOADS[layout][0]))
    after = read(lay(intruder, **{"bob/student/timestamp.txt": STAMP}))
    assert before.layout == after.layout == layout.partition(",")[0]
    assert {each.entry for each in before.submissions} <= {each.entry for each in after.submissions}


@pytest.mark.parametrize(
    ("layout", "times"),
    [
        ("brightspace", ["2026-10-03T23:45:00", "2026-10-04T09:05:00", "2026-10-05T12:00:00", "2026-10-03T23:45:00"]),
        ("blackboard", ["2026-10-03T23:45:12", "2026-10-04T09:00:00", "2026-10-04T08:00:00"]),
    ],
)
def test_times_in_names_have_the_zone_of_the_course(lay, layout, times):
    submissions = read(lay(*DOWNLOADS[layout][0])).submissions
    assert [each.submitted.isoformat() for each in submissions] == times


TIMES = {
    "2026-12-25 15:58:23.948203 UTC": "15:58:23.948203",
    "2026-12-25 15:58:23.948203 CET": "14:58:23.948203",
    "2026-12-25 15:58:23.948203 +0100": "14:58:23.948203",
    "2026-12-25 15:58:23 EST": "20:58:23",
    "2026-12-25T15:58:23.948203+05:30": "10:28:23.948203",
    "2026-12-25 15:58:23": "15:58:23",
    "25 Dec 2026 03:58 PM": "15:58:00",
    "2026-12-25 15:58:23 XYZ": None,
    "2026-12-25 15:58:23 UTC+1": None,
    "yesterday": None,
    "15:58": None,
    "": None,
}


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_read_as_nbgrader_reads_it_or_for_a_person_to_decide(text):
    time = read_time(text)
    assert (time and time.time().isoformat()) == TIMES[text] and (time is None or time.tzinfo == UTC)


GH = [f"hw1-ann-lee/{file}" for file in (".git/HEAD", "layers.py")]


@pytest.mark.parametrize(
    ("names", "layout", "folder", "logins"),
    [
        ([f"hw1-submissions/{name}" for name in GH], "git", "hw1-submissions", {"ann-lee"}),
        (["sub/anna_1_2_layers.py", "sub/bob_2_3_layers.py"], "canvas", "sub", {"1", "2"}),
        (["sub/A B_1_assignsubmission_file/layers.py"], "moodle", "sub", {"1"}),
        (["sub/anna/layers.py", "sub/bob.zip", "README.md"], "plain", "sub", {"anna", "bob"}),
    ],
)
def test_one_extra_folder_is_passed_and_the_one_of_gh_names_the_assignment(lay, names, layout, folder, logins):
    download = read(lay(*names))
    assert (download.layout, download.folder.name) == (layout, folder)
    assert {value for each in download.submissions for value in each.people[0].ids.values()} == logins


def test_clones_without_git_are_read_if_named_so(lay):
    download = read(lay("hw-anna/layers.py", "hw-bob/layers.py"), "git")
    assert [each.people[0].ids["github"] for each in download.submissions] == ["anna", "bob"]


@pytest.mark.parametrize(
    ("names", "layout", "words"),
    [
        (["anna_1_2_layers.py", "bob_2_3_layers.py"], "plain", "no submission in it"),
        (["anna/hw1/1.ipynb", "anna/hw2/1.ipynb"], "nbgrader", "anna: several assignments, hw1 and hw2"),
        (["layers.py"], None, "contains layers.py, so it is a submission itself"),
        (["notes.txt"], None, "no submission in it"),
        (["submission_11/layers.py", "submission_metadata.yml"], None, "submission_metadata.yml: not of Gradescope's"),
        ([], None, "No such file"),
    ],
)
def test_what_is_no_class_is_refused_in_one_line(lay, names, layout, words):
    with pytest.raises(UserError, match=words) as caught:
        read(lay(*names) if names else lay("x").with_name("nowhere"), layout)
    assert "\n" not in str(caught.value)
