"""The commands `prove`, `mutate` and `prove-diagnosis`: their options. What they do is imported late, with torch."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from autograder.diagnosis.catalogue import CatalogueError, read_catalogue
from foundation.assignment_file import read_assignment
from foundation.command_line import Parser, positive
from foundation.places import ASSIGNMENT_FILE, REFERENCE
from foundation.whole_files import write_whole

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_prove(commands: Commands) -> None:
    """Adds `prove` to the commands."""
    prove = commands.add_parser(
        "prove",
        help="prove the component tests",
        description="Run the component tests on known faults (each must fail, and only the tasks of its component may "
        "lose points) and on correct variants (each must pass).",
        epilog="example: python -m validity prove --component layers.LayerNorm",
    )
    prove.add_argument("--component", help="only this component: module.Name, Name, or the number of a task")
    prove.add_argument("--fault", help="only faults (and variants) whose id contains this text")
    prove.add_argument("--only", choices=("faults", "variants"), help="default: both")
    add_sample(prove, "fault and variant, but all faults that show only under a condition")
    prove.add_argument("--seeds", type=positive, default=1, help="seeds per fault and variant (default: 1)")
    prove.add_argument("--variant-seeds", type=positive, help="seeds per variant (default: as --seeds)")
    prove.add_argument(
        "--tests",
        choices=("own", "all"),
        default="own",
        help="run the tests of a version's own components, or with the first seed all (default: own)",
    )
    prove.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    prove.add_argument("--output", type=Path, help="folder for the report's pages (default: no pages)")
    prove.add_argument("--catalogue", type=Path, help="folder of faults (default: the assignment's)")
    prove.add_argument("--variants", type=Path, help="default: the assignment's")
    add_places(prove, run_prove)


def add_pairs(commands: Commands) -> None:
    """Adds `pairs` to the commands."""
    pairs = commands.add_parser(
        "pairs",
        help="prove that a second mistake never raises a mark",
        description="Put two known faults of a component into the reference together, and compare the points with "
        "those of each alone.",
        epilog="example: python -m validity pairs --count 300 --jobs 2",
    )
    pairs.add_argument("--count", type=positive, default=300, help="pairs, drawn at random (default: 300)")
    pairs.add_argument("--seed", type=int, default=0, help="seed for drawing the pairs (default: 0)")
    pairs.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    pairs.set_defaults(run=run_pairs)


def run_pairs(options: argparse.Namespace) -> int:
    """Proves it; the exit status."""
    from .pairs import measure

    return measure(options.count, options.seed, options.jobs)


def add_mutate(commands: Commands) -> None:
    """Adds `mutate` to the commands."""
    mutate = commands.add_parser(
        "mutate",
        help="prove the component tests with mutants of the solutions",
        description="Run the component tests on small changes of the reference's solutions: each must fail a test of "
        "its task, or be listed as equivalent.",
        epilog="example: python -m validity mutate --task 1.2",
    )
    mutate.add_argument("--task", help="only mutants of this task's solutions, such as 1.3")
    mutate.add_argument("--operator", help="only mutants made by this operator, such as `arguments`")
    mutate.add_argument("--text", help="only mutants whose name contains this text")
    add_sample(mutate, "mutant")
    mutate.add_argument("--seed", type=int, default=0, help="seed for the tests' random inputs (default: 0)")
    mutate.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    mutate.add_argument("--output", type=Path, help="folder for the report's page (default: no page)")
    mutate.add_argument("--equivalents", type=Path, help="default: autograder/assignment/proof/equivalents.toml")
    add_places(mutate, run_mutate)


def add_prove_diagnosis(commands: Commands) -> None:
    """Adds `prove-diagnosis` to the commands."""
    prove = commands.add_parser(
        "prove-diagnosis",
        help="prove the diagnosis",
        description="Put every known fault into other layouts of the reference, grade each in the sandbox, and count "
        "how often the diagnosis names the fault, or the group that no test tells apart. Status 1 below 90%.",
        epilog="example: python -m validity prove-diagnosis --task 1.3 --layout fused",
    )
    prove.set_defaults(files=("output",))
    prove.add_argument("--task", action="append", help="only this task, by its number; may be repeated")
    prove.add_argument("--fault", default="", help="only faults whose id contains this text")
    add_sample(prove, "fault")
    prove.add_argument("--layout", action="append", help="only this layout; may be repeated (default: all)")
    prove.add_argument("--seed", type=int, default=0, help="seed for the tests' random inputs (default: 0)")
    prove.add_argument("--output", type=Path, help="write the table to this Markdown file")
    add_places(prove, run_prove_diagnosis)


def add_questions(commands: Commands) -> None:
    """Adds `questions` to the commands."""
    questions = commands.add_parser(
        "questions",
        help="prove the questions about students' own code",
        description="Draw a sitting's questions about correct variants and submissions with a known fault, run each "
        "option again with other inputs, and choose answers by their texts alone. Status 1 if a question does not "
        "have one correct choice, if a text feature finds it in more than 35%, or if there are fewer than nine kinds.",
        epilog="example: python -m validity questions --every 40",
    )
    add_sample(questions, "variant and fault")
    questions.add_argument("--assignment", type=Path, default=ASSIGNMENT_FILE, help="default: this repository's")
    questions.set_defaults(run=run_questions)


def run_questions(options: argparse.Namespace) -> int:
    """The exit status."""
    from .questions import prove_questions

    return prove_questions(options)


def add_hunts(commands: Commands) -> None:
    """Adds `hunts` to the commands."""
    hunts = commands.add_parser(
        "hunts",
        help="measure how hard the faults of bug hunts are to see",
        description="Write, to hunts.json, the share of the task's tests that fail for each fault of hunts.toml, and "
        "the mean size of the change in calls at random. Students draw one hunt of each third.",
        epilog="example: python -m validity hunts",
    )
    hunts.set_defaults(run=run_hunts)


def run_hunts(options: argparse.Namespace) -> int:
    """The exit status."""
    from .hunts import measure_hunts

    return measure_hunts()


def add_hints(commands: Commands) -> None:
    """Adds `hints` to the commands."""
    hints = commands.add_parser(
        "hints",
        help="compute the patterns by which students get hints, and measure them",
        description="Put every known fault into the reference, run the tests of its task with the seed of hints, and "
        "write what they see to misconceptions/patterns.json. Count how often the correct hint is found, in the "
        "reference's layout and in others. Status 1 if more than 3% get a wrong hint.",
        epilog="example: python -m validity hints --layout renamed --jobs 2",
    )
    hints.add_argument("--fault", default="", help="compute only patterns of faults whose id contains this text")
    hints.add_argument("--layout", action="append", default=[], help="measure this layout, too; may be repeated")
    hints.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    hints.set_defaults(run=run_hints)


def run_hints(options: argparse.Namespace) -> int:
    """Writes the patterns; returns 1 where wrong hints are too many, 2 for a layout that there is not."""
    from .diagnosis import choose_layouts
    from .hints import measure_all

    assignment = read_assignment()
    try:
        layouts = choose_layouts(options, assignment) if options.layout else []
        faults = read_catalogue(assignment=assignment)
        changed = [fault for fault in faults if options.fault in fault.id]
        return measure_all(faults, changed, layouts, assignment, options.jobs)
    except (CatalogueError, OSError) as error:
        return refused("hints", error)


def add_sample(command: Parser, what: str) -> None:
    """Adds the options that choose a part of all cases."""
    command.add_argument("--every", type=positive, default=1, help=f"only every N-th {what} (default: 1)")
    command.add_argument("--start", type=int, default=0, help="with --every: which of the N samples (default: 0)")


def add_places(command: Parser, run: Callable[[argparse.Namespace], int]) -> None:
    """Adds what the commands have in common."""
    command.add_argument("--json", action="store_true", help="print the results as JSON instead of tables")
    command.add_argument("--reference", type=Path, default=REFERENCE, help="default: reference/")
    command.add_argument("--assignment", type=Path, default=ASSIGNMENT_FILE, help="default: this repository's")
    command.set_defaults(run=run)


def run_prove(options: argparse.Namespace) -> int:
    """Returns 0 where the proof holds, 1 where it does not, 2 where catalogue or variants cannot be used."""
    from .prove import run_proof
    from .report import as_data, as_text, write_pages
    from .variants import VariantError

    try:
        proof = run_proof(options)
        if options.output is not None:
            write_pages(proof, options.output)
    except (CatalogueError, VariantError, OSError) as error:
        return refused("prove", error)
    show_all = bool(options.component or options.fault)
    print(json.dumps(as_data(proof), indent=1) if options.json else as_text(proof, show_all))
    return 0 if proof.holds else 1


def run_mutate(options: argparse.Namespace) -> int:
    """Returns 0 where no mutant survives, 1 where one does, 2 where mutants cannot be made."""
    from .mutants import MutationError
    from .survivors import as_data, mutate, mutation_page, report_lines

    try:
        mutation = mutate(options)
        if options.output is not None:
            write_whole(options.output / "mutation.md", mutation_page(mutation))
    except (MutationError, OSError) as error:
        return refused("mutate", error)
    print(json.dumps(as_data(mutation), indent=1) if options.json else "\n".join(report_lines(mutation)))
    return 0 if mutation.holds else 1


def run_prove_diagnosis(options: argparse.Namespace) -> int:
    """Returns 0 where enough faults are recognised, 1 where not or where a diagnosis breaks, 2 for bad input."""
    from autograder.sandbox.zygote import Zygote

    from .diagnosis import ENOUGH, Row, as_markdown, as_text, choose_faults, choose_layouts, recognise, share
    from .run_tests import progress_bar

    rows: list[Row] = []
    try:
        assignment = read_assignment(options.assignment)
        faults, layouts = choose_faults(options, assignment), choose_layouts(options, assignment)
        with progress_bar(len(faults) * len(layouts), "prove-diagnosis") as bar, Zygote(assignment) as zygote:

            def keep(row: Row) -> None:
                rows.append(row)
                bar.update()

            recognise(faults, layouts, assignment, options.reference, keep, zygote, options.seed)
        if options.output:
            write_whole(options.output, as_markdown(rows))
    except (CatalogueError, OSError) as error:
        return refused("prove-diagnosis", error)
    print(json.dumps([asdict(row) for row in rows], indent=1) if options.json else as_text(rows))
    return 0 if share(rows) >= ENOUGH and not any(row.problems for row in rows) else 1


def refused(command: str, error: Exception) -> int:
    """Says in one line what is wrong with the input."""
    print(f"{command}: {error}", file=sys.stderr)
    return 2
