"""Grades one submission: its components in the sandbox, its translations by BLEU.

Nothing here imports, unpickles or evaluates any of the submission.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .assignment import Assignment
from .intake import Intake
from .marks import TaskResult, tests_of, total_score
from .rules import explain_short_cuts, find_short_cuts
from .sandbox import Zygote
from .scoring import Score, ScoringError, explain, judge, parse_translations, read_references, score

TRANSLATIONS = "translations.txt"


@dataclass
class Record:
    """All that is known of one graded submission."""

    submission: str
    assignment: Assignment
    results: list[TaskResult]
    bleu: Score | None = None
    seconds: float = 0.0
    sandbox: str = ""
    seed_id: str = ""
    notes: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    printed: str = ""

    @property
    def score(self) -> float:
        """Points, bonus included."""
        return total_score(self.results)


def grade(
    intake: Intake,
    assignment: Assignment,
    references: Path,
    *,
    seed: int | None = None,
    level: str = "auto",
    zygote: Zygote | None = None,
    progress: bool = False,
    after_each: Callable[["Record"], None] | None = None,
) -> Record:
    """Grades a submission that has been taken in.

    Args:
        intake: its files.
        assignment: tasks, points, thresholds, limits.
        references: the test split, `source|||target` lines.
        seed: of the tests' random inputs; None = a fresh secret one.
        level: of containment; see `autograder.sandbox`.
        zygote: to fork the worker from; None = one of its own.
        progress: shows a progress bar.
        after_each: called with the record once it exists and after each part, to write it down.

    Raises:
        SandboxUnavailable: where the machine cannot contain the submission as asked. No points are lost for that.
    """
    start = time.perf_counter()
    seed = secrets.randbits(128) if seed is None else seed
    record = Record(intake.name, assignment, [], notes=list(intake.notes), files=intake.hashes)
    # A hash names the seed without telling it: the same seed can be recognised, and no input foretold.
    record.seed_id = hashlib.sha256(f"seed {seed}".encode()).hexdigest()[:12]
    pending = [TaskResult(task, "grader error", 0.0, "not judged yet") for task in assignment.tasks if task.judges]
    by_bleu = grade_translations(intake, assignment, references, record)
    record.results = in_order(assignment, by_bleu + pending)
    if after_each:
        after_each(record)
    own_zygote = None if zygote else Zygote(level)  # before this process imports torch: both take their time at once
    try:
        from .sandbox import Sandbox
        from .test_run import run_tests

        with Sandbox(intake.sources, assignment.limits, zygote=zygote or own_zygote) as submission:
            markers = [task.marker for task in assignment.tasks if task.judges]
            outcomes = run_tests(submission, seed, markers, progress)
            record.sandbox, record.printed = submission.level, submission.output
    finally:
        if own_zygote:
            own_zygote.close()
    by_tests = refuse_short_cuts(intake, assignment, tests_of(assignment, outcomes), record.notes)
    record.results = in_order(assignment, by_bleu + by_tests)
    record.seconds = time.perf_counter() - start
    if after_each:
        after_each(record)
    return record


def refuse(name: str, reason: str, assignment: Assignment, hashes: dict[str, str]) -> Record:
    """The record of a submission that is there but of a kind that is not graded: no points, and the reason."""
    results = [TaskResult(task, "refused", 0.0, reason) for task in assignment.tasks]
    return Record(name, assignment, results, notes=[f"not graded: {reason}"], files=hashes)


def refuse_short_cuts(
    intake: Intake, assignment: Assignment, results: list[TaskResult], notes: list[str]
) -> list[TaskResult]:
    """Takes the points of the tasks whose components use what students are to write themselves, and says where."""
    judged = dict.fromkeys(component for task in assignment.tasks for component in task.judges)
    found = find_short_cuts(intake.sources, judged, notes)

    def judge_again(result: TaskResult) -> TaskResult:
        short_cuts = [(component, found[component]) for component in result.task.judges if component in found]
        if short_cuts:
            return replace(result, state="refused", score=0.0, message=explain_short_cuts(short_cuts, intake.locate))
        return replace(result, score=0.0) if result.state == "refused" else result  # caught when it ran

    return [judge_again(result) for result in results]


def in_order(assignment: Assignment, results: list[TaskResult]) -> list[TaskResult]:
    """Results in the order of the assignment's tasks."""
    return sorted(results, key=lambda result: assignment.tasks.index(result.task))


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
