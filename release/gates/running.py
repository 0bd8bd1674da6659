"""What a gate is, how all of them run, and how they start processes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tqdm import tqdm

from ..archives.packing import members_of
from ..build import Project, Release

AT_A_TIME = 2
"""So many gates run at once: most wait for a process, and each process has one thread."""

_KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
_FIXED = {
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
}
_SHOWN = 400


@dataclass(frozen=True)
class Workspace:
    """What gates look at.

    Args:
        project: where the inputs are.
        release: what was made of them, in memory.
        folder: a temporary folder with `student/` and `dist/` written out.
    """

    project: Project
    release: Release
    folder: Path

    @property
    def package(self) -> Path:
        """The skeleton on disk."""
        return self.folder / self.release.assignment.package

    @cached_property
    def shipped(self) -> dict[str, bytes]:
        """Every file of the release by path, also those in the archives as they were packed."""
        outputs = self.release.outputs.items()
        return {name: text for path, packed in outputs for name, text in ((path, packed), *members_of(path, packed))}


@dataclass(frozen=True)
class Verdict:
    """What a gate found: a summary in a few words, and one line for each fault; no faults means passed."""

    summary: str
    faults: Sequence[str] = ()


@dataclass(frozen=True)
class Gate:
    """A named proof about a release, or several that share their work: one name for each verdict of `check`."""

    names: tuple[str, ...]
    check: Callable[[Workspace], Sequence[Verdict]]


@dataclass(frozen=True)
class GateResult:
    """A verdict with its gate's name and time; of gates that share their work the first has the time of all."""

    name: str
    has_passed: bool
    seconds: float
    summary: str
    faults: Sequence[str]


class ProcessError(Exception):
    """A process took too long; the text says which one and how long it had."""


def gate(name: str, check: Callable[[Workspace], Verdict]) -> Gate:
    """A gate with a single verdict."""
    return Gate((name,), lambda workspace: [check(workspace)])


def run_gates(gates: Iterable[Gate], workspace: Workspace, quiet: bool = False) -> list[GateResult]:
    """Runs all gates, also after a failed one; shows progress on stderr unless quiet."""
    gates = list(gates)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        done = pool.map(lambda each: _run(each, workspace), gates)
        progress = tqdm(done, desc="gates", leave=False, disable=quiet or None, unit="gate", total=len(gates))
        return [result for results in progress for result in results]


def _run(each: Gate, workspace: Workspace) -> list[GateResult]:
    start = time.perf_counter()
    try:
        verdicts = each.check(workspace)
    except ProcessError as error:
        verdicts = [Verdict("no result", [str(error)])] * len(each.names)
    seconds = time.perf_counter() - start
    return [
        GateResult(name, not verdict.faults, 0.0 if number else seconds, verdict.summary, verdict.faults)
        for number, (name, verdict) in enumerate(zip(each.names, verdicts, strict=True))
    ]


def write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes files by path into a folder of a gate's own."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def run_python(
    arguments: Sequence[str], seconds: float, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs this Python in a folder: one thread, UTF-8, no bytecode files, none of the user's settings for Python.

    Args:
        arguments: such as `-m autograder`.
        seconds: that it may take.
        folder: in which it runs.
        environment: further variables.

    Raises:
        ProcessError: where it takes longer.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        return subprocess.run(  # noqa: S603 (the arguments are the gates' own)
            [sys.executable, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            env={**kept, **_FIXED, **environment},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProcessError(f"`{' '.join(['python', *arguments])}` took more than {seconds:g} s") from None


def ending_of(finished: subprocess.CompletedProcess[str]) -> str:
    """How a process ended, with the end of what it printed."""
    said = finished.stderr.strip() or finished.stdout.strip() or "it printed nothing"
    return f"status {finished.returncode}: {said[-_SHOWN:]}"
