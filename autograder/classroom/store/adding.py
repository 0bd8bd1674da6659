"""Adds a result in one transaction.

This is done for each submission of a class, so the statements are made once: making one takes longer than SQLite takes
to run it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from ...grading.record import Record, now
from .enrolment import Received
from .tables import Attempt, Kept, Result, Run, TestResult, Version


@dataclass(frozen=True)
class Added:
    """Where a result is.

    Attributes:
        result: its id.
        attempt: id of the attempt that it is about.
        run: id of the run that it comes from.
        text: the record that is there.
    """

    result: int
    attempt: int
    run: int
    text: str


ATTEMPTS, KEPT, RESULTS, RUNS, TESTS, VERSIONS = (
    table.metadata.tables[table.__tablename__] for table in (Attempt, Kept, Result, Run, TestResult, Version)
)
"""Without the classes, which statements would map rows to."""
FIND_VERSION = select(VERSIONS.c.id).where(VERSIONS.c.id == bindparam("version"))
ADD_VERSION = insert(VERSIONS)
FIND_ATTEMPT = select(ATTEMPTS.c.id, ATTEMPTS.c.submitted, ATTEMPTS.c.is_late).where(
    ATTEMPTS.c.submission_id == bindparam("submission"), ATTEMPTS.c.content == bindparam("content")
)
ADD_ATTEMPT = insert(ATTEMPTS).returning(ATTEMPTS.c.id)
CHANGE_ATTEMPT = update(ATTEMPTS).where(ATTEMPTS.c.id == bindparam("attempt"))
FIND_RESULT = select(RESULTS.c.id, RESULTS.c.is_finished, RESULTS.c.run_id, RESULTS.c.record).where(
    RESULTS.c.attempt_id == bindparam("attempt_id"),
    RESULTS.c.version_id == bindparam("version_id"),
    RESULTS.c.seed_id == bindparam("seed_id"),
    RESULTS.c.weighting == bindparam("weighting"),
)
ADD_RUN = insert(RUNS).returning(RUNS.c.id)
ADD_RESULT = insert(RESULTS).returning(RESULTS.c.id)
CHANGE_RESULT = update(RESULTS).where(RESULTS.c.id == bindparam("result"))
DROP_TESTS = delete(TESTS).where(TESTS.c.result_id == bindparam("result"))
ADD_TESTS = insert(TESTS)
FIND_KEPT = (
    select(RESULTS.c.attempt_id)
    .join(KEPT, KEPT.c.result_id == RESULTS.c.id)
    .where(KEPT.c.submission_id == bindparam("submission"))
)
ADD_KEPT = insert(KEPT)
CHANGE_KEPT = update(KEPT).where(KEPT.c.submission_id == bindparam("submission"))


def add(
    connection: Connection,
    submission: int,
    received: Received,
    record: Record,
    text: str,
    run: int | None,
    is_sealed: Callable[[str], bool],
) -> Added:
    """Adds a result; see `Results.add`.

    Args:
        connection: in a transaction.
        submission: id of what was graded.
        received: the same.
        record: sealed.
        text: the record as JSON.
        run: id of the run that it comes from; None = a new one.
        is_sealed: whether this term's grader has written a record.
    """
    judgement = record.judgement
    if connection.execute(FIND_VERSION, {"version": judgement.grader_version}).first() is None:
        connection.execute(ADD_VERSION, {"id": judgement.grader_version, "first_used": now()})
    attempt = _attempt(connection, submission, received, judgement.content_hash)
    key = {
        "attempt_id": attempt,
        "version_id": judgement.grader_version,
        "seed_id": judgement.seed_id,
        "weighting": judgement.weighting,
    }
    present = connection.execute(FIND_RESULT, key).first()
    if present is not None and present.record == text:  # the connection had dropped after it was stored
        return Added(present.id, attempt, present.run_id, text)
    if run is None:
        run = _add_run(connection, attempt, record)
    if present is not None and present.is_finished and not record.is_finished and is_sealed(present.record):
        return Added(present.id, attempt, present.run_id, present.record)
    values = {
        "run_id": run,
        "is_finished": record.is_finished,
        "score": judgement.score,
        "max_score": judgement.max_score,
        "needs_review": judgement.score is None,
        "record": text,
    }
    if present is None:
        result = connection.execute(ADD_RESULT, {**key, **values}).scalar_one()
    else:
        result = present.id
        connection.execute(CHANGE_RESULT, {"result": result, **values})
        connection.execute(DROP_TESTS, {"result": result})
    if tests := _tests(result, record):
        connection.execute(ADD_TESTS, tests)
    kept = connection.execute(FIND_KEPT, {"submission": submission}).first()
    if kept is None:
        connection.execute(ADD_KEPT, {"submission_id": submission, "result_id": result})
    elif kept.attempt_id != attempt:
        connection.execute(CHANGE_KEPT, {"submission": submission, "result_id": result})
    return Added(result, attempt, run, text)


def _attempt(connection: Connection, submission: int, received: Received, content: str) -> int:
    details = {"submitted": received.submitted, "is_late": received.is_late}
    found = connection.execute(FIND_ATTEMPT, {"submission": submission, "content": content}).first()
    if found is None:
        values = {"submission_id": submission, "content": content, **details}
        return int(connection.execute(ADD_ATTEMPT, values).scalar_one())
    if (found.submitted, found.is_late) != (received.submitted, received.is_late):
        connection.execute(CHANGE_ATTEMPT, {"attempt": found.id, **details})
    return int(found.id)


def _add_run(connection: Connection, attempt: int, record: Record) -> int:
    run = record.run
    values = {
        "attempt_id": attempt,
        "version_id": record.judgement.grader_version,
        "started": run.started,
        "finished": run.finished,
        "host": run.host,
        "seconds": run.seconds,
        "error": run.error,
    }
    return int(connection.execute(ADD_RUN, values).scalar_one())


def _tests(result: int, record: Record) -> list[dict[str, object]]:
    tests = [(part.number, test) for part in record.judgement.parts for test in part.tests]
    return [
        {
            "result_id": result,
            "position": position,
            "part": part,
            "test": test.nodeid,
            "is_core": test.core,
            "state": test.state.value,
        }
        for position, (part, test) in enumerate(tests)
    ]
