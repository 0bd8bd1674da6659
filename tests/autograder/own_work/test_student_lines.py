"""A student's code as text: comments, helpers, and changes that look as if the student had written them."""

import pytest

from autograder.intake.sources import Sources
from autograder.own_work.student_lines import changes_of, helpers_of, without_comment

from ..conftest import examples_in

EXAMPLES = examples_in("own_work/student_lines.toml")
SOURCES: Sources = {"attention": ("attention.py", EXAMPLES["attention"])}


@pytest.mark.parametrize("line, code", EXAMPLES["lines"].items())
def test_a_line_loses_its_comment_however_it_is_set_off(line, code):
    assert without_comment(line) == code


def test_helpers_are_what_a_component_needs_but_the_contracts_own():
    known = ("attend", "Heads")
    assert helpers_of("attention.attend", SOURCES, known) == ["fill", "masked"]
    assert helpers_of("attention.Heads", SOURCES, known) == []
    assert helpers_of("attention.Heads", SOURCES, ()) == ["attend", "fill", "masked"]


def test_a_change_leaves_the_style_of_a_line():
    lines = {change.after for change in changes_of("attention.attend", SOURCES)}
    rest = ' * einsum("qd,kd->qk", query, key + 1e-3)  # "scaled"'
    assert {f"scores = {left}{rest}" for left in ("mean", "query", "(query + mean)", "(mean - query)")} <= lines
    assert "scores = (mean / query) @ value" in {change.after for change in changes_of("attention.grouped", SOURCES)}
    assert f"scores = (query - mean){rest.replace(' *', ' /')}" in lines
    assert 'scores = (query - mean) * einsum("qd,kd->qk", query, key)  # "scaled"' in lines
    masked = {change.after for change in changes_of("attention.masked", SOURCES)}
    assert "return scores.masked_fill(mask != 0, -1e9)" in masked
    assert not any("--" in line or "'" in line for line in lines | masked)
