"""What a submission does as a whole: its translations, judged by BLEU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foundation.assignment_file import Assignment

from ..intake import TRANSLATIONS, Intake
from ..scoring import Score, ScoringError, explain, judge, parse_translations, read_references, score
from ..testing.results import State, TaskResult
from .record import Bleu
from .recording import Event, Found, Noted, TasksJudged


def judge_translations(intake: Intake, assignment: Assignment, references: Path) -> Iterator[Event]:
    """Scores the translations against the references, `source|||target` lines."""
    tasks = [task for task in assignment.tasks if task.threshold]

    def all_in(state: State, message: str) -> TasksJudged:
        return TasksJudged(tuple(TaskResult(task, state, 0.0, message) for task in tasks))

    if intake.translations_problem:
        yield all_in(State.NOT_GRADED, intake.translations_problem)
        return
    if intake.translations is None:
        message = f"no {TRANSLATIONS}: expected one line for each test sentence, in order"
        yield all_in(State.NOT_ATTEMPTED, message)
        return
    try:
        targets = read_references(references)
    except ScoringError as error:
        yield all_in(State.GRADER_ERROR, f"the references cannot be read: {error}")
        return
    notes: list[str] = []
    try:
        lines = parse_translations(intake.translations, TRANSLATIONS, expected=len(targets), note=notes.append)
        found = score(lines, targets, with_chrf=False)
    except ScoringError as error:
        yield from map(Noted, notes)
        yield all_in(State.ERROR, str(error))
        return
    yield from map(Noted, notes)
    yield Found({"bleu": bleu_of(found)})
    results = []
    for task in tasks:
        name = task.threshold or ""
        [verdict] = judge(found, {name: assignment.thresholds[name]})
        state, points = (State.PASSED, task.points) if verdict.is_reached else (State.FAILED, 0.0)
        results.append(TaskResult(task, state, points, explain(verdict, found)))
    yield TasksJudged(tuple(results))


def bleu_of(score: Score) -> Bleu:
    """BLEU as it stands in the record."""
    return Bleu(value=score.bleu, low=score.low, high=score.high, sentences=score.n, signature=score.signature)
