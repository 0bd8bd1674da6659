"""Jobs in forked children, and limits on the time of trusted code."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from foundation.processes import CPU, FAILED, WALL, Ended, ask_forked, run_forked, time_limit


def test_jobs_run_side_by_side_and_are_ended_in_time():
    def work(job):
        yield job
        if job == 2:
            signal.pause()
        yield job + 10

    messages: dict[int, list] = {job: [] for job in range(4)}
    for job, message in run_forked(range(4), work, 0.5, n_children=2):
        messages[job].append(message)
    assert messages.pop(2) == [2, Ended(-signal.SIGKILL, "it took longer than 0.5 s")]
    assert messages == {job: [job, job + 10, Ended(0)] for job in (0, 1, 3)}


def test_each_item_has_an_answer_or_an_end(capfd):
    def answer(item):
        if item == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif item == "ended":
            os._exit(3)
        elif item == "raises":
            raise KeyError("odd")
        return (lambda: item) if item == "unsent" else item.upper()

    answers = dict(ask_forked(["killed", "ended", "raises", "unsent", "well"], answer, 20, n_children=2))
    assert answers.pop("unsent").status == FAILED
    assert answers == {
        "killed": Ended(-9, "ended by signal 9"),
        "ended": Ended(3, "ended with status 3"),
        "raises": Ended(FAILED, "KeyError: 'odd'"),
        "well": "WELL",
    }
    printed = capfd.readouterr().err
    assert "Traceback" in printed and "KeyError: 'odd'" in printed


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize(("clock", "inner"), [(WALL, 0.05), (CPU, 10)])
def test_what_takes_longer_is_stopped_and_an_outer_limit_outlives_an_inner_one(clock, inner):
    with pytest.raises(TimeoutError), time_limit(0.2, clock) as struck:
        with pytest.raises(TimeoutError), time_limit(inner, clock):
            spin(20)
        spin(20)
    assert struck
    with time_limit(5, clock) as struck:
        pass
    spin(0.01)
    assert not struck


def test_a_thread_cannot_have_a_limit():
    def limited():
        with time_limit(5):
            pytest.fail("the block was begun without a limit")

    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="main thread"):
        pool.submit(limited).result()


def test_children_end_with_their_parent():
    """Also where it is killed, and where it has no namespaces to take them along."""
    pipe, sender = os.pipe()
    parent = os.fork()
    if parent == 0:

        def work(job: int):
            os.write(sender, b"%d\n" % os.getpid())
            signal.pause()
            yield job

        try:
            [*run_forked([1, 2], work, 60, n_children=2)]
        finally:
            os._exit(0)
    os.close(sender)
    started = b""
    while started.count(b"\n") < 2:
        started += os.read(pipe, 100)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert os.read(pipe, 100) == b"", "all that could write have ended"
    os.close(pipe)
