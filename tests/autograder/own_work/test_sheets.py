"""The pages, the command that writes them, and a sitting: its key, and what was answered."""

import os
import shutil
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from autograder.__main__ import main
from autograder.own_work import sheets
from autograder.own_work.questions import Question
from autograder.own_work.sheets import (
    ANSWERS,
    KEY,
    Sheet,
    n_right,
    read_answers,
    read_key,
    why_no_more,
    write_key,
    write_sheets,
)
from autograder.own_work.student_lines import Change
from foundation.command_line import UserError

from ..conftest import examples_in, write_submission

MISTAKES = examples_in("own_work/sheets.toml")

BROWSER = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
MARKUP = "<script>alert('1')</script><img src=x onerror=alert(1)>\"'&"


def question(text=MARKUP):
    change = Change(1, text, text, text, "")
    options, lines, why = ("no", text), (text, "x = 1"), (text,)
    return Question("shape", f"layers.{text}", (f"Is `{text}` so?",), text, options, lines, change, 1, why)


def test_markup_in_a_submission_stays_text_and_answers_are_not_with_the_questions(tmp_path):
    write_sheets([Sheet("a", MARKUP, (question(),), MARKUP)], MARKUP, tmp_path)
    pages = {name: (tmp_path / f"{name}.html").read_text() for name in ("questions", "answers")}
    for name, page in pages.items():
        assert "<script" not in page and "<img" not in page and "Is <code>&lt;script&gt;" in page
        assert ("B: &lt;script&gt;" in page) == ('class="right"' in page) == (name == "answers")


class StubExaminer:
    """In the place of a true one: one question each, but the process ends at ben."""

    def sheet(self, key, name, intake):
        if key == "ben":
            os._exit(9)
        return Sheet(key, name, (Question("shape", "layers.LayerNorm", (f"What, {key}?",), "42"),), "so")

    def renew(self) -> None:
        pass


def test_each_student_gets_a_sheet_with_the_rosters_name_whoever_else_ends_the_process(tmp_path, monkeypatch, capsys):
    for name in ("anna", "ben", "carl"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "layers.py").write_text(f"# by {name}\n")
    (tmp_path / "class" / "dora.zip").write_bytes(b"no archive")
    roster = "id,name,group\nanna,Anna Adler,G\nben,Ben Berg,\ncarl,Carl Cohn,\ndora,Dora Dorn,\neve,Eve Ems,G\n"
    (tmp_path / "roster.csv").write_text(roster)
    monkeypatch.setattr("autograder.commands.ask.open_grader", lambda *arguments: nullcontext(StubExaminer()))
    monkeypatch.setattr("autograder.own_work.sheets.Examiner", lambda *arguments: StubExaminer())
    words = ["--jobs", "1", "--output", str(tmp_path / "oral"), "--roster", str(tmp_path / "roster.csv")]
    assert main(["ask", str(tmp_path / "class"), *words]) == 1
    printed = capsys.readouterr()
    assert "autograder: ben: no questions were drawn: ended with status 9\n" in printed.err
    names = [line.partition("  ")[0] for line in printed.out.splitlines()[:4]]
    known = ["Anna Adler (anna)", "Carl Cohn (carl)", "Dora Dorn (dora)", "Eve Ems (eve)"]
    assert names == known, "partners have one each"
    page = (tmp_path / "oral" / "answers.html").read_text()
    assert page.count("<article") == 4 and all(name in page for name in names) and "What, ben?" not in page
    assert "What, anna?" in page and "What, eve?" in page


def test_what_is_asked_about_and_cannot_be_is_named():
    """A layer that passes its tests, beside stand-ins, cannot be called without the student's own attention."""

    def component(title, works, result):
        return SimpleNamespace(name=f"m.{title}", title=title, works=works, results=lambda: [{"a call": result}])

    norm = component("Norm", True, [1])
    names, others = ["m.attend", "m.Norm", "m.Layer", "m.Heads"], [component("attend", False, None), norm]
    why = "not all tests pass for attend; not written, or in a file that is not Python: Heads; "
    why += "cannot run without other components: Layer"
    assert why_no_more(names, [*others, component("Layer", True, None)]) == why
    assert why_no_more(["m.Norm"], [norm]) == ""


@pytest.mark.slow
def test_only_who_has_code_that_works_is_asked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sheets, "KINDS", {"shape": sheets.KINDS["shape"]})
    write_submission(tmp_path / "class" / "anna", modules=("attention",))
    fault = ("attention", "math.sqrt(query.size(-1))", "1")
    write_submission(tmp_path / "class" / "ben", fault, modules=("attention",))
    assert main(["ask", str(tmp_path / "class"), "--output", str(tmp_path / "oral"), "--jobs", "1"]) == 0
    anna, ben, *_ = capsys.readouterr().out.splitlines()
    of_anna, of_ben = (int(line.split()[1]) for line in (anna, ben))
    assert of_anna > of_ben > 0 and "(not written, or in a file that is not Python: LayerNorm" in anna
    assert "(not all tests pass for scaled_dot_product_attention; not written" in ben


@pytest.mark.parametrize("words, wanted", MISTAKES["options"].items())
def test_bad_input_is_one_line(tmp_path, capsys, words, wanted):
    assert main(["ask", *words.split(), "--output", str(tmp_path / "oral")]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and wanted in printed.err


@pytest.mark.slow
def test_in_a_browser(tmp_path):
    """Nothing of a submission runs, a screen reader finds its way, and all fits on a telephone."""
    from playwright.sync_api import sync_playwright

    from benchmarks.accessibility import violations_of

    sheet = Sheet("a", MARKUP, (question(), question("test_" + "_".join(["in", "many", "situations"] * 8))))
    write_sheets([sheet], "A title", tmp_path)
    with sync_playwright() as playwright, playwright.chromium.launch(**BROWSER) as browser:
        page = browser.new_page(viewport={"width": 360, "height": 800})
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: problems.append("a submission's script ran"))
        for name in ("questions", "answers"):
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert not violations_of(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert not problems


@pytest.fixture
def key(tmp_path):
    def sheet(student: str, name: str, right: str, is_all: bool) -> Sheet:
        questions = (Question("shape", "", (), letter, tuple("ABCD")) for letter in right)
        return Sheet(student, name, tuple(questions), "whatever it says", is_all)

    write_key([sheet("a", "Anna", "DDA", False), sheet("b", "=Bela", "ABC", True)], tmp_path)
    return read_key(tmp_path)


def test_answers_are_filled_in_and_read(key, tmp_path):
    assert key == {"a": ("Anna", "DDA", 6), "b": ("=Bela", "ABC", 3)}, "fewer are enough where no code is to blame"
    path = tmp_path / ANSWERS
    assert path.read_text("utf-8-sig") == "student,name,answers\na,Anna,\nb,'=Bela,\n"  # a name is no formula
    path.write_text("student;name;answers\na;Anna;d d-\nb;Bela;\n\n")
    write_key([], tmp_path)  # the sitting is drawn again: what was filled in stays
    answers = read_answers(path, key)
    assert answers == {"a": "DD-"} and n_right(answers["a"], "DDA") == 2


@pytest.mark.parametrize("lines, message", MISTAKES["answers"].items())
def test_a_mistake_is_named_with_its_line(key, tmp_path, lines, message):
    path = tmp_path / ANSWERS
    path.write_text(f"student,name,answers\n{lines}\n")
    with pytest.raises(UserError) as error:
        read_answers(path, key)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["[", '[{"seat": 1}]', '{"a": ["Anna"]}'])
def test_a_damaged_key_is_named(tmp_path, content):
    (tmp_path / KEY).write_text(content)
    with pytest.raises(UserError, match=r"key.json: cannot be read \(.*\); draw the sitting again$"):
        read_key(tmp_path)
