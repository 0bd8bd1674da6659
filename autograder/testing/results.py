"""The ends of tests, and the points of a task that follow: each test and each task is in exactly one state."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment, Item, Task

from ..sandbox.worker.failures import UnreadableError as UnreadableError
from .contrast import Call, only

if TYPE_CHECKING:  # the grader's first process is started before PyTorch is imported
    from torch import Tensor

INPUTS, LOOK_AT, OBSERVED, ONLY = "  inputs:   ", "  look at:  ", "  observed: ", "  only:     "
"""Begin the lines of a message that name the arguments, where to look, what is to be seen in the result, and when."""
CHANGED = "changed in place"
"""In a message about an argument: other failures may follow from it."""
NO_RETURN = "is a return missing?"
COMPONENT = re.compile(r"\b(?:Enc|Dec|enc|dec)ode\w*")
"""In a test's id: which of two components it is about."""
ROWS = 4
"""A table of so many rows begins with the plain one."""
SIDE_EFFECTS = "no side effects"
"""The rubric item of components that leave their arguments alone and keep no state."""
STRUCTURE = re.compile(
    r"^  expected: (shape|a tuple|a tensor|a bool|a list|(?!finite).*\bnumbers\b|.*, like the inputs$)", re.M
)
"""In a message about the number, the shape or the type of something, which explains wrong values."""


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
        """True if it is a judgement; a part in any other state has no score at all."""
        return self.is_final and self not in (State.NEEDS_READER, State.NOT_GRADED)

    @property
    def is_final(self) -> bool:
        """True if another grading would end the same way."""
        return self not in (State.GRADER_ERROR, State.PENDING)

    @property
    def needs_a_look(self) -> bool:
        """True if a person should look at the part, since the score alone may mislead."""
        return not self.has_mark or self in (State.REFUSED, State.TIMEOUT, State.OUT_OF_MEMORY)


def worst(states: Iterable[State]) -> State:
    """The worst of several states."""
    return max(states, key=list(State).index)


class CheckFailed(AssertionError):  # noqa: N818  pytest shows the name above each message, and nothing went wrong
    """A submission that breaks the contract."""

    def __init__(self, message: str, compared: tuple[Tensor, Tensor] | None = None, look_at: str = "") -> None:
        super().__init__(message)
        self.compared = compared  # what was returned and what was expected, where two tensors of one shape differ
        self.look_at = look_at  # where to look, unless something was observed
        self.inputs = self.observed = ""  # of the call, in words; what the two tensors have in common
        self.part = self.beside = ""  # of the result; what is right beside it
        self.experiment: Callable[[], str] | None = None  # the findings of more calls

    def look_closer(self) -> None:
        """Make the experiment, before anything else happens to the component."""
        if self.experiment is not None:
            nowhere = io.StringIO()  # for what the component prints, once more
            # An exception of our own must not change the state of a test, which has failed already.
            with suppress(Exception), redirect_stdout(nowhere), redirect_stderr(nowhere):
                self.observed = self.experiment() or self.observed

    def __str__(self) -> str:
        first, *rest = super().__str__().split("\n")
        inputs = [f"{INPUTS}{self.inputs}"] * bool(self.inputs)
        end = f"{OBSERVED}{self.observed}{self.beside}" if self.observed else f"{LOOK_AT}{self.look_at}"
        return "\n".join([first, *inputs, *rest, *[end] * bool(self.observed or self.look_at)])


@contextmanager
def observing(experiment: Callable[[], str]) -> Iterator[None]:
    """A block whose failures can be looked at closer by an experiment; errors, too."""
    try:
        yield
    except CheckFailed as error:
        error.experiment = experiment
        raise
    except Exception as error:
        if not isinstance(error, NotImplementedError) and (text := experiment()):
            error.add_note(f"{OBSERVED}{text}")
        raise


class OtherPartsError(CheckFailed):
    """A component lacks a part, has one too many, or a wrong one; what it computes still has gradients."""


class NoPartsError(CheckFailed):
    """A component has no part that it should have: it is none with a mistake in it, and earns nothing for its masks."""


class CollectionError(RuntimeError):
    """pytest could not collect the component tests: a fault of the installation, never of a submission."""


@dataclass(frozen=True)
class Outcome:
    """The end of one test."""

    test: str  # its name
    state: State
    message: str = ""  # why it did not pass
    item: str = ""  # of the task's rubric that it belongs to
    traceback: str = ""  # the submission's own frames
    nodeid: str = ""  # pytest's id, unique among all tests: file and name
    calls: tuple[Call, ...] = ()  # that it has judged

    @property
    def is_missed(self) -> bool:
        """True if something went wrong, as opposed to nothing having been tried."""
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
class Finding:
    """The known mistake that a failure looks like."""

    fault: str  # id in the catalogue of misconceptions; empty where none fits
    others: tuple[str, ...]  # ids of those that the tests cannot tell from it
    text: str  # for the student


@dataclass(frozen=True)
class TaskResult:
    """One task with its points."""

    task: Task
    state: State
    score: float
    message: str
    outcomes: tuple[Outcome, ...] = field(default=())
    traceback: str = ""
    finding: Finding | None = None
    items: tuple[ItemMark, ...] = ()


def judge_task(task: Task, outcomes: list[Outcome], credit: str) -> TaskResult:
    """Points for the outcomes of all tests of one task.

    The credit is "items", those of the rubric's items whose tests all pass, or "all", all or nothing.
    """
    if not outcomes:
        return TaskResult(task, State.GRADER_ERROR, 0.0, f"no test is marked {task.marker}")
    missed = [outcome for outcome in outcomes if outcome.state != State.PASSED]
    state = worst(outcome.state for outcome in outcomes)
    cannot_tell = any(outcome.state is State.NEEDS_READER for outcome in missed)
    if cannot_tell and state in (State.FAILED, State.ERROR, State.TIMEOUT):
        state = State.NEEDS_READER  # else what no test can tell would cost points without a human look
    marks = mark_items(task, ((outcome.item, outcome.state) for outcome in outcomes), credit)
    return TaskResult(
        task,
        state=state,
        score=round(sum(mark.score for mark in marks), 2) if missed else task.points,
        message=explain(missed, len(outcomes), outcomes, most_shown(task)) if missed else "",
        outcomes=tuple(outcomes),
        traceback=next((outcome.traceback for outcome in missed if outcome.traceback), ""),
        items=tuple(marks),
    )


def mark_items(task: Task, ends: Iterable[tuple[str, State]], credit: str) -> list[ItemMark]:
    """A task's rubric with its points, from the item that each test belongs to, and how it ended; see `judge_task`.

    A test that names no item of the task belongs to the first one. A task without a rubric has one item.
    """
    items, shares = task.items, task.shares
    if not items:
        items, shares = (Item(task.title, 1.0),), (task.points,)
    states: dict[str, list[State]] = {item.name: [] for item in items}
    for name, state in ends:
        states[name if name in states else items[0].name].append(state)
    missed = {name: sum(state != State.PASSED for state in ends) for name, ends in states.items()}
    marks: list[ItemMark] = []
    earned: set[str] = set()
    for item, points in zip(items, shares, strict=True):
        missing = item.requires if item.requires and item.requires not in earned else ""
        if not missed[item.name] and not missing and (credit == "items" or not any(missed.values())):
            earned.add(item.name)
        score = points if item.name in earned else 0.0
        marks.append(ItemMark(item.name, score, points, missed[item.name], missing))
    return marks


SKIPPED = "was skipped after"
"""In a message about a component that has failed too often."""


def most_telling(missed: Sequence[Outcome], outcomes: Sequence[Outcome]) -> Outcome:
    """The failure that explains most, first of all a change of arguments; of equal ones the first.

    The first row of a table is the plain one. The question of another row is asked only where that one passes: what is
    wrong with plain inputs is wrong with special ones, too. A table that tries several settings together comes last.
    """
    tables: dict[str, list[str]] = {}
    for outcome in outcomes or missed:
        name, _, row = outcome.test.partition("[")
        tables.setdefault(name + "".join(COMPONENT.findall(row)[:1]), []).append(outcome.test)
    plain = {table[0] for table in tables.values() if len(table) >= ROWS}

    def rank(outcome: Outcome) -> int:
        if SKIPPED in outcome.message:  # because of what other failures say
            return 100
        if "_together[" in outcome.test:
            return 50
        is_plain, is_observed = outcome.test in plain, OBSERVED in outcome.message
        is_error = outcome.is_missed and outcome.state is not State.FAILED
        signs = (
            CHANGED in outcome.message,
            is_error and is_plain,
            bool(STRUCTURE.search(outcome.message)),
            is_plain and is_observed,
            is_plain and outcome.is_missed,
            is_error and outcome.item != SIDE_EFFECTS,
            is_observed,
            outcome.is_missed and outcome.item != SIDE_EFFECTS,
            outcome.is_missed,
        )
        return signs.index(True) if True in signs else len(signs)

    return min(missed, key=rank)


def with_contrast(shown: Outcome, outcomes: Iterable[Outcome]) -> str:
    """A failure's message with what separates the wrong calls of the tests from the right ones, before any question."""
    message = shown.message
    if not (text := only([call for outcome in outcomes for call in outcome.calls], shown.calls)):
        return message
    head, mark, rest = next(
        (parts for sign in (OBSERVED, LOOK_AT) if (parts := message.rpartition(f"\n{sign}"))[1]), (message, "", "")
    )
    return f"{head}\n{ONLY}{text}{mark}{rest}"


def most_shown(task: Task) -> int:
    """Return how many failures of a task are shown: one may be behind all, unless own tests or answers are tested."""
    return 4 if task.tests_of or task.understanding else 1


def explain(missed: Sequence[Outcome], total: int, outcomes: Sequence[Outcome] = (), most: int = 1) -> str:
    """Why some of so many tests did not pass: the most telling message, or the first few, and how many more fail.

    The outcomes are those of all tests. Whatever else fails may follow from the failures that are shown.
    """
    shown = [most_telling(missed, outcomes)] if most == 1 else [*missed[:most]]
    unread = [outcome for outcome in missed if outcome.state is State.NEEDS_READER]
    if unread and not any(outcome in unread for outcome in shown):
        shown.append(unread[0])  # for which the whole task needs a reader
    is_unwritten = all(outcome.state is State.NOT_ATTEMPTED for outcome in missed)
    if len(missed) == total and (is_unwritten or len({outcome.message for outcome in missed}) == 1):
        return shown[0].message
    parts = [f"{total - len(missed)} of {total} tests pass."]
    parts += [f"[{outcome.test}]\n{with_contrast(outcome, outcomes)}" for outcome in shown]
    if others := len(missed) - len(shown):
        parts.append(f"… and {others} {'test' if others == 1 else 'tests'} more, perhaps for the same reason")
    return "\n".join(parts)


def tests_of(assignment: Assignment, outcomes: dict[str, list[Outcome]]) -> list[TaskResult]:
    """Results of all tasks that tests judge; `outcomes` by pytest marker."""
    tasks = [task for task in assignment.tasks if task.components]
    return [judge_task(task, outcomes.get(task.marker, []), assignment.credit) for task in tasks]
