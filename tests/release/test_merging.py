"""Merging lines, Python files and notebooks: nothing that a student has written is ever lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from release.merging import NotebookError, hints_of, merge_notebook, merge_texts

HEAD = '"""A module."""\n\n\nclass A:\n'
SKELETON = f"""{HEAD}    def one(self, x):
        \"\"\"One.\"\"\"
        # TODO 1.1: do one thing,
        # and do it well.
        raise NotImplementedError("TODO 1.1")

    def two(self, x):
        \"\"\"Two.\"\"\"
        given = x + 1
        # TODO 1.2: do another.
        raise NotImplementedError("TODO 1.2")

    def three(self, x):
        # TODO 1.2: this is long.
        # Really.
        raise NotImplementedError("TODO 1.2")
"""
NEWS = {
    "hint": ("# TODO 1.1: do one thing,", "# TODO 1.1: do exactly one thing,"),
    "docstring": ('"""Two."""', '"""Two, (b, s) -> (b, s)."""'),
    "given": ("given = x + 1", "given = x + 2"),
    "second": ("# TODO 1.2: do another.", "# TODO 1.2: do another one."),
    "end": ("this is long.", "this is not so long."),
}
SOME_NEWS = st.sets(st.sampled_from(sorted(NEWS)))


def changed(text: str, names) -> str:
    for name in names:
        text = text.replace(*NEWS[name])
    return text


def answer(text: str, number: int, lines: list[str]) -> str:
    """The text with the statement of one TODO replaced."""
    hint = list(hints_of(text).values())[number]
    before, _, after = text.partition(hint)
    statement, _, rest = after.partition("\n")
    assert statement.strip().startswith("raise") and hint not in rest
    return "".join([before, hint, *(f"        {line}\n" for line in lines), rest])


ANSWERS = st.lists(st.sampled_from(["y = x", "return y", "", "# mine", "if y:", "    pass"]), min_size=1, max_size=5)


@given(st.dictionaries(st.sampled_from([0, 1, 2]), ANSWERS), SOME_NEWS)
def test_answers_meet_any_news_without_conflict(answers: dict[int, list[str]], news: set[str]) -> None:
    student, expected = SKELETON, changed(SKELETON, news)
    for number in sorted(answers, reverse=True):
        student, expected = answer(student, number, answers[number]), answer(expected, number, answers[number])
    assert merge_texts(SKELETON, student, changed(SKELETON, news)) == (expected, [])


@given(st.lists(st.tuples(st.integers(0, 25), st.booleans()), max_size=6), SOME_NEWS)
def test_whatever_a_student_does_to_a_file_their_lines_survive(edits: list[tuple[int, bool]], news: set[str]) -> None:
    lines = SKELETON.splitlines(keepends=True)
    for number, (place, removes) in enumerate(edits):
        place = min(place, len(lines))
        lines[place : place + removes] = [f"my line {number}\n"]
    text, conflicts = merge_texts(SKELETON, "".join(lines), changed(SKELETON, news))
    mine = [line for line in lines if line.startswith("my line")]
    assert [line for line in text.splitlines(keepends=True) if line.startswith("my line")] == mine
    if not conflicts:
        assert all(not NEWS[name][0].startswith("#") or NEWS[name][0] not in text for name in news)


def test_line_ends_of_windows_stay() -> None:
    student = answer(SKELETON, 0, ["return x"]).replace("\n", "\r\n")
    text, _ = merge_texts(SKELETON, student, changed(SKELETON, ["hint"]))
    assert text.count("\r\n") == text.count("\n") and "exactly one thing" in text


def cell(identity: str, source: str, solution: bool = False, **more: object) -> dict:
    graded = {"nbgrader": {"grade_id": identity, "solution": solution, "grade": False, "locked": not solution}}
    return {"id": identity, "cell_type": "code", "metadata": graded, "source": source, "outputs": [], **more}


def notebook(*cells: dict) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def sources(content: bytes) -> list[str]:
    return [cell["source"] for cell in json.loads(content)["cells"]]


OLD = notebook(cell("a", "old prose"), cell("b", "raise 1", True), cell("t", "test 1"), cell("c", "raise 2", True))


def test_cells_of_students_stay_and_all_others_are_the_releases() -> None:
    own = {"id": "x", "cell_type": "code", "metadata": {}, "source": "my try", "outputs": [7]}
    first = {"id": "y", "cell_type": "markdown", "metadata": {}, "source": "my note"}
    answered, unanswered = cell("b", "answer", True), cell("c", "raise 2", True)
    student = notebook(first, cell("a", "spoiled"), answered, own, cell("t", "test 1"), unanswered)
    new = notebook(
        cell("a", "new prose"),
        cell("n", "more"),
        cell("b", "raise 1", True),
        cell("t", "test 2"),
        cell("c", "raise 3", True),
    )
    merged, conflicts = merge_notebook(OLD, student, new)
    assert sources(merged) == ["my note", "new prose", "more", "answer", "my try", "test 2", "raise 3"]
    assert conflicts == []


def test_the_parts_of_a_split_cell_all_stay() -> None:
    """Splitting and copying repeat the grade_id, or in old formats the whole cell."""
    halves = [cell("b", "half 1", True), cell("b", "half 2", True, id="x"), cell("b", "half 3", True)]
    own = [{"cell_type": "code", "metadata": {}, "source": "again", "outputs": []}] * 2
    student = notebook(cell("a", "old prose"), *halves, *own, cell("t", "test 1"), cell("t", "test 1", id="own-1"))
    new = notebook(cell("a", "new prose"), cell("b", "raise 1", True), cell("t", "test 2"))
    merged, conflicts = merge_notebook(OLD, student, new)
    expected = ["new prose", "half 1", "half 2", "half 3", "again", "again", "test 2", "test 1"]
    assert sources(merged) == expected
    cells = json.loads(merged)["cells"]
    assert ["nbgrader" in one["metadata"] for one in cells] == [True, True, *[False] * 4, True, False]
    ids = [one["id"] for one in cells if "id" in one]
    assert len(set(ids)) == len(ids) == 7
    assert merge_notebook(new, merged, new)[0] == merged


@pytest.mark.parametrize("content", [b"", b"[]", b'{"cells": 3}', b'{"cells": [1]}', b'{"nbformat": 4}'])
def test_what_is_no_notebook_is_refused(content: bytes) -> None:
    with pytest.raises(NotebookError, match="not a notebook"):
        merge_notebook(OLD, content, OLD)
