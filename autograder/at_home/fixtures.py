"""A pytest plugin with what all component tests use: the submission, random inputs, markers of the tasks.

    python -m pytest                                 tests student/
    python -m pytest -m task_1_3                     tests one task
    python -m pytest --submission FOLDER --seed 7    another folder; the inputs of an earlier run

Here the submission runs in this very process, so a debugger can follow it. Grading hands tests one that lives in
another process instead (`autograder.running.collection`); they cannot tell the two apart.
"""

import random
from pathlib import Path

import pytest
import torch

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE

from ..running.under_test import IS_COLLECTED, SEED, SUBMISSION, case_of, item_of
from ..testing.case import Case
from ..testing.results import SIDE_EFFECTS
from ..testing.submission import SubmissionUnderTest
from .own_run import OwnRun


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--submission` and `--seed`."""
    group = parser.getgroup("assignment")
    group.addoption("--submission", type=Path, help="folder to judge (default: student/)")
    group.addoption("--seed", type=int, default=None, help="seed for the random inputs (default: a new one each time)")


def pytest_configure(config: pytest.Config) -> None:
    """Registers a marker for each task, draws a seed unless one is given, and begins a student's own run."""
    torch.set_num_threads(1)
    assignment = assignment_of(config)
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


def assignment_of(config: pytest.Config) -> Assignment:
    """The assignment whose tests these are: the one around pytest's root folder, or else the kit's own."""
    around = config.rootpath.parent
    try:
        return read_assignment(around if (around / ASSIGNMENT_FILE.name).is_file() else ASSIGNMENT)
    except UserError as error:
        pytest.exit(str(error), returncode=2)


@pytest.fixture(scope="session")
def submission(request: pytest.FixtureRequest) -> SubmissionUnderTest:
    """The code under test."""
    return request.config.stash[SUBMISSION]


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """Random inputs of a test."""
    return case_of(request.node, request.config.stash[SEED])
