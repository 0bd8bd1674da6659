"""Tasks that students answer in writing: from the file or the cell to the result that a person reads."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from autograder.grading.judging import left_to_people
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.places import ANSWERS, REFERENCE

from .conftest import FORMS

FORM = (REFERENCE / ANSWERS).read_text()
TASK = read_assignment().written[0]


@pytest.fixture(autouse=True)
def handed_out(release):
    """The form beside the modules."""
    (release / ANSWERS).write_text(FORM)
    yield
    (release / ANSWERS).unlink()


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_reaches_the_reader(pack, take, form):
    intake = take(pack({"masks.py": "x = 1\n", ANSWERS: f"{FORM}\nBLEU fell to 0.41.\x1b[2J\n"}, form))
    result = left_to_people(TASK, intake.answers)
    assert ANSWERS in intake.hashes and result.state is State.NEEDS_READER
    assert "BLEU fell to 0.41." in result.message and "\x1b" not in result.message


@pytest.mark.parametrize("text", [None, "", "\n", FORM, FORM.replace("\n", "\r\n")])
def test_an_empty_form_is_not_attempted(pack, take, text):
    files = {"masks.py": "x = 1\n"} | ({} if text is None else {ANSWERS: text})
    result = left_to_people(TASK, take(pack(files)).answers)
    assert result.state is State.NOT_ATTEMPTED and result.message == f"nothing is written in {ANSWERS}"


def test_a_file_that_is_too_large_is_a_note(pack, take):
    intake = take(pack({"masks.py": "x = 1\n", ANSWERS: "x" * 30_000}))
    assert intake.answers == "" and f"{ANSWERS} is not shown" in " ".join(intake.notes)


@pytest.mark.parametrize("text, expected", [("BLEU fell.", "BLEU fell."), ("YOUR ANSWER HERE", "")])
def test_a_cell_of_text_is_an_answer_where_nbgrader_says_so(tmp_path, take, text, expected):
    marks = {"nbgrader": {"solution": True, "grade": True, "grade_id": "test_e_5"}}
    cells = [
        new_markdown_cell("prose"),
        new_code_cell("def padding_mask(tokens):\n    return 1\n"),
        new_markdown_cell(text, metadata=marks),
    ]
    path = tmp_path / "anna.ipynb"
    path.write_text(writes(new_notebook(cells=cells)))
    assert take(path).answers == expected
