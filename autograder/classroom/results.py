"""What each student has earned: the roll and the records side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..grading.record import Record
from .roll import Member, Roll


class Status(StrEnum):
    """Whether a student has a score."""

    GRADED = "graded"
    NEEDS_REVIEW = "needs review"  # the grader could not decide: never a zero
    MISSING = "nothing handed in"


@dataclass(frozen=True)
class Result:
    """A student's result.

    Attributes:
        member: of the class.
        record: of the submission that counts; None where none does, or it has not been graded yet.
    """

    member: Member
    record: Record | None

    @property
    def status(self) -> Status:
        """Whether there is a score, and why not."""
        if self.member.is_missing:
            return Status.MISSING
        return Status.GRADED if self.record is not None and not self.record.needs_the_grader else Status.NEEDS_REVIEW

    @property
    def score(self) -> float | None:
        """The points; None where a person has to decide, and where nothing was handed in."""
        return self.record.judgement.score if self.record is not None and self.status is Status.GRADED else None

    @property
    def reason(self) -> str:
        """Why a person has to decide; "" where nobody has to."""
        if self.status is not Status.NEEDS_REVIEW:
            return ""
        if self.member.undecided:
            return f"several submissions, and nothing tells which one counts: {', '.join(self.member.undecided)}"
        if self.record is None:
            return "not graded yet"
        return self.record.run.error or "the grader failed over a part"


def results_of(roll: Roll, records: Mapping[str, Record]) -> list[Result]:
    """A result for each student, in the roll's order.

    Args:
        roll: of the class.
        records: by the key of the submission.
    """
    return [Result(member, records.get(member.key)) for member in roll.members]
