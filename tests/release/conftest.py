"""A project that a release can be made of: the kit with the example of `tests/example` as its assignment."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.places import ROOT
from foundation.whole_files import make_zip
from release.__main__ import main
from release.build import Project, Release, make_release
from release.gates import unpack, write_all
from release.skeleton import read_folder

EXAMPLE = ROOT / "tests" / "example"
ENGINE = ("autograder", "foundation", "release")
ROOM = "assignment"
ADDED = {
    "data/corpus/fren.train.bpe": "le ch@@ at dort ici .|||the cat sleeps here .\n",
    "data/corpus/fren.dev.bpe": "un ch@@ ien court l@@ a .|||a dog is running there .\n",
    "data/corpus/fren.test.src.bpe": "la v@@ ache mange la .\n",
    "data/private/fren.test.bpe": "la v@@ ache mange la .|||the c@@ ow is eating over there .\n",
    "data/private/grading_secret.txt": "0123456789abcdef" * 4 + "\n",
    "given/__init__.py": "SIZE = 3\n",
    "given/extras/answers.py": '"""Stays with the instructor."""\n',
}


@pytest.fixture(scope="session")
def reference_files() -> dict[str, bytes]:
    return read_folder(EXAMPLE / "reference")


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The kit with the example in place of its own assignment, for tests that change nothing.

    It has no notebooks; BLEU, a corpus and given code instead, and its last task is an extension.
    """
    root = tmp_path_factory.mktemp("example")
    for name in ENGINE:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "assignment"))
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, root)
    shutil.copytree(EXAMPLE, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "notebooks"))
    write_all({path: text.encode() for path, text in ADDED.items()}, root)
    path, bleu = root / ROOM / "assignment.toml", Path(__file__).with_name("bleu.toml").read_text()
    path.write_text(path.read_text().replace('name = "regressor"\n', 'name = "regressor"\nextension = true\n') + bleu)
    with (root / ROOM / "handout.md").open("a") as file:
        file.write("\n{{ bleu }}\n")
    return Project(root)


@pytest.fixture
def project(example: Project, tmp_path: Path) -> Project:
    """A copy of the example that a test may change."""
    return Project(shutil.copytree(example.root, tmp_path / "project"))


@pytest.fixture(scope="session")
def example_release(example: Project) -> Release:
    return make_release(example)


@pytest.fixture
def doctored(example_release: Release) -> Callable[..., Release]:
    """The release with more members in an archive."""

    def doctor(archive: str = "student.zip", **members: bytes) -> Release:
        packed = make_zip({**example_release.archives[archive], **members})
        return replace(example_release, outputs={**example_release.outputs, f"dist/{archive}": packed})

    return doctor


@pytest.fixture
def run(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command on the example; returns exit status, stdout and stderr."""

    def call(command: str, *arguments: str) -> tuple[int, str, str]:
        status = main([command, "--root", str(project.root), *arguments])
        return status, *capsys.readouterr()

    return call


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edit(path: Path, old: str, new: str) -> None:
    """Replaces the first place of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def student(example_release: Release, tmp_path: Path) -> Path:
    """What a student has unpacked from the first release."""
    return unpack(example_release.outputs["dist/student.zip"], tmp_path)
