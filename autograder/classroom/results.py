"""What each student has earned: the roll and the records side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from foundation.late_policy import LatePolicy

from ..grading.record import Part, Record
from .marks import Mark, mark_of
from .roll import Member, Roll
from .store import Decisions, stored_name


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
        mark: with what people have decided and what lateness costs; None where there is no record.
    """

    member: Member
    record: Record | None
    mark: Mark | None

    @property
    def status(self) -> Status:
        """Whether there is a score, and why not."""
        if self.member.is_missing:
            return Status.MISSING
        return Status.NEEDS_REVIEW if self.score is None else Status.GRADED

    @property
    def score(self) -> float | None:
        """The points; None where a person has to decide, and where nothing was handed in."""
        return None if self.mark is None else self.mark.score

    @property
    def reason(self) -> str:
        """Why a person has to decide; "" where nobody has to."""
        if self.status is not Status.NEEDS_REVIEW:
            return ""
        if self.member.undecided:
            return f"several submissions, and nothing tells which one counts: {', '.join(self.member.undecided)}"
        if self.record is None or self.mark is None:
            return "not graded yet"
        return "; ".join(filter(None, (self.record.run.error, *self.mark.needs_review)))


def results_of(
    roll: Roll,
    records: Mapping[str, Record],
    decisions: Mapping[str, Decisions] | None = None,
    policy: LatePolicy | None = None,
) -> list[Result]:
    """A result for each student, in the roll's order.

    Args:
        roll: of the class.
        records: by the key of the submission.
        decisions: by hand, by the student's id; None = none.
        policy: on late submissions; None = lateness costs nothing.
    """
    found = []
    for member in roll.members:
        record, decided = records.get(member.key), (decisions or {}).get(stored_name(member.id))
        mark = None
        if record is not None:
            mark = mark_of(record.judgement, decided, policy, member.submitted, member.is_late, member.unread_time)
        found.append(Result(member, record, mark))
    return found


def results_for(key: str, results: Iterable[Result]) -> tuple[Result, ...]:
    """The results of the students who share a submission."""
    return tuple(result for result in results if result.member.key == key)


def by_task(records: Iterable[Record]) -> list[list[Part]]:
    """The parts of a class, a list for each task; while changes wait to be kept, some may lack a new task."""
    found: dict[str, list[Part]] = {}
    for record in records:
        for part in record.judgement.parts:
            found.setdefault(part.number, []).append(part)
    return list(found.values())
