"""From the outcomes of single tests to points: one result per task, in exactly one state."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from foundation.assignment_file import Assignment, Task

from ..diagnosis.findings import Finding
from .states import State, worst

LOOK_AT = "  look at:  "
"""Begins the line of a message that says what the student should look at."""
NUMBER = re.compile(r"-?\d[\d.]*(e[-+]?\d+)?(, )?")


@dataclass(frozen=True)
class Outcome:
    """What became of one test.

    Attributes:
        test: its name.
        state: how it ended.
        message: why it did not pass.
        is_core: whether the task earns nothing without it.
        seconds: wall time.
        traceback: the submission's own frames.
        nodeid: pytest's id, unique among all tests: file and name.
    """

    test: str
    state: State
    message: str = ""
    is_core: bool = False
    seconds: float = 0.0
    traceback: str = ""
    nodeid: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether something went wrong, as opposed to nothing having been tried."""
        return self.state.is_missed


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

    @property
    def seconds(self) -> float:
        """Wall time of its tests."""
        return sum(outcome.seconds for outcome in self.outcomes)


def judge_task(task: Task, outcomes: list[Outcome], credit: str) -> TaskResult:
    """Points for the tests of one task.

    Args:
        task: one that tests judge.
        outcomes: of all its tests.
        credit: "share" = in proportion, and nothing where a core test does not pass; "all" = all or nothing.
    """
    if not outcomes:
        return TaskResult(task, State.GRADER_ERROR, 0.0, f"no test is marked {task.marker}")
    missed = [outcome for outcome in by_weight(outcomes) if outcome.state != State.PASSED]
    if not missed:
        return TaskResult(task, State.PASSED, task.points, "", tuple(outcomes))
    return TaskResult(
        task,
        state=worst(outcome.state for outcome in missed),
        score=partial(task.points, credit, len(missed), len(outcomes), any(outcome.is_core for outcome in missed)),
        message=explain(missed, len(outcomes)),
        outcomes=tuple(outcomes),
        traceback=next((outcome.traceback for outcome in missed if outcome.traceback), ""),
    )


def partial(points: float, credit: str, n_missed: int, n_tests: int, misses_core: bool) -> float:
    """What a task earns of which some tests do not pass; see `judge_task`."""
    share = 0.0 if credit == "all" or misses_core else 1 - n_missed / n_tests
    return round(points * share, 2)


def by_weight(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The core tests first."""
    return sorted(outcomes, key=lambda outcome: not outcome.is_core)


def passing_components(tasks: Iterable[Task], passed: Mapping[str, bool | None]) -> set[str]:
    """The components all of whose tests pass; those of extensions may also fail.

    Args:
        tasks: of the assignment.
        passed: whether the tests of a task, by its number, all pass; None = not all have run.
    """
    found: set[str] = set()
    missed: set[str] = set()
    for task in tasks:
        has_passed = passed.get(task.number)
        if has_passed:
            found.update(task.components)
        elif has_passed is None or not task.extension:
            missed.update(task.components)
    return found - missed


def explain(missed: list[Outcome], total: int, most: int = 4) -> str:
    """Why tests did not pass: one message, with a count, for all that fail for one reason.

    Args:
        missed: the tests that did not pass.
        total: how many there are.
        most: reasons that are told; how many more there are is said.
    """
    reasons: dict[tuple[State, str], list[Outcome]] = {}
    for outcome in missed:
        reasons.setdefault((outcome.state, reason_of(outcome.message)), []).append(outcome)
    if len(missed) == total and len({outcome.message for outcome in missed}) == 1:
        return missed[0].message
    parts = [f"{total - len(missed)} of {total} tests pass."]
    for alike in list(reasons.values())[:most]:
        more = f" and {len(alike) - 1} more for the same reason" if len(alike) > 1 else ""
        parts.append(f"[{alike[0].test}{more}]\n{alike[0].message}")
    if len(reasons) > most:
        others = sum(map(len, list(reasons.values())[most:]))
        parts.append(f"… and {others} {'test' if others == 1 else 'tests'} more, for other reasons")
    return "\n".join(parts)


def explain_by_one(missed: list[Outcome], total: int) -> str:
    """The same where one reason is known to be behind all failures: the first of them shows it."""
    first = missed[0]
    if len(missed) == 1:
        return explain(missed, total)
    which = "All" if len(missed) == total else f"{len(missed)} of"
    return f"{which} {total} tests fail for this reason, {first.test} among them:\n{first.message}"


def reason_of(message: str) -> str:
    """What the messages of tests share that fail for one reason: the hint, or else all but the numbers."""
    hint = next((line for line in message.split("\n") if line.startswith(LOOK_AT)), "")
    return hint or NUMBER.sub("", message)


def tests_of(assignment: Assignment, outcomes: dict[str, list[Outcome]]) -> list[TaskResult]:
    """Results of all tasks that tests judge; `outcomes` by pytest marker."""
    tasks = [task for task in assignment.tasks if task.components]
    return [judge_task(task, outcomes.get(task.marker, []), assignment.credit) for task in tasks]
