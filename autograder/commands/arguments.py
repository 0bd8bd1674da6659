"""Arguments that several commands share, and the checks of their paths before anything is graded."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from foundation.assignment_file import DEFAULT_PATH, Assignment, AssignmentError, released_folder
from foundation.command_line import Parser, UserError
from foundation.places import REFERENCES, SKELETON, TEST_REFERENCES
from foundation.printable_text import printable
from foundation.whole_files import check_file

from ..classroom.downloads import LAYOUTS
from ..classroom.store import FILE, Database, StoreError, url_of
from ..grading.grader_version import grader_version
from ..grading.record import Record
from ..sandbox.containment.layers import LEVELS
from ..scoring import read_references

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def shared_arguments() -> argparse.ArgumentParser:
    """What every command takes that grades."""
    parser = Parser(add_help=False, parents=[running_arguments()])
    add_references(parser)
    return parser


def add_references(parser: argparse.ArgumentParser) -> None:
    """Where the references of the test split are."""
    parser.add_argument("--references", type=Path, default=TEST_REFERENCES, help=f"default: {REFERENCES}")


def add_release(parser: argparse.ArgumentParser) -> None:
    """Where the skeleton is that students have got."""
    try:
        folder = released_folder()
    except AssignmentError:  # the command itself tells it
        folder = SKELETON
    parser.add_argument("--release", type=Path, default=folder, help=f"the skeleton; default: {folder.name}/")


def running_arguments() -> argparse.ArgumentParser:
    """What every command takes that runs submissions."""
    parser = Parser(add_help=False)
    seed = "seed for the tests' random inputs (default: derived from the term's secret and the submission's content)"
    parser.add_argument("--seed", type=int, help=seed)
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of a table")
    parser.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")
    add_release(parser)
    level = "level of containment (default: auto, the best that works)"
    parser.add_argument("--level", default="auto", choices=LEVELS, help=level)
    return parser


def add_class(parser: argparse.ArgumentParser) -> None:
    """Which class is meant; see `classroom.downloads`."""
    parser.add_argument("folder", type=Path, help="a platform's download, unpacked, or one entry per submission")
    add_layout(parser)


def add_layout(parser: argparse.ArgumentParser) -> None:
    """How the class is read."""
    roster = "students, as CSV with a heading: the platform's export, or id,name"
    parser.add_argument("--roster", type=Path, metavar="CSV", help=roster)
    parser.add_argument("--layout", choices=LAYOUTS, help="default: recognised from the names")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Where the class's results are."""
    parser.add_argument("--output", type=Path, default=Path("marks"), help="default: marks")
    add_database(parser)


def add_database(parser: argparse.ArgumentParser) -> None:
    """The database, where it is not in the folder of marks."""
    text = "the class's database: postgresql://USER@HOST/DATABASE; default: class.db in the folder of marks"
    parser.add_argument("--store", metavar="URL", help=text)


def add_assignment(parser: argparse.ArgumentParser) -> None:
    """Whose marks are meant."""
    parser.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")


def open_store(store: str | None, folder: Path, assignment: Assignment) -> Database:
    """The database of a class that has been graded.

    Raises:
        StoreError: where there is none.
    """
    if store is None and not (folder / FILE).is_file():
        what = "no such file; expected the folder that `grade-class --output` has written"
        raise StoreError(f"{printable(str(folder / FILE))}: {what}")
    return Database(url_of(store, folder), assignment.name)


def add_gradebook(parser: argparse.ArgumentParser) -> None:
    """Where marks go besides files."""
    text = "write the marks into nbgrader's gradebook too: the folder of its course, or the URL of its database"
    parser.add_argument("--to-nbgrader", metavar="COURSE", help=text)


def check_mode(options: argparse.Namespace, of_class: Iterable[str], of_one: Iterable[str]) -> None:
    """Refuses options that have no say, since they are about a class and only one submission is meant, or vice versa.

    Args:
        options: with `is_class`; those that were not given are None.
        of_class: names of options that only a class has.
        of_one: likewise of one submission.

    Raises:
        UserError: naming the first of them.
    """
    for name in of_one if options.is_class else of_class:
        if getattr(options, name) is not None:
            one = "one submission: leave it out, or leave out --class"
            raise UserError(f"--{name} is of {one if options.is_class else 'a class: add --class, or leave it out'}")


def check_files(paths: Iterable[Path | None]) -> None:
    """Finds a mistyped output path before anything is graded.

    Raises:
        OutputError: where a file could not be written.
    """
    for path in paths:
        if path is not None:
            check_file(path)


def check_references(references: Path) -> None:
    """Finds references that cannot be read. Only the default ones may be missing: the tasks that need them say so.

    Raises:
        ScoringError: where they cannot be read.
    """
    if references != TEST_REFERENCES or references.exists():
        read_references(references)


def version_of(options: argparse.Namespace, assignment: Assignment) -> str:
    """The version of everything that decides the marks of a command."""
    return grader_version(assignment, options.release, options.references)


def status_of(records: Iterable[Record]) -> int:
    """The exit status: 1 where some part has no judgement."""
    return int(any(record.needs_a_person for record in records))
