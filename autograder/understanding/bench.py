"""Runs a submission, and the submission with a change, in the sandbox, to see what follows.

Submitted code runs in workers alone, changed or not. Whatever it does there is a result: a question is asked only where
the answer is one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from autograder.sources import Sources
from foundation.watchdog import CPU, time_limit

from ..intake import Intake
from ..sandbox.errors import SandboxUnavailableError
from ..sandbox.submission import Sandbox
from ..testing.results import Outcome, State
from .question import Option, changed_line
from .student_lines import Change, changes_of, own_statements

if TYPE_CHECKING:
    from ..grading.judging import Grader

Seen = TypeVar("Seen")

MOST_TRIED = 8
"""Changes of a component."""
CHANGED_CPU_SECONDS = 4
"""CPU time of the workers of a changed version: one that runs longer, in a loop without end, is no question."""
LOOKING_SECONDS = 5.0
"""CPU time of this process for one look at a version."""
BROKEN = (State.GRADER_ERROR, State.TIMEOUT, State.OUT_OF_MEMORY, State.REFUSED, State.NEEDS_READER)


@dataclass(frozen=True)
class Trial:
    """What the tests of a component's task said about one version."""

    outcomes: tuple[Outcome, ...]

    @property
    def missed(self) -> list[str]:
        """Names of the tests that do not pass, without their parameters."""
        return list(dict.fromkeys(function_of(test) for test in self.rows))

    @property
    def rows(self) -> dict[str, bool]:
        """Names of the tests that do not pass, with their parameters; False for those that ended with an exception."""
        return {o.test: o.state is State.FAILED for o in self.outcomes if o.state is not State.PASSED}

    @property
    def share(self) -> float:
        """The share of the tests that do not pass."""
        return len(self.rows) / len(self.outcomes)

    @property
    def is_clear(self) -> bool:
        """Whether each test has passed or failed, for a reason that the code alone gives."""
        return bool(self.outcomes) and not any(outcome.state in BROKEN for outcome in self.outcomes)


def function_of(test: str) -> str:
    """A test's name without its parameters."""
    return test.partition("[")[0]


class Bench:
    """Tries versions of one submission.

    Attributes:
        intake: the submission.
        seed: of all random inputs.
        tried: changes of components with what tests say, by component; see `try_changes`.
        works: whether a component, as handed in, passes all tests of its task, as far as that was asked.
        cpu: CPU seconds of the workers so far.
    """

    def __init__(self, intake: Intake, grader: Grader, seed: int) -> None:
        """Takes the submission, an open grader, and a seed."""
        self.intake, self.seed, self._grader = intake, seed, grader
        limits = replace(grader.assignment.limits, cpu_seconds=CHANGED_CPU_SECONDS, failures_a_component=1)
        self._of_changed = replace(grader.assignment, limits=limits)
        self.tried: dict[str, list[tuple[Change, Trial]]] = {}
        self.works: dict[str, bool] = {}
        self.cpu = 0.0

    def passes(self, component: str) -> bool:
        """Whether the component, as handed in, passes all tests of its task."""
        if component not in self.works:
            trial = self.judge(component)
            self.works[component] = trial.is_clear and not trial.missed
        return self.works[component]

    def judge(self, component: str, sources: Sources | None = None, others: int = 0) -> Trial:
        """Runs the tests of a component's task on the submission, or on a changed version of it.

        With `others` they get other inputs.
        """
        task = next(task for task in self._grader.assignment.tasks if component in task.components)
        outcomes: list[Outcome] = []
        with self.open(sources) as sandbox:
            for found in self._grader.tests.run(sandbox, self.seed + others, only=task.marker):
                outcomes = found.get(task.marker, outcomes)
            sandbox.check()
        return Trial(tuple(outcomes))

    def look(self, see: Callable[[Sandbox], Seen], sources: Sources | None = None) -> Seen | None:
        """What a function sees of a version; None where it raises an exception, of ours or of submitted code."""
        found: Seen | None
        with self.open(sources) as sandbox:
            try:
                with time_limit(LOOKING_SECONDS, CPU):
                    found = see(sandbox)
            except SandboxUnavailableError:
                raise
            except Exception:  # submitted code's, or ours over an answer of an unexpected kind
                found = None
            sandbox.check()
        return found

    @contextmanager
    def open(self, sources: Sources | None = None) -> Iterator[Sandbox]:
        """The submission, or a changed version of it, in the sandbox."""
        with Sandbox(
            self.intake.sources if sources is None else sources,
            self._grader.assignment if sources is None else self._of_changed,
            zygote=self._grader.zygote,
            locate=self.intake.locate,
        ) as sandbox:
            try:
                yield sandbox
            finally:
                sandbox.restart()
                self.cpu += sandbox.cpu_seconds

    def changed(self, module: str, text: str) -> Mapping[str, tuple[str, str]]:
        """The sources with another text of one module."""
        return {**self.intake.sources, module: (self.intake.sources[module][0], text)}

    def option(self, change: Change) -> Option:
        """A change as one of several answers."""
        return changed_line(self.intake, change.module, change.line, change.text)


def try_changes(bench: Bench, component: str, draw: random.Random) -> list[tuple[Change, Trial]]:
    """Some changes of a component, of many lines and kinds; those without a clear result are left out."""
    if component not in bench.tried:
        module = component.partition(".")[0]
        changes = changes_of(bench.intake.sources[module][1], own_statements(bench.intake, component))
        several = mixed(changes, draw)[:MOST_TRIED]
        trials = [bench.judge(component, bench.changed(module, change.text)) for change in several]
        bench.tried[component] = [pair for pair in zip(several, trials, strict=True) if pair[1].is_clear]
    return bench.tried[component]


def mixed(changes: list[Change], draw: random.Random) -> list[Change]:
    """All changes, in an order in which lines and kinds take turns."""
    times: Counter[int | str] = Counter()

    def turn(change: Change) -> int:
        times.update((change.line, change.kind))
        return times[change.line] + times[change.kind]

    return sorted(draw.sample(changes, len(changes)), key=turn)
