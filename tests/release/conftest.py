"""A small project that a release can be made of, without torch and with a stand-in for the autograder."""

import shutil
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.assignment_file import Assignment, read_assignment
from release.archives.packing import make_zip
from release.build import Project, Release, make_release
from release.gates.running import Workspace
from release.placing import write_files
from release.problems import ReleaseError
from release.skeleton.build import Skeleton, make_skeleton, read_folder
from release.skeleton.regions import Region, find_regions
from release.skeleton.source import Source, parse_source

collect_ignore = ["tiny_project"]

EXAMPLE = Path(__file__).with_name("tiny_project")
TASKS = ("1.1", "1.2", "1.3", "E.1")


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    return read_assignment(EXAMPLE / "autograder" / "assignment" / "assignment.toml")


@pytest.fixture(scope="session")
def reference_files() -> dict[str, bytes]:
    return read_folder(EXAMPLE / "reference")


@pytest.fixture(scope="session")
def skeleton(reference_files: dict[str, bytes], assignment: Assignment) -> Skeleton:
    return make_skeleton(reference_files, assignment, "reference")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example that a test may change."""
    root = tmp_path / "project"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(root, root / "reference", root)


@pytest.fixture(scope="session")
def example_release() -> Release:
    return make_release(Project(EXAMPLE, EXAMPLE / "reference", EXAMPLE))


@pytest.fixture
def workspace(project: Project, example_release: Release, tmp_path: Path) -> Workspace:
    """What gates look at."""
    return Workspace(project, example_release, tmp_path / "workspace")


@pytest.fixture
def doctored(workspace: Workspace) -> Callable[..., Workspace]:
    """The workspace, written out, with other files of the skeleton and more members in an archive."""

    def doctor(skeleton: Mapping[str, str] | None = None, archive: str = "student.zip", **members: bytes) -> Workspace:
        release = workspace.release
        changed = {path: text.encode() for path, text in (skeleton or {}).items()}
        inside = {**release.archives[archive], **members}
        made = replace(
            release,
            skeleton=replace(release.skeleton, files={**release.skeleton.files, **changed}),
            folder={**release.folder, **changed},
            archives={**release.archives, archive: inside},
            outputs={
                **release.outputs,
                **{f"student/{path}": content for path, content in changed.items()},
                f"dist/{archive}": make_zip(inside),
            },
        )
        write_files(made.outputs, workspace.folder)
        return replace(workspace, release=made)

    return doctor


@pytest.fixture(scope="session")
def read() -> Callable[[str], Source]:
    """Turns an indented text into a source file called a.py."""
    return lambda text: parse_source("a.py", textwrap.dedent(text))


@pytest.fixture(scope="session")
def regions_of(read: Callable[[str], Source]) -> Callable[[str], tuple[list[Region], list[str]]]:
    """The regions of an indented text, and its problems as the user sees them."""

    def find(text: str) -> tuple[list[Region], list[str]]:
        try:
            return find_regions(read(text), TASKS), []
        except ReleaseError as error:
            return [], [str(problem) for problem in error.problems]

    return find
