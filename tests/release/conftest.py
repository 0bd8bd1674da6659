"""A small project that a release can be made of, without torch and with a stand-in for the autograder."""

import io
import shutil
import textwrap
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.assignment_file import Assignment, read_assignment
from foundation.places import ROOT
from release.__main__ import main
from release.build import Project, Release, make_release
from release.gates import Workspace, write_all
from release.packing import make_zip
from release.regions import Region, ReleaseError, Source, find_regions, parse_source
from release.skeleton import Skeleton, make_skeleton, read_folder

collect_ignore = ["tiny_project"]

EXAMPLE = Path(__file__).with_name("tiny_project")
TASKS = ("1.1", "1.2", "1.3", "E.1")
DATA = {
    "corpus/fren.train.bpe": "le ch@@ at dort ici .|||the cat sleeps here .\n",
    "corpus/fren.dev.bpe": "un ch@@ ien court l@@ a .|||a dog is running there .\n",
    "corpus/fren.test.src.bpe": "la v@@ ache mange la .\n",
    "private/fren.test.bpe": "la v@@ ache mange la .|||the c@@ ow is eating over there .\n",
    "private/grading_secret.txt": "the secret of the tests' own project\n",
}


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    return read_assignment(EXAMPLE / "autograder" / "assignment" / "assignment.toml")


@pytest.fixture(scope="session")
def reference_files() -> dict[str, bytes]:
    return read_folder(EXAMPLE / "reference")


@pytest.fixture(scope="session")
def skeleton(reference_files: dict[str, bytes], assignment: Assignment) -> Skeleton:
    return make_skeleton(reference_files, assignment, "reference")


def copy_example(root: Path) -> Project:
    """The example, with its corpus and what it takes from the kit."""
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "foundation").mkdir()
    for name in ("__init__.py", "texts.py"):
        shutil.copy(ROOT / "foundation" / name, root / "foundation")
    shutil.copy(ROOT / "requirements.lock", root)
    for name, text in DATA.items():
        (root / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "data" / name).write_text(text)
    return Project(root, root / "reference", root)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example that a test may change."""
    return copy_example(tmp_path / "project")


@pytest.fixture(scope="session")
def example_release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return make_release(copy_example(tmp_path_factory.mktemp("example") / "project"))


@pytest.fixture
def workspace(project: Project, example_release: Release, tmp_path: Path) -> Workspace:
    """What gates look at."""
    return Workspace(project, example_release, tmp_path / "workspace" / "student")


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
        write_all(made.folder, workspace.package)
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


@pytest.fixture
def run(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command on the example; returns exit status, stdout and stderr."""

    def call(command: str, *arguments: str) -> tuple[int, str, str]:
        status = main([command, "--root", str(project.root), *arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    """Replaces the first place of a text in a file."""

    def change(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text, (path, old)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


@pytest.fixture
def student(example_release: Release, tmp_path: Path) -> Path:
    """What a student has unpacked from the first release; the archive lies beside it."""
    packed = example_release.outputs["dist/student.zip"]
    (tmp_path / "student.zip").write_bytes(packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "assignment"
