"""After the tests: what a student is told about a failure beyond the tests' own messages.

Nothing here changes marks. A diagnosis that breaks is left out, and a note in the record says so.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment
from foundation.watchdog import CPU, time_limit

from ..sandbox.session import Tape
from ..testing.results import Outcome, State, TaskResult, explain
from .catalogue import Budget, Misconception

if TYPE_CHECKING:
    from .matching import Diagnostician, Match

EXPLAINED = ("failed", "error")
COMPARISONS = 2000
"""Answers that may be compared for all failures of one submission."""
MOST_SECONDS = 5.0
"""CPU time after which the diagnosis of a task is stopped, whatever it is doing."""


class Explainer:
    """Explains the failures of one submission, within one budget; used in a with-block."""

    def __init__(
        self,
        tape: Tape,
        assignment: Assignment,
        note: Callable[[str], None],
        diagnostician: Diagnostician | None = None,
        reference: Path | None = None,
    ) -> None:
        """Takes what it works with.

        Args:
            tape: the recording of the tests.
            assignment: whose tests they are.
            note: called with a line for the record where a diagnosis breaks or is stopped.
            diagnostician: one that many submissions share; None = an own one, made when it is first needed.
            reference: the reference's folder, by default the project's; where there is none, nothing is named.
        """
        self._tape, self._assignment = tape, assignment
        self._note, self._reference = note, reference or assignment.reference
        self._diagnostician, self._is_own = diagnostician, diagnostician is None
        self._budget = Budget(COMPARISONS)
        self._known: dict[str, Misconception | None] = {}

    def __enter__(self) -> Explainer:
        """Returns itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes its own diagnostician."""
        if self._is_own and self._diagnostician is not None:
            self._diagnostician.close()

    def explain(self, results: Sequence[TaskResult]) -> list[TaskResult]:
        """The results, each with its finding; those of earlier calls keep theirs. Empties the tape."""
        for result in results:
            if result.task.number not in self._known:
                is_explained = result.state in EXPLAINED
                self._known[result.task.number] = self._explain_safely(result) if is_explained else None
        self._tape.clear()
        return [with_finding(result, self._known[result.task.number]) for result in results]

    def _explain_safely(self, result: TaskResult) -> Misconception | None:
        """The finding; None where the diagnosis breaks, by a hostile answer or a fault of ours."""
        struck: list[float] = []
        try:
            with time_limit(MOST_SECONDS, CPU) as struck:
                found = self._explain(result)
            problem = ""
        except Exception as error:
            found, problem = None, f"broke ({place_of(error)})"
        if struck:  # also where what was interrupted went on
            found, problem = None, f"was stopped after {MOST_SECONDS:g} s of CPU time"
        if problem:
            self._note(f"task {result.task.number}: the diagnosis {problem}; no marks depend on it")
        return found

    def _explain(self, result: TaskResult) -> Misconception | None:
        missed = [outcome.nodeid for outcome in result.outcomes if outcome.is_missed]
        if self._diagnostician is None and self._reference.is_dir():
            self._diagnostician = make_diagnostician(self._reference, self._assignment)
        if self._diagnostician is not None:
            episodes = [self._tape.episodes[o.nodeid] for o in result.outcomes if o.nodeid in self._tape.episodes]
            components, number = result.task.components, result.task.number
            self._diagnostician.prepare(components, number)
            match = self._diagnostician.diagnose(components, number, episodes, missed, self._budget)
            if match is not None:
                return as_misconception(match)
        return None


def with_finding(result: TaskResult, finding: Misconception | None) -> TaskResult:
    """The result with its finding; a misconception that explains all failures makes them one message."""
    message = result.message
    if finding is not None and finding.explains_all:
        missed = [outcome for outcome in result.outcomes if outcome.state != State.PASSED]
        message = explain_by_one(missed, len(result.outcomes))
    return replace(result, finding=finding, message=message)


def as_misconception(match: Match) -> Misconception:
    """In words; several faults that give the same answers are all named."""
    text = f"Your code behaves exactly like code that {match.fault.when}."
    if match.share < 1:
        text = f"In {match.share:.0%} of the tests your code behaves exactly like code that {match.fault.when}."
    others = [f"code that {fault.when}" for fault in match.others]
    if others:
        more = f"; {len(others) - 3} more" if len(others) > 3 else ""
        text += f"\nThe tests cannot tell this from {'; '.join(others[:3])}{more}."
    ids = tuple(fault.id for fault in match.others)
    return Misconception(f"{text}\nHint: {match.fault.hint}", match.fault.id, ids, explains_all=match.share == 1)


def place_of(error: Exception) -> str:
    """The kind of an exception and where it was raised; not its message, which submitted code may have written."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"


def make_diagnostician(reference: Path, assignment: Assignment) -> Diagnostician:
    """Reads the reference and the catalogue, which is only there where the reference is; close what is returned."""
    from .matching import Diagnostician
    from .rehearsal import Workshop

    return Diagnostician(Workshop(reference, assignment))


def explain_by_one(missed: list[Outcome], total: int) -> str:
    """Why tests did not pass, where one reason is known to be behind all failures: the first of them shows it."""
    first = missed[0]
    if len(missed) == 1:
        return explain(missed, total)
    which = "All" if len(missed) == total else f"{len(missed)} of"
    return f"{which} {total} tests fail for this reason, {first.test} among them:\n{first.message}"
