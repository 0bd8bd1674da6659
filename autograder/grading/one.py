"""Grades one submission: its components in the sandbox, its translations by BLEU.

Nothing here imports, unpickles or evaluates any of the submission.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment

from ..intake import Intake
from ..rules import ShortCut, explain_short_cuts, find_short_cuts
from ..sandbox import Zygote
from ..scoring import ScoringError, explain, judge, parse_translations, read_references, score
from .marks import TaskResult, tests_of
from .record import Record

if TYPE_CHECKING:  # the modules that import torch, which comes after the zygote has been started
    from ..assignment.training_check import Trainability
    from ..testing.collected_tests import Tests

TRANSLATIONS = "translations.txt"


def grade(
    intake: Intake,
    assignment: Assignment,
    references: Path,
    *,
    seed: int | None = None,
    suite: str = "",
    zygote: Zygote | None = None,
    level: str = "auto",
    tests: Tests | None = None,
    trains: bool = False,
    progress: bool = False,
    after_each: Callable[[Record], None] = lambda record: None,
) -> Record:
    """Grades a submission that has been taken in.

    Args:
        intake: its files.
        assignment: tasks, points, thresholds, limits.
        references: the test split, `source|||target` lines.
        seed: of the tests' random inputs; None = a fresh secret one.
        suite: the version of everything that decides marks, for the record.
        zygote: to fork the worker from; None = one of its own, at `level` of containment.
        level: see `autograder.sandbox`.
        tests: collected already; None = collected now.
        trains: whether to try a short training run of the whole; it takes some seconds and costs no points.
        progress: shows a progress bar.
        after_each: called with the record once it exists and after each part, to write it down.

    Raises:
        SandboxUnavailableError: where the machine cannot contain the submission as asked. No points are lost for that:
            the record says so.
    """
    start = time.perf_counter()
    seed = secrets.randbits(128) if seed is None else seed
    record = Record(intake.name, assignment, suite=suite, notes=list(intake.notes), files=intake.hashes)
    record.seed_id = name_seed(seed)
    record.update(grade_translations(intake, assignment, references, record))
    after_each(record)

    def judge_components(tests: Tests) -> None:
        from ..diagnosis.explaining import Explainer
        from ..sandbox import Sandbox
        from ..sandbox.tape import Tape

        tape = Tape()
        found = short_cuts_of(intake, assignment, record.notes)
        with (
            Explainer(tests, tape, assignment, record.notes.append) as explainer,
            Sandbox(intake.sources, assignment, zygote=zygote, tape=tape, locate=intake.locate) as submission,
        ):
            for outcomes in tests.run(submission, seed, progress):
                results = [result for result in tests_of(assignment, outcomes) if result.task.marker in outcomes]
                record.update(explainer.explain(refuse_short_cuts(results, found, intake)))
                record.sandbox, record.printed = submission.level, submission.output
                record.seconds = time.perf_counter() - start
                after_each(record)
            if trains:
                record.trainability = try_whole(submission, record)

    own_zygote = None
    try:
        if zygote is None:  # before this process imports torch: both take their time at once
            zygote = own_zygote = Zygote(level)
        if tests is not None:
            judge_components(tests)
        else:
            from ..testing.collected_tests import with_tests

            with_tests([task.marker for task in assignment.tasks if task.components], judge_components)
    except Exception as error:
        record.give_up(str(error) or type(error).__name__)
        after_each(record)
        raise
    finally:
        if own_zygote:
            own_zygote.close()
    record.is_finished, record.seconds = True, time.perf_counter() - start
    after_each(record)
    return record


def name_seed(seed: int) -> str:
    """A hash that names the seed without telling it: the same seed can be recognised, and no input foretold."""
    return hashlib.sha256(f"seed {seed}".encode()).hexdigest()[:12]


def try_whole(submission: object, record: Record) -> Trainability:
    """The verdict on the whole submission, where all parts are there."""
    from ..assignment.training_check import Trainability, missing_for, try_training

    reason = missing_for(record.results)
    return Trainability("not run", reason) if reason else try_training(submission)


def refuse(name: str, reason: str, assignment: Assignment, hashes: dict[str, str], suite: str = "") -> Record:
    """The record of a submission that is there but of a kind that is not graded: no points, and the reason."""
    results = [TaskResult(task, "refused", 0.0, reason) for task in assignment.tasks]
    return Record(name, assignment, results, suite, is_finished=True, notes=[f"not graded: {reason}"], files=hashes)


def short_cuts_of(intake: Intake, assignment: Assignment, notes: list[str]) -> dict[str, list[ShortCut]]:
    """What the judged components use of that which students are to write themselves."""
    judged = dict.fromkeys(component for task in assignment.tasks for component in task.components)
    return find_short_cuts(intake.sources, judged, notes)


def refuse_short_cuts(results: list[TaskResult], found: dict[str, list[ShortCut]], intake: Intake) -> list[TaskResult]:
    """Takes the points of the tasks whose components use short-cuts, and says where."""

    def judge_again(result: TaskResult) -> TaskResult:
        short_cuts = [(component, found[component]) for component in result.task.components if component in found]
        if short_cuts:
            return replace(result, state="refused", score=0.0, message=explain_short_cuts(short_cuts, intake.locate))
        return replace(result, score=0.0) if result.state == "refused" else result  # caught when it ran

    return [judge_again(result) for result in results]


def grade_translations(intake: Intake, assignment: Assignment, references: Path, record: Record) -> list[TaskResult]:
    """Results of the tasks that are judged by BLEU; the score goes into the record."""
    tasks = [task for task in assignment.tasks if task.threshold]

    def all_in(state: str, message: str) -> list[TaskResult]:
        return [TaskResult(task, state, 0.0, message) for task in tasks]

    if intake.translations_problem:
        return all_in("refused", intake.translations_problem)
    if intake.translations is None:
        return all_in("not attempted", f"no {TRANSLATIONS}: expected one line for each test sentence, in order")
    try:
        targets = read_references(references)
    except ScoringError as error:
        return all_in("grader error", f"the references cannot be read: {error}")
    try:
        name, notes = TRANSLATIONS, record.notes
        lines = parse_translations(intake.translations, name, expected=len(targets), note=notes.append)
        record.bleu = score(lines, targets)
    except ScoringError as error:
        return all_in("error", str(error))
    results = []
    for task in tasks:
        [verdict] = judge(record.bleu, {task.threshold: assignment.thresholds[task.threshold]})
        state, points = ("passed", task.points) if verdict.is_reached else ("failed", 0.0)
        results.append(TaskResult(task, state, points, explain(verdict, record.bleu)))
    return results
