"""The pages, and the command that writes them."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from autograder.__main__ import main
from autograder.commands.ask import lines_of
from autograder.reports.html import CodeLine, Excerpt
from autograder.understanding.question import Option, Question, Sheet, with_code_spans, write_sheets
from foundation.places import ROOT

from ..submissions import write_submission

BROWSER = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
MARKUP = "<script>alert('1')</script><img src=x onerror=alert(1)>\"'&"


def question(text=MARKUP):
    excerpt = Excerpt(text, (CodeLine("12", text), CodeLine("13", "x = 1", is_marked=True)))
    options = (Option(text), Option(text="no"), Option(place=text, before=text, after=text))
    return Question(
        "shape",
        f"layers.{text}",
        (f"Is `{text}` so?",),
        f"B: {text}",
        (excerpt,),
        Option("", text, text, text),
        options,
        1,
        (text,),
    )


def ask(*arguments, cwd=ROOT):
    command = [sys.executable, "-m", "autograder", "ask", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env={**os.environ}, capture_output=True, text=True, timeout=240)


def test_markup_in_a_submission_stays_text(tmp_path):
    write_sheets([Sheet("a", MARKUP, (question(),), MARKUP)], MARKUP, tmp_path)
    for name in ("questions", "answers"):
        page = (tmp_path / f"{name}.html").read_text()
        assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page


def test_questions_do_not_show_the_answers(tmp_path):
    write_sheets([Sheet("a", "Anna", (question("the text"),))], "A title", tmp_path)
    questions, answers = ((tmp_path / f"{name}.html").read_text() for name in ("questions", "answers"))
    assert "B: the text" in answers and 'class="right"' in answers
    assert "B: the text" not in questions and 'class="right"' not in questions


def test_a_class_gets_a_file_for_each_student_too(tmp_path):
    sheets = [Sheet(key, key.title(), (question(key),)) for key in ("anna", "ben")]
    write_sheets(sheets, "A title", tmp_path, is_class=True)
    assert "ben" not in (tmp_path / "questions" / "anna.html").read_text().lower()
    whole = (tmp_path / "answers.html").read_text()
    assert len(re.findall("<article", whole)) == 2 and (tmp_path / "answers" / "ben.html").is_file()


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("`a<b` is", "<code>a&lt;b</code> is"),
        ("one ` alone", "one ` alone"),
        ("`x` and `y`", "<code>x</code> and <code>y</code>"),
    ],
)
def test_code_between_backquotes(text, wanted):
    assert str(with_code_spans(text)).replace("one  alone", "one ` alone") == wanted


def test_questions_are_counted():
    sheets = [Sheet("a", "Anna", (question(),)), Sheet("b", "Ben", (), "nothing works")]
    assert lines_of(sheets) == ["Anna  1 question", "Ben   0 questions (nothing works)"]


def test_a_sitting_names_who_gets_no_seat(tmp_path, monkeypatch, capsys):
    sheets = [Sheet("b", "Ben", (), "nothing works"), Sheet("a", "Anna", (question(),))]
    monkeypatch.setattr("autograder.commands.ask.sheets_of_class", lambda *given: (sheets, {}))
    assert main(["ask", "class", "--sitting", "noon", "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Seat 1 · Anna  1 question", "Ben            0 questions (nothing works)"]
    assert (tmp_path / "sitting-noon" / "questions.html").read_text().count("<article") == 1


@pytest.mark.slow
def test_a_class_goes_on_where_one_cannot_be_read(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    write_submission(folder / "anna", modules=("embedding",))
    write_submission(folder / "ben", ("embedding", "* math.sqrt(self.d_model)", ""), modules=("embedding",))
    (folder / "carl.zip").write_bytes(b"no archive")
    done = ask(folder, "--output", tmp_path / "oral", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert (
        "0 questions" not in lines[0]
        and "0 questions (not all tests pass for InputEmbedding" in lines[1]
        and "0 questions" in lines[2]
    )
    assert {path.name for path in (tmp_path / "oral" / "questions").iterdir()} == {
        "anna.html",
        "ben.html",
        "carl.zip.html",
    }


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (["nowhere"], "nowhere: No such file"),
        (
            ["student", "--hunt", "--sitting", "noon"],
            "--hunt and --sitting are different sheets: leave one of them out",
        ),
        (["student", "--sitting", "a/b"], "--sitting 'a/b': expected letters, digits"),
        (["--sitting", "noon", "--scan", "x.csv"], "sitting-noon: no such sitting; draw it first"),
        (["student", "--assignment", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, arguments, wanted):
    assert main(["ask", *arguments, "--output", str(tmp_path / "oral")]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and wanted in printed.err


@pytest.mark.slow
def test_in_a_browser(tmp_path):
    """Nothing of a submission runs, a screen reader finds its way, and all fits on a telephone."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    sheet = Sheet("a", MARKUP, (question(), question("test_" + "_".join(["in", "many", "situations"] * 8))))
    write_sheets([sheet], "A title", tmp_path)
    with sync_playwright() as playwright, playwright.chromium.launch(**BROWSER) as browser:
        page = browser.new_page(viewport={"width": 360, "height": 800})
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: problems.append("a submission's script ran"))
        for name in ("questions", "answers"):
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert not Axe().run(page).response["violations"]
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert not problems
