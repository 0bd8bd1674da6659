"""Sheets of a class: with today's names, and whatever happens to the child that draws one."""

from __future__ import annotations

import os
from contextlib import contextmanager

import pytest

from autograder.__main__ import main
from autograder.understanding.question import Question, Sheet

NAMES = ["anna", "ben", "carl"]


class StubExaminer:
    """In the place of a true one: one question each."""

    def sheet(self, key, name, intake):
        return Sheet(key, name, (Question("shape", "layers.LayerNorm", (f"What, {key}?",), "42"),), "so", "0123", 1.5)

    def renew(self) -> None:
        pass


class DyingExaminer(StubExaminer):
    def sheet(self, key, name, intake):
        if key == "ben":
            os._exit(9)
        return super().sheet(key, name, intake)


@pytest.fixture
def ask(tmp_path, monkeypatch, fixed_secret):
    """Draws the sheets of three students by an examiner."""
    for name in NAMES:
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "layers.py").write_text(f"# by {name}\n")

    def run(examiner: StubExaminer, *arguments: str) -> int:
        @contextmanager
        def open_stub(*arguments):
            yield examiner

        monkeypatch.setattr("autograder.commands.ask.open_grader", open_stub)
        monkeypatch.setattr("autograder.understanding.examiner.Examiner", lambda *arguments: examiner)
        words = ["ask", str(tmp_path / "class"), "--jobs", "1", "--output", str(tmp_path / "oral")]
        return main([*words, *arguments])

    return run


def test_each_student_gets_a_page_with_the_rosters_name(ask, tmp_path, capsys):
    (tmp_path / "roster.csv").write_text("id,name\nanna,Anna Adler\nben,Ben Berg\ncarl,Carl Cohn\ndora,Dora Dorn\n")
    (tmp_path / "class" / "dora.zip").write_bytes(b"no archive")
    assert ask(StubExaminer(), "--roster", str(tmp_path / "roster.csv")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:10].strip() for line in lines[:4]] == ["Anna Adler", "Ben Berg", "Carl Cohn", "Dora Dorn"]
    assert "Ben Berg" in (tmp_path / "oral" / "answers" / "ben.html").read_text()


def test_a_child_that_dies_stops_no_other_and_leaves_no_old_page(ask, tmp_path, capsys):
    """No questions about code that was replaced."""
    assert ask(StubExaminer()) == 0 and len([*tmp_path.glob("oral/*/ben.html")]) == 2
    assert ask(DyingExaminer()) == 1
    assert "autograder: ben: no questions were drawn: ended with status 9\n" in capsys.readouterr().err
    assert {path.stem for path in tmp_path.glob("oral/*/*.html")} == {"anna", "carl"}


def test_an_interrupt_is_one_line(ask, tmp_path, capsys):
    class Interrupted(DyingExaminer):
        def renew(self):
            raise KeyboardInterrupt

    assert ask(Interrupted()) == 130
    assert capsys.readouterr().err.startswith("autograder: stopped") and not [*tmp_path.rglob("oral/*.html")]
