"""Runs the component tests on faults under conditions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from foundation.assignment_file import Assignment
from foundation.sources import Sources

from ..proof.verdicts import Verdict, verdict_of
from ..run_tests import Run, Version, progress_bar, run_versions
from .switch import HELD
from .versions import Pair, sources_of


@dataclass
class Trial:
    """One pair of fault and condition.

    Attributes:
        pair: fault and condition.
        verdict: of the tests.
        held: whether a test brought the condition about.
        differed: whether the fault changed anything then.
    """

    pair: Pair
    verdict: Verdict
    held: bool = False
    differed: bool = False

    @property
    def state(self) -> str:
        """How it ended: "found", "missed", "never held" or "no difference"."""
        if self.verdict.is_killed:
            return "found"
        if not self.held:
            return "never held"
        return "missed" if self.differed else "no difference"

    @property
    def is_fault(self) -> bool:
        """Whether there is something to be found, as far as is known: it changes something where its condition held."""
        return self.state != "no difference"


@dataclass
class Conditional:
    """The result.

    Attributes:
        assignment: whose tests they are.
        trials: one for each pair that was tried.
        of: how many pairs there are.
        seconds: CPU and wall time.
    """

    assignment: Assignment
    trials: list[Trial]
    of: int
    seconds: tuple[float, float] = field(default=(0.0, 0.0))

    @property
    def wrongly_blamed(self) -> list[Trial]:
        """Those that cost points elsewhere, or that broke a test."""
        return [
            trial
            for trial in self.trials
            if trial.verdict.wrongly_blamed(self.assignment) or trial.verdict.grader_errors
        ]

    @property
    def share(self) -> float:
        """Found, of all that is a fault as far as is known."""
        faults = [trial for trial in self.trials if trial.is_fault]
        return sum(trial.state == "found" for trial in faults) / len(faults) if faults else 1.0


def try_pairs(
    pairs: Sequence[Pair], of: int, reference: Sources, assignment: Assignment, seeds: range, jobs: int
) -> Conditional:
    """Runs all tests on each pair, with each seed.

    Args:
        pairs: fault and condition.
        of: from how many pairs they were drawn.
        reference: the solution.
        assignment: tasks, tests, conditions.
        seeds: of the tests' inputs.
        jobs: processes at a time.
    """
    runs: dict[str, list[Run]] = {pair.name: [] for pair in pairs}
    trials = {pair.name: Trial(pair, Verdict(pair.fault)) for pair in pairs}
    start = time.perf_counter()
    with progress_bar(len(pairs) * len(seeds), "prove") as bar:

        def keep(run: Run) -> None:
            seen = [observation.error for observation in run.observations if observation.what == HELD]
            if run.version in trials:
                trials[run.version].held |= bool(seen)
                trials[run.version].differed |= any(seen)
                runs[run.version].append(run)
            run.observations.clear()
            bar.update()

        versions = [Version(pair.name, sources_of(pair, reference, assignment), seeds) for pair in pairs]
        run_versions(versions, reference, assignment, keep, jobs)
    for trial in trials.values():
        trial.verdict = verdict_of(trial.pair.fault, runs[trial.pair.name], assignment)
    cpu = sum(run.cpu_seconds for some in runs.values() for run in some)
    return Conditional(assignment, list(trials.values()), of, (cpu, time.perf_counter() - start))
