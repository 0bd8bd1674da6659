"""A class's sheets are kept as they are drawn: a run that is stopped loses none, and the next draws none twice."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager

import pytest

from autograder.__main__ import main
from autograder.understanding.question import Question, Sheet
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT_FILE

NAMES = ["anna", "ben", "carl"]


class StubExaminer:
    """In the place of a true one: one question each, and a note of whose it is in a file."""

    def __init__(self, log) -> None:
        self.log = log

    def sheet(self, key, name, intake):
        with self.log.open("a") as file:
            file.write(f"{key}\n")
        self.before(key)
        return Sheet(key, name, (Question("shape", "layers.LayerNorm", (f"What, {key}?",), "42"),), "so", "0123", 1.5)

    def before(self, key):
        """What happens meanwhile."""

    def renew(self) -> None:
        pass

    def drawn(self) -> list[str]:
        """Who has got a sheet since the last call."""
        found = self.log.read_text().split()
        self.log.write_text("")
        return found


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "layers.py").write_text(f"# by {name}\n")
    return tmp_path / "class"


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Lets sheets be drawn by a stub of this kind."""

    def install(kind=StubExaminer):
        (tmp_path / "log").touch()
        stub = kind(tmp_path / "log")

        @contextmanager
        def open_stub(*arguments):
            yield stub

        monkeypatch.setattr("autograder.commands.ask.open_grader", open_stub)
        monkeypatch.setattr("autograder.understanding.examiner.open_examiner", open_stub)
        return stub

    return install


@pytest.fixture
def ask(folder, tmp_path, fixed_secret):
    def run(*arguments, output="oral"):
        return main(["ask", str(folder), "--class", "--jobs", "1", "--output", str(tmp_path / output), *arguments])

    return run


def pages(output) -> dict[str, bytes]:
    return {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*.html")}


def test_only_what_is_new_is_drawn(use, ask, folder, tmp_path, capsys):
    stub = use()
    assert ask() == 0 and stub.drawn() == NAMES
    before = pages(tmp_path / "oral")
    capsys.readouterr()
    assert ask() == 0 and stub.drawn() == [] and pages(tmp_path / "oral") == before
    assert "note: kept from an earlier run: 3 of 3 submissions\n" in capsys.readouterr().err
    (folder / "ben" / "layers.py").write_text("# changed\n")
    assert ask() == 0 and stub.drawn() == ["ben"]
    (folder / "dora").mkdir()
    (folder / "dora" / "layers.py").write_text("# by dora\n")
    assert ask() == 0 and stub.drawn() == ["dora"] and (tmp_path / "oral" / "questions" / "dora.html").is_file()


def test_names_are_those_of_today(use, ask, tmp_path, capsys):
    stub = use()
    assert ask() == 0
    (tmp_path / "roster.csv").write_text("id,name\nanna,Anna Adler\nben,Ben Berg\ncarl,Carl Cohn\n")
    stub.drawn()
    capsys.readouterr()
    assert ask("--roster", str(tmp_path / "roster.csv"), "--json") == 0 and stub.drawn() == []
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["Anna Adler", "Ben Berg", "Carl Cohn"]
    assert "Ben Berg" in (tmp_path / "oral" / "answers" / "ben.html").read_text()


def test_what_questions_depend_on_draws_them_again(use, ask, tmp_path, monkeypatch):
    stub = use()
    assert ask() == 0 and stub.drawn() == NAMES
    assert ask("--seed", "7") == 0 and stub.drawn() == NAMES
    assert ask("--seed", "7") == 0 and stub.drawn() == []
    assert ask("--seed", "7", "--level", "unsafe") == 0 and stub.drawn() == NAMES
    text = ASSIGNMENT_FILE.read_text()
    shutil.copytree(ASSIGNMENT_FILE.parent, tmp_path / "assignment", ignore=shutil.ignore_patterns("__pycache__"))
    changed = tmp_path / "assignment" / ASSIGNMENT_FILE.name
    of_other = ("--assignment", str(changed))
    assert ask(*of_other) == 0 and stub.drawn() == NAMES
    changed.write_text(text.replace(f'title = "{read_assignment().title}"', 'title = "Another title"', 1))
    assert ask(*of_other) == 0 and stub.drawn() == []
    assert "Another title" in (tmp_path / "oral" / "questions.html").read_text()
    monkeypatch.setattr("autograder.commands.ask.grader_version", lambda *rest: "another version")
    assert ask(*of_other) == 0 and stub.drawn() == NAMES


def test_a_sheet_that_was_tampered_with_is_drawn_again(use, ask, tmp_path, capsys):
    stub = use()
    assert ask() == 0 and stub.drawn() == NAMES
    before = pages(tmp_path / "oral")
    path = tmp_path / "oral" / "sheets" / "ben.json"
    path.write_text(path.read_text().replace("42", "43"))
    capsys.readouterr()
    assert ask() == 0 and stub.drawn() == ["ben"] and pages(tmp_path / "oral") == before
    assert "note: this term's grader has not sealed what was kept of ben: done again\n" in capsys.readouterr().err


def test_an_interrupt_is_one_line_and_keeps_what_is_drawn(use, ask, tmp_path, capsys):
    class Interrupted(StubExaminer):
        def before(self, key):
            if key == "ben":
                os._exit(9)

        def renew(self):
            raise KeyboardInterrupt

    undisturbed = use()
    assert ask(output="undisturbed") == 0
    use(Interrupted)
    capsys.readouterr()
    assert ask() == 130
    printed = capsys.readouterr().err
    assert printed == "autograder: stopped; finished results are kept\n" and pages(tmp_path / "oral") == {}
    undisturbed.drawn()
    use()
    assert ask() == 0 and undisturbed.drawn() == ["ben", "carl"]
    assert "note: kept from an earlier run: 1 of 3 submissions\n" in capsys.readouterr().err
    assert pages(tmp_path / "oral") == pages(tmp_path / "undisturbed")


def test_a_child_that_dies_is_tried_by_the_next_run(use, ask, folder, tmp_path, capsys):
    class Dying(StubExaminer):
        def before(self, key):
            if key == "ben":
                os._exit(9)

    def files():
        return {path.name for path in tmp_path.glob("oral/*/ben.html")}

    stub = use(Dying)
    assert ask() == 1 and stub.drawn() == NAMES and not files()
    assert "autograder: ben: no questions were drawn: ended with status 9\n" in capsys.readouterr().err
    stub = use()
    assert ask() == 0 and stub.drawn() == ["ben"] and files()
    (folder / "ben" / "layers.py").write_text("# changed\n")
    use(Dying)
    assert ask() == 1 and not files(), "no questions about code that was replaced"
