"""Mutation testing: no small change of a solution may pass the tests of its task, unless it is known to be right."""

import argparse
import json
import time

from autograder.testing.in_process import read_sources
from foundation.assignment_file import Assignment, read_assignment
from foundation.whole_files import write_whole

from ..proof import pages
from ..proof.bench import Run, Sources, Version, run_versions
from ..proof.results import Mutation
from .mutants import EQUIVALENTS, Mutant, MutationError, make_mutants, read_equivalents, without_mutant


def mutate(options: argparse.Namespace) -> int:
    """Runs the tests on mutants, prints and writes the report; returns the exit status."""
    assignment = read_assignment(options.assignment)
    reference = read_sources(options.reference, options.reference)
    mutants = make_mutants(reference, assignment, options.task)
    equivalents = read_equivalents(options.equivalents or EQUIVALENTS)
    mutation = run_mutants(choose(mutants, options), reference, assignment, options)
    mutation.stale = without_mutant(equivalents, mutants) if options.task is None else []
    mutation.reasons = {entry.key: entry.reason for entry in equivalents}
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        write_whole(options.output / "mutation.md", pages.mutation_page(mutation))
    print(json.dumps(as_data(mutation), indent=1) if options.json else "\n".join(report_lines(mutation)))
    return 0 if mutation.holds else 1


def choose(mutants: list[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """Those that the options ask for.

    Raises:
        MutationError: where there are none.
    """
    chosen = [
        mutant
        for mutant in mutants
        if options.operator in (None, mutant.operator) and (options.text or "") in mutant.name
    ]
    if not chosen:
        raise MutationError("no mutant fits --task, --operator and --text")
    return chosen[:: options.every]


def run_mutants(
    mutants: list[Mutant], reference: Sources, assignment: Assignment, options: argparse.Namespace
) -> Mutation:
    """Runs the tests of each mutant's task, and of others that judge the same component, until one fails."""

    def markers(mutant: Mutant) -> tuple[str, ...]:
        judging = [task for task in assignment.tasks if mutant.task == task.number or mutant.component in task.judges]
        return tuple(task.marker for task in judging)

    versions = [
        Version(
            mutant.name,
            {**reference, mutant.module: (reference[mutant.module][0], mutant.text)},
            [options.seed],
            markers(mutant),
            until_failure=True,
        )
        for mutant in mutants
    ]
    result = Mutation(mutants, set(), {}, [], [], 0.0, 0.0)
    start = time.perf_counter()
    with pages.progress_bar(len(versions), "mutate") as bar:

        def look(run: Run) -> None:
            outcomes = [outcome for marked in run.outcomes.values() for outcome in marked]
            if all(outcome.state == "passed" for outcome in outcomes):
                result.passed.add(run.version)
            result.broken += [f"{run.version}: {o.test}: {o.message}" for o in outcomes if o.state == "grader error"]
            result.cpu_seconds += run.cpu_seconds
            bar.update()

        run_versions(versions, reference, look, options.jobs)
    result.wall_seconds = time.perf_counter() - start
    return result


def report_lines(mutation: Mutation) -> list[str]:
    """For the terminal."""
    lines = [f"SURVIVED {mutant.name}" for mutant in mutation.survivors]
    lines += [f"TEST BROKE {message}" for message in mutation.broken]
    lines += [f"KILLED, but listed as equivalent: {mutant.name}" for mutant in mutation.wrongly_listed]
    lines += [f"LISTED, but no mutant: {entry.within}: {entry.before} -> {entry.after}" for entry in mutation.stale]
    lines.append("mutants: {}, killed: {}, equivalent: {}, survivors: {}".format(*mutation.counts()))
    return [*lines, f"CPU {mutation.cpu_seconds:.0f} s, wall {mutation.wall_seconds:.0f} s"]


def as_data(mutation: Mutation) -> dict:
    """For programs."""
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
