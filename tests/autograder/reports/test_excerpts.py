"""What is submitted is shown and can do nothing to the page."""

from autograder.classroom.similarity import Place, Written
from autograder.reports.excerpts import code_line
from autograder.reports.pages.similar_page import lines_of


def test_a_line_is_printable_and_not_too_long():
    assert code_line("\tx = 1\r") == "    x = 1"
    assert code_line("a\u202eb\ud800\x1b[2J") == r"a\u202eb\ud800\x1b[2J"
    assert len(code_line("x" * 999)) == 150


def test_similar_lines_are_shown_so_too():
    written = Written(texts={"layers": ["def f(x):", "    return x  # \ud800", *["y = 1"] * 9]})
    lines = list(lines_of(Place("layers", (2,)), written))
    assert [(line.number, line.is_marked) for line in lines] == [("1", False), ("2", True), ("3", False), ("4", False)]
    assert lines[1].text == r"    return x  # \ud800"
