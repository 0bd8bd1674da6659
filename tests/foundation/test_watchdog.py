"""A limit on the time of trusted code."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

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
