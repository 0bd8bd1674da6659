"""The real course, built once; and a folder with answers, as a student has it."""

import json

import pytest

from foundation.places import ROOT
from release.build import Package, Project, make_package
from release.notebooks import Course, make_course


@pytest.fixture(scope="session")
def package() -> Package:
    return make_package(Project(ROOT))


@pytest.fixture(scope="session")
def course(package: Package) -> Course:
    return make_course(Project(ROOT), *package[:2])


def cells_of(files, name: str) -> dict[str, dict]:
    """The cells of one notebook by id, their source as one text."""
    cells = json.loads(files[name])["cells"]
    return {cell["id"]: {**cell, "source": "".join(cell["source"])} for cell in cells}


@pytest.fixture(scope="session", autouse=True)
def _with_fixed_secret(fixed_secret):
    """For the commands."""
