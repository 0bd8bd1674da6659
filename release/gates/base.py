"""What a gate is, and how all of them are run."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from ..build import Project, Release


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
    """What a gate found: `summary` in a few words, `faults` one line each; none means passed."""

    summary: str
    faults: Sequence[str] = ()


@dataclass(frozen=True)
class Gate:
    """A named proof about a release."""

    name: str
    check: Callable[[Workspace], Verdict]


@dataclass(frozen=True)
class GateResult:
    """The verdict of one gate with the seconds it took."""

    name: str
    has_passed: bool
    seconds: float
    summary: str
    faults: Sequence[str]


def run_gates(gates: Iterable[Gate], workspace: Workspace, quiet: bool = False) -> list[GateResult]:
    """Runs all gates in order, also after a failed one; shows progress on stderr unless quiet."""
    results = []
    progress = tqdm(list(gates), desc="gates", leave=False, disable=quiet or None, unit="gate")
    for gate in progress:
        progress.set_postfix_str(gate.name)
        start = time.perf_counter()
        verdict = gate.check(workspace)
        seconds = time.perf_counter() - start
        results.append(GateResult(gate.name, not verdict.faults, seconds, verdict.summary, verdict.faults))
    return results
