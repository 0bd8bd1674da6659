"""The real course, built once; and a folder with answers, as a student has it."""

import json

import pytest

from foundation.places import ROOT
from release.build import Package, Project, make_package
from release.notebooks import Course, make_course
from release.skeleton import Skeleton


@pytest.fixture(scope="session")
def package() -> Package:
    return make_package(Project(ROOT))


@pytest.fixture(scope="session")
def skeleton(package: Package) -> Skeleton:
    return package.skeleton


@pytest.fixture(scope="session")
def course(package: Package) -> Course:
    return make_course(ROOT, package.assignment, package.skeleton, package.prose)


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
