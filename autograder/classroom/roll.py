"""The roll of a class: its students, which submission of each counts, and what is graded for nobody.

It lies beside the records as `class.json`, so that marks can be exported without the download.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, ValidationError

from foundation.command_line import UserError
from foundation.texts import printable

from ..grading.record import Model, write_json

ROLL = "class.json"
MOST_CHARACTERS = 200

Line: TypeAlias = Annotated[
    str, BeforeValidator(lambda text: printable(text, MOST_CHARACTERS) if isinstance(text, str) else text)
]
"""One line without anything unprintable: names and files are whatever students chose."""


class Member(Model):
    """A student.

    Attributes:
        id: by which the course knows the student; unique.
        name: for people.
        ids: kind ("canvas", "moodle", "number", "login", "github", "email") -> value, for the marks' way back.
        group: whose marks the student shares; "" = none.
        key: names the record of the submission that counts; "" = none counts.
        entry: that submission's name in the download.
        file: the name of one of its files there; feedback for Canvas has to begin with it.
        is_late: what the platform says; None where it does not say.
        submitted: when; None where the platform does not say, or it cannot be read.
        unread_time: why the time cannot be read; "" where it can, or the platform does not say.
        undecided: submissions of which nothing tells which one counts.
        perhaps: where the student handed in nothing: entries that may be the student's.
    """

    id: Line
    name: Line
    ids: Mapping[str, Line] = {}
    group: Line = ""
    key: Line = ""
    entry: Line = ""
    file: Line = ""
    is_late: bool | None = None
    submitted: datetime | None = None
    unread_time: Line = ""
    undecided: tuple[Line, ...] = ()
    perhaps: tuple[Line, ...] = ()

    @property
    def is_missing(self) -> bool:
        """Whether the student handed in nothing."""
        return not self.key and not self.undecided


class LeftOut(Model):
    """An entry of the download that is not graded, and why."""

    entry: Line
    reason: Line
    needs_decision: bool = False


class Roll(Model):
    """A class.

    Attributes:
        layout: of the download, one of `downloads.LAYOUTS`.
        folder: that holds the submissions.
        has_roster: whether students come from a roster; without one nobody is known to be missing.
        members: all students.
        left_out: entries that are not graded.
    """

    version: Literal[1] = 1
    layout: str
    folder: Line
    has_roster: bool
    members: tuple[Member, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def missing(self) -> tuple[Member, ...]:
        """Who handed in nothing."""
        return tuple(member for member in self.members if member.is_missing)

    @property
    def needs_decision(self) -> bool:
        """Whether a person has to say whose a submission is, or which one counts."""
        return any(member.undecided for member in self.members) or any(one.needs_decision for one in self.left_out)

    def names(self) -> dict[str, str]:
        """The students' names, by the key of their submission; partners share one."""
        found: dict[str, list[str]] = {}
        times = Counter(member.name for member in self.members)
        for member in self.members:
            if member.key:
                name = member.name if times[member.name] == 1 else f"{member.name} ({member.id})"
                found.setdefault(member.key, []).append(name)
        return {key: ", ".join(names) for key, names in found.items()}


def write_roll(roll: Roll, output: Path) -> None:
    """Writes the roll beside the records.

    Raises:
        NotWrittenError: where it cannot be written.
    """
    write_json(output / ROLL, roll.model_dump(mode="json"))


def read_roll(output: Path) -> Roll:
    """The roll beside the records.

    Raises:
        UserError: where there is none.
    """
    try:
        return Roll.model_validate_json((output / ROLL).read_bytes())
    except OSError as error:
        what = f"{error.strerror}; expected the folder that `grade-class --output` has written"
        raise UserError(f"{output / ROLL}: {what}") from None
    except ValidationError:
        raise UserError(f"{output / ROLL}: not as `grade-class` writes it; run that again") from None
