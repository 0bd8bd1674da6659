"""The compiled filters of system calls, one per supported processor; see `seccomp_policy`."""

from __future__ import annotations

import functools
import json
import platform
from pathlib import Path

FILTERS = Path(__file__).with_name("seccomp_filters.json")
MACHINES = {"x86_64": "X86_64", "amd64": "X86_64", "aarch64": "AARCH64", "arm64": "AARCH64"}


def filter_for_this_machine() -> bytes:
    """The compiled filter for this processor; b"" if there is none."""
    return bytes.fromhex(read_filters().get(MACHINES.get(platform.machine().lower(), ""), ""))


@functools.cache
def read_filters() -> dict[str, str]:
    """The file of filters: machine -> program in hex; "policy" -> digest of the policy that they were compiled from."""
    filters: dict[str, str] = json.loads(FILTERS.read_text(encoding="utf-8"))
    return filters
