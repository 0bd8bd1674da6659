"""A limit on the time of trusted code."""

import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from foundation import watchdog
from foundation.watchdog import CPU, WALL, time_limit


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize("clock", [WALL, CPU])
def test_what_takes_longer_is_stopped(clock):
    with pytest.raises(TimeoutError), time_limit(0.1, clock) as struck:
        spin(20)
    assert struck
    with time_limit(5, clock) as struck:
        pass
    spin(0.01)
    assert not struck


@pytest.mark.parametrize(("clock", "inner"), [(WALL, 0.05), (CPU, 10)])
def test_an_outer_limit_outlives_an_inner_one(clock, inner):
    with pytest.raises(TimeoutError), time_limit(0.2, clock) as struck:
        with pytest.raises(TimeoutError), time_limit(inner, clock):
            spin(20)
        spin(20)
    assert struck


def test_a_thread_cannot_have_a_limit():
    def limited() -> None:
        with time_limit(5):
            pytest.fail("the block was begun without a limit")

    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="main thread"):
        pool.submit(limited).result()


class Deleted:
    """Its end takes longer than the limit."""

    def __del__(self) -> None:
        spin(0.2)


class Finalized:
    """Likewise."""

    def __init__(self) -> None:
        weakref.finalize(self, spin, 0.2)


@pytest.mark.parametrize("kind, most", [(Deleted, watchdog.MOST_POSTPONED), (Finalized, 0)])
def test_a_limit_that_is_reached_in_a_finalizer_strikes_after_it(kind, most, monkeypatch):
    """Python would print an exception there, and ignore it; an end that never ends meets it all the same."""
    ignored = []
    monkeypatch.setattr(watchdog, "MOST_POSTPONED", most)
    monkeypatch.setattr(watchdog, "AGAIN_SECONDS", 0.3)
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    with pytest.raises(TimeoutError), time_limit(0.05, CPU) as struck:
        kind()
        spin(5)
    assert len(ignored) == (most == 0) and len(struck) == 1 + (most == 0)
