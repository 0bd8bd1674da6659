"""A pytest plugin, for a student's own run and for all component tests: the submission, random inputs, markers.

The submission runs in this very process, so a debugger can follow it. An own run ends with the rubric items that are
earned, and the tasks that are still to be written. Of each task, the most telling failure is shown, with what separates
the calls that fail from those that do not.
"""

import os
import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from textwrap import shorten
from types import TracebackType

import pytest
import torch

from foundation.assignment_file import Assignment, Task, read_assignment, released_folder
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE
from foundation.texts import last_lines, with_its_comment

from ..intake.names import EARNS_NOTHING, find_mentions, find_repeated, to_be_read
from ..intake.sources import IntakeError, read_sources
from ..running.collection import IS_COLLECTED, call_test, classify, dtype_of, item_of
from ..running.in_process import InProcessSubmission
from ..testing import contrast
from ..testing.case import default_dtype
from ..testing.observation import side_by_side
from ..testing.results import (
    LOOK_AT,
    OBSERVED,
    ONLY,
    SIDE_EFFECTS,
    CheckFailed,
    Outcome,
    State,
    UnreadableError,
    judge_task,
    most_telling,
)
from .hints import ATTEMPTS, count_attempt, modules_of, not_tried, read_hints

NOT_SHOWN, TO_DO = "more failed", "still to be written"
WIDTH = 80
"""Columns of a terminal: a task that is still to be written gets one line."""
QUESTIONS = LOOK_AT.strip(), OBSERVED.strip()
SEED = pytest.StashKey[int]()
"""Of all random inputs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--submission` and `--seed`."""
    group = parser.getgroup("assignment")
    group.addoption("--submission", type=Path, help="folder to judge (default: student/)")
    group.addoption("--seed", type=int, default=None, help="seed for the random inputs (default: a new one each time)")


def pytest_configure(config: pytest.Config) -> None:
    """Registers a marker for each task, draws a seed unless one is given, and begins a student's own run.

    The assignment is the one around pytest's root folder, or else the kit's own.
    """
    torch.set_num_threads(1)
    around = config.rootpath.parent
    try:
        assignment = read_assignment(around if (around / ASSIGNMENT_FILE.name).is_file() else ASSIGNMENT)
    except UserError as error:
        pytest.exit(str(error), returncode=2)
    for task in assignment.tasks:
        config.addinivalue_line("markers", f"{task.marker}: {task.number} {task.title}")
    config.addinivalue_line("markers", "item(name): the rubric item of its task that a test belongs to")
    config.addinivalue_line("markers", "given: tests code that the assignment provides; no points")
    seed = config.getoption("seed")
    config.stash[SEED] = random.SystemRandom().randrange(2**32) if seed is None else seed
    if IS_COLLECTED not in config.stash:
        config.pluginmanager.register(OwnRun(config, assignment))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the test of side effects first in its file: what it finds may be behind whatever else fails."""
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (files[item.path], item_of(item) != SIDE_EFFECTS))


@pytest.fixture
def submission() -> None:
    """Names what tests are called with, by `call_test`; so does `case`."""


case = submission


class OwnRun:
    """A pytest plugin: notes how tests end, and sums up what they mean in points."""

    def __init__(self, config: pytest.Config, assignment: Assignment) -> None:
        """Reads the folder that an option names; ends pytest where it cannot be read."""
        os.environ["MPLBACKEND"] = "Agg"  # as in grading, whatever a notebook's host has set
        if getattr(config.option, "tbstyle", None) == "auto":  # the bodies of our checks would explain nothing
            config.option.tbstyle = "short"
        released = released_folder()
        self._folder: Path = config.getoption("submission") or released
        if not self._folder.is_dir():
            pytest.exit(f"--submission {self._folder}: no such folder", returncode=2)
        try:
            self._sources = read_sources(self._folder, released)
        except IntakeError as error:
            pytest.exit(str(error), returncode=2)
        self._assignment, self._config, self._folders = assignment, config, {self._folder, released}
        judged = {name: source for name, source in self._sources.items() if name not in assignment.own_tests}
        given = assignment.contract.modules.keys() - {*chain(*map(modules_of, assignment.tasks))}
        self._notes = [
            *find_mentions(judged, assignment.contract.forbidden),
            *find_repeated(judged),
            *to_be_read(judged, judged.keys() - given, assignment.contract.forbidden),
        ]
        self._has_hints = self._folder == released and bool(read_hints(assignment.folder))
        self._is_picked = any("::" in argument for argument in config.args)
        self._tests: dict[str, list[str]] = {}  # by marker, node ids of all tests, also of those that are left out
        self._outcomes: dict[str, Outcome] = {}
        self._errors: dict[str, BaseException] = {}  # by node id, of failures
        self._contrasts: dict[str, str] = {}  # of the failures that are shown in full, by node id
        self._failed: set[str] = set()  # test functions
        self._beyond: dict[str, bool] = {}  # see `call_test`
        self._hinted: list[Task] = []  # tasks for which there may be a hint
        self._submission = InProcessSubmission(self._sources, assignment)

    def pytest_report_header(self) -> str:
        """Names the submission, and the options that repeat the run."""
        return f"submission: {self._folder}   repeat with: --seed {self._config.stash[SEED]}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Notes which tests there are before any is left out."""
        for item in items:
            for mark in item.iter_markers():
                self._tests.setdefault(mark.name, []).append(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Function):  # type: ignore[no-untyped-def]
        """Lets a test run, and what failed be looked at, with the default dtype of the test."""
        with default_dtype(dtype_of(item)):
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        """Calls a test as grading does."""
        call_test(pyfuncitem, self._submission, self._config.stash[SEED], self._beyond)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
        """Notes the outcome; a test that meets a TODO is skipped, so that unfinished tasks stay out of the way."""
        error = None if call.excinfo is None else call.excinfo.value
        if isinstance(error, CheckFailed) and (function := item.nodeid.partition("[")[0]) not in self._failed:
            self._failed.add(function)
            error.look_closer()
        if error is not None and not item.config.getoption("fulltrace"):
            call.excinfo = self._shortened(error, item.path)
        report = yield
        report.sections = [(name, last_lines(text, "; -s shows all")) for name, text in report.sections]
        state, why = classify(error, lambda error: (State.ERROR, str(error)))
        if state is State.NOT_ATTEMPTED:
            report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1] or 0, f"Skipped: {why}")
        if call.when == "call" or error is not None:
            if report.outcome == "failed" and error is not None:
                self._errors[item.nodeid] = error
            calls = contrast.noted()
            self._outcomes[item.nodeid] = Outcome(item.name, state, why, item_of(item), "", item.nodeid, calls)
        return report

    def _shortened(self, raised: BaseException, test: Path) -> pytest.ExceptionInfo[BaseException]:
        """An exception with the frames of the test and the student; `--pdb` stops there.

        The frames between and below them are ours and PyTorch's; `--full-trace` shows them too.
        """
        if isinstance(raised, NotImplementedError):
            raised.args = (with_its_comment(raised),)
        if isinstance(raised, (CheckFailed, UnreadableError)):  # it says all that there is to say
            raised.__suppress_context__ = True
        for error in (raised, raised.__cause__, raised.__context__):
            entries, kept = [error.__traceback__ if error else None], None
            while entries[-1] is not None:
                entries.append(entries[-1].tb_next)
            for entry in filter(None, reversed(entries)):
                path = Path(entry.tb_frame.f_code.co_filename)
                if path == test or self._folders & {*path.parents}:
                    kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
            if error is not None and kept is not None:
                error.__traceback__ = kept
        return pytest.ExceptionInfo.from_exception(raised)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Gives no letter to what is still to be written."""
        return (TO_DO, "", "SKIPPED") if report.skipped else None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A run in which something is still to be written has not passed. Of a task, one failure is shown."""
        if any(outcome.state is State.NOT_ATTEMPTED for outcome in self._outcomes.values()) and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if self._is_picked or reporter is None:
            return
        self._contrasts = {nodeid: "" for nodeid in self._tests.get("given", []) if nodeid in self._errors}
        for task in self._assignment.tasks:
            outcomes = self._outcomes_of(task)
            if missed := [outcome for outcome in outcomes if outcome.nodeid in self._errors]:
                shown = most_telling(missed, outcomes)
                calls = [call for outcome in outcomes for call in outcome.calls]
                self._contrasts[shown.nodeid] = contrast.only(calls, shown.calls)
        for report in reporter.stats.pop("failed", []):
            kind = "failed" if report.nodeid in self._contrasts else NOT_SHOWN
            reporter.stats.setdefault(kind, []).append(report)
            add_contrast(report, self._contrasts.get(report.nodeid, ""))

    def _outcomes_of(self, task: Task) -> list[Outcome]:
        """Return the outcomes of the tests of a task that have run."""
        return [self._outcomes[nodeid] for nodeid in self._tests.get(task.marker, []) if nodeid in self._outcomes]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints what each task has earned, where the tests were not picked one by one."""
        self._hinted = [*self._count_attempts()]
        lines = [] if self._is_picked else [*self._about_failures(), *self._about_tasks(), *self._notes]
        if lines:
            terminalreporter.section("rubric")
            for line in lines:
                terminalreporter.line(line)

    def _about_tasks(self) -> Iterator[str]:
        """A line for each task of which tests have run, and where all are to run for each without tests."""
        is_all = self._config.args_source is pytest.Config.ArgsSource.TESTPATHS
        for task in self._assignment.tasks:
            wanted = self._tests.get(task.marker, [])
            if outcomes := self._outcomes_of(task):
                line = f"{task.number} {task.title}: {self._mark(task, outcomes, len(wanted))}"
                yield shorten(line, WIDTH, placeholder=" …") if TO_DO in line else line
                left = dict.fromkeys(outcome.message for outcome in outcomes if outcome.state is State.NOT_ATTEMPTED)
                for todo in left if TO_DO not in line else ():
                    yield shorten(f"- {TO_DO}: {todo}", WIDTH, placeholder=" …")
                if task in self._hinted:
                    yield f"  perhaps there is a hint: python -m {self._assignment.package} hint {task.number}"
            elif is_all and task.components and not wanted:
                yield f"{task.number} {task.title}: its tests are handed out later"

    def _count_attempts(self) -> Iterator[Task]:
        """Counts each failed run of a task's tests, even of few of them; yields the tasks that have had enough."""
        if not self._has_hints:
            return
        for task in self._assignment.tasks:
            states = {outcome.state for outcome in self._outcomes_of(task)}
            if State.FAILED in states and not task.understanding and not not_tried(task, self._sources):
                n_attempts = count_attempt(self._folder.parent / ATTEMPTS, task, self._sources)
                if n_attempts >= self._assignment.hint_after and State.NOT_ATTEMPTED not in states:
                    yield task

    def _about_failures(self) -> Iterator[str]:
        """Yields the first failed comparison, the command for its test alone, and the number of failures not shown."""
        for nodeid in [*self._contrasts][:1]:
            error, seed = self._errors[nodeid], self._config.stash[SEED]
            if isinstance(error, CheckFailed) and error.compared and (drawn := side_by_side(*error.compared)):
                yield from [*drawn, ""]
            command = f'python -m pytest "{nodeid}" --seed {seed}'
            yield f"the first failure alone, where breakpoints work: {command}"
        if n := len(self._errors) - len(self._contrasts):
            more = "1 more test fails" if n == 1 else f"{n} more tests fail"
            yield f"{more}, perhaps for the same reason; name a test to see its message"

    def _mark(self, task: Task, outcomes: list[Outcome], total: int) -> str:
        if all(outcome.state is State.NOT_ATTEMPTED for outcome in outcomes):
            return f"{TO_DO}: {outcomes[0].message}"
        n_passed = sum(outcome.state is State.PASSED for outcome in outcomes)
        if len(outcomes) < total:
            return f"{n_passed} of {len(outcomes)} tests pass, {total - len(outcomes)} did not run"
        if task.tests_of:  # here they are tried on a few implementations, and graded on many
            return f"{n_passed} of {total} tests pass; graded by the groups of faults that yours find"
        if task.understanding == "hunts" and self._assignment.held_back:
            return f"{n_passed} of {total} tests pass; the other hunts are handed out later"
        result = judge_task(task, outcomes, self._assignment.credit)
        if result.state is State.NEEDS_READER:
            return "the tests cannot judge this: a person will read it"
        points = f"{result.score:.3g} of {task.points:g} points" if task.points else f"{n_passed} of {total} tests pass"
        for name in task.components:
            if any(note.endswith(EARNS_NOTHING.format(name.rpartition(".")[2])) for note in self._notes):
                points += " here, and none when graded: see the note below"
        lost = [mark for mark in result.items if mark.missed or mark.requires]
        missing = ", ".join(mark.name + f" ({mark.points:.3g})" * bool(task.points) for mark in lost)
        return points + f"; missing: {missing}" * bool(lost)


def add_contrast(report: pytest.TestReport, text: str) -> None:
    """Puts what separates failing calls from others into the message that pytest prints, before any question."""
    if text:
        lines = report.longrepr.reprtraceback.reprentries[-1].lines  # type: ignore[union-attr]
        at = next((n for n, line in enumerate(lines) if line.lstrip("E ").startswith(QUESTIONS)), len(lines))
        lines.insert(at, f"E     {ONLY.strip()}     {text}")
