"""Options that several commands share, and the checks of their paths before anything is graded."""

import argparse
import contextlib
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from foundation.assignment_file import Assignment, read_assignment, released_folder
from foundation.assignment_tables import TIME
from foundation.command_line import Parser, UserError, positive
from foundation.places import ASSIGNMENT_FILE, REFERENCES, ROOT, SKELETON, TEST_REFERENCES
from foundation.processes import usable_cores
from foundation.texts import first_of, printable

from ..classroom.entries import Roll, take_class
from ..grading.provenance import grader_version, seeds_of_term
from ..grading.scoring import read_references
from ..grading.submission import Conditions
from ..platforms.download import PLATFORMS
from ..platforms.platform import HandedIn
from ..reports.class_page import MOST_NAMES
from ..sandbox.layers import LEVELS, why_no_namespaces
from ..sandbox.zygote import packages_for

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"

RUNNING = ("seed", "assignment", "release", "level")
"""Options of every command that runs submissions."""
GRADING = (*RUNNING, "references")
CLASS = ("folder", "roster", "layout", "deadline")
"""What reading a class takes; see `platforms.download`."""


def _time_with_zone(text: str) -> datetime:
    with contextlib.suppress(ValueError):
        time = datetime.fromisoformat(text)
        if time.tzinfo:
            return time
    raise argparse.ArgumentTypeError(f"{text!r}: expected {TIME.expected}")


def _shared_options() -> dict[str, dict[str, Any]]:
    try:
        release = released_folder()
    except UserError:  # for the command itself to report
        release = SKELETON
    deadline = "of clones, grade the last commit before it and grace_hours, such as 2026-12-18T23:59+01:00"
    roster = "students, as CSV with a heading: the platform's export, or id,name"
    return {
        "assignment": {"type": Path, "default": ASSIGNMENT_FILE, "help": "default: the kit's own"},
        "deadline": {"type": _time_with_zone, "metavar": "TIME", "help": deadline},
        "folder": {"type": Path, "help": "a platform's download, unpacked, or one entry per submission"},
        "jobs": {"type": positive, "default": usable_cores(), "help": "submissions at a time; default: one per core"},
        "layout": {"choices": PLATFORMS, "help": "default: recognised from the names"},
        "level": {"default": "auto", "choices": LEVELS, "help": "level of containment; default: the best that works"},
        "output": {"type": Path, "default": Path("marks"), "help": "default: marks"},
        "references": {"type": Path, "default": TEST_REFERENCES, "help": f"default: {REFERENCES}"},
        "release": {"type": Path, "default": release, "help": f"the skeleton; default: {release.name}/"},
        "roster": {"type": Path, "metavar": "CSV", "help": roster},
        "seed": {"type": int, "help": "seed for the tests' random inputs; default: derived from the term's secret"},
    }


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    example: str,
    options: Iterable[str] = (),
) -> argparse.ArgumentParser:
    """The parser of a command with some of the shared options, described by the docstring of what runs it.

    Its help ends with an example of its arguments.
    """
    text = inspect.getdoc(run) or name  # there are no docstrings in optimized code
    summary = text.partition("\n")[0].removesuffix(".")
    summary = summary[0].lower() + summary[1:]
    example = f"example: python -m autograder {name} {example}"
    parser = commands.add_parser(name, help=summary, description=text, epilog=example)
    parser.set_defaults(run=run)
    shared = _shared_options()
    for option in options:
        parser.add_argument(option if option == "folder" else f"--{option}", **shared[option])
    return parser


def class_in(options: argparse.Namespace, assignment: Assignment, output: Path | None) -> tuple[Roll, list[HandedIn]]:
    """The class in the options, as `take_class` reads it; the grace of late days is one for commits, too."""
    grace = timedelta(hours=assignment.late.grace_hours if assignment.late else 0)
    deadline = options.deadline and options.deadline + grace
    return take_class(options.folder, output, assignment, options.roster, options.layout, deadline)


def print_sandbox_gaps(assignment: Assignment) -> None:
    """Print why there are no namespaces around submissions, and the remedy."""
    if why := why_no_namespaces(packages_for(assignment)):
        print(f"sandbox: without namespaces: {why}")


def print_note(about: str, names: Sequence[str]) -> None:
    """Print a note about some students, if there are any, for the operator."""
    if names:
        print(f"note: {about}: {first_of([printable(name, 60) for name in names], MOST_NAMES)}", file=sys.stderr)


def conditions_of(options: argparse.Namespace) -> Conditions:
    """The conditions in the options of a command that runs submissions."""
    if options.references != TEST_REFERENCES or TEST_REFERENCES.exists():
        read_references(options.references)  # so that a mistake shows before the work begins
    assignment = read_assignment(options.assignment)
    if not options.references.exists() and any(task.threshold for task in assignment.tasks):
        print(f"note: no BLEU: {options.references} is not there; `python -m data generate` writes it", file=sys.stderr)
    return Conditions(
        assignment,
        options.release,
        options.references,
        grader_version(assignment, options.release, options.references),
        seeds_of_term(ROOT, options.seed),
        options.level,
        getattr(options, "jobs", 1),
    )
