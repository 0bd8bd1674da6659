"""A folder as a student has it: the example's archive, unpacked."""

import io
import zipfile
from pathlib import Path

import pytest

from release import __main__ as cli
from release.build import Project, Release


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
