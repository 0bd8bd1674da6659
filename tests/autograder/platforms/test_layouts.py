"""Each platform's download as its code or documentation has it, the whole way: read, graded by a stub, handed back."""

import zipfile
from datetime import UTC
from types import SimpleNamespace

import pytest

from autograder.intake.submission import take_in
from autograder.platforms.download import read_download
from autograder.platforms.platform import read_time
from foundation.command_line import UserError
from foundation.places import SKELETON

from ..conftest import ASSIGNMENT, by_text, examples_in, rows_of

EXAMPLES = examples_in("platforms/layouts.toml")


def named(*names: str) -> dict[str, str]:
    return {name: f"# {name}\n" for name in names}


def layout_of(table: dict[str, object]) -> SimpleNamespace:
    """An example of a download, as the file explains it."""
    nothing = {"files": {}, "strays": {}, "roster": "", "exported": "", "feedback": []}
    layout = SimpleNamespace(**{**nothing, **table})
    layout.files = {**layout.files, **named(*layout.named)}
    return layout


LAYOUTS = {case: layout_of(table) for case, table in EXAMPLES["layouts"].items()}


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


@pytest.mark.parametrize("case", EXAMPLES["intruders"], ids=lambda case: case["name"])
def test_no_student_decides_on_the_layout(lay, case):
    before = read(lay(LAYOUTS[case["layout"]].files))
    after = read(lay({case["name"]: "2026-11-02 15:58:23 UTC"}))
    assert before.layout == after.layout == case["layout"].partition(",")[0]
    assert {each.entry for each in before.submissions} <= {each.entry for each in after.submissions}


def test_one_student_decides_neither_on_times_nor_on_the_assignment(lay):
    layers = [f"{name}/hw/layers.py" for name in ("anna", "bob", "eve")]
    download = read(lay({**named(*layers, "eve/hw2/x"), "bob/hw/timestamp.txt": "2020-01-01 00:00 UTC"}), "nbgrader")
    assert [bool(each.submitted or each.unread_time) for each in download.submissions] == [False, True]
    [eve] = download.strays
    assert eve.needs_decision and eve.reason == "several folders in it, hw and hw2"


@pytest.mark.parametrize(("text", "expected"), EXAMPLES["times"].items())
def test_a_time_is_read_as_nbgrader_reads_it_or_for_a_person_to_decide(text, expected):
    time = read_time(text)
    assert (time.time().isoformat() if time else "") == expected and (time is None or time.tzinfo == UTC)


def test_clones_without_their_history_are_known_by_the_layout_that_is_named(lay):
    submissions = read(lay(named("hw-anna/layers.py", "hw-bob/layers.py")), "git").submissions
    assert [each.people[0].ids["github"] for each in submissions] == ["anna", "bob"]


@pytest.mark.parametrize("case", ["canvas", "plain"])
def test_one_extra_folder_around_the_submissions_is_passed(lay, case):
    download = read(lay({f"sub/{name}": text for name, text in LAYOUTS[case].files.items()}))
    assert {each.entry for each in download.submissions} == LAYOUTS[case].submissions.keys()


@pytest.mark.parametrize("loose", ["mallory.ipynb", "layers.py"])
def test_a_loose_file_does_not_make_an_extra_folder_a_submission(lay, loose):
    download = read(lay(named("sub/anna.zip", "sub/bob.zip", "sub/carl/layers.py", f"sub/{loose}")))
    assert {"anna.zip", "bob.zip", "carl"} <= {each.entry for each in download.submissions}


@pytest.mark.parametrize("case", EXAMPLES["refused"], ids=lambda case: case["words"])
def test_what_is_no_class_is_refused_in_one_line(lay, tmp_path, case):
    lay(named(*case["names"]))
    with pytest.raises(UserError, match=case["words"]) as caught:
        read(tmp_path / "download", case.get("layout"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", [case for case, layout in LAYOUTS.items() if layout.roster])
def test_from_the_download_to_the_platform(case, lay, typed, use, output):
    layout, has_partner = LAYOUTS[case], case == "gradescope"
    typed.folder = lay(layout.files)
    typed.enrol(layout.roster, "utf-16" if case == "blackboard" else "utf-8")
    use(by_text)
    assert typed.grade() == (case != "blackboard"), "1 where a submission is nobody's"
    figures = "mean 90.67, median 86" if has_partner else "mean 93, median 93"
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
    assert exported == layout.exported.replace("\n", "\r\n")
    archive = output / "export" / f"{case}-feedback.zip"
    assert archive.exists() == (archive.name in typed.out) == bool(layout.feedback)
    if layout.feedback:
        with zipfile.ZipFile(archive) as pages:
            assert pages.namelist() == layout.feedback
            assert all("of 100 points" in pages.read(name).decode() for name in layout.feedback)
