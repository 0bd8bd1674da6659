"""Marks: the grader's, people's, and what lateness costs; weighing anew gives what grading would give."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from autograder.classroom.marks import WHOLE, Decision, mark_of, weighed
from autograder.grading.record import Judgement, judge_bleu, new_record
from autograder.grading.scoring import Score
from autograder.platforms.platform import Student
from autograder.testing.results import Outcome, State, TaskResult, judge_task
from foundation.assignment_file import Assignment
from foundation.assignment_tables import LatePolicy

from ..conftest import ASSIGNMENT, VERSION, examples_in, judged, record_of

DUE = datetime(2026, 12, 18, 23, 59, tzinfo=UTC)
POLICY = LatePolicy(DUE, grace_hours=1, percent_per_day=10, most_percent=25)


def by_hand(value: float | None) -> Decision:
    return Decision(student="anna", kind="points", value=value, text="because", by="tina", at=DUE)


def judgement(**states: str) -> Judgement:
    """Every part passed but those named by their task."""
    results = judged({task.number: State(states[task.name]) for task in ASSIGNMENT.tasks if task.name in states})
    return record_of("anna", *results).judgement


def test_what_the_grader_failed_at_is_empty_until_a_person_decides():
    failed = judgement(attention="grader error", diagonal_mask="grader error")
    assert mark_of(failed).score is None and mark_of(failed).needs_review == ("1.2, E.1: grader error",)
    decided = mark_of(failed, {("points", "1.2"): by_hand(0.0)})
    assert decided.score == 86 and decided.needs_review == ("E.1: grader error",)
    assert mark_of(judgement(diagonal_mask="grader error")).score == 100, "no points depend on it"
    mark = mark_of(judgement(), {("points", "1.4"): by_hand(12.5)})
    assert mark.score == 102.5
    assert mark.needs_review == ("1.4: 12.5 by hand of 10 points; enter other points, or withdraw these",)


def test_a_decision_is_named_where_it_counts():
    for helps, counts in ((False, True), (True, False)):
        mark = mark_of(judgement(), {("points", "1.3"): by_hand(4.0).changed(helps=helps)}).parts[2]
        assert bool(mark.by_hand) == counts and mark.score == (4 if counts else 14)
    unwritten, decided = judgement(paper_hunt="not attempted", multi_head="failed"), by_hand(0.0)
    parts = mark_of(unwritten, {("points", number): decided for number in ("E.9", "1.3")}).parts
    assert (parts[-1].state, parts[2].state) == ("marked by hand", "failed")
    assert mark_of(unwritten).parts[-1].state == "not taken yet"


EXAMPLES = examples_in("classroom/lateness.toml")["examples"]


@pytest.mark.parametrize("case", EXAMPLES, ids=str)
def test_what_lateness_costs_and_what_a_person_has_to_decide(case):
    """An unknown time is never in time; points by hand count before."""
    handed_in = case.get("handed_in", {})
    if "after" in case:
        handed_in = {"submitted": DUE + timedelta(**case["after"])}
    anna = Student("anna", "Anna", **handed_in)
    decided = {("points", "1.2"): by_hand(4.0), ("late", WHOLE): by_hand(case.get("days"))}
    mark = mark_of(judgement(), decided, POLICY, anna)
    assert mark.earned == 90
    if "review" in case:
        assert mark.score is None and mark.needs_review[0].startswith(case["review"])
    else:
        assert (mark.lateness.days, mark.lateness.percent) == (case.get("late"), case["percent"])
        assert mark.score == pytest.approx(90 * (1 - case["percent"] / 100)) and mark.needs_review == ()
    assert mark_of(judgement(), {}, None, anna).score == 100, "without a policy"


def test_a_time_without_a_zone_is_in_that_of_the_due_date():
    policy = replace(POLICY, due=datetime.fromisoformat("2026-12-18T23:59:00+05:00"), grace_hours=0)
    assert policy.days_late(datetime(2026, 12, 18, 23, 59)) == 0
    assert policy.days_late(datetime(2026, 12, 19, 0, 0)) == 1
    assert policy.days_late(datetime(2026, 12, 18, 18, 59, tzinfo=UTC)) == 0


def score(bleu: float) -> Score:
    return Score(bleu, bleu - 0.02, bleu + 0.02, sentences=900, signature="tok:none")


def outcomes(states: str) -> list[Outcome]:
    """States by letter: p passed, f failed, t timeout, n not attempted, g grader error; a capital: the first item."""
    kinds = {state.value[0]: state for state in State if state not in (State.PENDING, State.REFUSED, State.NOT_GRADED)}
    items = ["" if letter.isupper() else "no side effects" for letter in states]
    return [Outcome("test", kinds[letter.lower()], item=item) for letter, item in zip(states, items, strict=True)]


def graded(assignment: Assignment, states: dict[str, str], bleu: float | None, *more: TaskResult) -> Judgement:
    """The judgement that grading gives: outcomes of tests by the task's number, and BLEU."""
    results = []
    for task in assignment.tasks:
        if task.threshold and bleu is not None:
            results.append(judge_bleu(task, score(bleu), assignment))
        else:
            results.append(judge_task(task, outcomes(states.get(task.number, "Pp")), assignment.credit))
    record = new_record("anna", assignment, VERSION).taken_in({})
    return record.judged([*results, *more], bleu=bleu and score(bleu)).judgement


def heavier(number: str, points: float) -> Assignment:
    tasks = (replace(task, points=points) if task.number == number else task for task in ASSIGNMENT.tasks)
    return replace(ASSIGNMENT, tasks=tuple(tasks))


MIXED = {"1.1": "PppF", "1.2": "Pppf", "1.3": "Pptn", "1.4": "Gpp", "1.5": "Pf", "2.1": "nnn", "2.2": "PPpn"}
AFTERWARDS = {
    "points": heavier("1.2", 20.0),
    "all or nothing": replace(ASSIGNMENT, credit="all"),
    "a lower threshold": replace(ASSIGNMENT, thresholds={"beginner": 0.2, "advanced": 0.3}),
    "visibility": replace(ASSIGNMENT, tasks=tuple(replace(task, visibility="hidden") for task in ASSIGNMENT.tasks)),
}


@pytest.mark.parametrize("after", AFTERWARDS.values(), ids=AFTERWARDS)
@pytest.mark.parametrize("bleu", [None, 0.3499999999, 0.45])
def test_weighing_gives_what_grading_would_give(after, bleu):
    old, new = (graded(assignment, MIXED, bleu) for assignment in (ASSIGNMENT, after))
    assert old != new, "otherwise nothing is compared"
    assert weighed(old, after) == new and weighed(new, ASSIGNMENT) == old


def test_weighing_gives_no_mark_and_no_points_where_there_were_none():
    task = ASSIGNMENT.tasks[1]
    given_up = new_record("anna", ASSIGNMENT, VERSION).given_up("a bug of ours").judgement
    pending = graded(ASSIGNMENT, {}, None, TaskResult(task, State.PENDING, 0.0, "later"))
    refused = replace(judge_task(task, outcomes("Pp"), "items"), state=State.REFUSED, score=0.0)
    refused = graded(ASSIGNMENT, {}, None, refused)
    after = [weighed(each, heavier("1.2", 20.0)).parts[1] for each in (given_up, pending, refused)]
    assert [part.score for part in after] == [None, None, 0]
