"""Exact versions of packages and of all that they need, as they are installed here.

A release is pinned to the environment that its gates were passed in, so that it still installs in a year.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ..problems import ReleaseError

_ACCELERATORS = re.compile(r"(nvidia|cuda|triton|pytorch-triton)\b")
"""What PyTorch's builds for graphics cards bring along: a build for CPUs has no use for it."""


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
