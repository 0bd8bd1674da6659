"""The command on a folder: copies in disguise, untrusted files, names, and the page."""

import json
import shutil

import pytest

from autograder.__main__ import main
from benchmarks.similarity import write_class

COUNT, COPIES = 24, 2
pytestmark = pytest.mark.slow  # two classes are compared
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>"
BROWSER = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A class with copies and broken submissions: its output, what was printed, what was planted."""
    folder = tmp_path_factory.mktemp("similar")
    class_ = folder / "class"
    planted = write_class(class_, COUNT, COPIES, seed=11)
    copy = min(frozenset().union(*planted))
    layers = class_ / copy / "attention.py"
    layers.write_text(f"open({str(folder / 'ran')!r}, 'w')\n# {MARKUP}\n{layers.read_text()}  # {MARKUP}\n")
    for name, text in (("broken", "def ("), ("deep", "x = " + "-" * 50_000 + "1"), ("long", "x = 1" + "+1" * 1500)):
        (class_ / name).mkdir()
        (class_ / name / "layers.py").write_text(text)
    (class_ / "archive.zip").write_bytes(b"PK\x03\x04 nothing")
    roster = folder / "roster.csv"
    ids = [path.name.removesuffix(".zip") for path in sorted(class_.iterdir())]
    roster.write_text("id,name\n" + "".join(f"{one},Name of {one}\n" for one in ids))
    status = main(["similar", str(class_), "--output", str(folder / "marks"), "--roster", str(roster), "--jobs", "2"])
    assert status == 0 and not (folder / "ran").exists()
    return folder / "marks", planted


def test_copies_are_found_and_nobody_else(compared):
    output, planted = compared
    content = json.loads((output / "similar.json").read_text())
    assert {frozenset((one["left"], one["right"])) for one in content["pairs"]} == planted
    assert content["names"][content["pairs"][0]["left"]].startswith("Name of student")


def test_what_cannot_be_read_is_named_with_the_reason(compared):
    content = json.loads((compared[0] / "similar.json").read_text())
    assert set(content["unread"]) == {"archive.zip", "long"}
    assert "nested too deeply" in content["unread"]["long"]
    assert not content["unread"]["archive.zip"].startswith("archive.zip")
    assert len(content["compared"]) == COUNT + 2, "a module that is not Python has no answers to compare"


def test_both_places_stand_side_by_side_as_text(compared):
    output, planted = compared
    page = (output / "similar.html").read_text()
    assert "<script>" not in page and "<img" not in page and "&lt;script&gt;" in page
    assert "not proof" in page and "attention.py, lines" in page and "default-src &#39;none&#39;" not in page
    for name in frozenset().union(*planted):
        assert f"Name of {name}" in page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(compared, scheme):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, playwright.chromium.launch(**BROWSER) as browser:
        page = browser.new_page(color_scheme=scheme)
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: problems.append("a submission's script ran"))
        page.goto((compared[0] / "similar.html").as_uri())
        for summary in page.locator("summary").all()[1:]:
            summary.click()
        assert not Axe().run(page).response["violations"] and not problems
