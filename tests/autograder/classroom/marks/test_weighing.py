"""Weighing stored outcomes anew gives what grading would give, and runs nothing."""

from dataclasses import replace

import pytest

from autograder.classroom.marks import weighed
from autograder.grading.record import Judgement
from autograder.grading.recording import Event, Finished, GivenUp, Recorder, TakenIn, TasksJudged, TranslationsScored
from autograder.scoring import Score, explain, judge
from autograder.testing.results import Outcome, State, TaskResult, judge_task
from foundation.assignment_file import Assignment, read_assignment

from ..conftest import VERSION

BEFORE = read_assignment()


def score(bleu: float) -> Score:
    return Score(
        bleu=bleu,
        low=bleu - 0.02,
        high=bleu + 0.02,
        n=900,
        chrf=0.6,
        signature="tok:none",
        chrf_signature="nc:6",
        precisions=(0.7, 0.5, 0.4, 0.3),
        brevity_penalty=1.0,
        hypothesis_length=5000,
        reference_length=5000,
        samples=1000,
        seed=1,
        tokenize="none",
    )


def outcomes(states: str) -> list[Outcome]:
    """States by letter: p passed, f failed, t timeout, n not attempted, g grader error; a capital: the first item."""
    kinds = {state.value[0]: state for state in State if state not in (State.PENDING, State.REFUSED, State.NOT_GRADED)}
    return [
        Outcome(f"test {n}", kinds[one.lower()], "why", item="" if one.isupper() else "no side effects")
        for n, one in enumerate(states)
    ]


def graded(assignment: Assignment, states: dict[str, str], bleu: float | None, *more: Event) -> Judgement:
    """What grading gives: outcomes of tests by the task's number, and BLEU."""
    recorder = Recorder("anna", assignment, VERSION)
    results = []
    for task in assignment.tasks:
        if task.components:
            results.append(judge_task(task, outcomes(states.get(task.number, "Pp")), assignment.credit))
        elif bleu is None:
            results.append(TaskResult(task, State.NOT_ATTEMPTED, 0.0, "no translations"))
        else:
            [verdict] = judge(score(bleu), {task.threshold: assignment.thresholds[task.threshold]})
            state, points = (State.PASSED, task.points) if verdict.is_reached else (State.FAILED, 0.0)
            results.append(TaskResult(task, state, points, explain(verdict, score(bleu))))
    scored = [] if bleu is None else [TranslationsScored(score(bleu))]
    return recorder.add_all([TakenIn({}), *scored, TasksJudged(tuple(results)), *more, Finished()]).judgement


def heavier(task: str, points: float) -> Assignment:
    return replace(BEFORE, tasks=tuple(replace(t, points=points) if t.number == task else t for t in BEFORE.tasks))


MIXED = {
    "1.1": "PppF",
    "1.2": "Pppf",
    "1.3": "Pptn",
    "1.4": "Gpp",
    "1.5": "Pf",
    "2.1": "nnn",
    "2.2": "PPpn",
    "2.3": "Ppg",
}
AFTERWARDS = {
    "points": heavier("1.2", 20.0),
    "a bonus": heavier("E.1", 3.0),
    "all or nothing": replace(BEFORE, credit="all"),
    "a lower threshold": replace(BEFORE, thresholds={"beginner": 0.2, "advanced": 0.3}),
    "a higher threshold": replace(BEFORE, thresholds={"beginner": 0.4, "advanced": 0.5}),
    "a title": replace(BEFORE, title="Other", tasks=tuple(replace(t, title=t.title.upper()) for t in BEFORE.tasks)),
    "visibility": replace(BEFORE, tasks=tuple(replace(t, visibility="hidden") for t in BEFORE.tasks)),
}


@pytest.mark.parametrize("after", AFTERWARDS.values(), ids=AFTERWARDS)
@pytest.mark.parametrize("bleu", [None, 0.3, 0.3499999999, 0.45, 0.1])
def test_weighing_gives_what_grading_would_give(after, bleu):
    old, new = (graded(assignment, MIXED, bleu) for assignment in (BEFORE, after))
    assert old != new, "otherwise nothing is compared"
    assert weighed(old, after) == new
    assert weighed(new, BEFORE) == old, "and back"


def test_what_has_no_mark_gets_none_by_weighing():
    given_up = graded(BEFORE, {}, None, TasksJudged((TaskResult(BEFORE.tasks[1], State.PENDING, 0.0, "later"),)))
    recorder = Recorder("anna", BEFORE, VERSION)
    recorder.add(GivenUp("a bug of ours"))
    for judgement in (given_up, recorder.record.judgement):
        parts = {part.number: part for part in weighed(judgement, heavier("1.2", 20.0)).parts}
        assert parts["1.2"].score is None and not parts["1.2"].state.has_mark


def test_refused_parts_stay_without_points():
    refused = replace(judge_task(BEFORE.tasks[1], outcomes("Pp"), "items"), state=State.REFUSED, score=0.0)
    judgement = graded(BEFORE, {}, None, TasksJudged((refused,)))
    assert weighed(judgement, heavier("1.2", 20.0)).parts[1].score == 0
