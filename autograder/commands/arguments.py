"""Options that several commands share, and the checks of their paths before anything is graded."""

import argparse
import contextlib
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment, read_assignment, released_folder
from foundation.assignment_tables import TIME
from foundation.command_line import UserError, at_least
from foundation.places import ASSIGNMENT_FILE, ROOT, SKELETON, TEST_REFERENCES
from foundation.processes import usable_cores
from foundation.texts import first_of, printable

from ..classroom.entries import Roll, take_class
from ..grading.provenance import grader_version, seeds_of_term
from ..grading.scoring import read_references
from ..grading.submission import Conditions
from ..platforms.download import PLATFORMS
from ..platforms.platform import HandedIn
from ..reports.class_page import MOST_NAMES
from ..reports.exports import IMPORTING
from ..sandbox.layers import LEVELS, why_no_namespaces
from ..sandbox.zygote import packages_for

FLAGS = Path(__file__).with_name("flags.toml")
MOST_DAYS = 1000  # more than any term has


def _time_with_zone(text: str) -> datetime:
    with contextlib.suppress(ValueError):
        time = datetime.fromisoformat(text)
        if time.tzinfo:
            return time
    raise argparse.ArgumentTypeError(f"{text!r}: expected {TIME.expected}")


def _reason(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a reason")
    return text


def _share(text: str) -> tuple[int, int]:
    """The number of a share, and how many there are."""
    number, _, of = text.partition("/")
    if number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
        return int(number), int(of)
    raise argparse.ArgumentTypeError(f"{text!r}: expected I/N with I from 1 to N, such as 2/8")


TYPES = {"days": at_least(0, MOST_DAYS), "time": _time_with_zone, "reason": _reason, "share": _share}


def known_in_code() -> dict[str, dict[str, Any]]:
    """Choices and defaults that `flags.toml` cannot have."""
    try:
        release = released_folder()
    except UserError:  # for the command itself to report
        release = SKELETON
    choices = {"--layout": PLATFORMS, "--level": LEVELS, "--for": IMPORTING}
    defaults = {"--assignment": ASSIGNMENT_FILE, "--references": TEST_REFERENCES, "--release": release}
    known = {option: {"choices": names} for option, names in choices.items()}
    return known | {option: {"default": value} for option, value in [*defaults.items(), ("--jobs", usable_cores())]}


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
