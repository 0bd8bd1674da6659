"""Mutation testing: which mutants pass the tests, and may they?

Those of the solutions run the component tests of their task. Those of all other code, of which a sample is enough, run
the fast tests of their module in a copy of the kit: `autograder/intake/tree.py` has those in
`tests/autograder/intake/test_tree.py`, or else in that file's folder.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from autograder.intake.sources import read_sources
from autograder.testing.results import State
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError, positive
from foundation.places import REFERENCE, ROOT
from foundation.processes import Ended, ask_forked

from .console import Jobs, Pages, Start, option, table, write_page
from .mutants import Key, Mutant, functions_in, make_mutants
from .run_tests import Version, finds_fault, markers_of_tasks, run_versions

KILLED, EQUIVALENT, SURVIVED = "killed", "equivalent", "survived"
KIT = ("autograder/", "benchmarks/", "data/preparation/", "foundation/", "given/", "release/", "validity/")
"""The code of which `--kit` makes mutants; the generator's corpus is compared byte for byte, by a slow test."""
SECONDS = 600
"""Wall time of a module's fast tests; a mutant that takes longer is found."""
NO_TESTS = 5
"""The exit status of pytest where all tests of a module are slow: they find nothing here."""
LEAST_KILLED = 1 / 3
"""Of the kit's mutants: many change nothing that matters, and a sample is small."""


def mutate(
    task: Annotated[str | None, option("only mutants of this task's solutions, such as 1.3")] = None,
    text: Annotated[str, option("only mutants whose name contains this text")] = "",
    every: Annotated[int, option("only every N-th mutant, with --kit function", type=positive)] = 1,
    start: Start = 0,
    jobs: Jobs = 1,
    kit: Annotated[bool, option("mutants of all other code, for the fast tests", action="store_true")] = False,
    output: Pages = None,
) -> int:
    """Prove the component tests with mutants of the solutions.

    Run the component tests on small changes of the reference's solutions: each must fail a test of its task, or be
    listed as equivalent. With --kit, small changes of all other code, of which a third must fail a fast test of their
    module.
    """
    if kit:
        return mutate_kit(text, every, start, jobs)
    assignment, sources = read_assignment(), read_sources(REFERENCE, REFERENCE)
    mutants = [mutant for mutant in make_mutants(sources, assignment, task) if text in mutant.name][
        start % every :: every
    ]
    if not mutants:
        raise UserError("no mutant matches --task and --text")
    reasons = read_equivalents(assignment)
    versions = [
        Version(
            mutant.name,
            {**sources, mutant.module: (sources[mutant.module][0], mutant.text)},
            [0],
            markers_of_tasks(assignment, [mutant.component]),
            until_failure=True,
        )
        for mutant in mutants
    ]
    by_name, fates, broken = {mutant.name: mutant for mutant in mutants}, dict.fromkeys(mutants, KILLED), []
    for run in run_versions(versions, sources, assignment, jobs, "mutate"):
        outcomes = [outcome for marked in run.outcomes.values() for outcome in marked]
        if not finds_fault(outcomes):
            mutant = by_name[run.version]
            fates[mutant] = EQUIVALENT if mutant.key in reasons else SURVIVED
        messages = [f"{outcome.test}: {outcome.message}" for outcome in outcomes if outcome.state is State.GRADER_ERROR]
        broken += [f"{run.version}: {message}" for message in messages]
    if output is not None:
        write_mutation_page(output, fates, reasons)
    survivors = [f"SURVIVED {mutant.name}" for mutant, fate in fates.items() if fate == SURVIVED]
    totals = "mutants: {}, killed: {}, equivalent: {}, survivors: {}".format(*counts(fates.values()))
    print("\n".join([*survivors, *(f"TEST BROKE {message}" for message in broken), totals]))
    return int(bool(survivors or broken))


def read_equivalents(assignment: Assignment) -> dict[Key, str]:
    """The reasons why mutants are right, or cannot be distinguished from correct code; none without the file."""
    path = assignment.folder / "proof" / "equivalents.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"] if path.is_file() else []
    return {(entry["within"], entry["before"], after): entry["reason"] for entry in entries for after in entry["after"]}


def counts(fates: Iterable[str]) -> tuple[int, ...]:
    """The numbers of mutants that there are, are killed, are equivalent, and survive."""
    known = [*fates]
    return len(known), *(known.count(fate) for fate in (KILLED, EQUIVALENT, SURVIVED))


def write_mutation_page(folder: Path, fates: Mapping[Mutant, str], reasons: Mapping[Key, str]) -> None:
    """Write the report as a page for docs/proof."""

    def table_by(name: str, is_sorted: bool) -> str:
        groups: dict[str, list[str]] = {}
        for mutant, fate in fates.items():
            groups.setdefault(getattr(mutant, name), []).append(fate)
        rows = [(group, *counts(of_group)) for group, of_group in groups.items()]
        return table((name, "mutants", "killed", "equivalent", "survivors"), sorted(rows) if is_sorted else rows)

    equivalent: dict[str, list[str]] = {}
    for mutant in (mutant for mutant, fate in fates.items() if fate == EQUIVALENT):
        equivalent.setdefault(reasons[mutant.key], []).append(mutant.name)
    totals = "{} mutants: {} killed, {} equivalent, {} survivors.".format(*counts(fates.values()))
    tables = {"by_task": table_by("task", False), "by_operator": table_by("operator", True)}
    write_page(folder, "mutation", totals=totals, equivalent=equivalent, **tables)


def mutate_kit(text: str, every: int, start: int, jobs: int) -> int:
    """Run the fast tests on a mutant of each of some functions of the kit; 1 if they find fewer than a third.

    Raises:
        UserError: where there are no such mutants, or the tests fail without one.
    """
    files = [ROOT / name for name in kit_files() if name.startswith(KIT) and name.endswith(".py") and text in name]
    functions = [function for file in files if tests_of(file) for function in functions_in(file)]
    mutants = []
    for name, draw in functions[start % every :: every]:
        chance = random.Random(f"{start} {name}")  # noqa: S311  another mutant every day
        mutants += [mutant for mutant in [draw(chance)] if mutant is not None]
    if not mutants:
        raise UserError("no mutant matches --text")
    tests = {mutant: tests_of(ROOT / mutant.module) for mutant in mutants}
    unchanged = sorted({test for own in tests.values() for test in own})
    n_killed = 0
    for mutant, answer in ask_forked(
        [None, *mutants], lambda job: fails(job, tests[job] if job else unchanged), 2 * SECONDS, jobs
    ):
        failure = (answer.reason or "ended") if isinstance(answer, Ended) else answer
        if mutant is None and failure:
            raise UserError(f"tests fail without a mutant: {failure}")
        n_killed += mutant is not None and bool(failure)
        if mutant is not None and not failure:
            print(f"SURVIVED {mutant.name}", flush=True)
    print(f"mutants: {len(mutants)}, killed: {n_killed}, survivors: {len(mutants) - n_killed}")
    return int(n_killed < LEAST_KILLED * len(mutants))


def kit_files() -> list[str]:
    """The paths of all files of the kit, committed or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    return [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]


def tests_of(file: Path) -> list[str]:
    """The tests of a module, by the mirror of `tests/`: its own file, or else the nearest folder; none of all."""
    folder = Path("tests", file.relative_to(ROOT).parent)
    places = (folder / f"test_{file.stem}.py", folder, *folder.parents)
    whole = (Path(), Path("tests"), Path("tests/autograder"))
    return [place.as_posix() for place in places if (ROOT / place).exists() and place not in whole][:1]


def fails(mutant: Mutant | None, tests: Sequence[str]) -> str:
    """The last line of tests that fail in a copy of the kit with a mutant, "" where all pass."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        copy = Path(name)
        for path in kit_files():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, copy / path)
        for path in ("data/corpus", "data/private"):
            if (ROOT / path).is_dir():
                shutil.copytree(ROOT / path, copy / path, dirs_exist_ok=True)
        subprocess.run(["git", "init", "-q"], cwd=copy, check=True)  # noqa: S607  tests list the kit's files by git
        if mutant is not None:
            (copy / mutant.module).write_text(mutant.text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=SECONDS)  # noqa: S603
        except subprocess.TimeoutExpired:
            return f"longer than {SECONDS} s"
        return done.stdout.strip().rpartition("\n")[2] if done.returncode not in (0, NO_TESTS) else ""
