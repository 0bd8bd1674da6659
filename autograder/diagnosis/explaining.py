"""After the tests: what a student is told about a failure beyond the tests' own messages.

Nothing here changes marks, and whatever goes wrong here is left out of the report.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.places import REFERENCE
from foundation.time_limit import CPU, time_limit

from ..grading.marks import Explanation, TaskResult
from ..sandbox.tape import Episode, Tape
from ..testing.case import small_cases
from .rehearsal import describe_inputs

if TYPE_CHECKING:
    from ..testing.collected_tests import Tests
    from .matching import Diagnosis, Diagnostician

EXPLAINED = ("failed", "error")
SECONDS = 0.9
"""CPU time for all failures of one submission."""
MOST_SECONDS = 5.0
"""CPU time after which what runs is stopped, whatever it is."""


class Explainer:
    """Explains the failures of one submission, within one budget of time."""

    def __init__(self, tests: Tests, tape: Tape, reference: Path = REFERENCE) -> None:
        """Takes the tests, to run one again, and the tape on which they are recorded."""
        self._tests, self._tape, self._reference = tests, tape, reference
        self._seconds = SECONDS
        self._known: dict[str, Explanation | None] = {}

    def explain(self, results: Sequence[TaskResult]) -> list[TaskResult]:
        """The results, each with its explanation; those that came before keep theirs. The tape is empty afterwards."""
        for result in results:
            if result.task.number in self._known:
                continue
            self._known[result.task.number] = None
            if result.state in EXPLAINED:
                # A hostile answer, or a fault of ours: the marks stand without an explanation.
                with contextlib.suppress(Exception):
                    self._known[result.task.number] = self._explain(result)
        self._tape.clear()
        return [replace(result, explanation=self._known[result.task.number]) for result in results]

    def _explain(self, result: TaskResult) -> Explanation | None:
        missed = [outcome.test for outcome in result.outcomes if outcome.is_missed]
        if self._reference.is_dir():
            episodes = [self._tape.episodes[o.test] for o in result.outcomes if o.test in self._tape.episodes]
            diagnostician = make_diagnostician(self._reference)
            with time_limit(MOST_SECONDS, CPU):
                diagnostician.prepare(result.task.judges, result.task.number)
                with self._budget() as seconds:
                    found = diagnostician.explain(result.task.judges, result.task.number, episodes, missed, seconds)
            if found is not None:
                return as_explanation(found)
        with self._budget() as seconds:
            return self._counterexample(result, missed, seconds)

    @contextlib.contextmanager
    def _budget(self) -> Iterator[float]:
        """The seconds that are left; what is used in it is taken from them."""
        started = time.process_time()
        try:
            yield self._seconds
        finally:
            self._seconds = max(0.0, self._seconds - (time.process_time() - started))

    def _counterexample(self, result: TaskResult, missed: Sequence[str], seconds: float) -> Explanation | None:
        """The failing test with the smallest sizes with which it still fails; the first one is always tried.

        None where it says nothing that the result does not say: code that cannot be imported fails with any sizes.
        """
        started = time.process_time()
        for spare in (0, 1, 3):
            for test in missed[:3]:
                if time.process_time() - started > seconds:
                    return None
                with small_cases(spare), time_limit(MOST_SECONDS, CPU) as struck:
                    outcome = self._tests.run_again(test)
                if struck:
                    return None
                if outcome is not None and outcome.is_missed:
                    if outcome.message in result.message:
                        return None
                    inputs = describe_inputs(self._tape.episodes.get(test, Episode(test)))
                    known = "No known misconception fits. " if self._reference.is_dir() else ""
                    text = f"{known}The smallest case that fails ({test}):\n{outcome.message}"
                    return Explanation("", (), text + (f"\n  inputs:   {inputs}" if inputs else ""))
        return None


def as_explanation(found: Diagnosis) -> Explanation:
    """In words; several faults that give the same are all admitted."""
    text = f"Your code behaves exactly like code that {found.fault.when}."
    if found.share < 1:
        text = f"In {found.share:.0%} of the tests your code behaves exactly like code that {found.fault.when}."
    others = [f"code that {fault.when}" for fault in found.others]
    if others:
        more = f"; {len(others) - 3} more" if len(others) > 3 else ""
        text += f"\nThe tests cannot tell this from {'; '.join(others[:3])}{more}."
    return Explanation(found.fault.id, tuple(fault.id for fault in found.others), f"{text}\nHint: {found.fault.hint}")


@cache
def make_diagnostician(reference: Path) -> Diagnostician:
    """One for all submissions of this process: what it has compiled stays."""
    from .matching import Diagnostician  # both need the catalogue, which stays where the reference is
    from .workshop import Workshop

    return Diagnostician(Workshop(reference))
