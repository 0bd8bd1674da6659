"""The record of one graded submission: a judgement, which the seed decides, and a run, which is about how it went.

    record = new_record("anna", assignment, version)        every part is pending
    record = record.taken_in(files).judged(results)         each step of the grading makes a new record

Every text in the models below is free of control characters and cut to its length.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import not_
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AliasChoices, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from foundation.assignment_file import Assignment, Task
from foundation.texts import clean
from foundation.whole_files import write_whole

from ..testing.results import Finding, ItemMark, State, TaskResult
from .provenance import weighting_of
from .scoring import Score, explain, judge

NOT_YET, BY_HAND, NOT_TAKEN = "not graded yet", "marked by hand, in class", "not taken yet"
UNSAFE = "graded without the sandbox's filter (--level unsafe): submitted code could reach the grader and its files"
MAX_NAME, MAX_TEXT, MAX_TEST_TEXT = 200, 8_000, 400
MAX_NOTES, MAX_FILES, MOST_SHOWN = 50, 200, 20


def _cleaned(limit: int) -> BeforeValidator:
    return BeforeValidator(lambda text: clean(text, limit) if isinstance(text, str) else text)


Name: TypeAlias = Annotated[str, _cleaned(MAX_NAME)]
Text: TypeAlias = Annotated[str, _cleaned(MAX_TEXT)]
TestText: TypeAlias = Annotated[str, _cleaned(MAX_TEST_TEXT)]


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now().astimezone()


class Model(BaseModel):
    """The parts of a record do not change, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)

    def changed(self, **changes: object) -> Self:
        """A copy in which some fields have other values, checked as always."""
        return self.model_validate({**dict(self), **changes})


class Test(Model):
    """One component test."""

    __test__ = False  # not one of the kit's own tests

    name: Annotated[Name, Field(validation_alias=AliasChoices("name", "test"))]  # `test` of an `Outcome`
    nodeid: Name  # file and name: unique among all tests
    item: Name  # the item of the part's rubric; empty where the test names none
    state: State
    message: TestText


class Part(Model):
    """One task of the assignment."""

    number: str
    title: str
    components: tuple[str, ...]  # names that its tests judge; empty for BLEU
    extension: bool  # its points are a bonus
    visibility: str  # when students see it on Gradescope
    state: State
    score: float | None  # null exactly where the state is no judgement
    points: float
    message: Text  # why points are missing; empty where none are
    traceback: Text  # the submission's own frames, of the first test that raised
    diagnosis: Finding | None
    items: tuple[ItemMark, ...] = ()  # the rubric; empty where no tests were judged
    tests: tuple[Test, ...]
    # Whether people mark it, and nothing is handed in. Written only where it is true: seals of earlier records hold.
    in_class: bool = Field(default=False, exclude_if=not_)

    @model_validator(mode="after")
    def _has_a_score_where_it_has_a_mark(self) -> Self:
        if (self.score is not None) != self.state.has_mark:
            raise ValueError(f"task {self.number}: {self.state}, with the score {self.score}")
        return self

    @property
    def waits(self) -> bool:
        """True until people mark it, if they do so in class: its points are no result."""
        return self.in_class and self.state is State.NOT_ATTEMPTED

    @property
    def is_left_out(self) -> bool:
        """True for an extension that was not attempted: nobody has failed in it."""
        return self.extension and self.state is State.NOT_ATTEMPTED

    def in_state(self, state: State, score: float = 0.0, message: str | None = None) -> Self:
        """The part in another state, with the score where that state is a judgement."""
        message = self.message if message is None else message
        return self.changed(state=state, score=score if state.has_mark else None, message=message)


class Judgement(Model):
    """The part that follows from submission, assignment, seed and the grader's version; no clock decides it."""

    assignment: str
    content_hash: str = ""  # one hash over files' names and hashes; empty at first
    files: Annotated[dict[Name, str], Field(max_length=MAX_FILES)] = {}  # file name to sha256 of its content
    grader_version: str  # version of everything that decides outcomes
    weighting: str  # version of points, thresholds, credit and titles
    seed_id: str = ""  # of the inputs' seed; empty where no test ran
    score: float | None = None  # the sum of the parts' scores, bonus included; null where a part with points has none
    max_score: float  # the sum of the points of all parts that are not extensions
    parts: tuple[Part, ...] = ()  # the tasks, in the assignment's order
    bleu: Score | None = None  # null where no translations can be scored
    notes: tuple[Text, ...] = ()  # what a person should know about the submission
    internals: tuple[Text, ...] = ()  # uses of internals and copies of the tests' code, which a person should read

    @property
    def refusal(self) -> str:
        """The reason why nothing of the submission was graded; "" where something was."""
        is_refused = all(part.state is State.NOT_GRADED for part in self.parts)
        return self.parts[0].message if self.parts and is_refused else ""

    def with_parts(self, parts: Iterable[Part], **facts: object) -> Self:
        """The judgement with these parts, their score, and other fields."""
        parts = tuple(parts)
        return self.changed(parts=parts, score=total((part.score, part.points) for part in parts), **facts)


class Run(Model):
    """The course of one grading: when, how long; another run of the same judgement may differ in all of it."""

    started: AwareDatetime = Field(default_factory=now)
    finished: AwareDatetime | None = None  # null while parts are still pending
    seconds: float = 0.0  # wall time
    layers: tuple[str, ...] | None = None  # layers of containment that were in force; null where no submitted code ran
    printed: str = ""  # what submitted code printed, cut at the limit `output_kb`
    notes: tuple[Text, ...] = ()  # what a person should know about this run
    error: Text = ""  # why the grader gave up; empty if it did not


class Record(Model):
    """One submission with its results. While parts are pending, the grading has not finished."""

    version: Literal[4] = 4  # version of this schema
    submission: Name  # name of the file or folder, without its ending
    judgement: Judgement
    run: Run
    seal: str = ""  # HMAC-SHA256 of all of the record with the term's secret; empty where not sealed

    @property
    def has_ended(self) -> bool:
        """True if the grading came to its end; it did not where it was stopped or the grader gave up."""
        return self.run.finished is not None and not self.run.error

    @property
    def is_finished(self) -> bool:
        """True if nothing is left to be graded: it came to its end, and the grader failed over no single test."""
        parts = self.judgement.parts
        states = {part.state for part in parts} | {test.state for part in parts for test in part.tests}
        return self.has_ended and all(state.is_final for state in states)

    def taken_in(self, files: Mapping[str, str], seed_id: str = "") -> Self:
        """The record with the sha256 of each file, and the name of the seed of the tests' inputs, "" where none run."""
        kept = {clean(name, MAX_NAME): digest for name, digest in sorted(files.items())[:MAX_FILES]}
        return self.judged(files=kept, content_hash=content_hash(files), seed_id=seed_id)

    def judged(self, results: Iterable[TaskResult] = (), notes: Iterable[str] = (), **facts: object) -> Self:
        """The record with results of tasks, which replace earlier ones, notes, and other fields of the judgement."""
        known = {result.task.number: part_of(result) for result in results}
        parts = (known.get(part.number, part) for part in self.judgement.parts)
        notes = (*self.judgement.notes, *notes)[:MAX_NOTES]
        return self.changed(judgement=self.judgement.with_parts(parts, notes=notes, **facts))

    def refused(self, reason: str, files: Mapping[str, str] = MappingProxyType({})) -> Self:
        """The finished record of a submission that is there, but cannot be graded: no score, and the reason."""
        parts = (part.in_state(State.NOT_GRADED, message=reason) for part in self.judgement.parts)
        record = self.changed(judgement=self.judgement.with_parts(parts)).taken_in(files)
        return record.judged(notes=[f"not graded: {reason}"]).finished()

    def given_up(self, reason: str) -> Self:
        """The record after the grader failed: what is pending will not be judged in this run."""
        message = f"not graded: {reason}"
        parts = (
            part.in_state(State.GRADER_ERROR, message=message) if part.state is State.PENDING else part
            for part in self.judgement.parts
        )
        return self.changed(judgement=self.judgement.with_parts(parts)).finished(error=reason)

    def noted_of_run(self, text: str) -> Self:
        """The record with a note on this run, which another one of the same submission may lack."""
        return self.changed(run=self.run.changed(notes=(*self.run.notes, text)[:MAX_NOTES]))

    def contained(self, layers: tuple[str, ...], printed: str) -> Self:
        """The record once submitted code has run, with these layers of containment, and has printed this so far."""
        notes = self.run.notes
        if "seccomp" not in layers and UNSAFE not in notes:
            notes = (UNSAFE, *notes)[:MAX_NOTES]
        return self.changed(run=self.run.changed(layers=layers, printed=printed, notes=notes))

    def finished(self, error: str = "") -> Self:
        """The record at the end of the grading; with an error where the grader gave up."""
        end = now()
        seconds = round(max(0.0, (end - self.run.started).total_seconds()), 2)  # a clock may be set back
        return self.changed(run=self.run.changed(finished=end, seconds=seconds, error=error or self.run.error))


def new_record(submission: str, assignment: Assignment, grader_version: str) -> Record:
    """The record of a grading that begins now: every part is pending."""
    judgement = Judgement(
        assignment=assignment.title,
        grader_version=grader_version,
        weighting=weighting_of(assignment),
        max_score=assignment.max_score,
    )
    parts = (part_of(TaskResult(task, State.PENDING, 0.0, NOT_YET)) for task in assignment.tasks)
    return Record(submission=submission, judgement=judgement.with_parts(parts), run=Run())


def judge_bleu(task: Task, bleu: Score, assignment: Assignment) -> TaskResult:
    """The result of a task that has a threshold: all of its points or none."""
    name = task.threshold or ""
    [verdict] = judge(bleu, {name: assignment.thresholds[name]})
    state, points = (State.PASSED, task.points) if verdict.is_reached else (State.FAILED, 0.0)
    return TaskResult(task, state, points, explain(verdict, bleu))


def part_of(result: TaskResult) -> Part:
    """One task's result as it stands in the record."""
    task, score = result.task, result.score if result.state.has_mark else None
    of_task = ("number", "title", "components", "extension", "visibility", "points")
    of_result = {name: getattr(result, name) for name in ("state", "message", "traceback", "items")}
    of_result |= {"in_class": task.by_hand and not task.written}
    of_result |= {"score": score, "diagnosis": result.finding, "tests": result.outcomes}
    return Part.model_validate({name: getattr(task, name) for name in of_task} | of_result)


def content_hash(files: Mapping[str, str]) -> str:
    """One hash for all files of a submission: file name -> sha256."""
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()


def total(parts: Iterable[tuple[float | None, float]]) -> float | None:
    """The sum of the scores, of each part's score and points; None where one that has points has no score yet."""
    scores = [score for score, points in parts if points or score is not None]
    return None if None in scores else round(sum(filter(None, scores)), 2)


def read_record(path: Path) -> Record | None:
    """The record in a file; None where there is none, or one of another version or form."""
    try:
        return Record.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Writes a record in one piece; where that fails, the old one stays. Raises: OSError."""
    write_whole(path, record.model_dump_json(indent=2) + "\n")


def write_json(path: Path, content: object) -> None:
    """Writes other results in one piece. Raises: OSError."""
    write_whole(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
