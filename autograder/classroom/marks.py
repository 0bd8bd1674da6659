"""A student's mark: the grader's result, decisions of people, and the cost of lateness; and the marks of a class.

Only the first is stored with a result, and can be weighed anew without a run. The other two are applied here, whenever
marks are shown.

Decisions are a line each in `decisions.jsonl`, in the folder of marks; the last one counts, earlier ones stay. They
belong to a student and a task, not to a result, so they outlive every regrade.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from pydantic import Field, ValidationError

from foundation.assignment_file import Assignment, Task
from foundation.assignment_tables import LatePolicy
from foundation.command_line import UserError
from foundation.texts import counted

from ..grading.provenance import weighting_of
from ..grading.record import NOT_TAKEN, Judgement, Model, Part, Record, judge_bleu, now, total
from ..grading.scoring import Score
from ..platforms.platform import Student
from ..testing.results import State, mark_items
from .entries import Roll

LATE = "late, but nobody knows by how much"
ENTER_DAYS = "enter late days with `late`"
DECISIONS = "decisions.jsonl"
WHOLE = ""  # in the place of a task's number: the whole submission


class Decision(Model):
    """One decision by hand."""

    student: str  # the id by which the course knows the student
    kind: Literal["points", "comment", "late", "excused"]
    task: str = WHOLE  # its number, of points and comments
    value: float | None = None  # points, days, or 1 = excused; None: as the grader and the platform have it
    items: tuple[str, ...] = ()  # of the task's rubric, which are given instead of points
    helps: bool = False  # whether the points were more than the grader's; then they never count for less than these
    text: str  # why, or the comment; an empty one takes an earlier comment back
    by: str  # who decided
    at: datetime = Field(default_factory=now)


Decided: TypeAlias = Mapping[tuple[str, str], Decision]
"""All that counts for one student, by kind and task; `WHOLE` for late days and comments on the whole."""
NOTHING: Decided = MappingProxyType({})  # nobody has decided anything


def decide(output: Path, decision: Decision) -> None:
    """Enters a decision about a student of the class in a folder. Raises: OSError where that fails."""
    with (output / DECISIONS).open("a", encoding="utf-8") as file:
        file.write(f"{decision.model_dump_json()}\n")
        file.flush()
        os.fsync(file.fileno())


def decisions_in(output: Path) -> dict[str, Decided]:
    """All that counts of a class, by the student's id. Raises: UserError where a line is none of ours."""
    path = output / DECISIONS
    decided: dict[str, dict[tuple[str, str], Decision]] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), start=1):
        try:
            decision = Decision.model_validate_json(line)
        except ValidationError:
            raise UserError(f"{path}, line {number}: no decision; expected a line as `override` writes it") from None
        about = decision.kind, decision.task
        of_student = decided.setdefault(decision.student, {})
        of_student.pop(about, None)
        if decision.text if decision.kind == "comment" else decision.items or decision.value is not None:
            of_student[about] = decision
    return {student: own for student, own in decided.items() if own}


@dataclass(frozen=True)
class PartMark:
    """One task's mark."""

    part: Part  # as graded
    decision: Decision | None = None  # points that a person gave; None = nobody did
    comment: Decision | None = None  # by a person; None = none

    @property
    def by_hand(self) -> Decision | None:
        """The decision, where it is what counts: the grader has not found as much itself."""
        is_lasting = self.decision and not (self.decision.items or self.decision.helps)
        return self.decision if is_lasting or self.score != self.part.score else None

    @property
    def waits(self) -> bool:
        """True until people mark it, if they do so in class."""
        return self.part.waits and self.decision is None

    @property
    def state(self) -> str:
        """The state in words: the grader's, unless it had nothing to judge, or could not, and a person has decided."""
        if self.waits:
            return NOT_TAKEN
        is_judged = self.part.state.has_mark and self.part.state is not State.NOT_ATTEMPTED
        return "marked by hand" if self.by_hand and not is_judged else self.part.state.value

    @property
    def score(self) -> float | None:
        """Points; None where there is no judgement and nobody has decided."""
        if self.decision is None:
            return self.part.score
        graded = self.part.score or 0.0
        if self.decision.items:
            return max(graded, with_items(self.part, self.decision.items)) if self.part.items else self.part.score
        return max(graded, self.decision.value or 0.0) if self.decision.helps else self.decision.value


def with_items(part: Part, given: Collection[str]) -> float:
    """The points of a task with all those of some items of its rubric, and the grader's for the others.

    Items that are worth nothing only for want of a given one are earned with it.
    """
    earned: set[str] = set()
    for item in part.items:
        if item.name in given or item.score or (not item.missed and item.requires in earned):
            earned.add(item.name)
    return round(sum(item.points for item in part.items if item.name in earned), 2)


@dataclass(frozen=True)
class Lateness:
    """The late days of a submission, and their cost."""

    days: int | None = None  # late days; None where nobody knows, or where they cost nothing
    percent: float = 0.0  # of the points earned that are taken off
    by_hand: Decision | None = None  # who set the days; None = nobody did
    untold: bool = False  # it is not known when it was handed in; it counts as on time, and people learn of it
    unknown: str = ""  # why nobody knows how late it was, so that a person has to decide; "" where that is known


@dataclass(frozen=True)
class Mark:
    """All that decides a student's mark."""

    parts: tuple[PartMark, ...]  # in the assignment's order
    max_score: float  # the sum of the points of all parts that are not extensions
    lateness: Lateness  # likewise for the whole
    comment: Decision | None = None  # by a person, on the whole; None = none
    by_hand: Decision | None = None  # points that a person gave for the whole, whatever the parts and the time
    excused: Decision | None = None  # by whom the student has no mark and needs none; None = nobody

    @property
    def earned(self) -> float | None:
        """Points before lateness; None where a part with points has none yet."""
        if self.by_hand is not None:
            return self.by_hand.value
        return total((mark.score, mark.part.points) for mark in self.parts)

    @property
    def score(self) -> float | None:
        """The points that count; None where a person has to decide first."""
        if self.by_hand is not None and not self.excused:
            return self.by_hand.value
        if self.earned is None or self.lateness.unknown or self.excused:
            return None
        return round(self.earned * (1 - self.lateness.percent / 100), 2)

    @property
    def needs_review(self) -> tuple[str, ...]:
        """The reasons why a person has to decide something; empty where nobody has to."""
        if self.by_hand or self.excused:
            return ()
        undecided: dict[str, list[str]] = {}
        for mark in self.parts:
            part = mark.part
            if mark.score is None and (part.points or part.state is not State.NEEDS_READER):
                why = f"{part.state}: {part.message}" if part.state is State.NOT_GRADED else part.state
                undecided.setdefault(why, []).append(part.number)
        reasons = [
            why if len(numbers) == len(self.parts) else f"{', '.join(numbers)}: {why}"
            for why, numbers in undecided.items()
        ]
        for mark in self.parts:  # they were given when the task was worth more
            if mark.by_hand is not None and (mark.score or 0.0) > mark.part.points:
                given = f"{mark.score:g} by hand of {counted(mark.part.points, 'point')}"
                reasons.append(f"{mark.part.number}: {given}; enter other points, or withdraw these")
        if self.lateness.unknown:
            reasons.append(f"{self.lateness.unknown}: {ENTER_DAYS}")
        return tuple(reasons)


def mark_of(
    judgement: Judgement,
    decided: Decided = NOTHING,
    policy: LatePolicy | None = None,
    member: Student | None = None,
) -> Mark:
    """A student's mark: the result that counts, with decisions by hand and what lateness costs, if anything does."""
    parts = tuple(
        PartMark(part, decided.get(("points", part.number)), decided.get(("comment", part.number)))
        for part in judgement.parts
    )
    lateness = lateness_of(policy, member, decided.get(("late", WHOLE))) if policy and member else Lateness()
    of_the_whole = (decided.get((kind, WHOLE)) for kind in ("comment", "points", "excused"))
    return Mark(parts, judgement.max_score, lateness, *of_the_whole)


def lateness_of(policy: LatePolicy, member: Student, by_hand: Decision | None) -> Lateness:
    """The cost of lateness, by the decision of people, or else by the known time."""
    if by_hand is not None and by_hand.value is not None:
        days = int(by_hand.value)
    elif member.submitted is not None:
        days = policy.days_late(member.submitted)
    elif member.unread_time:
        return Lateness(unknown=f"the time of submission cannot be read ({member.unread_time})")
    else:
        return Lateness(unknown=LATE if member.is_late else "", untold=member.is_late is None)
    return Lateness(days, policy.percent(days), by_hand)


def weighed(judgement: Judgement, assignment: Assignment) -> Judgement:
    """A judgement of the present grader version, with the points, thresholds and titles of the present assignment."""
    known = {part.number: part for part in judgement.parts}
    parts = [_part(known[task.number], task, judgement.bleu, assignment) for task in assignment.tasks]
    return judgement.with_parts(parts).changed(
        assignment=assignment.title, weighting=weighting_of(assignment), max_score=assignment.max_score
    )


def _part(part: Part, task: Task, bleu: Score | None, assignment: Assignment) -> Part:
    part = part.changed(
        title=task.title, points=task.points, extension=task.extension, visibility=task.visibility
    ).in_state(part.state)
    if task.threshold and bleu and part.state in (State.PASSED, State.FAILED):
        result = judge_bleu(task, bleu, assignment)
        part = part.in_state(result.state, message=result.message)
    if not part.tests or part.state is State.REFUSED:
        return part.in_state(part.state, task.points) if part.state is State.PASSED else part
    marks = mark_items(task, ((test.item, test.state) for test in part.tests), assignment.credit)
    score = task.points if part.state is State.PASSED else round(sum(mark.score for mark in marks), 2)
    return part.changed(items=tuple(marks)).in_state(part.state, score)


@dataclass(frozen=True)
class Result:
    """A student's result."""

    member: Student  # of the class
    record: Record | None  # of the submission that counts; None where none does, or it has not been graded yet
    mark: Mark | None  # with what people have decided and what lateness costs; None where there is no record

    @property
    def status(self) -> str:
        """The status in words; where the grader could not decide, there is no score, and never a zero."""
        if self.mark and self.mark.excused:
            return "excused"
        if self.member.is_missing and not self.mark:
            return "nothing handed in"
        if self.member.key and not self.record:
            return "not graded yet"
        return "needs review" if self.score is None else "graded"

    @property
    def score(self) -> float | None:
        """The points; None where a person has to decide, and where nothing was handed in."""
        return None if self.mark is None else self.mark.score

    @property
    def is_late(self) -> bool | None:
        """True if it came late: by its late days, or else by the platform; None where that is not known."""
        days = self.mark.lateness.days if self.mark else None
        return self.member.is_late if days is None else days > 0

    @property
    def reason(self) -> str:
        """The reason why a person has to decide, or why what is there does not count; "" otherwise."""
        if self.status == "nothing handed in":
            return self.member.left_out
        if self.status != "needs review":
            return ""
        if self.member.undecided:
            return self.member.undecided_reason
        error = self.record.run.error if self.record else ""
        return "; ".join(filter(None, (error, *(self.mark.needs_review if self.mark else ()))))


def results_of(
    roll: Roll,
    records: Mapping[str, Record],
    decisions: Mapping[str, Decided] = MappingProxyType({}),
    policy: LatePolicy | None = None,
) -> list[Result]:
    """A result for each student, in the roll's order; records by key of the submission, decisions by student's id.

    Who handed in nothing has a mark if people decided something: no other part is attempted. If they decided about the
    whole, nothing is known of single tasks, which then have no points of their own.
    """
    results = []
    judgement = next((record.judgement for record in records.values()), None)
    nothing = judgement and judgement.changed(
        parts=tuple(part.changed(items=(), tests=()).in_state(State.NOT_ATTEMPTED) for part in judgement.parts)
    )
    for member in roll.members:
        record, decided = records.get(member.key), decisions.get(member.id, NOTHING)
        mark = mark_of(record.judgement, decided, policy, member) if record else None
        if nothing and not record and any(kind in ("points", "excused") for kind, _ in decided):
            mark = mark_of(nothing, decided)
            if mark.by_hand or mark.excused:
                mark = replace(mark, parts=tuple(part for part in mark.parts if part.by_hand))
        results.append(Result(member, record, mark))
    return results


def by_submission(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The results of those who have been graded, by the key of the submission; partners share one."""
    shared: dict[str, list[Result]] = {}
    for result in results:
        if result.record:
            shared.setdefault(result.member.key, []).append(result)
    return shared


def by_task(records: Iterable[Record]) -> list[list[Part]]:
    """The parts of a class, a list for each task; while changes wait to be kept, some may lack a new task."""
    parts: dict[str, list[Part]] = {}
    for record in records:
        for part in record.judgement.parts:
            parts.setdefault(part.number, []).append(part)
    return list(parts.values())
