"""The archives in `dist/`: whom each is for, and how they are packed, so that the same content gives the same bytes.

What has to be installed: by students as `pyproject.toml` says, on Gradescope in the versions that are used here.
Gradescope's image is pinned to the environment that the gates were passed in, so that it still installs in a year.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import tomllib
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .regions import Problem, ReleaseError

REQUIREMENTS = "requirements.txt"
_ACCELERATORS = re.compile(r"(nvidia|cuda|triton|pytorch-triton)\b")
"""What PyTorch's builds for graphics cards bring along: a build for CPUs has no use for it."""


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
_OTHERS = {GRADESCOPE_ZIP: Audience.SERVER, INSTRUCTOR_ZIP: Audience.INSTRUCTORS}
HANDED_OUT = ".handed_out.zip"
"""In every students' folder: its files as they were handed out, from which a later update learns what is new."""
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
    if path.endswith(".zip"):
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


@dataclass(frozen=True)
class Requirements:
    """From `pyproject.toml`: the kit's version, the Python it needs, and what students install.

    Args:
        index: of CPU-only builds of PyTorch, for pip; empty: whatever pip's own settings lead to.
    """

    version: str
    python: str
    packages: tuple[str, ...]
    index: str = ""

    def as_file(self) -> bytes:
        """The students' requirements.txt."""
        return requirements_file(self.packages, self.index)

    def without_notebooks(self) -> Requirements:
        """What students need who work in files: no Jupyter, which brings a hundred packages."""
        return replace(self, packages=tuple(one for one in self.packages if Requirement(one).name != "jupyter"))

    def versions(self) -> dict[str, str]:
        """For the manifest: the kit, Python and every package, each as required."""
        packages = map(Requirement, self.packages)
        return {
            "kit": self.version,
            "python": self.python,
            **{package.name: str(package.specifier) or "any" for package in packages},
        }


def requirements_file(packages: Iterable[str], index: str) -> bytes:
    """A file for pip, with an index of CPU-only builds of PyTorch unless it is empty."""
    lines = [f"--extra-index-url {index}"] if index else []
    return "".join(f"{line}\n" for line in [*lines, *packages]).encode()


def read_requirements(root: Path, index: str = "") -> Requirements:
    """Reads `[project]`. Raises: ReleaseError where something is missing."""
    path = root / "pyproject.toml"
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        return Requirements(project["version"], project["requires-python"], tuple(project["dependencies"]), index)
    except (OSError, ValueError) as error:
        raise ReleaseError([Problem(path.name, 0, f"cannot be read ({error})", "correct it")]) from None
    except KeyError as error:
        right = "a release needs [project] version, requires-python and dependencies"
        raise ReleaseError([Problem(path.name, 0, f"has no {error}", right)]) from None


def pin(packages: Iterable[str]) -> list[str]:
    """`name==version` of the packages and of everything that they need here, sorted.

    Raises:
        ReleaseError: where one of the packages is not installed.
    """
    versions: dict[str, str] = {}
    waiting = list(packages)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in versions or _ACCELERATORS.match(name):
            continue
        versions[name], needs = _installed(name)
        waiting += needs
    return [f"{name}=={versions[name]}" for name in sorted(versions)]


@cache
def _installed(name: str) -> tuple[str, list[str]]:
    """A package's version, and the names of those that it needs."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise ReleaseError(f"{name} is not installed here; install it: make install") from None
    needs = map(Requirement, found.requires or ())
    names = [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found.version.partition("+")[0], names  # 2.13.0+cpu is a build of 2.13.0
