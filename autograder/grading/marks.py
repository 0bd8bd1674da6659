"""From the outcomes of single tests to points: one result a task, each in exactly one state."""

from dataclasses import dataclass, field

from foundation.assignment_file import Assignment, Task

from ..diagnosis.findings import Finding

STATES = (
    "passed",
    "failed",  # it ran and did something else than the contract says
    "error",  # submitted code raised an exception, or ended its process
    "timeout",
    "out of memory",
    "not attempted",  # the TODO is still there, or nothing was handed in
    "refused",  # against the rules of the assignment
    "grader error",  # our fault: never counts as zero without a human look
)

WORST_FIRST = ("grader error", "refused", "out of memory", "timeout", "error", "failed", "not attempted")


@dataclass(frozen=True)
class Outcome:
    """One test; `seconds` are of wall time, `traceback` has the submission's own frames, `nodeid` is pytest's."""

    test: str
    state: str
    message: str = ""
    is_core: bool = False
    seconds: float = 0.0
    traceback: str = ""
    nodeid: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether something went wrong, and not only nothing was tried."""
        return self.state not in ("passed", "not attempted")


@dataclass(frozen=True)
class TaskResult:
    """One task with its points."""

    task: Task
    state: str
    score: float
    message: str
    outcomes: tuple[Outcome, ...] = field(default=())
    traceback: str = ""
    finding: Finding | None = None


def judge_task(task: Task, outcomes: list[Outcome], credit: str) -> TaskResult:
    """Points for the tests of one task.

    Args:
        task: judged by tests.
        outcomes: of all its tests.
        credit: "share" = in proportion, and nothing where a core test does not pass; "all" = all or nothing.
    """
    if not outcomes:
        return TaskResult(task, "grader error", 0.0, f"no test is marked {task.marker}")
    missed = sorted((one for one in outcomes if one.state != "passed"), key=lambda outcome: not outcome.is_core)
    if not missed:
        return TaskResult(task, "passed", task.points, "", tuple(outcomes))
    state = next(state for state in WORST_FIRST if any(outcome.state == state for outcome in missed))
    share = 1 - len(missed) / len(outcomes)
    if credit == "all" or any(outcome.is_core for outcome in missed):
        share = 0.0
    message = explain(missed, len(outcomes))
    traceback = next((outcome.traceback for outcome in missed if outcome.traceback), "")
    return TaskResult(task, state, round(task.points * share, 2), message, tuple(outcomes), traceback)


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


def total_score(results: list[TaskResult]) -> float:
    """All points, bonus included."""
    return round(sum(result.score for result in results), 2)


def tests_of(assignment: Assignment, outcomes: dict[str, list[Outcome]]) -> list[TaskResult]:
    """Results of all tasks that are judged by tests; `outcomes` by pytest marker."""
    tasks = [task for task in assignment.tasks if task.components]
    return [judge_task(task, outcomes.get(task.marker, []), assignment.credit) for task in tasks]
