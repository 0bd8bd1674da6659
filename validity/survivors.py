"""Runs the tests on mutants: which of them pass? The result is for the terminal, as JSON, and as a page."""

import argparse
import time
from dataclasses import dataclass
from typing import Any

from autograder.sources import Sources, read_sources
from foundation.assignment_file import Assignment, read_assignment

from .markdown import table
from .mutants import Equivalent, Mutant, MutationError, make_mutants, read_equivalents, without_mutant
from .run_tests import Run, Version, finds_fault, markers_of_tasks, progress_bar, run_versions


@dataclass
class Mutation:
    """The mutants that passed, and the reasons why some of them are right.

    Attributes:
        mutants: the mutants that were tried.
        passed: names of those that pass all tests.
        reasons: why a mutant is right, by key, as listed.
        stale: entries of the list that name no mutant.
        broken: messages of tests that broke instead of failing.
        cpu_seconds, wall_seconds: the time that all runs took.
    """

    mutants: list[Mutant]
    passed: set[str]
    reasons: dict[tuple[str, str, str], str]
    stale: list[Equivalent]
    broken: list[str]
    cpu_seconds: float
    wall_seconds: float

    @property
    def killed(self) -> list[Mutant]:
        """Mutants that fail a test."""
        return [mutant for mutant in self.mutants if mutant.name not in self.passed]

    @property
    def equivalent(self) -> list[Mutant]:
        """Mutants that pass all tests, and that the list explains."""
        return [mutant for mutant in self.mutants if mutant.name in self.passed and mutant.key in self.reasons]

    @property
    def survivors(self) -> list[Mutant]:
        """Mutants that pass all tests, and that nothing explains."""
        return [mutant for mutant in self.mutants if mutant.name in self.passed and mutant.key not in self.reasons]

    @property
    def wrongly_listed(self) -> list[Mutant]:
        """Mutants that are listed as equivalent, but killed."""
        return [mutant for mutant in self.killed if mutant.key in self.reasons]

    @property
    def holds(self) -> bool:
        """Whether no mutant survives, and the list of equivalents is exact."""
        return not (self.survivors or self.wrongly_listed or self.stale or self.broken)

    def counts(self, task: str | None = None, operator: str | None = None) -> tuple[int, int, int, int]:
        """How many mutants there are, are killed, equivalent, and survive; of one task or operator, or of all."""

        def count(mutants: list[Mutant]) -> int:
            return sum(task in (None, m.task) and operator in (None, m.operator) for m in mutants)

        return count(self.mutants), count(self.killed), count(self.equivalent), count(self.survivors)


def mutate(options: argparse.Namespace) -> Mutation:
    """Runs the tests on the mutants that the options ask for.

    Raises:
        MutationError: where mutants cannot be made, or the list of equivalents cannot be used.
        CollectionError: where the tests cannot be collected.
    """
    assignment = read_assignment(options.assignment)
    reference = read_sources(options.reference, options.reference)
    mutants = make_mutants(reference, assignment, options.task)
    equivalents = read_equivalents(options.equivalents or assignment.folder / "proof" / "equivalents.toml")
    mutation = run_mutants(choose(mutants, options), reference, assignment, options)
    mutation.stale = without_mutant(equivalents, mutants) if options.task is None else []
    mutation.reasons = {entry.key: entry.reason for entry in equivalents}
    return mutation


def choose(mutants: list[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """The mutants that the options ask for.

    Raises:
        MutationError: where there are none.
    """
    chosen = [
        mutant
        for mutant in mutants
        if options.operator in (None, mutant.operator) and (options.text or "") in mutant.name
    ]
    if not chosen:
        raise MutationError("no mutant matches --task, --operator and --text")
    return chosen[options.start % options.every :: options.every]


def run_mutants(
    mutants: list[Mutant], reference: Sources, assignment: Assignment, options: argparse.Namespace
) -> Mutation:
    """Runs the tests of each mutant's task, and of others that judge the same component, until one fails."""
    versions = [
        Version(
            mutant.name,
            {**reference, mutant.module: (reference[mutant.module][0], mutant.text)},
            [options.seed],
            markers_of_tasks(assignment, [mutant.component]),
            until_failure=True,
        )
        for mutant in mutants
    ]
    result = Mutation(mutants, set(), {}, [], [], 0.0, 0.0)
    start = time.perf_counter()
    with progress_bar(len(versions), "mutate") as bar:

        def look(run: Run) -> None:
            outcomes = [outcome for marked in run.outcomes.values() for outcome in marked]
            if not finds_fault(outcomes):
                result.passed.add(run.version)
            result.broken += [f"{run.version}: {o.test}: {o.message}" for o in outcomes if o.state == "grader error"]
            result.cpu_seconds += run.cpu_seconds
            bar.update()

        run_versions(versions, reference, assignment, look, options.jobs)
    result.wall_seconds = time.perf_counter() - start
    return result


def report_lines(mutation: Mutation) -> list[str]:
    """The report for the terminal."""
    lines = [f"SURVIVED {mutant.name}" for mutant in mutation.survivors]
    lines += [f"TEST BROKE {message}" for message in mutation.broken]
    lines += [f"KILLED, but listed as equivalent: {mutant.name}" for mutant in mutation.wrongly_listed]
    lines += [f"LISTED, but not a mutant: {entry.within}: {entry.before} -> {entry.after}" for entry in mutation.stale]
    lines.append("mutants: {}, killed: {}, equivalent: {}, survivors: {}".format(*mutation.counts()))
    return [*lines, f"CPU {mutation.cpu_seconds:.0f} s, wall {mutation.wall_seconds:.0f} s"]


def as_data(mutation: Mutation) -> dict[str, Any]:
    """The report as JSON."""
    number, killed, equivalent, survivors = mutation.counts()
    return {
        "holds": mutation.holds,
        "mutants": number,
        "killed": killed,
        "equivalent": equivalent,
        "survivors": [
            {"within": m.key[0], "before": m.before, "after": m.after, "line": m.line, "task": m.task}
            for m in mutation.survivors
        ],
        "broken": mutation.broken,
        "wrongly_listed": [mutant.name for mutant in mutation.wrongly_listed],
        "stale": [vars(entry) for entry in mutation.stale],
        "cpu_seconds": round(mutation.cpu_seconds, 1),
        "wall_seconds": round(mutation.wall_seconds, 1),
    }


def mutation_page(mutation: Mutation) -> str:
    """The report as a page for docs/proof."""
    counts = mutation.counts()
    rows = [(number, *mutation.counts(number)) for number in dict.fromkeys(m.task for m in mutation.mutants)]
    reasons: dict[str, list[str]] = {}
    for mutant in mutation.equivalent:
        reasons.setdefault(mutation.reasons[mutant.key], []).append(mutant.name)
    operators = [
        (operator, *mutation.counts(operator=operator)) for operator in sorted({m.operator for m in mutation.mutants})
    ]
    head = "mutants", "killed", "equivalent", "survivors"
    parts = [
        "# Mutation testing of the solutions",
        "Written by `make proof`. Each mutant is the reference with one small change in a solution, made by the "
        "operators in `autograder/understanding/operators.py`, which know nothing of Transformers. It must fail a test "
        "of the task whose solution it changes (or, in a part that pre-norm shares, a test of E.2). A mutant that "
        "passes must be listed in `autograder/assignment/proof/equivalents.toml`, with the reason why it is right or "
        "cannot be told from correct code.",
        "{} mutants: {} killed, {} equivalent, {} survivors.".format(*counts),
        table(("task", *head), rows),
        table(("operator", *head), operators),
        "## Equivalent mutants",
    ]
    for reason, names in reasons.items():
        parts.append(f"{reason[0].upper()}{reason[1:]}:")
        parts.append("\n".join(f"- `{name}`" for name in names))
    return "\n\n".join(parts) + "\n"
