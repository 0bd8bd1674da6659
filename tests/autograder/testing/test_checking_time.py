"""Answers that keep the grader busy cost the time of their own file of tests."""

from pathlib import Path

import pytest

from autograder.testing import checking_time
from autograder.testing.checking_time import CheckingTime, CheckingTimeoutError


def spin(until: float, clock: list[float]) -> None:
    """Lets the clock go on."""
    clock[0] += until


@pytest.fixture
def clock(monkeypatch):
    """A clock that only `spin` moves."""
    now = [0.0]
    monkeypatch.setattr(checking_time.time, "process_time", lambda: now[0])
    return now


def check(waiting: CheckingTime, file: str, seconds: float, clock: list[float]) -> bool:
    """Whether a test of a file runs; it takes some seconds, which stay below its own limit."""
    try:
        with waiting.limit(Path(file), f"{file}::test"):
            spin(seconds, clock)
    except CheckingTimeoutError:
        return False
    return True


def test_tests_that_each_stay_within_their_limit_use_up_no_other_files_time(clock):
    waiting = CheckingTime()
    n_run = sum(check(waiting, "busy.py", 1.9, clock) for _ in range(50))
    assert n_run * 1.9 <= checking_time.SECONDS_A_FILE + 1.9
    assert check(waiting, "other.py", 0.1, clock)


def test_however_many_files_are_busy_checking_ends(clock):
    waiting = CheckingTime()
    for file in range(40):
        while check(waiting, f"{file}.py", 1.9, clock):
            pass
    assert clock[0] <= checking_time.SECONDS_IN_ALL + 1.9
