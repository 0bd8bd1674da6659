"""Versions of a component: its module with a line changed, and how calls and tests of it end.

A version runs wherever the component runs: in the sandbox for staff and graders (`graded.py`), in this process for the
student who has written it (`boxes.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.processes import CPU, time_limit

from ..course.assignment_code import table_of
from ..intake.sources import Sources
from ..sandbox.errors import SandboxUnavailableError
from ..testing.case import Case, SubmissionUnderTest
from ..testing.results import Outcome, State
from .student_lines import Change, changes_of, helpers_of, lines_of, place_of, without_comment

Result = TypeVar("Result")

LOOKING_SECONDS = 5.0
"""CPU time of this process for one look at a version."""
MOST_TRIED = 12
"""Changes of a component."""
EQUAL, CLEARLY = 1e-9, 1e-3
"""Differences, relative to 1 + the size of a result: below the first nobody sees one, above the second everybody."""

Results = Mapping[Any, Sequence[Tensor] | None]
"""Results of calls, by the words for each call; None for an exception."""


def expect_passed(number: str, outcomes: Sequence[Outcome], purpose: str, why: str = "") -> None:
    """Raise a UserError unless a task has tests and passes all of them, as its hunt or its questions need."""
    if not outcomes:
        raise UserError(f"the tests of {number} are handed out later, and {purpose} with them")
    if any(outcome.state is not State.PASSED for outcome in outcomes):
        raise UserError(f"pass the tests of {number} first{why}")


class Versions(ABC):
    """A component of a submission, and versions of its module."""

    def __init__(self, name: str, sources: Sources, seed: int, assignment: Assignment) -> None:
        """Takes "layers.LayerNorm", all modules, the seed of all random inputs, and the assignment with the calls."""
        self.name, self.sources, self.seed, self.assignment = name, sources, seed, assignment
        self.title = name.partition(".")[2]
        self.place = place_of(name, sources)
        self.module = self.place.rpartition(".")[0]
        self.text = sources[self.module][1]
        self.task = next(task for task in assignment.tasks if name in task.components)
        self._known: dict[str | None, list[Results]] = {}
        self._learned: dict[str | None, list[list[list[torch.Size]]]] = {}

    @abstractmethod
    def open(self, text: str | None = None) -> AbstractContextManager[Any]:
        """Open the submission, or a version of it."""

    @abstractmethod
    def judge(self, text: str | None = None) -> Sequence[Outcome]:
        """Run the tests of the component's task on the code, or on a version."""

    def sources_with(self, text: str | None) -> Sources:
        """Return all modules, with another text of the one that defines the component."""
        return self.sources if text is None else {**self.sources, self.module: (self.sources[self.module][0], text)}

    @cached_property
    def lines(self) -> dict[int, str]:
        """The component's lines, see `lines_of`. Raises: CheckFailed, NotImplementedError where it is not there."""
        return lines_of(self.place, self.sources)

    @cached_property
    def changes(self) -> list[Change]:
        """All changes of its lines. Raises: see `lines`."""
        return [change for change in changes_of(self.place, self.sources) if change.line in self.lines]

    @property
    def shown(self) -> tuple[str, ...]:
        """The lines as they are printed, and those of helpers: without comments, which could tell what is asked."""
        known = self.assignment.contract.modules.get(self.module, ())
        helpers = helpers_of(self.place, self.sources, known)
        parts = [self.lines, *(lines_of(f"{self.module}.{helper}", self.sources) for helper in helpers)]
        return tuple(without_comment(line) for lines in parts for line in lines.values())

    def number(self, line: int) -> int:
        """Return the number in the component's listing of a line of the module."""
        return [*self.lines].index(line) + 1

    def table(self, name: str) -> Any:
        """Return what a table of the assignment has about the component; None where it has nothing."""
        return table_of(self.assignment, name).get(self.name)

    def look(self, see: Callable[[Any], Result], text: str | None = None) -> Result | None:
        """Return what a function sees of the code, or of a version; None where code raises, theirs or ours."""
        with self.open(text) as submission:
            try:
                with time_limit(LOOKING_SECONDS, CPU):
                    return see(submission)
            except SandboxUnavailableError:
                raise
            except Exception:  # submitted code's, or ours over an answer of an unexpected kind
                return None

    def results(self, text: str | None = None) -> list[Results]:
        """Results of the assignment's calls of the code or of a version, with two sets of inputs."""
        calls = self.table("CALLS")
        if text not in self._known:  # several questions may ask about a version, and each run starts a worker
            cases = [NotingCase(self.seed + n, f"versions of {self.name}") for n in range(2)]

            def see(submission: SubmissionUnderTest) -> list[Results]:
                return [{call: tensors_of(run) for call, run in calls(submission, case).items()} for case in cases]

            self._known[text] = self.look(see, text) or [{}, {}]
            self._learned[text] = [case.learned for case in cases]
        return self._known[text]

    def differing(self, text: str) -> set[str] | None:
        """Return the calls with another result in a version; None where rounding or the inputs decide that.

        None, too, where it learns more numbers, or fewer: those of the two could not be the same.
        """
        seen: list[set[str]] = []
        results, others = self.results(), self.results(text)
        if self._learned[None] != self._learned[text]:
            return None
        for usual, other in zip(results, others, strict=True):
            verdicts = {call: differ(usual[call], other.get(call)) for call in usual if other}
            if not verdicts or None in verdicts.values():
                return None
            seen.append({call for call, differs in verdicts.items() if differs})
        return seen[0] if seen[0] == seen[1] else None

    def agree(self, text: str, other: str) -> bool:
        """True if no call has another result in one version than in another."""
        pairs = zip(self.results(text), self.results(other), strict=True)
        return all(a and not any(differ(a[call], b.get(call)) is True for call in a) for a, b in pairs)

    def keeps_shapes(self, text: str) -> bool:
        """True if a version raises no more exceptions, and leaves all shapes as they are."""
        other = self.results(text)[0]
        return all(_shapes(other.get(call)) == _shapes(parts) for call, parts in self.results()[0].items())


class NotingCase(Case):
    """Notes the shapes of the parameters into which it writes random values, for each module."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self.learned: list[list[torch.Size]] = []

    def randomise(self, parameters: Iterable[Tensor], scale: float = 0.5) -> None:
        """Write random values, and note their shapes."""
        kept = list(parameters)
        self.learned.append([parameter.shape for parameter in kept])
        super().randomise(kept, scale)


def differ(result: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool | None:
    """Return whether two results differ; None where that is a matter of rounding."""
    if _shapes(result) != _shapes(other):
        return True
    pairs = [(a, b) for a, b in zip(result or (), other or (), strict=True) if a.numel()]
    if not all(torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf()) for a, b in pairs):
        return True
    largest = max((float(((a - b).abs() / (1 + a.abs())).nan_to_num(0.0).max()) for a, b in pairs), default=0.0)
    return True if largest > CLEARLY else False if largest < EQUAL else None


def _tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _tensors_in(part)]
    return [torch.as_tensor(value).detach()]


def tensors_of(call: Callable[[], Any]) -> list[Tensor] | None:
    """Return the tensors and numbers of a call's result, flattened; None where it raises."""
    try:
        return _tensors_in(call())
    except Exception:  # the submission's, or of what it returned
        return None


def _shapes(parts: Sequence[Tensor] | None) -> list[torch.Size] | None:
    return None if parts is None else [part.shape for part in parts]
