"""A pytest plugin with what all component tests use: the submission, random inputs, markers of the tasks.

    python -m pytest                                 tests student/
    python -m pytest -m task_1_3                     tests one task
    python -m pytest --submission FOLDER --seed 7    another folder; the inputs of an earlier run

Here the submission runs in this very process, so a debugger can follow it. Grading passes a submission that
lives in another process instead (`config.stash[SUBMISSION]`); the tests cannot tell the two apart.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest
import torch

from foundation.assignment_file import Assignment, AssignmentError, read_assignment
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE, SKELETON
from foundation.todo_wording import told_by

from ..intake.errors import IntakeError
from ..rules import tell_short_cuts
from .case import Case
from .in_process import InProcessSubmission, read_sources
from .options import folder_of
from .told_inputs import tell_inputs
from .under_test import SEED, SUBMISSION, SubmissionUnderTest


def pytest_configure(config: pytest.Config) -> None:
    """Registers a marker for each task, and draws a seed unless one is given."""
    torch.set_num_threads(1)
    if getattr(config.option, "tbstyle", None) == "auto":  # the bodies of our checks would explain nothing
        config.option.tbstyle = "short"
    for task in assignment_of(config).tasks:
        config.addinivalue_line("markers", f"{task.marker}: {task.number} {task.title}")
    config.addinivalue_line("markers", "core: a task whose core test fails earns nothing")
    config.addinivalue_line("markers", "given: tests code that the assignment provides; no points")
    if SEED not in config.stash:
        seed = config.getoption("seed")
        config.stash[SEED] = random.SystemRandom().randrange(2**32) if seed is None else seed


def assignment_of(config: pytest.Config) -> Assignment:
    """The assignment whose tests these are: the one around pytest's root folder, or else the kit's own."""
    around = config.rootpath.parent
    try:
        return read_assignment(around if (around / ASSIGNMENT_FILE.name).is_file() else ASSIGNMENT)
    except AssignmentError as error:
        pytest.exit(str(error), returncode=2)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Says in a student's own run what is tested, and how to repeat it."""
    if SUBMISSION in config.stash:
        return None
    return f"submission: {folder_of(config)}   repeat with: --seed {config.stash[SEED]}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """In a student's own run, shows a failure at the test's line and the student's; `--pdb` stops there.

    The frames between and below them are ours and PyTorch's; `--full-trace` shows them too.
    """
    if call.excinfo is None or SUBMISSION in item.config.stash or item.config.getoption("fulltrace"):
        return
    folders = {folder_of(item.config), SKELETON}
    raised = call.excinfo.value
    if isinstance(raised, NotImplementedError):
        raised.args = (told_by(raised),)
    tell_inputs(raised, getattr(item, "funcargs", {}).get("submission"))
    for error in (raised, raised.__cause__, raised.__context__):
        if error is not None:
            error.__traceback__ = own_frames(error.__traceback__, item.path, folders) or error.__traceback__
    call.excinfo = pytest.ExceptionInfo.from_exception(raised)


def own_frames(entry: TracebackType | None, test: Path, folders: set[Path]) -> TracebackType | None:
    """The traceback, reduced to frames in the test's file or in one of the folders."""
    entries = []
    while entry is not None:
        path = Path(entry.tb_frame.f_code.co_filename)
        if path == test or path.parent in folders:
            entries.append(entry)
        entry = entry.tb_next
    kept = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


@pytest.fixture(scope="session")
def submission(request: pytest.FixtureRequest) -> Iterator[SubmissionUnderTest]:
    """The code under test."""
    if SUBMISSION in request.config.stash:
        yield request.config.stash[SUBMISSION]
        return
    folder = folder_of(request.config)
    if not folder.is_dir():
        pytest.exit(f"--submission {folder}: no such folder", returncode=2)
    made = InProcessSubmission(read(folder), assignment_of(request.config))
    yield made
    made.close()


@pytest.fixture(scope="session")
def refused(request: pytest.FixtureRequest) -> dict[str, str]:
    """Messages about forbidden short-cuts by the task's marker, in a student's own run; grading looks for itself."""
    folder = folder_of(request.config)
    if SUBMISSION in request.config.stash or not folder.is_dir():
        return {}
    assignment = assignment_of(request.config)
    judged = {task.marker: task.components for task in assignment.tasks}
    return tell_short_cuts(read(folder), judged, assignment.contract.forbidden)


def read(folder: Path) -> dict[str, tuple[str, str]]:
    """The submission's modules; ends the run where a file cannot be read."""
    try:
        return read_sources(folder, SKELETON)
    except IntakeError as error:
        pytest.exit(str(error), returncode=2)


@pytest.fixture(autouse=True)
def begins(request: pytest.FixtureRequest) -> None:
    """Lets the submission know that a new test of it begins."""
    if "submission" in request.fixturenames:
        request.getfixturevalue("submission").begin_test()


@pytest.fixture(autouse=True)
def no_short_cuts(request: pytest.FixtureRequest, refused: dict[str, str]) -> None:
    """Fails a task that uses a forbidden short-cut, so that nobody learns of it only from the marks."""
    for mark in request.node.iter_markers():
        if mark.name in refused:
            pytest.fail(refused[mark.name], pytrace=False)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """Random inputs, different for each test and seed; tests of the same name in two files share none."""
    return Case(request.config.stash[SEED], f"{request.path.name}::{request.node.name}")
