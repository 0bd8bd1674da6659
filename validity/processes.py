"""Runs commands of the kit."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from foundation.command_line import INTERRUPTED, UserError
from foundation.places import ROOT


class CommandError(UserError):
    """A command has failed; the message has the last line of what it said."""


def run(*words: object, cwd: Path = ROOT) -> str:
    """Runs `python WORDS`; returns what it prints.

    Args:
        words: of the command line.
        cwd: the folder to run in, whose packages come before those of the repository.

    Raises:
        CommandError: if it fails.
        KeyboardInterrupt: if Ctrl-C has ended it.
    """
    command = [sys.executable, *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace")  # noqa: S603
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
        raise CommandError(f"python {shlex.join(map(str, words[:3]))} ended with status {done.returncode}: {said}")
    return done.stdout.strip()
