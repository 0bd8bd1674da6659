"""Downloads of each platform, laid out as its own source code or documentation has it."""

import json
import time
import zipfile
from datetime import UTC, datetime

import pytest

from autograder.classroom.downloads import LAYOUTS, read_download
from autograder.classroom.downloads.platforms import CANVAS_FILE, CANVAS_TEXT, MOODLE_ENTRY
from autograder.intake import LooseFiles, take_in
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


def entries(download):
    return [one.entry for one in download.submissions]


def strays(download):
    return {stray.entry: stray.reason for stray in download.strays}


def graded(one):
    """The modules that intake finds in a submission, with their texts."""
    intake = take_in(one.source, SKELETON, ASSIGNMENT)
    return {name: intake.sources[name][1] for name in sorted(intake.submitted)}


def test_canvas_gathers_loose_files_by_user(lay):
    """The third number is the file's own, not the submission's."""
    download = read(
        lay(
            "smithanna_12350_678919_layers.py",
            "smithanna_12350_678920_attention.py",
            "bob_LATE_12351_678921_hand_in_1_2.zip",
            "carl_12352_text.html",
            "dora_12353_link.html",
            "grades.csv",
        )
    )
    assert download.layout == "canvas" and entries(download) == ["bob_12351", "smithanna_12350"]
    bob, anna = download.submissions
    assert list(graded(anna)) == ["attention", "layers"] and list(graded(bob)) == ["layers"]
    assert (anna.is_late, bob.is_late) == (False, True)
    assert (anna.people[0].name, dict(anna.people[0].ids)) == ("smithanna", {"canvas": "12350"})
    assert set(strays(download)) == {"carl_12352_text.html", "dora_12353_link.html", "grades.csv"}
    assert "only a person can read" in strays(download)["carl_12352_text.html"]


def test_canvas_numbers_repeated_uploads(lay):
    """Of two uploads of a file, the last counts, even where both have been downloaded."""
    names = ("layers-2.py", "layers-1.py", "layers.py", "my-1.py", "best-1.pt")
    folder = lay(*(f"anna_1_{number}_{name}" for number, name in enumerate(names, 10)))
    (folder / "anna_1_10_layers-2.py").write_text("from .my import x\n")
    (one,) = read(folder).submissions
    intake = take_in(one.source, SKELETON, read_assignment())
    assert intake.sources["layers"] == ("layers.py", "from .my import x\n")
    assert intake.sources["my"] == ("my.py", "# anna_1_13_my-1.py\n")
    assert intake.submitted == {"layers", "my"} and intake.checkpoint
    assert intake.notes == ["layers.py was uploaded more than once; the last upload counts"]


@pytest.mark.parametrize("names", [["work.ipynb", "work-1.ipynb"], ["anna.zip", "anna-1.zip"]])
def test_canvas_repeats_notebooks_and_archives(lay, names):
    folder = lay(*(f"anna_1_{number}_{name}" for number, name in enumerate(names, 10)))
    for number, name in enumerate(names, 10):
        text = f"class LayerNorm:\n    upload = {number}\n"
        if name.endswith(".zip"):
            with zipfile.ZipFile(folder / f"anna_1_{number}_{name}", "w") as archive:
                archive.writestr("layers.py", text)
        else:
            cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
            notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            (folder / f"anna_1_{number}_{name}").write_text(json.dumps(notebook))
    (one,) = read(folder).submissions
    intake = take_in(one.source, SKELETON, read_assignment())
    assert "upload = 11" in intake.sources["layers"][1]
    assert f"{names[0]} was uploaded more than once; the last upload counts" in intake.notes


def test_parts_that_a_student_has_numbered_are_no_repeated_uploads(lay):
    (one,) = read(lay("anna_1_30_hw-1.ipynb", "anna_1_31_hw-2.ipynb")).submissions
    assert isinstance(one.source, LooseFiles) and {*one.source.sizes} == {"hw-1.ipynb", "hw-2.ipynb"}
    one.source.give_names_back(("layers.py",))
    assert {*one.source.sizes} == {"hw-1.ipynb", "hw-2.ipynb"}


@pytest.mark.parametrize("name", ["nun\u0303ezjose\u0301", "शर्माप्रिया", "王伟", "o_brien"])
def test_canvas_keeps_letters_of_any_script(lay, name):
    download = read(lay(f"{name}_LATE_12350_678919_layers.py", f"{name}_12351_text.html"))
    assert [(one.people[0].name, one.is_late) for one in download.submissions] == [(name, True)]
    assert [stray.people[0].name for stray in download.strays] == [name]


@pytest.mark.parametrize("read_name", [CANVAS_FILE.fullmatch, CANVAS_TEXT.fullmatch, MOODLE_ENTRY.fullmatch])
@pytest.mark.parametrize("letter", ["a", "α", "1_", "_", " "])
def test_long_names_are_read_at_once(read_name, letter):
    """A pattern that tries each letter in two ways would take years for this one."""
    start = time.process_time()
    read_name(letter * 120 + "_text.htm")
    assert time.process_time() - start < 1


PLATFORMS = {
    "canvas": [f"{name}_10{number}_200{number}_layers.py" for number, name in enumerate(("anna", "ben", "carl"))],
    "moodle": [f"{name}_10{number}_assignsubmission_file_layers.py" for number, name in enumerate(("Anna B", "Carl"))],
    "github": [f"hw-{name}/{file}" for name in ("anna", "ben", "carl") for file in ("layers.py", ".git/HEAD")],
    "plain": ["anna/student/layers.py", "ben.zip", "carl/student/layers.py"],
}


@pytest.mark.parametrize(
    ("layout", "intruder"),
    [
        ("canvas", "eve_104_2004_x_assignsubmission_file_a.zip"),
        ("canvas", "eve_assignsubmission_file_/layers.py"),
        ("canvas", "submission_metadata.yml"),
        ("moodle", "Eve_104_assignsubmission_file_1_2_layers.py"),
        ("github", "eve_assignsubmission_file_a.zip"),
        ("github", "submission_metadata.yml"),
        ("plain", "eve_assignsubmission_file_/layers.py"),
        ("plain", "eve_assignsubmission_file_a.zip"),
        ("plain", "eve_1_2_layers.zip"),
        ("plain", "submission_metadata.yml"),
        ("plain", "carl/student/timestamp.txt"),
        ("plain", "hw-eve/.git/HEAD"),
    ],
)
def test_no_student_decides_on_the_layout(lay, layout, intruder):
    """Names that a student chooses may look like another platform's; the others' work counts as before."""
    names = PLATFORMS[layout]
    before = read(lay(*names))
    after = read(lay(intruder, **{"carl/student/timestamp.txt": "2026-11-02 15:58:23.948203 UTC"}))
    assert (before.layout, after.layout) == (layout, layout)
    assert {*entries(before)} <= {*entries(after)}


def test_canvas_anonymous_grading(lay):
    download = read(lay("anon_AbC12_98_layers.py", "LATE_anon_XyZ34_99_layers.py"))
    assert entries(download) == ["anon_AbC12", "anon_XyZ34"]
    assert [one.is_late for one in download.submissions] == [False, True]
    assert not any(one.people[0].ids for one in download.submissions)


def test_moodle_folders(lay):
    download = read(
        lay(
            "Anna Smith_101_assignsubmission_file/layers.py",
            "Bob von Berg_102_assignsubmission_file_/work.zip",
            "Bob von Berg_102_assignsubmission_onlinetext/onlinetext.html",
            "Carl_103_assignsubmission_onlinetext_/onlinetext.html",
            "Default group_assignsubmission_file/layers.py",
            "README.txt",
        )
    )
    assert download.layout == "moodle" and len(download.submissions) == 3
    assert [one.people[0].name for one in download.submissions] == ["Anna Smith", "Bob von Berg", "Default group"]
    assert [dict(one.people[0].ids) for one in download.submissions] == [{"moodle": "101"}, {"moodle": "102"}, {}]
    assert all(list(graded(one)) == ["layers"] for one in download.submissions)
    assert len(download.strays) == 3 and "typed into Moodle" in [*strays(download).values()][0]


def test_moodle_without_folders(lay):
    names = ("layers.py", "attention.py", "work_2.zip")
    download = read(
        lay(
            *(f"Anna Smith_101_assignsubmission_file_{name}" for name in names[:2]),
            f"Bob_102_assignsubmission_file_{names[2]}",
        )
    )
    assert entries(download) == ["Anna Smith_101", "Bob_102"]
    assert [list(graded(one)) for one in download.submissions] == [["attention", "layers"], ["layers"]]


METADATA = """\
submission_11:
  :submitters:
  - :name: Anna Smith
    :sid: '007'
    :email: anna@uni.example
  :created_at: 2026-11-02 17:34:00.861687000 Z
  :score: 2.0
  :results:
    output: |-
      not: "- valid"
submission_12:
  :submitters:
  - :name: Bob
    :sid: 8
  - :name: Carl
    :sid: '9'
  :score: 0.0
submission_13:
  :submitters: []
submission_14:
  :submitters: []
"""


def test_gradescope_names_all_partners(lay):
    folder = lay("submission_11/layers.py", "submission_12/layers.py", "submission_13/layers.py", "submission_9/x.py")
    (folder / "submission_metadata.yml").write_text(METADATA)
    download = read(folder)
    assert download.layout == "gradescope" and entries(download) == [f"submission_{n}" for n in (11, 12, 13)]
    anna, pair, nobody = download.submissions
    assert dict(anna.people[0].ids) == {"number": "007", "email": "anna@uni.example"}
    assert anna.submitted == datetime(2026, 11, 2, 17, 34, 0, 861687, tzinfo=UTC)
    assert [dict(person.ids) for person in pair.people] == [{"number": "8"}, {"number": "9"}] and not nobody.people
    assert strays(download) == {
        "submission_14": "mentioned in the metadata, but not there",
        "submission_9": "not mentioned in the metadata",
    }


@pytest.mark.parametrize(
    "text",
    [
        "- a\n",
        "a: 1\n",
        "a: [",
        "!!python/object/apply:os.getpid []\n",
        "\x00",
        "submission_11:\n  :submitters: [anna]\n",
        "submission_11:\n  :submitters: 3\n",
        "submission_11:\n  :created_at: !!timestamp x\n",
        "submission_11:\n  :score: !!int ''\n",
    ],
)
def test_odd_gradescope_metadata_are_one_line(lay, text):
    folder = lay("submission_11/layers.py")
    (folder / "submission_metadata.yml").write_text(text)
    with pytest.raises(UserError, match=r"submission_metadata\.yml: not .+") as caught:
        read(folder)
    assert "\n" not in str(caught.value)


def test_nbgrader(lay):
    times = [f"{student}/hw/timestamp.txt" for student in ("anna", "dora")]
    stamps = dict.fromkeys(times, "2026-11-02 15:58:23.948203 UTC")
    download = read(lay("anna/hw/1.ipynb", "bob/hw/1.ipynb", "carl/.keep", "dora/hw/1.ipynb", *times, **stamps))
    assert download.layout == "nbgrader" and entries(download) == ["anna", "bob", "dora"]
    anna, bob, _ = download.submissions
    assert anna.source == download.folder / "anna" / "hw" and dict(anna.people[0].ids) == {"login": "anna"}
    assert anna.submitted == datetime(2026, 11, 2, 15, 58, 23, 948203, tzinfo=UTC) and not anna.unread_time
    assert bob.submitted is None and bob.unread_time == "none, although others have one"
    assert strays(download) == {"carl": "no assignment's folder in it, or not readable"}


TIMES = {
    "2026-12-25 15:58:23.948203 UTC": "15:58:23.948203",
    "2026-12-25 15:58:23.948203 CET": "14:58:23.948203",
    "2026-07-25 15:58:23 CEST": "13:58:23",
    "2026-12-25 15:58:23.948203 +0100": "14:58:23.948203",
    "2026-12-25 15:58:23 -03": "18:58:23",
    "2026-12-25 15:58:23 America/New_York": "20:58:23",
    "2026-12-25 15:58:23 EST": "20:58:23",
    "2026-12-25 15:58:23 UTC+1": "14:58:23",
    "2026-12-25T15:58:23.948203+05:30": "10:28:23.948203",
    "2026-12-25 15:58:23.948203000 Z": "15:58:23.948203",
    "2026-12-25 15:58:23": "15:58:23",
    "25 Dec 2026 03:58 PM": "15:58:00",
    "2026-12-25 15:58:23 XYZ": None,
    "2026-12-25 15:58:23 ../../etc/localtime": None,
    "0001-01-01 00:00:00 +0500": None,
    "yesterday": None,
    "15:58": None,
    "9" * 40: None,
    "": None,
}


@pytest.mark.parametrize("text", TIMES)
@pytest.mark.parametrize("platform", ["nbgrader", "gradescope"])
def test_a_time_is_read_as_nbgrader_reads_it_or_for_a_person_to_decide(lay, platform, text):
    if platform == "nbgrader":
        download = read(lay("anna/hw/1.ipynb", "anna/hw/timestamp.txt", **{"anna/hw/timestamp.txt": text}), platform)
    else:
        folder = lay("submission_11/layers.py")
        (folder / "submission_metadata.yml").write_text(f"submission_11:\n  :created_at: {text!r}\n")
        download = read(folder)
    [one] = download.submissions
    shown = one.submitted and one.submitted.astimezone(UTC).time().isoformat()
    assert shown == TIMES[text] and bool(one.unread_time) == (shown is None)


def test_nbgrader_with_several_assignments_is_refused(lay):
    folder = lay("anna/hw1/1.ipynb", "anna/hw2/1.ipynb")
    with pytest.raises(UserError, match="anna: several assignments, hw1 and hw2"):
        read(folder, "nbgrader")


def test_the_packages_own_folder_is_not_an_nbgrader_assignment(lay):
    assert read(lay("anna/student/layers.py", "bob/student/layers.py")).layout == "plain"


def test_github_classroom(lay):
    names = ("transformer-anna-s", "transformer-bob")
    download = read(lay(*(f"{name}/.git/HEAD" for name in names), *(f"{name}/layers.py" for name in names), "old/x"))
    assert download.layout == "github" and strays(download) == {"old": "not a clone: it has no .git"}
    assert [dict(one.people[0].ids) for one in download.submissions] == [{"github": "anna-s"}, {"github": "bob"}]


@pytest.mark.parametrize("names", [("hw1-ann-lee", "hw1-ann-kim"), ("hw1-ann-lee",)])
def test_the_folder_that_gh_makes_tells_the_assignment(lay, names):
    folder = lay(*(f"{name}/{file}" for name in names for file in (".git/HEAD", "layers.py")))
    download = read(folder.rename(folder.with_name("hw1-submissions")))
    found = {one.people[0].ids["github"] for one in download.submissions}
    assert download.layout == "github" and found == {name.removeprefix("hw1-") for name in names}


def test_plain(lay, tmp_path):
    folder = lay("anna/layers.py", "bob.zip", "carl.ipynb", "dora.rar", "README.md", "grades.csv", "__later/x")
    (folder / "link").symlink_to(tmp_path)
    download = read(folder)
    assert download.layout == "plain" and entries(download) == ["anna", "bob.zip", "carl.ipynb", "dora.rar"]
    assert set(strays(download)) == {"README.md", "grades.csv", "__later", "link"}
    assert strays(download)["link"].startswith("a link")


@pytest.mark.parametrize(
    ("names", "layout"),
    [
        (["sub/anna_1_2_layers.py", "sub/bob_2_3_layers.py"], "canvas"),
        (["sub/A B_1_assignsubmission_file/layers.py"], "moodle"),
        (["sub/anna/layers.py", "sub/bob.zip", "README.md"], "plain"),
    ],
)
def test_one_extra_folder_is_passed(lay, names, layout):
    download = read(lay(*names))
    assert (download.layout, download.folder.name) == (layout, "sub")


@pytest.mark.parametrize("names", [["anna/layers.py"], ["anna/student/layers.py"], ["anna/1.ipynb", "anna/2.ipynb"]])
def test_a_class_of_one_is_not_an_extra_folder(lay, names):
    assert entries(read(lay(*names))) == ["anna"]


def test_the_layout_can_be_named(lay):
    folder = lay("anna_1_2_layers.py", "bob_2_3_layers.py")
    with pytest.raises(UserError, match="no submission in it"):
        read(folder, "plain")
    with pytest.raises(UserError, match=f"layout 'blackboard': expected one of {', '.join(LAYOUTS)}"):
        read(folder, "blackboard")


def test_what_is_no_class_is_refused_in_one_line(lay, tmp_path):
    with pytest.raises(UserError, match="contains layers.py, so it is a submission itself"):
        read(lay("layers.py"))
    with pytest.raises(UserError, match="No such file"):
        read(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no submission in it"):
        read(tmp_path / "empty")
