"""Versions of a component: its module with a line changed, and how calls and tests of it end.

A version runs wherever the component runs: in the sandbox for staff and graders (`bench.py`), in this process for the
student who has written it (`boxes.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from foundation.processes import CPU, time_limit

from ..course.assignment_code import Look, OwnWork
from ..sandbox.errors import SandboxUnavailableError
from ..testing.case import Case, SubmissionUnderTest
from ..testing.results import Outcome, State

Result = TypeVar("Result")

LOOKING_SECONDS = 5.0
"""CPU time of this process for one look at a version."""
BROKEN = (State.GRADER_ERROR, State.TIMEOUT, State.OUT_OF_MEMORY, State.REFUSED, State.NEEDS_READER)
EQUAL, CLEARLY = 1e-9, 1e-3
"""Differences, relative to 1 + the size of a result: below the first nobody sees one, above the second everybody."""

Results = Mapping[Any, Sequence[Tensor] | None]
"""Results of calls, by the words for each call; None for an exception."""


@dataclass(frozen=True)
class Trial:
    """Outcomes of the tests of a component's task for one version."""

    outcomes: tuple[Outcome, ...]

    @property
    def missed(self) -> list[str]:
        """Names of the tests that do not pass, without their parameters."""
        return list(dict.fromkeys(test.partition("[")[0] for test in self.rows))

    @property
    def rows(self) -> dict[str, bool]:
        """Names of the tests that do not pass, with their parameters; False for those that ended with an exception."""
        return {o.test: o.state is State.FAILED for o in self.outcomes if o.state is not State.PASSED}

    @property
    def share(self) -> float:
        """Share of the tests that do not pass."""
        return len(self.rows) / len(self.outcomes)

    @property
    def is_clear(self) -> bool:
        """True if each test has passed or failed for a reason that the code alone gives."""
        return bool(self.outcomes) and not any(outcome.state in BROKEN for outcome in self.outcomes)


class Versions(ABC):
    """A component of a submission, and versions of its module."""

    def __init__(self, name: str, text: str, seed: int, tables: OwnWork) -> None:
        """Takes "layers.LayerNorm", the module's text, the seed of all random inputs, and the assignment's tables."""
        self.name, self.text, self.seed, self.tables = name, text, seed, tables
        self.module, _, self.title = name.partition(".")
        self._known: dict[tuple[str, str | None], list[Results]] = {}

    @abstractmethod
    def open(self, text: str | None = None) -> AbstractContextManager[Any]:
        """Open the submission, or a version of it."""

    @abstractmethod
    def judge(self, text: str | None = None) -> Trial:
        """Run the tests of the component's task on the code, or on a version."""

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

    def results(self, table: str, text: str | None = None) -> list[Results]:
        """Results of the calls of a table of the assignment, in the code or in a version, with two sets of inputs."""
        calls: Look | None = self.tables[table].get(self.name)
        if calls is None:
            return [{}, {}]
        if (table, text) not in self._known:  # several questions may ask about a version, and each run starts a worker
            cases = [Case(self.seed + n, f"versions of {self.name}") for n in range(2)]

            def see(submission: SubmissionUnderTest) -> list[Results]:
                return [{call: tensors_of(run) for call, run in calls(submission, case).items()} for case in cases]

            self._known[table, text] = self.look(see, text) or [{}, {}]
        return self._known[table, text]

    @property
    def usual(self) -> list[Results]:
        """Results of the assignment's calls of the code as it is."""
        return self.results("CALLS")

    def differing(self, text: str) -> set[str] | None:
        """Return the calls with another result in a version; None where rounding or the inputs decide that."""
        seen: list[set[str]] = []
        for usual, other in zip(self.usual, self.results("CALLS", text), strict=True):
            verdicts = {call: differ(usual[call], other.get(call)) for call in usual if other}
            if not verdicts or None in verdicts.values():
                return None
            seen.append({call for call, differs in verdicts.items() if differs})
        return seen[0] if seen[0] == seen[1] else None

    def agree(self, text: str, other: str) -> bool:
        """True if no call has another result in one version than in another."""
        pairs = zip(self.results("CALLS", text), self.results("CALLS", other), strict=True)
        return all(a and not any(differ(a[call], b.get(call)) is True for call in a) for a, b in pairs)

    def keeps_shapes(self, text: str) -> bool:
        """True if a version raises no more exceptions, and leaves all shapes as they are."""
        other = self.results("CALLS", text)[0]
        return all(_shapes(other.get(call)) == _shapes(parts) for call, parts in self.usual[0].items())


def differ(result: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool | None:
    """Return whether two results differ; None where that is a matter of rounding."""
    if _shapes(result) != _shapes(other):
        return True
    pairs = [(a, b) for a, b in zip(result or (), other or (), strict=True) if a.numel()]
    if not all(torch.equal(a.isnan(), b.isnan()) for a, b in pairs):
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
