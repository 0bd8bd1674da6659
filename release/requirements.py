"""What has to be installed: by students as `pyproject.toml` says, on Gradescope in the versions that are used here.

Gradescope's image is pinned to the environment that the gates were passed in, so that it still installs in a year.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .problems import Problem, ReleaseError

REQUIREMENTS = "requirements.txt"

_ACCELERATORS = re.compile(r"(nvidia|cuda|triton|pytorch-triton)\b")
"""What PyTorch's builds for graphics cards bring along: a build for CPUs has no use for it."""


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
