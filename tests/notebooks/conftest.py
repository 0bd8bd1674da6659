"""The real course, built once; and a folder with answers, as a student has it."""

import json

import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.build import Project, make_package
from release.notebooks import Course, make_course
from release.skeleton import Skeleton


@pytest.fixture(scope="session")
def skeleton() -> Skeleton:
    return make_package(Project(ROOT, ROOT / "reference", ROOT))[1]


@pytest.fixture(scope="session")
def course(skeleton: Skeleton) -> Course:
    return make_course(ROOT, read_assignment(), skeleton)


@pytest.fixture(scope="session")
def cells_of():
    """The cells of one notebook by id, their source as one text."""

    def read(files, name: str) -> dict[str, dict]:
        notebook = json.loads(files[name])
        return {cell["id"]: {**cell, "source": "".join(cell["source"])} for cell in notebook["cells"]}

    return read


@pytest.fixture(scope="session", autouse=True)
def _with_fixed_secret(fixed_secret):
    """For the commands."""
