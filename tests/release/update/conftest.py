"""A folder as a student has it: the example's archive, unpacked."""

import io
import shutil
import zipfile
from pathlib import Path

import pytest

from release import __main__ as cli
from release.build import Project, Release

EXAMPLE = Path(__file__).resolve().parents[1] / "tiny_project"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example that a test may change."""
    root = tmp_path / "project"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(root, root / "reference", root)


@pytest.fixture
def student(example_release: Release, tmp_path: Path) -> Path:
    """What a student has unpacked from the first release; the archive lies beside it."""
    packed = example_release.outputs["dist/student.zip"]
    (tmp_path / "student.zip").write_bytes(packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "assignment"


@pytest.fixture
def edit():
    """Replaces a text that occurs once in a file."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert text.count(old) == 1, (path, old)
        path.write_text(text.replace(old, new))

    return replace


@pytest.fixture
def update(project: Project, student: Path, capsys: pytest.CaptureFixture[str]):
    """Runs the command; returns exit status, stdout and stderr."""

    def call(*arguments: str, folder: Path = student) -> tuple[int, str, str]:
        status = cli.main(["update", str(folder), "--root", str(project.root), *arguments])
        return status, *capsys.readouterr()

    return call
