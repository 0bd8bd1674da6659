"""What every machine that grades a class has to have alike, and what it is told about the class."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from foundation.assignment_file import AssignmentError, read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT

from ...grading.grader_version import PACKAGES, facts_of, weighting_of
from ..staleness import Conditions

OPENER = "autograder.grading.launcher:open_grader"
SAME_VERSION = "install the same version on each machine"
SAME_KIT = "bring the kit to the same commit on each machine"


class MismatchError(UserError):
    """A machine whose kit, packages or assignment differ from ours.

    Attributes:
        machine: its address; "" = not known.
    """

    def __init__(self, text: str, machine: str = "") -> None:
        super().__init__(text, machine)
        self.text, self.machine = text, machine

    def __str__(self) -> str:
        return f"worker {self.machine}: {self.text}" if self.machine else self.text


@dataclass(frozen=True)
class Terms:
    """What a machine is told about a class.

    Attributes:
        assignment: its file, relative to the kit if it lies in it.
        references: the content of the file of references; None where there is none.
        grader_version: for the records.
        level: of containment.
        facts: what has to be alike; see `facts_of`.
        opener: module and function that opens the grader; measurements name another one.
    """

    assignment: str
    references: bytes | None
    grader_version: str
    level: str
    facts: dict[str, str] = field(repr=False)
    opener: str = OPENER

    @cached_property
    def key(self) -> str:
        """The same for equal terms."""
        facts = sorted(self.facts.items())
        content = (self.assignment, self.references, self.grader_version, self.level, facts, self.opener)
        return hashlib.sha256(repr(content).encode()).hexdigest()


def terms_of(conditions: Conditions, opener: str = OPENER) -> Terms:
    """What machines are told about a class that is graded under these conditions."""
    path = conditions.assignment.path.resolve()
    file = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    references = conditions.references.read_bytes() if conditions.references.is_file() else None
    facts = {**facts_of(conditions.assignment), "points": weighting_of(conditions.assignment)}
    return Terms(file.as_posix(), references, conditions.grader_version, conditions.level, facts, opener)


def check(terms: Terms) -> None:
    """Compares this machine with what is asked for.

    Raises:
        MismatchError: with the first difference.
    """
    try:
        assignment = read_assignment(ROOT / terms.assignment)
    except (AssignmentError, OSError) as error:
        raise MismatchError(f"{terms.assignment} cannot be read there: {error}; {SAME_KIT}") from None
    ours, asked = {**facts_of(assignment), "points": weighting_of(assignment)}, terms.facts
    for name in [*asked, *ours]:
        if ours.get(name) == asked.get(name):
            continue
        if name in (*PACKAGES, "Python"):
            what = f"{name} is {ours.get(name, 'missing')} there and {asked.get(name)} here; {SAME_VERSION}"
        elif name in ours and name in asked:
            what = f"{name} differs from the one here; {SAME_KIT}"
        else:
            where = "there, but not here" if name in ours else "here, but not there"
            what = f"{name} is {where}; {SAME_KIT}"
        raise MismatchError(what)


@contextmanager
def references_of(terms: Terms) -> Iterator[Path]:
    """A path for the references, in this process and those forked from it; the file has no name on the disk.

    Where no references came, nothing is there.
    """
    with tempfile.TemporaryFile() as file:
        if terms.references is None:
            yield ROOT / "no-references-came"
            return
        file.write(terms.references)
        file.flush()
        yield Path(f"/dev/fd/{file.fileno()}")
