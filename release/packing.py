"""The archives in `dist/`: whom each is for, and how they are packed, so that the same content gives the same bytes.

All that the component tests import is a wheel in the students' archive, which they install and need not read.
"""

import base64
import hashlib
import io
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from packaging.requirements import Requirement

from foundation.places import COMPONENT_TESTS
from foundation.whole_files import make_zip

from .handout import TEMPLATES

LIBRARY = "assignment_kit"
PACKAGES = ("assignment/", "autograder/", "foundation/")
ENTRY_POINT = "autograder/at_home/start.py"
SETTINGS = "pytest.ini"
PLUGIN = "autograder.at_home.own_run"
REQUIREMENTS = "requirements.txt"
LOCK = "requirements.lock"


class Audience(StrEnum):
    """Who gets an archive, which decides what may stand in it."""

    STUDENTS = "students"  # no solution, nothing private
    SERVER = "the grading server"  # hidden references, the term's secret, and packed what own tests are tried on
    INSTRUCTORS = "instructors"  # all


STUDENT_ZIP = "student.zip"
NOTEBOOKS_ZIP = "notebooks.zip"
GRADESCOPE_ZIP = "gradescope.zip"
INSTRUCTOR_ZIP = "instructor.zip"
MANIFEST = "MANIFEST.json"
NOTEBOOK_SOURCES = "notebooks/source"  # nbgrader's folder for the notebooks with solutions
ARCHIVES = (".zip", ".whl")
_OTHERS = {GRADESCOPE_ZIP: Audience.SERVER} | dict.fromkeys((INSTRUCTOR_ZIP, MANIFEST), Audience.INSTRUCTORS)
_DIST_INFO = {
    "METADATA": "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: release\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "entry_points.txt": "[pytest11]\nassignment = {module}\n",
}


def audience_of(path: str) -> Audience:
    """Return who gets a file of the release, or a member of an archive there; where in doubt, students."""
    if path.startswith(f"{NOTEBOOK_SOURCES}/"):
        return Audience.INSTRUCTORS
    return _OTHERS.get(path.partition("!")[0].removeprefix("dist/"), Audience.STUDENTS)


def members_of(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield every file in a zip archive and in archives within it, as `archive!member`; other files give none."""
    if path.endswith(ARCHIVES):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                inside = archive.read(name)
                yield f"{path}!{name}", inside
                yield from members_of(f"{path}!{name}", inside)


def checksum(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_requirements(root: Path, notebooks: bool = True) -> list[str]:
    """Return what students install, by `pyproject.toml`; `notebooks`: Jupyter too, which brings a hundred packages."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [line for line in project["dependencies"] if notebooks or Requirement(line).name != "jupyter"]


def requirements_file(lines: Iterable[str], index: str) -> bytes:
    """Make a file for pip, with an index of CPU-only builds of PyTorch unless it is empty."""
    return "".join(f"{line}\n" for line in [*[f"--extra-index-url {index}"] * bool(index), *lines]).encode()


def with_library(kit: Mapping[str, bytes], tests: str, in_notebooks: bool = False) -> dict[str, bytes]:
    """Put the grader's packages into a wheel that `requirements.txt` names, and `tests/` into a folder of their own.

    The same content makes the same wheel, other content one of another version.
    """
    moved = {path: f"{COMPONENT_TESTS}/{path.removeprefix(tests)}" for path in kit if path.startswith(tests)}
    inside = {path: content for path, content in kit.items() if path.startswith(PACKAGES) and path not in moved}
    outside = {moved.get(path, path): content for path, content in kit.items() if path not in inside}
    outside.pop(f"{COMPONENT_TESTS}/__init__.py", None)
    version = f"1.0+{checksum(make_zip(inside))[:10]}"
    wheel = f"{LIBRARY}-{version}-py3-none-any.whl"
    settings = outside[SETTINGS].decode().replace(tests.rstrip("/"), COMPONENT_TESTS)
    if not in_notebooks:  # whose first cell makes the plugin importable
        settings = re.sub(rf"-p {PLUGIN} ?", "", settings)
        conftest = TEMPLATES.get_template("conftest.py.jinja")
        outside["conftest.py"] = conftest.render(name=LIBRARY, version=version, plugin=PLUGIN).encode()
    outside[SETTINGS] = settings.encode()
    outside[REQUIREMENTS] += f"./{wheel}\n".encode()
    return outside | {wheel: make_wheel(inside, version)}


def make_wheel(files: Mapping[str, bytes], version: str) -> bytes:
    """Make a wheel of pure Python (the format: packaging.python.org, *Binary distribution format*)."""
    folder = f"{LIBRARY}-{version}.dist-info"
    words = {"name": LIBRARY, "version": version, "module": ENTRY_POINT.removesuffix(".py").replace("/", ".")}
    content = {**files, **{f"{folder}/{name}": text.format(**words).encode() for name, text in _DIST_INFO.items()}}
    record = f"{folder}/RECORD"
    digests = {path: base64.urlsafe_b64encode(hashlib.sha256(data).digest()) for path, data in content.items()}
    lines = [f"{path},sha256={digests[path].decode().rstrip('=')},{len(content[path])}\n" for path in content]
    return make_zip({**content, record: "".join([*lines, f"{record},,\n"]).encode()})
