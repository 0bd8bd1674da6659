"""A class is checked, and a page says whom to look at."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import Entry
from autograder.classroom.records import KeptAnswers
from autograder.classroom.similarity import translating_again as translating_class
from autograder.classroom.similarity.translating_again import (
    Agreement,
    Checked,
    CheckedClass,
    DifferingLine,
    Outcome,
    check_class,
    check_entry,
    draw_sample,
    lacking,
)
from autograder.grading.seeds import Seeds
from autograder.intake import Intake
from autograder.reports.pages.similar_pages import write_translated_page
from autograder.scoring import ScoringError
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

MADE = CheckedClass(lines=3, seed=0, version="1")
NAMES = {name: name.title() for name in ("anna", "bob", "carl")}
ENTRIES = [Entry(name, name, Path(name), Path(name)) for name in NAMES]
MARKUP = "<script>alert(1)</script>"
BROWSER = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}


def agrees(entry):
    return "1", Checked(key=entry.key, entry=entry.entry, outcome=Outcome.AGREES, sampled=3, same=3)


def check(folder, work=agrees, known=(), entries=ENTRIES, renew=lambda: None):
    kept = KeptAnswers(folder, Checked, "as always", Seeds(b"a secret"))
    return check_class(entries, NAMES, {one.key: one for one in known}, kept, work, renew)


def test_a_child_that_dies_stops_no_other(tmp_path):
    renewed = []

    def work(entry):
        if entry.key == "bob":
            os._exit(9)
        return agrees(entry)

    found = check(tmp_path, work, renew=lambda: renewed.append(1))
    assert [one.outcome for one in found] == [Outcome.AGREES, Outcome.NOT_TRANSLATED, Outcome.AGREES]
    assert "the grader failed: ended with status 9" in found[1].reason and len(renewed) == 1


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"translations": b"a\n"}, "no best.pt"),
        ({"checkpoint": b"x"}, "no translations.txt"),
        ({}, "no best.pt; no translations.txt"),
        ({"translations": b"a\n", "notes": ["best.pt is not shown: too large"]}, "best.pt is not shown: too large"),
        ({"checkpoint": b"x", "translations_problem": "translations.txt: a link"}, "translations.txt: a link"),
        ({"checkpoint": b"x", "translations": b"a\n"}, ""),
    ],
)
def test_what_is_lacking_is_said(files, why):
    assert lacking(Intake("anna", {}, **files)) == why


@pytest.fixture
def handed_in(tmp_path):
    """A folder with a submission; and how it is checked, by the answer of the sandbox."""
    folder = tmp_path / "anna"
    folder.mkdir()
    (folder / "layers.py").write_text("x = 1\n")
    (folder / "translations.txt").write_text("a b\nc d\ne f\n")
    (folder / "best.pt").write_bytes(b"weights")
    (tmp_path / "test.bpe").write_text("x|||a b\ny|||c d\nz|||e f\n")
    sample = draw_sample(tmp_path / "test.bpe", 2, 0)
    entry = Entry("anna", "anna", folder, tmp_path / "anna.json")

    def checked():
        return check_entry(entry, SKELETON, sample, read_assignment(), None)

    return folder, checked


def test_an_answer_becomes_an_outcome(handed_in, monkeypatch):
    folder, checked = handed_in
    different = tuple(DifferingLine(number=number, submitted="a" * 500, again=MARKUP) for number in range(1, 31))
    answers = {
        Outcome.AGREES: Agreement(20, different[:2], 4),
        Outcome.DIFFERS: Agreement(50, different, 4),
        Outcome.NOT_TRANSLATED: Agreement(50, problem="not a checkpoint"),
    }
    for outcome, answer in answers.items():
        monkeypatch.setattr(translating_class, "translate_again", lambda *rest, answer=answer: answer)
        content, found = checked()
        assert found.outcome is outcome and content
    monkeypatch.setattr(translating_class, "translate_again", lambda *rest: answers[Outcome.DIFFERS])
    found = checked()[1]
    assert (found.same, found.sampled, found.beam_size, len(found.differing)) == (20, 50, 4, 10)
    assert len(found.differing[0].submitted) <= 200

    monkeypatch.setattr(translating_class, "translate_again", None)
    (folder / "best.pt").unlink()
    assert checked()[1].reason == "no best.pt" and checked()[0] != content


def test_translations_that_cannot_be_read_are_nothing_to_check(handed_in, monkeypatch):
    def broken(intake, *rest):
        raise ScoringError(f"{intake.name}: translations.txt: 2 lines; expected 3")

    monkeypatch.setattr(translating_class, "translate_again", broken)
    found = handed_in[1]()[1]
    assert found.outcome is Outcome.NOTHING and found.reason == "translations.txt: 2 lines; expected 3"


def test_the_sample_is_the_same_each_time(tmp_path):
    path = tmp_path / "test.bpe"
    path.write_text("".join(f"source {n}|||target {n}\n" for n in range(100)))
    first, again, other = (draw_sample(path, 10, seed) for seed in (0, 0, 1))
    assert first == again != other and first.total == 100
    assert first.sources[3] == f"source {first.numbers[3]}" and list(first.numbers) == sorted(set(first.numbers))
    assert len(draw_sample(path, 500, 0).numbers) == 100


def everything(n=1):
    """A class in which each outcome occurs."""
    line = {"number": 7, "submitted": f"a {MARKUP}", "again": "b"}
    differs = Checked(key="anna", name="Anna", entry="anna", outcome="differs", sampled=50, same=20, differing=[line])
    failed = Checked(key="bob", name="Bob", entry="bob", outcome="not translated", reason=f"no {MARKUP}")
    agreeing = Checked(key="carl", name="Carl", entry="carl", outcome="agrees", sampled=50, same=49, beam_size=4)
    nothing = Checked(key="dora", name="Dora", entry="dora", outcome="nothing to check", reason="no best.pt")
    return MADE.changed(submissions=(differs, failed, agreeing, nothing))


def test_the_page_says_whom_to_look_at(tmp_path):
    (tmp_path / "students").mkdir()
    (tmp_path / "students" / "anna.html").touch()
    page = write_translated_page(everything(), read_assignment(), tmp_path).read_text()
    assert "20 of 50 lines the same" in page and "49 of 50" in page and "a beam of 4" in page
    assert '<a href="students/anna.html">Anna</a>' in page and "students/bob" not in page
    assert "<script>" not in page and "&lt;script&gt;" in page and "1 × no best.pt" in page
    assert page.index("Anna") < page.index("Bob") < page.index("Carl") < page.index("Dora")
    assert "class.html" not in page and "… and 29 more" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ["--class", "--checkpoint", "best.pt"],
        ["--roster", "roster.csv"],
        ["--jobs", "2"],
        ["--output", "marks"],
    ],
)
def test_mistakes_are_one_line(arguments, tmp_path, capsys):
    assert main(["translate-again", str(tmp_path), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and arguments[-2] in error
