"""Judges one submission: its translations by BLEU, its components by their tests in the sandbox.

    for event in grader.judge(intake, seed):
        record = recorder.add(event)

Nothing here imports, unpickles or evaluates any part of the submission. The judgement is a function of the
submission, the assignment, the seed and the grader's version. What a clock decides is what the assignment's limits
say about submitted code, and a safety net around our own, which is noted when it strikes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment, Task
from foundation.places import ANSWERS
from foundation.watchdog import check_main_thread

from ..diagnosis.catalogue import CatalogueError, Misconception
from ..diagnosis.explaining import EXPLAINED, Explainer, make_diagnostician
from ..intake import Intake
from ..rules import find_internals
from ..sandbox.session import Tape
from ..sandbox.submission import Sandbox
from ..sandbox.zygote import Zygote, living
from ..testing.collected_tests import CollectedTests
from ..testing.hints import SEED as HINT_SEED
from ..testing.hints import fitting, pattern_of, read_hints
from ..testing.own_run import find_own_parts
from ..testing.results import State, TaskResult, judge_task
from .own_tests import judge_own_tests
from .recording import (
    Contained,
    Event,
    Finished,
    Found,
    Noted,
    TasksJudged,
)
from .whole_model import judge_translations

if TYPE_CHECKING:  # loaded where the first submission needs it
    from ..diagnosis.matching import Diagnostician

BY_HAND = "marked by hand, in class"
DIAGNOSIS_SECONDS = 20.0
"""CPU time of the diagnosis of all tasks, after which no further one begins."""


@dataclass
class Grader:
    """What all submissions of an assignment are judged with; see `submission.open_grader`.

    Attributes:
        assignment: tasks, points, thresholds, limits.
        references: of the test split.
        tests: collected.
        zygote: that workers are forked from.
        level: of containment.
        diagnostician: prepared for all tasks, or None; then each submission that needs one makes its own.
    """

    assignment: Assignment
    references: Path
    tests: CollectedTests
    zygote: Zygote
    level: str = "auto"
    diagnostician: Diagnostician | None = None

    def judge(
        self,
        submission: Intake,
        seed: int,
        *,
        show_progress: bool = False,
        killed_before: Container[str] = (),
    ) -> Iterator[Event]:
        """Judges one submission that has been taken in.

        Args:
            submission: its files.
            seed: for the tests' random inputs.
            show_progress: shows a progress bar.
            killed_before: components during whose calls a worker was killed from outside in an earlier attempt.

        Yields:
            What becomes known, in order; `Finished` at last.

        Raises:
            SandboxUnavailableError: where the machine cannot contain the submission as asked, or something outside has
                ended the zygote or a worker. No test is blamed then.
            RuntimeError: outside the main thread of a process, where limits do not work.
        """
        check_main_thread()
        assignment = self.assignment
        yield from map(Noted, submission.notes)
        yield from map(Noted, find_own_parts(submission.sources, assignment, submission.locate))
        yield from judge_translations(submission, assignment, self.references)
        own = (submission.submitted & submission.sources.keys()) - {*assignment.own_tests}
        if uses := find_internals(submission.sources, own, assignment.contract.forbidden, submission.release):
            places = tuple(f"{use.name} in {submission.locate(use.module, use.line)}: {use.code}" for use in uses)
            yield Found({"internals": places})
        tested = [task for task in assignment.tasks if task.components and not task.tests_of]
        known: dict[str, TaskResult] = {}
        tape = Tape()
        broken: list[str] = []
        seconds_of_diagnosis = 0.0
        with (
            Explainer(tape, assignment, broken.append, self.diagnostician) as explainer,
            Sandbox(
                {name: source for name, source in submission.sources.items() if name not in assignment.own_tests},
                assignment,
                zygote=self.zygote,
                tape=tape,
                locate=submission.locate,
                killed_before=killed_before,
            ) as sandbox,
        ):
            for outcomes in self.tests.run(sandbox, seed, show_progress):
                sandbox.check()
                done = [t for t in tested if t.marker in outcomes and t.number not in known]
                results = [judge_task(task, outcomes[task.marker], assignment.credit) for task in done]
                results = [replace(one, score=0.0) if one.state is State.REFUSED else one for one in results]
                if seconds_of_diagnosis < DIAGNOSIS_SECONDS:
                    began = time.process_time()
                    results = explainer.explain(results)
                    seconds_of_diagnosis += time.process_time() - began
                    sandbox.check()
                known |= {result.task.number: result for result in results}
                yield Contained(sandbox.layers, sandbox.output)
                if results:
                    yield TasksJudged(tuple(results))
            exhausted = [
                f"the grader stopped checking answers in {nodeid}" for nodeid in self.tests.checking_time.exhausted_by
            ]
            if seconds_of_diagnosis >= DIAGNOSIS_SECONDS:
                broken.append(f"diagnosis ended after {DIAGNOSIS_SECONDS:g} s of CPU time; no marks depend on it")
            for note in [*exhausted, *broken]:
                yield Noted(note, is_about_run=True)
            untested = [judge_task(task, [], assignment.credit) for task in tested if task.number not in known]
            if untested:
                yield TasksJudged(tuple(untested))
            by_hand = tuple(left_to_people(task, submission.answers) for task in assignment.tasks if task.by_hand)
            if by_hand:
                yield TasksJudged(by_hand)
            for task in assignment.tasks:
                if task.tests_of:
                    yield TasksJudged((judge_own_tests(submission, task, assignment, self.zygote, seed),))
            for result in find_hints(known.values(), self.tests, sandbox, assignment):
                yield TasksJudged((result,))
        yield Finished()

    def prepare(self) -> None:
        """Does once what the diagnosis of many submissions has in common; their processes are forked from this one."""
        reference = self.assignment.reference
        if self.diagnostician is None and reference.is_dir():
            with contextlib.suppress(CatalogueError):  # each diagnosis that meets it tells it; no marks depend on one
                self.diagnostician = make_diagnostician(reference, self.assignment)
                for task in self.assignment.tasks:
                    self.diagnostician.prepare(task.components, task.number)

    def renew(self) -> bool:
        """Starts another zygote where the present one has ended or hangs; whether it did so.

        Only the process that has started the zygote can: in a fork of it, nothing happens.
        """
        before = self.zygote
        self.zygote = living(before, self.assignment, self.level)
        return self.zygote is not before


def left_to_people(task: Task, answers: str) -> TaskResult:
    """A task that people mark, with what a student has written for them; the same text with each such task."""
    if task.written:
        state = State.NEEDS_READER if answers else State.NOT_ATTEMPTED
        return TaskResult(task, state, 0.0, answers or f"nothing is written in {ANSWERS}")
    return TaskResult(task, State.NOT_ATTEMPTED, 0.0, BY_HAND)


def find_hints(
    results: Iterable[TaskResult], tests: CollectedTests, sandbox: Sandbox, assignment: Assignment
) -> Iterator[TaskResult]:
    """Failed tasks with the hints that students find at home, where there is no catalogue: on Gradescope.

    The task's tests run once more, with the seed of hints. What they see changes no mark.
    """
    hints = read_hints(assignment.folder)
    for result in results:
        task = result.task
        if result.state in EXPLAINED and result.finding is None and task.number in hints:
            *_, outcomes = tests.run(sandbox, HINT_SEED, only=task.marker)
            if found := fitting(hints[task.number], pattern_of(outcomes.get(task.marker, ()))):
                text = "\n".join(f"Hint: {hint}" for hint in found)
                yield replace(result, finding=Misconception(text, "", explains_all=False))
