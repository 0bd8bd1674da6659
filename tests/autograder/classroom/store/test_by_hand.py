"""Decisions by hand: the last one counts, each with who and when, and none is lost by a regrade."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from autograder.classroom.store import Owner, Received, StoreError
from autograder.classroom.store.by_hand import WHOLE
from autograder.classroom.store.tables import Override
from autograder.grading.record import now

from .conftest import graded, received


def test_the_last_decision_counts_and_all_stay(by_hand, database):
    for points in (4.0, 5.0):
        by_hand.give_points("anna", "1.3", points, "it is right", "tina")
    by_hand.give_points("anna", "1.4", 1.0, "why not", "tom")
    by_hand.give_points("anna", "1.4", None, "never mind", "tom")
    by_hand.comment("anna", WHOLE, "Come\nand see me.", "tina")
    by_hand.comment("bob", "1.3", "gone", "tina")
    by_hand.comment("bob", "1.3", "", "tina")
    by_hand.waive("bob", 2, "ill", "tom")
    by_hand.set_late_days("bob", 3, "the clock was wrong", "tom")
    by_hand.set_late_days("anna", 3, "no", "tom")
    by_hand.set_late_days("anna", None, "as it was", "tom")
    found = by_hand.decisions()
    anna, bob = found["anna"], found["bob"]
    assert [(task, one.value, one.text, one.by) for task, one in anna.points.items()] == [
        ("1.3", 5.0, "it is right", "tina")
    ]
    assert abs(now() - anna.points["1.3"].at) < timedelta(minutes=1)
    assert anna.comments[WHOLE].text == "Come\nand see me." and anna.waiver is None
    assert bob.late_days.value == 3 and anna.late_days is None
    assert bob.comments == {} and (bob.waiver.value, bob.waiver.text, bob.waiver.by) == (2, "ill", "tom")
    assert database.do(lambda session: session.scalar(select(func.count()).select_from(Override))) == 4


def test_a_text_comes_back_as_it_was_written(by_hand):
    by_hand.comment("anna", WHOLE, r"see \frac{1}{2}", "tina")
    assert by_hand.decisions()["anna"].comments[WHOLE].text == r"see \frac{1}{2}"


def test_decisions_survive_every_regrade(by_hand, results):
    results.add(received(), graded("1.3"))
    by_hand.give_points("anna", "1.3", 4.0, "it is right", "tina")
    before = by_hand.decisions()
    for record in (graded("1.3", version="f" * 16), graded(content="b"), graded(gives_up=True)):
        results.keep(received(), results.add(received(), record).id)
    assert by_hand.decisions() == before


def test_a_student_is_found_by_key_mail_name_or_entry(by_hand, results):
    anna, carl = Owner("4711", "Anna Lund", "al@example.org"), Owner("4712", "Carl Lund")
    results.enrol([Received("lund_55.zip", "lund_55", (anna,)), Received("x_1", "carl", (carl,))])
    for text in ("4711", "anna lund", "AL@example.org", "lund_55.zip", "lund_55"):
        assert by_hand.find_student(text) == "4711"
    assert by_hand.find_student("carl") == "4712"


def test_accents_may_be_typed_in_any_way_or_left_out(by_hand, results):
    """What a platform exports may have each accent as a character of its own."""
    results.enrol(
        [Received("1", "1", (Owner("1", "Jose\u0301 Nun\u0303ez"),)), Received("2", "2", (Owner("2", "José"),))]
    )
    for text in ("José Nuñez", "jose nunez", "Jose\u0301 Nun\u0303ez"):
        assert by_hand.find_student(text) == "1"
    assert by_hand.find_student("jose") == "2"


def test_who_is_unknown_or_ambiguous_is_said(by_hand, results):
    twins = [Received(str(n), str(n), (Owner(str(n), "Kim Lee"),)) for n in (1, 2)]
    results.enrol(twins)
    with pytest.raises(StoreError, match=r"^kim lee: 2 students are called so; name one by id: 1, 2$"):
        by_hand.find_student("kim lee")
    with pytest.raises(StoreError, match=r"^ana: no student who handed in is called so; did you mean anna\?$"):
        by_hand.find_student("ana")
    with pytest.raises(StoreError, match="no student who handed in is called so$"):
        by_hand.find_student("zzzzzz\x1b"[:-1])
