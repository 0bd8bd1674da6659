"""What a gate is, and how all of them are run."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from ..build import Project, Release

AT_A_TIME = 2
"""So many gates that start processes run at once; each process has one thread."""


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


@dataclass(frozen=True)
class Verdict:
    """What a gate found: a summary in a few words, and one line for each fault; no faults means passed."""

    summary: str
    faults: Sequence[str] = ()


@dataclass(frozen=True)
class Gate:
    """A named proof about a release, or several that share their work.

    Args:
        names: one for each verdict.
        check: gives the verdicts.
        starts_process: whether the work is done by other processes, so that two such gates may run at once.
    """

    names: tuple[str, ...]
    check: Callable[[Workspace], Sequence[Verdict]]
    starts_process: bool = False


@dataclass(frozen=True)
class GateResult:
    """A verdict with its gate's name and time; of gates that share their work the first has the time of all."""

    name: str
    has_passed: bool
    seconds: float
    summary: str
    faults: Sequence[str]


def gate(name: str, check: Callable[[Workspace], Verdict], starts_process: bool = False) -> Gate:
    """A gate with a single verdict."""
    return Gate((name,), lambda workspace: [check(workspace)], starts_process)


def run_gates(gates: Iterable[Gate], workspace: Workspace, quiet: bool = False) -> list[GateResult]:
    """Runs all gates, also after a failed one; shows progress on stderr unless quiet.

    Gates that work in this process do so one by one, while others wait for their processes.
    """
    gates = list(gates)
    results: dict[int, list[GateResult]] = {}
    total = sum(len(each.names) for each in gates)
    with (
        tqdm(desc="gates", leave=False, disable=quiet or None, unit="gate", total=total) as progress,
        ThreadPoolExecutor(AT_A_TIME) as pool,
    ):
        waiting = {pool.submit(_run, each, workspace): index for index, each in enumerate(gates) if each.starts_process}
        for index, each in enumerate(gates):
            if not each.starts_process:
                results[index] = _run(each, workspace)
                progress.update(len(each.names))
        for done in as_completed(waiting):
            results[waiting[done]] = done.result()
            progress.update(len(gates[waiting[done]].names))
    return [result for index in range(len(gates)) for result in results[index]]


def _run(each: Gate, workspace: Workspace) -> list[GateResult]:
    start = time.perf_counter()
    verdicts = each.check(workspace)
    seconds = time.perf_counter() - start
    return [
        GateResult(name, not verdict.faults, 0.0 if number else seconds, verdict.summary, verdict.faults)
        for number, (name, verdict) in enumerate(zip(each.names, verdicts, strict=True))
    ]
