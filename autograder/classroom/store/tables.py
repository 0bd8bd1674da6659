"""The tables of a class's database, which are made where they are missing.

    students ── handed_in ── submissions ── attempts ── results ── test_results
        │                         │             └── runs ──┘
        └ overrides, comments,    └ kept: the result that counts
          late_days, waivers

A submission is one entry of the class's folder; each content that it ever had is an attempt of its own. A result is
what one version of the grader found out about an attempt. Times are kept in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """A time with its zone, also in SQLite, which knows none."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From UTC."""
        return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


class Table(DeclarativeBase):
    """What all tables have in common."""

    type_annotation_map = {datetime: Moment}


class Setting(Table):
    """A fact about the whole database, such as whose marks are in it."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class Student(Table):
    """A student of the roster; without a roster, whoever handed in one entry.

    Attributes:
        key: by which the course knows the student, or the name of the entry.
    """

    __tablename__ = "students"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    email: Mapped[str]
    group_name: Mapped[str]


class Submission(Table):
    """One entry of the class's folder.

    Attributes:
        entry: its name there.
        name: for people.
    """

    __tablename__ = "submissions"

    id: Mapped[int] = mapped_column(primary_key=True)
    entry: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]


class HandedIn(Table):
    """Whose submission it is; partners share one."""

    __tablename__ = "handed_in"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True, index=True)


class Attempt(Table):
    """One content of a submission.

    Attributes:
        content: hash over the names and hashes of its files; "" where the grader could not read them.
        submitted: when, as far as the platform says.
        is_late: what the platform says; null where it does not say.
    """

    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("submission_id", "content"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    content: Mapped[str]
    submitted: Mapped[datetime | None]
    is_late: Mapped[bool | None]


class Version(Table):
    """A version of everything that decides outcomes.

    Attributes:
        id: a record's `grader_version`.
        first_used: when this class was first graded with it.
    """

    __tablename__ = "versions"

    id: Mapped[str] = mapped_column(primary_key=True)
    first_used: Mapped[datetime]


class Run(Table):
    """How one grading of an attempt went; there may be several, of which the last finished one has the result."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), index=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    started: Mapped[datetime]
    finished: Mapped[datetime | None]
    host: Mapped[str]
    seconds: Mapped[float]
    error: Mapped[str]


class Result(Table):
    """What one version of the grader found out about an attempt; there is one for each key, never two.

    Attributes:
        seed_id: names the seed of the tests' inputs.
        weighting: version of points, thresholds, credit and titles.
        is_finished: whether nothing is left to be graded.
        score: points; null where the grader failed at a part that has points: such a result needs review.
        record: the sealed record, as JSON; the columns beside it and `test_results` repeat some of it for queries.
    """

    __tablename__ = "results"
    __table_args__ = (UniqueConstraint("attempt_id", "version_id", "seed_id", "weighting"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"))
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    seed_id: Mapped[str]
    weighting: Mapped[str]
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    is_finished: Mapped[bool]
    score: Mapped[float | None]
    max_score: Mapped[float]
    needs_review: Mapped[bool]
    record: Mapped[str]


class TestResult(Table):
    """One component test of a result.

    Attributes:
        position: among the tests of all parts, from 0.
        part: the number of the task.
        test: file and name.
    """

    __test__ = False  # not one of the kit's own tests
    __tablename__ = "test_results"

    result_id: Mapped[int] = mapped_column(ForeignKey("results.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    part: Mapped[str]
    test: Mapped[str]
    item: Mapped[str] = mapped_column(server_default="")
    state: Mapped[str]


class Kept(Table):
    """The result that counts for a submission; another one takes its place only where nothing changes, or on demand."""

    __tablename__ = "kept"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"))


class ByHand:
    """What all decisions by hand have in common; later ones take the place of earlier ones, and none is deleted.

    Attributes:
        text: why; of a comment, the comment.
        by: who entered it.
        at: when.
    """

    id: Mapped[int] = mapped_column(primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), index=True)
    text: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]


class Override(ByHand, Table):
    """Points that a person gives for a task.

    Attributes:
        task: its number.
        points: null = from now on, the grader's again.
    """

    __tablename__ = "overrides"

    task: Mapped[str]
    points: Mapped[float | None]


class Comment(ByHand, Table):
    """A remark for the student.

    Attributes:
        task: its number; "" = on the whole.
    """

    __tablename__ = "comments"

    task: Mapped[str]


class LateDays(ByHand, Table):
    """How late a student was, where nobody else knows or it is wrong.

    Attributes:
        days: how many; null = as the platform says.
    """

    __tablename__ = "late_days"

    days: Mapped[int | None]


class Waiver(ByHand, Table):
    """Late days that cost nothing.

    Attributes:
        days: how many; null = all.
    """

    __tablename__ = "waivers"

    days: Mapped[int | None]
