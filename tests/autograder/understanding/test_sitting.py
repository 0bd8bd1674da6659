"""A sitting: seats and their key, what was answered, and how each kind of question did."""

import json

import pytest

from autograder.understanding.question import Option, Question, Sheet
from autograder.understanding.sitting import (
    ANSWERS,
    Seat,
    analyse,
    n_right,
    read_answers,
    read_key,
    seat,
    write_key,
    write_results,
)
from foundation.command_line import UserError

OPTIONS = tuple(Option(letter * 2) for letter in "abcd")


def sheet(key: str, name: str, right: str) -> Sheet:
    questions = tuple(
        Question(kind, "layers.LayerNorm", ("?",), letter, options=OPTIONS, right="ABCD".index(letter))
        for kind, letter in zip(("shape", "value", "input"), right, strict=True)
    )
    return Sheet(key, name, questions)


@pytest.fixture
def seats(tmp_path) -> dict[int, Seat]:
    asked = seat([sheet("b", "Bela", "ABC"), sheet("a", "Anna", "DDA"), Sheet("c", "Carl", reason="no tests pass")])
    write_key([one for one, _ in asked], tmp_path)
    return read_key(tmp_path)


def test_who_has_questions_gets_a_seat_and_the_key_says_what_is_right(seats, tmp_path):
    assert [(one.seat, one.student, one.right) for one in seats.values()] == [(1, "a", "DDA"), (2, "b", "ABC")]
    assert (tmp_path / ANSWERS).read_text() == "seat,name,answers\n1,Anna,\n2,Bela,\n"


def test_no_name_is_a_formula(tmp_path):
    write_key([one for one, _ in seat([sheet("a", "=HYPERLINK(1)", "ABC")])], tmp_path)
    assert (tmp_path / ANSWERS).read_text() == "seat,name,answers\n1,'=HYPERLINK(1),\n"


def test_what_was_filled_in_stays_when_the_sitting_is_drawn_again(seats, tmp_path):
    (tmp_path / ANSWERS).write_text("seat,name,answers\n1,Anna,DDA\n")
    write_key([*seats.values()], tmp_path)
    assert read_answers(tmp_path / ANSWERS, seats) == {1: "DDA"}


def test_answers_become_marks(seats, tmp_path):
    path = tmp_path / ANSWERS
    path.write_text("seat;name;answers\n1;Anna;d d-\n2;Bela;\n")
    answers = read_answers(path, seats)
    assert answers == {1: "DD-"} and n_right(answers[1], seats[1]) == 2
    assert write_results(answers, seats, tmp_path).read_text() == "seat,student,name,right,of\n1,a,Anna,2,3\n"


@pytest.mark.parametrize(
    "line, told",
    [
        ("9,Anna,DDA", "line 2: seat = '9': expected a number from 1 to 2"),
        ("x,Anna,DDA", "line 2: seat = 'x'"),
        ("1,Anna,DDAA", "line 2: answers = 'DDAA': expected 3 of A, B, C, D or -"),
        ("1,Anna,DDE", "line 2: answers = 'DDE'"),
        ("1,Anna,DDA\n1,Anna,DDA", "line 3: seat 1 occurs twice"),
    ],
)
def test_a_mistake_is_told_with_its_line(seats, tmp_path, line, told):
    path = tmp_path / ANSWERS
    path.write_text(f"seat,name,answers\n{line}\n")
    with pytest.raises(UserError) as error:
        read_answers(path, seats)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_sitting_that_was_not_drawn(tmp_path):
    with pytest.raises(UserError, match="no such sitting; draw it first"):
        read_key(tmp_path)
    (tmp_path / "key.json").write_text(json.dumps([{"seat": 1}]))
    with pytest.raises(UserError, match="cannot be read"):
        read_key(tmp_path)


def test_a_kind_that_weak_students_answer_as_well_as_strong_ones_is_named():
    kinds = ("shape", "value", "input", "order")
    seats = {n: Seat(n, str(n), str(n), "AAAA", kinds) for n in range(20)}
    answers = {n: ("AAA" if n < 10 else "BBB") + ("A" if n % 2 else "B") for n in seats}
    found = {one.kind: one for one in analyse(answers, seats)}
    assert found["shape"].discrimination > 0.8 and not found["shape"].is_weak
    assert abs(found["order"].discrimination) < 0.1 and found["order"].is_weak
    assert found["order"].easiness == 0.5
    assert analyse({0: "AAAA"}, seats)[0].discrimination is None
