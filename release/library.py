"""The wheel in the students' archive: all that the component tests import, which students install and need not read.

What they unpack is then what they work with: their package, `given/`, the corpus and the tests.
"""

import base64
import hashlib
import re
from collections.abc import Mapping

from foundation.places import COMPONENT_TESTS

from .packing import REQUIREMENTS, make_zip

NAME = "assignment_kit"
PACKAGES = ("autograder/", "foundation/")
ENTRY_POINT = "autograder/testing/at_home.py"
SETTINGS = "pytest.ini"
PLUGIN = "autograder.testing.fixtures"

_METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
_WHEEL = "Wheel-Version: 1.0\nGenerator: release\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_ENTRY_POINTS = "[pytest11]\nassignment = {module}\n"
_CONFTEST = '''"""Loads what the component tests need, or says how to install it."""

from importlib import metadata

import pytest

VERSION = "{version}"

try:
    installed = metadata.version("{name}")
except metadata.PackageNotFoundError:
    installed = "not installed"

if installed == VERSION:
    pytest_plugins = ["{plugin}"]


def pytest_configure(config):
    """Stops where the tests could not run, or with other ones than were handed out."""
    if installed != VERSION:
        what = f"{name} is {{installed}}, expected {{VERSION}}"
        pytest.exit(f"{{what}}: run `pip install -r requirements.txt` in {{config.rootpath}}", returncode=2)
'''


def with_library(kit: Mapping[str, bytes], tests: str) -> dict[str, bytes]:
    """Puts the grader's packages into a wheel that `requirements.txt` names, and the tests into a folder of their own.

    Args:
        kit: the students' files by path.
        tests: the folder of component tests among them, with a slash at its end.

    Returns:
        The files by path. The same content makes the same wheel, other content one of another version.
    """
    moved = {path: f"{COMPONENT_TESTS}/{path.removeprefix(tests)}" for path in kit if path.startswith(tests)}
    inside = {path: content for path, content in kit.items() if path.startswith(PACKAGES) and path not in moved}
    outside = {moved.get(path, path): content for path, content in kit.items() if path not in inside}
    outside.pop(f"{COMPONENT_TESTS}/__init__.py", None)
    version = f"1.0+{hashlib.sha256(make_zip(inside)).hexdigest()[:10]}"
    wheel = f"{NAME}-{version}-py3-none-any.whl"
    settings = outside[SETTINGS].decode().replace(tests.rstrip("/"), COMPONENT_TESTS)
    if f"-p {PLUGIN}" in settings:
        settings = re.sub(rf"-p {PLUGIN} ?", "", settings)
        outside["conftest.py"] = _CONFTEST.format(name=NAME, version=version, plugin=PLUGIN).encode()
    outside[SETTINGS] = settings.encode()
    outside[REQUIREMENTS] += f"./{wheel}\n".encode()
    return outside | {wheel: make_wheel(inside, version)}


def make_wheel(files: Mapping[str, bytes], version: str) -> bytes:
    """A wheel of pure Python (the format: packaging.python.org, *Binary distribution format*)."""
    folder = f"{NAME}-{version}.dist-info"
    added = {
        "METADATA": _METADATA.format(name=NAME, version=version),
        "WHEEL": _WHEEL,
    }
    if ENTRY_POINT in files:
        added["entry_points.txt"] = _ENTRY_POINTS.format(module=ENTRY_POINT.removesuffix(".py").replace("/", "."))
    content = {**files, **{f"{folder}/{name}": text.encode() for name, text in added.items()}}
    record = f"{folder}/RECORD"
    lines = [f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in content.items()]
    return make_zip({**content, record: "".join([*lines, f"{record},,\n"]).encode()})


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
