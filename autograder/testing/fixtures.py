"""A pytest plugin with what all component tests use: the submission, random inputs, markers of the tasks.

    python -m pytest                                 tests student/
    python -m pytest -m task_1_3                     tests one task
    python -m pytest --submission FOLDER --seed 7    another folder; the inputs of an earlier run

Here the submission runs in this very process, so a debugger can follow it. Grading passes a submission that
lives in another process instead (`config.stash[SUBMISSION]`); the tests cannot tell the two apart.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from foundation.assignment_file import Assignment, AssignmentError, read_assignment, released_folder
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE

from ..sources import IntakeError
from .case import Case
from .hints import ATTEMPTS, read_hints
from .own_run import OwnRun
from .under_test import SEED, SIDE_EFFECTS, SUBMISSION, SubmissionUnderTest, item_of

OWN_RUN = pytest.StashKey[OwnRun]()
COLLECTED = pytest.StashKey[list[tuple[str, set[str]]]]()
"""Node id and markers of all tests, also of those that are left out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--submission` and `--seed`."""
    group = parser.getgroup("assignment")
    group.addoption("--submission", type=Path, help="folder to judge (default: student/)")
    group.addoption("--seed", type=int, default=None, help="seed for the random inputs (default: a new one each time)")


def folder_of(config: pytest.Config) -> Path:
    """The folder to judge."""
    folder: Path | None = config.getoption("submission")
    return folder or released_folder()


def pytest_configure(config: pytest.Config) -> None:
    """Registers a marker for each task, and draws a seed unless one is given."""
    torch.set_num_threads(1)
    if SUBMISSION not in config.stash:
        os.environ["MPLBACKEND"] = "Agg"  # as in grading, whatever a notebook's host has set
    if getattr(config.option, "tbstyle", None) == "auto":  # the bodies of our checks would explain nothing
        config.option.tbstyle = "short"
    for task in assignment_of(config).tasks:
        config.addinivalue_line("markers", f"{task.marker}: {task.number} {task.title}")
    config.addinivalue_line("markers", "item(name): the rubric item of its task that a test belongs to")
    config.addinivalue_line("markers", "given: tests code that the assignment provides; no points")
    if SEED not in config.stash:
        seed = config.getoption("seed")
        config.stash[SEED] = random.SystemRandom().randrange(2**32) if seed is None else seed


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts the test of side effects first in its file: what it finds may be behind whatever else fails."""
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (files[item.path], item_of(item) != SIDE_EFFECTS))
    config.stash[COLLECTED] = [(item.nodeid, {mark.name for mark in item.iter_markers()}) for item in items]


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


@pytest.fixture(scope="session")
def submission(request: pytest.FixtureRequest, own_run: OwnRun | None) -> Iterator[SubmissionUnderTest]:
    """The code under test."""
    if SUBMISSION in request.config.stash:
        yield request.config.stash[SUBMISSION]
        return
    if own_run is None:
        pytest.exit(f"--submission {folder_of(request.config)}: no such folder", returncode=2)
    yield own_run.submission
    own_run.close()


@pytest.fixture(scope="session")
def own_run(request: pytest.FixtureRequest) -> OwnRun | None:
    """What is known of the code under test in a student's own run; None when it is graded, or is not there."""
    folder, config = folder_of(request.config), request.config
    if SUBMISSION in config.stash or not folder.is_dir():
        return None
    assignment = assignment_of(config)
    has_hints = folder == released_folder() and bool(read_hints(assignment.folder))
    attempts = folder.parent / ATTEMPTS if has_hints else None
    try:
        made = config.stash[OWN_RUN] = OwnRun(folder, assignment, attempts)
    except IntakeError as error:
        pytest.exit(str(error), returncode=2)
    config.pluginmanager.register(made)
    return made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says what each task has earned, where the tests were not picked one by one."""
    made = config.stash.get(OWN_RUN, None)
    if SUBMISSION in config.stash or any("::" in argument for argument in config.args):
        return
    tests = config.stash.get(COLLECTED, [])
    marked = {marker for _, markers in tests for marker in markers}
    lines = [] if made is None else made.summary(tests, config.stash[SEED])
    is_all = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    for task in assignment_of(config).tasks if is_all else ():
        if task.components and task.marker not in marked:
            lines.append(f"{task.number} {task.title}: its tests are handed out later")
    if lines:
        terminalreporter.section("rubric")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """Random inputs, different for each test and seed; tests of the same name in two files share none."""
    return Case(request.config.stash[SEED], f"{request.path.name}::{request.node.name}")
