"""A student's own run: which rubric items are earned, and which tasks are still to be written.

    1.2 Scaled dot-product attention: 10 of 14 points; missing: masks (4)
    1.3 Multi-headed attention: still to be written

A failed attempt is counted, and a hint offered after some; the first failed comparison is drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten
from types import TracebackType

import pytest

from foundation.assignment_file import Assignment, Task, released_folder
from foundation.texts import told_by

from ..rules import find_mentions
from ..sources import read_sources
from .hints import Attempts, not_python
from .observation import side_by_side
from .results import CHANGED, INPUTS, CheckFailed, Outcome, State, UnreadableError, judge_task, reason_of
from .under_test import InProcessSubmission, item_of

AGAIN, TO_DO = "for the same reason", "still to be written"
WIDTH = 80
"""Of a terminal: a task that is still to be written gets one line."""
PRINTED = 20
"""Lines of what the code has printed that are shown below a failure."""


class OwnRun:
    """A pytest plugin: notes how tests end, and sums up what they mean in points.

    Attributes:
        submission: the code under test.
    """

    def __init__(self, folder: Path, assignment: Assignment, attempts: Path | None = None) -> None:
        """Takes the folder to judge, its assignment, and the file that counts failed attempts.

        Raises:
            IntakeError: where a file cannot be read.
        """
        self._assignment, self._attempts = assignment, attempts
        self._folders = {folder, released_folder()}
        self._sources = sources = read_sources(folder, released_folder())
        judged = {name: source for name, source in sources.items() if name not in assignment.own_tests}
        self._notes = list(find_mentions(judged, assignment.contract.forbidden))
        self.submission = InProcessSubmission(sources, assignment)
        self._outcomes: dict[str, Outcome] = {}
        self._causes: set[str] = set()  # of failures: the test function, what was said, tasks that change arguments
        self._first: tuple[str, BaseException] | None = None  # the failure that is shown in full: its node id
        self._repeated: set[str] = set()  # node ids of tests that failed for the reason of an earlier one

    def close(self) -> None:
        """Forgets the submission's modules."""
        self.submission.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
        """Notes the outcome; a test that meets a TODO is skipped, so that unfinished tasks stay out of the way."""
        if call.excinfo is not None and not item.config.getoption("fulltrace"):
            call.excinfo = self._shortened(call.excinfo.value, item.path)
        report = yield
        report.sections = [(name, last_lines(text)) for name, text in report.sections]
        error = None if call.excinfo is None else call.excinfo.value
        why = ""
        if isinstance(error, NotImplementedError):
            why = str(error) or "not implemented yet"
            report.outcome = "skipped"
            report.longrepr = str(item.path), item.location[1] or 0, f"Skipped: {why}"
        if call.when == "call" or error is not None:
            if report.outcome == "failed" and error is not None and not self._is_picked(item.config):
                self._note_cause(item, report, error)
            states = {"passed": State.PASSED, "skipped": State.NOT_ATTEMPTED}
            unread = State.NEEDS_READER if isinstance(error, UnreadableError) else State.FAILED
            state = states.get(report.outcome, unread)
            self._outcomes[item.nodeid] = Outcome(item.name, state, why, item_of(item), nodeid=item.nodeid)
        return report

    def _shortened(self, raised: BaseException, test: Path) -> pytest.ExceptionInfo[BaseException]:
        """An exception with the frames of the test and the student; `--pdb` stops there.

        The frames between and below them are ours and PyTorch's; `--full-trace` shows them too.
        """
        if isinstance(raised, NotImplementedError):
            raised.args = (told_by(raised),)
        raised.__suppress_context__ |= isinstance(raised, (CheckFailed, UnreadableError))  # it says all that there is to say
        for error in (raised, raised.__cause__, raised.__context__):
            kept = None
            for entry in reversed([*_entries(error.__traceback__ if error else None)]):
                path = Path(entry.tb_frame.f_code.co_filename)
                if path == test or path.parent in self._folders:
                    kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
            if error is not None and kept is not None:
                error.__traceback__ = kept
        return pytest.ExceptionInfo.from_exception(raised)

    @staticmethod
    def _is_picked(config: pytest.Config) -> bool:
        return any("::" in argument for argument in config.args)

    def _note_cause(self, item: pytest.Item, report: pytest.TestReport, error: BaseException) -> None:
        """Marks a failure as repeated if its test function failed before, or a test of its file for the same reason."""
        test, file = item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]
        said = "\n".join(line for line in str(error).split("\n") if not line.startswith(INPUTS))
        causes = {test + item_of(item), file + reason_of(said)}
        tasks = {task.marker for task in self._assignment.tasks if item.get_closest_marker(task.marker)}
        if self._first is None:
            self._first = item.nodeid, error
        if not self._causes.isdisjoint(causes | tasks):
            self._repeated.add(report.nodeid)
        self._causes |= causes | (tasks if CHANGED in str(error) else set())

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Counts failures for one reason apart from the first, which is shown. What is to be written gets no letter."""
        if report.skipped:
            return TO_DO, "", "SKIPPED"
        return (AGAIN, "F", "FAILED") if report.failed and report.nodeid in self._repeated else None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A run in which something is still to be written has not passed."""
        if any(one.state is State.NOT_ATTEMPTED for one in self._outcomes.values()) and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def summary(self, tests: Iterable[tuple[str, set[str]]], seed: int) -> list[str]:
        """A line for each task of which tests have run.

        Args:
            tests: node id and markers of all tests that there are, whether they ran or not.
            seed: of the tests' inputs.
        """
        of_task: dict[str, list[str]] = {}
        for nodeid, markers in tests:
            for marker in markers:
                of_task.setdefault(marker, []).append(nodeid)
        lines = list(self._about_first(seed))
        if self._repeated:
            n = len(self._repeated)
            more = "1 more test fails" if n == 1 else f"{n} more tests fail"
            lines.append(f"{more} for the same reason; name a test to see its message")
        for task in self._assignment.tasks:
            wanted = of_task.get(task.marker, [])
            outcomes = [self._outcomes[nodeid] for nodeid in wanted if nodeid in self._outcomes]
            if outcomes:
                line = f"{task.number} {task.title}: {self._tell(task, outcomes, len(wanted))}"
                lines.append(shorten(line, WIDTH, placeholder=" …") if TO_DO in line else line)
                left = dict.fromkeys(one.message for one in outcomes if one.state is State.NOT_ATTEMPTED)
                if TO_DO not in line:
                    lines += [shorten(f"- {TO_DO}: {todo}", WIDTH, placeholder=" …") for todo in left]
                lines += self._offer_hint(task, outcomes) if len(outcomes) == len(wanted) else []
        return lines + self._notes

    def _offer_hint(self, task: Task, outcomes: Sequence[Outcome]) -> Iterator[str]:
        """Counts a failed attempt, and names the command that gives a hint after some."""
        states = {one.state for one in outcomes} - {State.PASSED}
        if self._attempts is None or not states or states & {State.NOT_ATTEMPTED, State.NEEDS_READER}:
            return
        if task.understanding or not_python(self._sources):
            return
        if Attempts(self._attempts).note(task, self._sources) >= self._assignment.hint_after:
            yield f"  perhaps there is a hint: python -m {self._assignment.package} hint {task.number}"

    def _about_first(self, seed: int) -> Iterator[str]:
        """Draws the first failed comparison, and says how to run that test alone."""
        if self._first is None:
            return
        nodeid, error = self._first
        if isinstance(error, CheckFailed) and error.compared is not None:
            yield from (drawn := side_by_side(*error.compared))
            yield from [""] * bool(drawn)
        yield f'the first failure alone, where breakpoints work: python -m pytest "{nodeid}" --seed {seed}'

    def _tell(self, task: Task, outcomes: list[Outcome], total: int) -> str:
        if all(one.state is State.NOT_ATTEMPTED for one in outcomes):
            return f"{TO_DO}: {outcomes[0].message}"
        n_passed = sum(one.state is State.PASSED for one in outcomes)
        if len(outcomes) < total:
            return f"{n_passed} of {len(outcomes)} tests pass, {total - len(outcomes)} did not run"
        if task.tests_of:  # here they are tried on a few implementations, and graded on many
            return f"{n_passed} of {total} tests pass; graded by the groups of faults that yours find"
        result = judge_task(task, outcomes, self._assignment.credit)
        if result.state is State.NEEDS_READER:
            return "the tests cannot judge this: a person will read it"
        points = f"{result.score:.3g} of {task.points:g} points" if task.points else f"{n_passed} of {total} tests pass"
        missing = [
            f"{mark.name} ({mark.points:.2g})" if task.points else mark.name
            for mark in result.items
            if mark.n_missed or mark.missing
        ]
        return points + (f"; missing: {', '.join(missing)}" if missing else "")


def _entries(entry: TracebackType | None) -> Iterator[TracebackType]:
    """A traceback, one by one."""
    while entry is not None:
        yield entry
        entry = entry.tb_next


def last_lines(text: str) -> str:
    """The end of what was printed: a `print` left in a loop would bury the message."""
    lines = text.splitlines(keepends=True)
    left_out = [f"… {len(lines) - PRINTED} more lines; -s shows all\n"] if len(lines) > PRINTED else []
    return "".join(left_out + lines[-PRINTED:])
