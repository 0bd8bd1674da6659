"""Commit subjects read as commands: imperative, a capital first, at most 72 characters, no full stop."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.places import ROOT

SINCE = "91770193"
"""Subjects up to this commit are as they are."""
NO_COMMAND = re.compile(
    r"(?!Bring|Spring|String|Need|Embed|Feed|Speed|Seed|Process|Pass|Address|Compress|Access|Guess)\w+(ing|ed|s)\b"
)


def fault_of_subject(subject: str) -> str:
    """Return what is wrong with a commit's subject; "" = nothing."""
    if len(subject) > 72:
        return f"{len(subject)} characters: expected at most 72"
    if not subject[:1].isupper() or subject.endswith("."):
        return "expected a capital letter first, and no full stop"
    if NO_COMMAND.match(subject):
        return f"begins with {subject.split()[0]!r}: expected a command, such as 'Read'"
    return ""


@pytest.mark.parametrize("fault", ["tests: x", "Added x", "Adds x", "Fixing x", "Fix x.", "Say " + "x" * 70])
def test_a_subject_is_a_command(fault):
    assert fault_of_subject("Pass masks to every layer") == "" != fault_of_subject(fault)


def test_subjects_are_commands():
    command = ["git", "log", "--no-merges", "--format=%s", f"{SINCE}..HEAD"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:  # a shallow checkout, as a workflow's: the newest commit alone
        found = subprocess.run([*command[:-1], "-1"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not [f"{subject}: {fault}" for subject in found.stdout.splitlines() if (fault := fault_of_subject(subject))]


if __name__ == "__main__":  # the hook of .pre-commit-config.yaml
    sys.exit(fault_of_subject(Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")[0]) or 0)
