"""The archives in `dist/`: whom each is for, and how they are packed, so that the same content gives the same bytes.

What has to be installed: by students as `pyproject.toml` says, on Gradescope in the versions of `requirements.lock`, so
that its image still installs in a year.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import tomllib
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from packaging.requirements import Requirement

REQUIREMENTS = "requirements.txt"
LOCK = "requirements.lock"


class Audience(StrEnum):
    """Who gets an archive: that decides what may stand in it."""

    STUDENTS = "students"  # no solution, nothing private
    SERVER = "the grading server"  # hidden references and the term's secret, but no solution
    INSTRUCTORS = "instructors"  # all


STUDENT_ZIP = "student.zip"
GRADESCOPE_ZIP = "gradescope.zip"
INSTRUCTOR_ZIP = "instructor.zip"
NOTEBOOKS_ZIP = "notebooks.zip"
NOTEBOOK_SOURCES = "notebooks/source"
"""nbgrader's folder for the notebooks with solutions."""
ARCHIVES = (".zip", ".whl")
_OTHERS = {GRADESCOPE_ZIP: Audience.SERVER, INSTRUCTOR_ZIP: Audience.INSTRUCTORS}
_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
_FILE_MODE = 0o644
_PROGRAM_MODE = 0o755
_UNIX = 3
ZIP_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)
"""What `zipfile` raises for an archive that is damaged, encrypted or of an unknown kind."""


def make_zip(files: Mapping[str, bytes], programs: Collection[str] = ()) -> bytes:
    """An archive with sorted names, one fixed time, and fixed modes; `programs` may be executed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files):
            member = zipfile.ZipInfo(path, _TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = _UNIX
            member.external_attr = (0o100000 | (_PROGRAM_MODE if path in programs else _FILE_MODE)) << 16
            archive.writestr(member, files[path], compresslevel=9)
    return buffer.getvalue()


def audience_of(path: str) -> Audience:
    """Of a file of the release, or of a member of an archive there. Where in doubt, students may get it."""
    if path.startswith(f"{NOTEBOOK_SOURCES}/"):
        return Audience.INSTRUCTORS
    return _OTHERS.get(path.partition("!")[0].removeprefix("dist/"), Audience.STUDENTS)


def members_of(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every file in a zip archive and in archives within it, as `archive!member`; other files give none."""
    if path.endswith(ARCHIVES):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                inside = archive.read(name)
                yield f"{path}!{name}", inside
                yield from members_of(f"{path}!{name}", inside)


def checksum(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Of every file by path, in order."""
    return {path: checksum(content) for path, content in sorted(files.items())}


def read_requirements(root: Path) -> tuple[str, ...]:
    """What students install, as `pyproject.toml` says."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(project["dependencies"])


def without_notebooks(requirements: Iterable[str]) -> tuple[str, ...]:
    """What students need who work in files: no Jupyter, which brings a hundred packages."""
    return tuple(one for one in requirements if Requirement(one).name != "jupyter")


def requirements_file(lines: Iterable[str], index: str) -> bytes:
    """A file for pip, with an index of CPU-only builds of PyTorch unless it is empty."""
    return "".join(f"{line}\n" for line in [*[f"--extra-index-url {index}"] * bool(index), *lines]).encode()
