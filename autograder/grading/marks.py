"""From the outcomes of single tests to points: one result per task, in exactly one state."""

from dataclasses import dataclass, field

from foundation.assignment_file import Assignment, Task

from ..diagnosis.findings import Finding
from .states import State, worst


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
    missed = sorted((one for one in outcomes if one.state != State.PASSED), key=lambda outcome: not outcome.is_core)
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


def explain(missed: list[Outcome], total: int, most: int = 4) -> str:
    """The messages of the tests that did not pass, equal messages once."""
    shown: dict[str, list[str]] = {}
    for outcome in missed:
        shown.setdefault(outcome.message, []).append(outcome.test)
    messages = list(shown)
    if len(messages) == 1 and len(missed) == total:
        return messages[0]
    parts = [f"{total - len(missed)} of {total} tests pass."]
    for message in messages[:most]:
        names = shown[message]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        parts.append(f"[{names[0]}{more}]\n{message}")
    if len(messages) > most:
        parts.append(f"… and {len(messages) - most} further messages; run the tests yourself to see them all")
    return "\n".join(parts)


def tests_of(assignment: Assignment, outcomes: dict[str, list[Outcome]]) -> list[TaskResult]:
    """Results of all tasks that tests judge; `outcomes` by pytest marker."""
    tasks = [task for task in assignment.tasks if task.components]
    return [judge_task(task, outcomes.get(task.marker, []), assignment.credit) for task in tasks]
