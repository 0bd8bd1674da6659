"""Runs the component tests against a sandboxed submission and notes what became of each."""

import contextlib
import io
from pathlib import Path

import pytest
from tqdm import tqdm

from .checking.comparison import CheckFailed
from .grading_keys import SEED, SUBMISSION
from .marks import Outcome
from .sandbox import SandboxUnavailable, SubmissionDied, SubmissionError, SubmissionRefused, SubmissionTimeout
from .sandbox.errors import SubmissionOutOfMemory

TESTS = Path(__file__).with_name("tests")
MAX_MESSAGE = 4000

STATE_OF_ERROR = (  # the first that fits
    (SubmissionTimeout, "timeout"),
    (SubmissionOutOfMemory, "out of memory"),
    (SubmissionDied, "crashed"),
    (SubmissionRefused, "refused"),
    (NotImplementedError, "not attempted"),
    (MemoryError, "out of memory"),
    (SubmissionError, "error"),
    (CheckFailed, "failed"),
)


class Recorder:
    """A pytest plugin: hands the submission to the tests, and collects outcomes by task marker."""

    def __init__(self, submission: object, seed: int, markers: list[str], progress: bool) -> None:
        """Takes the submission, the secret seed, and the markers of the tasks."""
        self.submission, self.seed, self.markers = submission, seed, markers
        self.outcomes: dict[str, list[Outcome]] = {}
        self.file: str | None = None
        self.bar = tqdm(desc="tests", unit="test", disable=not progress, leave=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[SUBMISSION], config.stash[SEED] = self.submission, self.seed

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.bar.reset(total=len(session.items))

    def pytest_runtest_logstart(self, nodeid: str, location: tuple) -> None:
        file = location[0]
        if self.file not in (None, file):
            # A fresh process for each task: what submitted code did to the old one costs no other task.
            self.submission.restart()
        self.file = file

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        error = None if call.excinfo is None else call.excinfo.value
        if call.when != "call" and error is None:
            return
        state, message = classify(error)
        is_core = item.get_closest_marker("core") is not None
        outcome = Outcome(item.name, state, message, is_core, round(call.duration, 3))
        for marker in self.markers:
            if item.get_closest_marker(marker):
                self.outcomes.setdefault(marker, []).append(outcome)
        self.bar.update(call.when == "call")


def classify(error: BaseException | None) -> tuple[str, str]:
    """State and message of a test that ended so."""
    if error is None:
        return "passed", ""
    state = next((state for kind, state in STATE_OF_ERROR if isinstance(error, kind)), "grader error")
    message = str(error)
    if isinstance(error, pytest.fail.Exception):  # pytest.raises saw no exception
        state, message = "failed", f"an exception was expected: {message}"
    elif state == "error":
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        message = f"{kinds[0]}: {message}" if kinds and kinds[0] != "Exception" else message
        message = f"{message}\n{error.student_traceback}".rstrip()
    elif state == "refused":
        message = f"{message}\n{error.student_traceback}".rstrip()
    elif state == "not attempted":
        message = message or "not implemented yet"
    elif state == "grader error":
        message = f"the grader failed, please tell your instructor: {type(error).__name__}: {message}"
    return state, message[:MAX_MESSAGE]


def run_tests(submission: object, seed: int, markers: list[str], progress: bool = False) -> dict[str, list[Outcome]]:
    """Runs all component tests.

    Args:
        submission: with the methods of `in_process.InProcessSubmission`.
        seed: of the random inputs; whoever knows it knows the inputs.
        markers: of the tasks that are judged.
        progress: shows a progress bar.

    Returns:
        The outcomes by marker.

    Raises:
        SandboxUnavailable: where no test could run at all.
    """
    recorder = Recorder(submission, seed, markers, progress)
    # Nothing of pytest's own report is wanted, and no configuration but ours.
    arguments = [str(TESTS), "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", "-p", "no:faulthandler"]
    arguments += ["-c", str(TESTS / "pytest.ini"), "--rootdir", str(TESTS), "--import-mode=importlib"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = pytest.main(arguments, plugins=[recorder])
    recorder.bar.close()
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SandboxUnavailable(f"the tests could not run ({status!r}): {printed.getvalue()[-500:]}")
    return recorder.outcomes
