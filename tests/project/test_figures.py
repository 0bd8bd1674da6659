"""Every figure of README and documentation stands once, in docs/figures.toml: no page shows another number."""

import re

import pytest

from autograder.course.catalogue import faults_of, read_catalogue
from docs import figures
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

PAGES = [path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_the_figures_of_the_data(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert figures.corrected(name, text) == text, "python -m docs.figures"
    assert [quote for quote in figures.QUOTES.get(name, []) if not re.search(figures.pattern_of(quote), text)] == []


def test_another_number_is_corrected():
    [quote] = figures.QUOTES["docs/explanation/judging.md"]
    right = figures.filled(quote)
    assert figures.corrected("other.md", re.sub(r"\d+", "7", right).replace(" ", "\n")).split() == right.split()


def test_numbers_of_faults_are_those_of_the_catalogue():
    assignment = read_assignment()
    faults, conditional = faults_of(assignment), read_catalogue(None, assignment, kind="conditional")
    numbers = (len(faults), len(conditional), sum(len(fault.edits) for fault in faults))
    assert numbers == tuple(int(figures.NUMBERS[name]) for name in ("faults", "all_conditional", "edits"))
