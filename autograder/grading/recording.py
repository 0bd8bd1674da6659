"""The events of a grading, and how they are folded into its record.

    recorder = Recorder("anna", assignment, version)
    for event in judge(...):
        store(recorder.add(event))

Folding is all that happens here; what to do with a record is for the caller to decide.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foundation.assignment_file import Assignment
from foundation.texts import clean

from ..testing.results import ItemMark, State, TaskResult
from .grader_version import weighting_of
from .record import (
    MAX_FILES,
    MAX_NAME,
    MAX_NOTES,
    Diagnosis,
    ItemScore,
    Judgement,
    Part,
    Record,
    Run,
    Test,
    now,
    total,
)
from .seeds import content_hash

NOT_YET = "not graded yet"
UNSAFE = "graded without the sandbox's filter (--level unsafe): submitted code could reach the grader and its files"


class Recorder:
    """Keeps the record of one grading up to date.

    Attributes:
        record: as of the last event.
    """

    def __init__(self, submission: str, assignment: Assignment, grader_version: str) -> None:
        """Starts with every part pending."""
        self._started = time.perf_counter()
        run = Run(started=now(), finished=None, seconds=0.0, layers=None, printed="", notes=(), error="")
        self._blank = Record(submission=submission, judgement=blank(assignment, grader_version), run=run)
        self.record = self._blank

    def add(self, event: Event) -> Record:
        """Takes one event in; the new record."""
        record = self._blank if isinstance(event, TakenIn) else self.record
        judgement, run = fold(record.judgement, record.run, event)
        run = run.changed(seconds=round(time.perf_counter() - self._started, 2))
        self.record = record.changed(judgement=judgement, run=run)
        return self.record

    def add_all(self, events: Iterable[Event], store: Callable[[Record], None] = lambda record: None) -> Record:
        """Takes all events in and stores the record after each.

        Raises:
            Exception: whatever the grading raised, once the record says so.
        """
        try:
            for event in events:
                store(self.add(event))
        except Exception as error:
            store(self.add(GivenUp(str(error) or type(error).__name__)))
            raise
        return self.record


def blank(assignment: Assignment, grader_version: str) -> Judgement:
    """A judgement in which every part is pending."""
    parts = tuple(part_of(TaskResult(task, State.PENDING, 0.0, NOT_YET)) for task in assignment.tasks)
    return Judgement(
        assignment=assignment.title,
        content_hash="",
        files={},
        grader_version=grader_version,
        weighting=weighting_of(assignment),
        seed_id="",
        score=total((part.score, part.points) for part in parts),
        max_score=assignment.max_score,
        parts=parts,
        bleu=None,
        notes=(),
    )


def fold(judgement: Judgement, run: Run, event: Event) -> tuple[Judgement, Run]:
    """Both after an event."""
    match event:
        case TakenIn():
            files = {clean(name, MAX_NAME): digest for name, digest in sorted(event.files.items())[:MAX_FILES]}
            hashed = content_hash(event.files)
            return judgement.changed(files=files, content_hash=hashed, seed_id=event.seed_id), run
        case Refused():
            refused = [part.in_state(State.NOT_GRADED, message=event.reason) for part in judgement.parts]
            return with_note(with_parts(judgement, refused), f"not graded: {event.reason}"), run
        case TasksJudged():
            known = {result.task.number: part_of(result) for result in event.results}
            return with_parts(judgement, [known.get(part.number, part) for part in judgement.parts]), run
        case Found():
            return judgement.changed(**event.fields), run
        case Contained():
            is_unsafe = "seccomp" not in event.layers
            notes = (UNSAFE, *run.notes) if is_unsafe and UNSAFE not in run.notes else run.notes
            return judgement, run.changed(layers=event.layers, printed=event.printed, notes=notes[:MAX_NOTES])
        case Noted(is_about_run=True):
            return judgement, run.changed(notes=(*run.notes, event.text)[:MAX_NOTES])
        case Noted():
            return with_note(judgement, event.text), run
        case GivenUp():
            message = f"not graded: {event.reason}"
            parts = [
                part.in_state(State.GRADER_ERROR, message=message) if part.state is State.PENDING else part
                for part in judgement.parts
            ]
            return with_parts(judgement, parts), run.changed(error=event.reason, finished=now())
        case Finished():
            return judgement, run.changed(finished=now())
    return judgement, run


def with_parts(judgement: Judgement, parts: Iterable[Part]) -> Judgement:
    """The judgement with these parts and their score."""
    parts = tuple(parts)
    return judgement.changed(parts=parts, score=total((part.score, part.points) for part in parts))


def with_note(judgement: Judgement, note: str) -> Judgement:
    """The judgement with one more note."""
    return judgement.changed(notes=(*judgement.notes, note)[:MAX_NOTES])


def part_of(result: TaskResult) -> Part:
    """One task's result as it stands in the record."""
    task, found = result.task, result.finding
    return Part(
        number=task.number,
        title=task.title,
        components=task.components,
        extension=task.extension,
        visibility=task.visibility,
        state=result.state,
        score=result.score if result.state.has_mark else None,
        points=task.points,
        message=result.message,
        traceback=result.traceback,
        diagnosis=Diagnosis(fault=found.fault, others=found.others, text=found.text) if found else None,
        items=items_of(result.items),
        tests=tuple(
            Test(name=one.test, nodeid=one.nodeid, item=one.item, state=one.state, message=one.message)
            for one in result.outcomes
        ),
    )


def items_of(marks: Iterable[ItemMark]) -> tuple[ItemScore, ...]:
    """The rubric as it stands in the record."""
    return tuple(
        ItemScore(
            name=mark.name,
            score=round(mark.score, 2),
            points=round(mark.points, 2),
            missed=mark.n_missed,
            requires=mark.missing,
        )
        for mark in marks
    )


class Event:
    """What has become known."""


@dataclass(frozen=True)
class TakenIn(Event):
    """The submission was read; its judgement begins, also where an earlier one was given up."""

    files: Mapping[str, str]  # name -> sha256 of what was taken in
    seed_id: str = ""  # names the seed of the tests' inputs; empty where no test runs


@dataclass(frozen=True)
class Refused(Event):
    """The submission cannot be graded: no score, and the reason."""

    reason: str


@dataclass(frozen=True)
class TasksJudged(Event):
    """Results of some tasks; later ones of the same task replace earlier ones."""

    results: tuple[TaskResult, ...]


@dataclass(frozen=True)
class Found(Event):
    """What else is known of the submission, by fields of the judgement: its BLEU, uses of internals."""

    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Contained(Event):
    """Submitted code has run, with these layers of containment, and has printed this so far."""

    layers: tuple[str, ...]
    printed: str


@dataclass(frozen=True)
class Noted(Event):
    """Something that a person should know, in a sentence."""

    text: str
    is_about_run: bool = False  # another run of the same submission may lack it


@dataclass(frozen=True)
class GivenUp(Event):
    """The grader failed; what is pending will not be judged in this run."""

    reason: str


@dataclass(frozen=True)
class Finished(Event):
    """All parts are judged."""
