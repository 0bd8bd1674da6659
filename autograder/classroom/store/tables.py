"""The tables of a class's database, which are made where they are missing.

    students ── handed_in ── submissions ── results ── test_results
        │                         │            │
        └ decisions               └── kept ────┘  the result that counts

A submission is one entry of the class's folder. A result is what one version of the grader found out about one content
of it. Times are kept in UTC.
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
    """A student of the roster; without a roster, whoever handed in one entry."""

    __tablename__ = "students"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)  # by which the course knows the student, or the name of the entry
    name: Mapped[str]
    email: Mapped[str]
    group_name: Mapped[str]


class Submission(Table):
    """One entry of the class's folder."""

    __tablename__ = "submissions"

    id: Mapped[int] = mapped_column(primary_key=True)
    entry: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]  # for people


class HandedIn(Table):
    """Whose submission it is; partners share one."""

    __tablename__ = "handed_in"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True, index=True)


class Result(Table):
    """What one version of the grader found out about one content; there is one for each key, never two.

    The columns beside the record, and `test_results`, repeat some of it for queries.
    """

    __tablename__ = "results"
    __table_args__ = (UniqueConstraint("submission_id", "content", "version", "seed_id", "weighting"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    content: Mapped[str]  # hash of the names and hashes of its files; "" where the grader could not read them
    version: Mapped[str]  # of everything that decides outcomes
    seed_id: Mapped[str]  # names the seed of the tests' inputs
    weighting: Mapped[str]  # version of points, thresholds, credit and titles
    is_finished: Mapped[bool]  # whether nothing is left to be graded
    score: Mapped[float | None]  # points; null where a person has to decide about a part that has points
    max_score: Mapped[float]
    record: Mapped[str]  # the sealed record, as JSON


class TestResult(Table):
    """One component test of a result."""

    __test__ = False  # not one of the kit's own tests
    __tablename__ = "test_results"

    result_id: Mapped[int] = mapped_column(ForeignKey("results.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)  # among the tests of all parts, from 0
    part: Mapped[str]  # the number of the task
    test: Mapped[str]  # file and name
    item: Mapped[str]
    state: Mapped[str]


class Kept(Table):
    """The result that counts for a submission; another one takes its place only where nothing changes, or on demand."""

    __tablename__ = "kept"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"))


class Decided(Table):
    """A decision by hand; later ones take the place of earlier ones, and none is deleted."""

    __tablename__ = "decisions"

    id: Mapped[int] = mapped_column(primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), index=True)
    kind: Mapped[str]  # "points", "comment", "late" or "waiver"
    task: Mapped[str]  # its number; "" = the whole submission
    value: Mapped[float | None]  # points or days; null = taken back, or all days of a waiver
    text: Mapped[str]  # why, or the comment
    by: Mapped[str]  # who entered it
    at: Mapped[datetime]
