"""The processes that gates start: nothing of the user's environment can change what they do."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
_SHOWN = 400


class TooSlowError(Exception):
    """A process took too long and was ended; the text says which one and how long it had."""


def run_python(
    arguments: Sequence[str], seconds: float, *, folder: Path | None = None, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs this Python with some arguments.

    Args:
        arguments: such as `-m autograder`.
        seconds: that it may take.
        folder: in which it runs; None: the present one.
        given: its standard input.
        environment: further variables.

    Raises:
        TooSlowError: where it takes longer.
    """
    try:
        return subprocess.run(  # noqa: S603 (the arguments are the gates' own)
            [sys.executable, *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            env=_clean_environment() | environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TooSlowError(f"`{' '.join(['python', *arguments])}` took more than {seconds:g} s") from None


def ending_of(finished: subprocess.CompletedProcess[str]) -> str:
    """How a process ended, with the end of what it printed."""
    said = finished.stderr.strip() or finished.stdout.strip() or "it printed nothing"
    return f"status {finished.returncode}: {said[-_SHOWN:]}"


def _clean_environment() -> dict[str, str]:
    """One thread, UTF-8, no bytecode files, none of the user's settings for Python."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    fixed = {
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }
    return kept | fixed
