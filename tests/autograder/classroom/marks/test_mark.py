"""Marks: the grader's, people's, and what lateness costs, each by its own rule."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from autograder.classroom.marks import mark_of
from autograder.classroom.store import WHOLE, Decision, Decisions
from autograder.grading.record import Judgement
from autograder.grading.recording import Finished, Recorder, TakenIn, TasksJudged
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import LatePolicy

from ..conftest import VERSION

DUE = datetime(2026, 12, 18, 23, 59, tzinfo=UTC)
POLICY = LatePolicy(DUE, grace_hours=1, percent_per_day=10, most_percent=25)


def by_hand(value: float | None, text: str = "because") -> Decision:
    return Decision(value, text, "tina", DUE)


def judgement(**states: str) -> Judgement:
    """Every part passed but those named by their task."""
    recorder = Recorder("anna", read_assignment(), VERSION)
    results = []
    for task in read_assignment().tasks:
        state = State(states.get(task.name, "passed"))
        results.append(TaskResult(task, state, task.points if state is State.PASSED else 0.0, ""))
    return recorder.add_all([TakenIn({}), TasksJudged(tuple(results)), Finished()]).judgement


def test_without_decisions_it_is_the_graders():
    mark = mark_of(judgement(attention="failed"))
    assert (mark.score, mark.earned, mark.max_score, mark.needs_review) == (86, 86, 100, ())


def test_points_by_hand_take_the_place_of_the_graders():
    decisions = Decisions(points={"1.2": by_hand(4.0), "E.1": by_hand(2.5), "9.9": by_hand(50.0)})
    mark = mark_of(judgement(), decisions)
    assert mark.score == 100 - 10 + 2.5
    assert {one.part.number: one.part.score for one in mark.parts}["1.2"] == 14, "what was graded stays"


def test_points_by_hand_that_a_task_is_no_longer_worth_are_looked_at():
    mark = mark_of(judgement(), Decisions(points={"1.2": by_hand(14.0), "1.4": by_hand(12.5)}))
    assert mark.score == 102.5
    assert mark.needs_review == ("1.4: 12.5 by hand of 10 points; enter other points, or withdraw these",)


def test_what_the_grader_failed_at_is_empty_until_a_person_decides():
    failed = judgement(attention="grader error", diagonal_mask="grader error")
    mark = mark_of(failed)
    assert mark.score is None and mark.earned is None and failed.score is None
    assert [one.score for one in mark.parts if one.part.number == "1.2"] == [None]
    assert mark.needs_review == ("1.2, E.1: grader error",)
    decided = mark_of(failed, Decisions(points={"1.2": by_hand(0.0)}))
    assert decided.score == 86 and decided.needs_review == ("E.1: grader error",)
    assert mark_of(judgement(diagonal_mask="grader error")).score == 100, "no points depend on it"


@pytest.mark.parametrize(
    "late, days, percent",
    [
        (-timedelta(days=3), 0, 0),
        (timedelta(0), 0, 0),
        (timedelta(hours=1), 0, 0),
        (timedelta(hours=1, seconds=1), 1, 10),
        (timedelta(days=1), 1, 10),
        (timedelta(days=1, seconds=1), 2, 20),
        (timedelta(days=2, hours=12), 3, 25),
        (timedelta(days=400), 400, 25),
    ],
)
def test_what_lateness_costs(late, days, percent):
    mark = mark_of(judgement(attention="failed"), None, POLICY, DUE + late)
    assert (mark.lateness.days, mark.lateness.percent) == (days, percent)
    assert mark.earned == 86 and mark.score == pytest.approx(86 * (1 - percent / 100))


@pytest.mark.parametrize("waived, percent", [(None, 0), (0, 20), (1, 10), (2, 0), (9, 0)])
def test_waived_days_cost_nothing(waived, percent):
    mark = mark_of(judgement(), Decisions(waiver=by_hand(waived)), POLICY, DUE + timedelta(days=2))
    assert mark.lateness.days == 2 and mark.lateness.percent == percent


def test_lateness_counts_after_points_by_hand():
    decisions = Decisions(points={"1.2": by_hand(4.0)}, comments={WHOLE: by_hand(None, "see me")})
    mark = mark_of(judgement(), decisions, POLICY, DUE + timedelta(days=1))
    assert mark.score == 81 and mark.comment.text == "see me"


def test_without_a_policy_or_a_time_nothing_is_taken_off():
    assert mark_of(judgement(), None, None, DUE + timedelta(days=9), True).score == 100
    unknown = mark_of(judgement(), None, POLICY, None, True)
    assert unknown.score is None and unknown.earned == 100 and "nobody knows" in unknown.needs_review[0]
    assert mark_of(judgement(), Decisions(late_days=by_hand(2)), POLICY, None, True).score == 80
    assert mark_of(judgement(), Decisions(late_days=by_hand(0)), POLICY, DUE + timedelta(days=9)).score == 100
    assert mark_of(judgement(), Decisions(waiver=by_hand(None)), POLICY, None, True).needs_review == ()
    assert mark_of(judgement(), None, POLICY, None, None).needs_review == ()


def test_a_time_that_cannot_be_read_is_never_in_time():
    unread = mark_of(judgement(), None, POLICY, unread_time="'yesterday' in timestamp.txt")
    assert unread.score is None and unread.earned == 100
    assert unread.needs_review[0].startswith("the time of submission cannot be read ('yesterday' in timestamp.txt): ")
    assert mark_of(judgement(), Decisions(late_days=by_hand(2)), POLICY, unread_time="x").score == 80
    assert mark_of(judgement(), None, None, unread_time="x").score == 100, "where lateness costs nothing"


def test_a_time_without_a_zone_is_in_that_of_the_due_date():
    policy = replace(POLICY, due=datetime.fromisoformat("2026-12-18T23:59:00+05:00"), grace_hours=0)
    assert policy.days_late(datetime(2026, 12, 18, 23, 59)) == 0
    assert policy.days_late(datetime(2026, 12, 19, 0, 0)) == 1
    assert policy.days_late(datetime(2026, 12, 18, 18, 59, tzinfo=UTC)) == 0
