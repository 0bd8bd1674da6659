"""Options that several commands share, and the checks of their paths before anything is graded."""

import argparse
import contextlib
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
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
HELP = tomllib.loads(Path(__file__).with_name("help.toml").read_text(encoding="utf-8"))

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
    return {
        "assignment": {"type": Path, "default": ASSIGNMENT_FILE},
        "deadline": {"type": _time_with_zone, "metavar": "TIME"},
        "folder": {"type": Path},
        "jobs": {"type": positive, "default": usable_cores()},
        "layout": {"choices": PLATFORMS},
        "level": {"default": "auto", "choices": LEVELS},
        "output": {"type": Path, "default": Path("marks")},
        "references": {"type": Path, "default": TEST_REFERENCES},
        "release": {"type": Path, "default": release},
        "roster": {"type": Path, "metavar": "CSV"},
        "seed": {"type": int},
    }


def add_command(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], int], options: Iterable[str] = ()
) -> tuple[argparse.ArgumentParser, Mapping[str, str]]:
    """The parser of a command with some of the shared options, and the help for its other ones."""
    texts = HELP[name]
    summary = texts["summary"]
    parser = commands.add_parser(
        name,
        help=summary[0].lower() + summary[1:].removesuffix("."),
        description=f"{summary} {texts['text']}",
        epilog=f"example: python -m autograder {name} {texts['example']}",
    )
    parser.set_defaults(run=run)
    shared = _shared_options()
    names = {"references": REFERENCES, "release": shared["release"]["default"].name}
    for option in options:
        text = HELP["shared"][option].format(**names)
        parser.add_argument(option if option == "folder" else f"--{option}", **shared[option], help=text)
    return parser, texts


def class_in(options: argparse.Namespace, assignment: Assignment, output: Path | None) -> tuple[Roll, list[HandedIn]]:
    """The class in the options, as `take_class` reads it."""
    return take_class(options.folder, output, assignment, options.roster, options.layout, options.deadline)


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
    return Conditions(
        assignment,
        options.release,
        options.references,
        grader_version(assignment, options.release, options.references),
        seeds_of_term(ROOT, options.seed),
        options.level,
        getattr(options, "jobs", 1),
    )
