"""How tests end, and the points of a task that follow: each test and each task in exactly one state."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment, Item, Task

from ..sandbox.worker.failures import UnreadableError as UnreadableError

if TYPE_CHECKING:  # students have no diagnosis; and before PyTorch is imported, the grader's first process is started
    from torch import Tensor

    from ..grading.record import Diagnosis

INPUTS, LOOK_AT, OBSERVED = "  inputs:   ", "  look at:  ", "  observed: "
"""Begin the lines of a message that name the arguments, where to look, and what is to be seen in the result."""
CHANGED = "changed in place"
"""Of an argument, in a message: where that has happened, other failures may follow from it."""
MOST_TOLD = 4
"""Reasons why tests of a task do not pass."""
NO_RETURN = "is a return missing?"
PART = re.compile(r"(?<=observed: )in \w+: ")
NUMBER = re.compile(r"-?\d[\d.]*(e[-+]?\d+)?(, )?")


class State(StrEnum):
    """How a test or a task ended. The worst state of its tests is the task's."""

    PASSED = "passed"
    NEEDS_READER = "needs a reader"  # no test can tell: never counts as zero without a human look
    NOT_ATTEMPTED = "not attempted"  # the TODO is still there, or nothing was handed in
    FAILED = "failed"  # it ran and did something other than the contract says
    ERROR = "error"  # submitted code raised an exception, or ended its process
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out of memory"
    REFUSED = "refused"  # against the rules of the assignment
    NOT_GRADED = "not graded"  # what was handed in cannot be read: never counts as zero without a human look
    GRADER_ERROR = "grader error"  # our fault: never counts as zero without a human look
    PENDING = "pending"  # not graded yet

    @property
    def has_mark(self) -> bool:
        """Whether it is a judgement; a part in any other state has no score at all."""
        return self.is_final and self not in (State.NEEDS_READER, State.NOT_GRADED)

    @property
    def is_final(self) -> bool:
        """Whether another grading would end the same way."""
        return self not in (State.GRADER_ERROR, State.PENDING)

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at the part, since the score alone may mislead."""
        return not self.has_mark or self in (State.REFUSED, State.TIMEOUT, State.OUT_OF_MEMORY)


def worst(states: Iterable[State]) -> State:
    """The worst of several states."""
    return max(states, key=list(State).index)


class CheckFailed(AssertionError):  # noqa: N818  pytest shows the name above each message, and nothing went wrong
    """A submission does something else than the contract says."""

    def __init__(self, message: str, compared: tuple[Tensor, Tensor] | None = None, look_at: str = "") -> None:
        super().__init__(message)
        self.compared = compared  # what was returned and what was expected, where two tensors of one shape differ
        self.look_at = look_at  # where to look, unless something was observed
        self.inputs = self.observed = ""  # of the call, in words; what the two tensors have in common

    def __str__(self) -> str:
        what, *rest = super().__str__().split("\n")
        inputs = [f"{INPUTS}{self.inputs}"] * bool(self.inputs)
        end = f"{OBSERVED}{self.observed}" if self.observed else f"{LOOK_AT}{self.look_at}"
        return "\n".join([what, *inputs, *rest, *[end] * bool(self.observed or self.look_at)])


class OtherPartsError(CheckFailed):
    """A component lacks a part, has one too many, or a wrong one; what it computes still has gradients."""


class CollectionError(RuntimeError):
    """pytest could not collect the component tests: a fault of the installation, never of a submission."""


@dataclass(frozen=True)
class Outcome:
    """What became of one test."""

    test: str  # its name
    state: State
    message: str = ""  # why it did not pass
    item: str = ""  # of the task's rubric that it belongs to
    traceback: str = ""  # the submission's own frames
    nodeid: str = ""  # pytest's id, unique among all tests: file and name

    @property
    def is_missed(self) -> bool:
        """Whether something went wrong, as opposed to nothing having been tried."""
        return self.state not in (State.PASSED, State.NEEDS_READER, State.NOT_ATTEMPTED)


@dataclass(frozen=True)
class ItemMark:
    """An item of a task's rubric with its points."""

    name: str
    score: float  # what it has earned
    points: float  # what it can earn
    missed: int  # how many of its tests did not pass
    requires: str = ""  # the item without which it is worth nothing, where that one was not earned


@dataclass(frozen=True)
class TaskResult:
    """One task with its points."""

    task: Task
    state: State
    score: float
    message: str
    outcomes: tuple[Outcome, ...] = field(default=())
    traceback: str = ""
    finding: Diagnosis | None = None
    items: tuple[ItemMark, ...] = ()


def judge_task(task: Task, outcomes: list[Outcome], credit: str) -> TaskResult:
    """Points for the outcomes of all tests of one task.

    The credit is "items", those of the rubric's items whose tests all pass, or "all", all or nothing.
    """
    if not outcomes:
        return TaskResult(task, State.GRADER_ERROR, 0.0, f"no test is marked {task.marker}")
    missed = [outcome for outcome in outcomes if outcome.state != State.PASSED]
    state = worst(outcome.state for outcome in outcomes)
    if state in (State.FAILED, State.ERROR) and any(outcome.state is State.NEEDS_READER for outcome in missed):
        state = State.NEEDS_READER  # else what no test can tell would cost points without a human look
    marks = mark_items(task, ((outcome.item, outcome.state) for outcome in outcomes), credit)
    return TaskResult(
        task,
        state=state,
        score=round(sum(mark.score for mark in marks), 2) if missed else task.points,
        message=explain(missed, len(outcomes)) if missed else "",
        outcomes=tuple(outcomes),
        traceback=next((outcome.traceback for outcome in missed if outcome.traceback), ""),
        items=tuple(marks),
    )


def mark_items(task: Task, ends: Iterable[tuple[str, State]], credit: str) -> list[ItemMark]:
    """A task's rubric with its points, from the item that each test belongs to, and how it ended; see `judge_task`.

    A test that names no item of the task belongs to the first one. A task without a rubric has one item.
    """
    items = task.items or (Item(task.title, 1.0),)
    states: dict[str, list[State]] = {item.name: [] for item in items}
    for name, state in ends:
        states[name if name in states else items[0].name].append(state)
    missed = {name: sum(state != State.PASSED for state in found) for name, found in states.items()}
    total = sum(item.weight for item in items)
    marks: list[ItemMark] = []
    earned: set[str] = set()
    for item in items:
        missing = item.requires if item.requires and item.requires not in earned else ""
        if not missed[item.name] and not missing and (credit == "items" or not any(missed.values())):
            earned.add(item.name)
        points = task.points * item.weight / total
        score = points if item.name in earned else 0.0
        marks.append(ItemMark(item.name, score, points, missed[item.name], missing))
    return marks


def by_reason(missed: Iterable[Outcome]) -> list[list[Outcome]]:
    """The tests that did not pass, those that fail for one reason together; first a change of arguments, if any."""
    reasons: dict[tuple[State, str], list[Outcome]] = {}
    for outcome in sorted(missed, key=lambda outcome: CHANGED not in outcome.message):
        reasons.setdefault((outcome.state, reason_of(outcome.message)), []).append(outcome)
    return list(reasons.values())


def explain(missed: list[Outcome], total: int) -> str:
    """Why some of so many tests did not pass: one message, with a count, for all that fail for one reason.

    At most MOST_TOLD, and how many more tests there are. That a component changes its arguments is told alone:
    whatever else fails may follow from it.
    """
    is_unwritten = all(outcome.state is State.NOT_ATTEMPTED for outcome in missed)
    if missed and len(missed) == total and (is_unwritten or len({outcome.message for outcome in missed}) == 1):
        return missed[0].message
    reasons = by_reason(missed)
    is_changed = bool(missed) and CHANGED in reasons[0][0].message
    most = 1 if is_changed else MOST_TOLD
    parts = [f"{total - len(missed)} of {total} tests pass."]
    for alike in reasons[:most]:
        more = f" and {len(alike) - 1} more for the same reason" if len(alike) > 1 else ""
        parts.append(f"[{alike[0].test}{more}]\n{alike[0].message}")
    if others := sum(map(len, reasons[most:])):
        why = "perhaps for the same reason" if is_changed else "for other reasons"
        parts.append(f"… and {others} {'test' if others == 1 else 'tests'} more, {why}")
    return "\n".join(parts)


def reason_of(message: str) -> str:
    """What the messages of tests share that fail for one reason: what was observed or the hint, or else all of them.

    Numbers do not matter, nor in which part something was observed.
    """
    if NO_RETURN in message:
        return NO_RETURN
    hint = next((line for line in message.split("\n") if line.startswith((LOOK_AT, OBSERVED))), "")
    return NUMBER.sub("", PART.sub("", hint) or message)


def tests_of(assignment: Assignment, outcomes: dict[str, list[Outcome]]) -> list[TaskResult]:
    """Results of all tasks that tests judge; `outcomes` by pytest marker."""
    tasks = [task for task in assignment.tasks if task.components]
    return [judge_task(task, outcomes.get(task.marker, []), assignment.credit) for task in tasks]
