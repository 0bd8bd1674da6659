"""Submissions of every form made from names and texts."""

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.intake.submission import Intake, IntakeRefusedError, take_in
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

CONTRACT = read_assignment().contract.modules
LAYERS = "class LayerNorm:\n    pass\n"


def take(path: Path) -> Intake:
    return take_in(path, SKELETON, read_assignment())


def reason(path: Path) -> str:
    """Why a path is refused: one line that names it."""
    with pytest.raises(IntakeRefusedError) as caught:
        take(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: ") and "\n" not in message and message.isprintable()
    return message


@pytest.fixture
def write_zip(tmp_path) -> Callable[..., Path]:
    """A .zip with these members: name, content, and other fields of its entry."""

    def write(members: list[tuple], compression: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / "anna.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content, *more in members:
                entry = zipfile.ZipInfo("x")
                entry.filename = entry.orig_filename = name  # as it is, which the library would make harmless
                for key, value in (more[0] if more else {}).items():
                    setattr(entry, key, value)
                archive.writestr(entry, content, compression)
        return path

    return write


LINK = object()  # stands for a symbolic link


@pytest.fixture(params=["folder", "zip"])
def form(request) -> str:
    return request.param


@pytest.fixture
def pack(tmp_path, write_zip) -> Callable[..., Path]:
    """A submission with these files, as a folder or as an archive: plain name -> text, bytes or LINK."""

    def write(files: dict[str, str | bytes | object], form: str = "folder") -> Path:
        if form == "zip":
            link = {"external_attr": (stat.S_IFLNK | 0o777) << 16}
            return write_zip(
                [(name, "/etc/passwd", link) if content is LINK else (name, content) for name, content in files.items()]
            )
        (tmp_path / "anna").mkdir(exist_ok=True)
        for name, content in files.items():
            path = tmp_path / "anna" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is LINK:
                path.symlink_to("/etc/passwd")
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "anna"

    return write


def code(source: str | list[str], grade_id: str = "", *, solution=False, locked=False, grade=False) -> dict:
    """A code cell of a notebook."""
    marks = {"grade_id": grade_id, "solution": solution, "locked": locked, "grade": grade, "schema_version": 3}
    metadata = {"nbgrader": marks} if grade_id else {}
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


def answer(source: str, grade_id: str) -> dict:
    return code(source, grade_id, solution=True)


def as_notebook(cells: list[dict]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.fixture
def write_notebook(tmp_path) -> Callable[..., Path]:
    def write(*cells: dict, name: str = "anna.ipynb") -> Path:
        path = tmp_path / name
        path.write_bytes(as_notebook(list(cells)))
        return path

    return write
