"""Jobs in forked children."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator

from foundation.child_processes import FAILED, TOGETHER, Ended, ask_forked, run_forked
from foundation.places import ROOT


def test_jobs_run_side_by_side_and_are_ended_in_time():
    def work(job: int) -> Iterator[int]:
        yield job
        if job == 2:
            signal.pause()
        yield job + 10

    found: dict[int, list] = {job: [] for job in range(4)}
    for job, message in run_forked(deque(range(4)), work, 0.5, n_children=2):
        found[job].append(message)
    assert found.pop(2) == [2, Ended(-signal.SIGKILL, "it took longer than 0.5 s")]
    assert found == {job: [job, job + 10, Ended(0)] for job in (0, 1, 3)}


def test_an_exception_is_the_reason_and_its_traceback_is_shown(capfd):
    def work(job: str) -> Iterator[str]:
        yield job
        if job == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif job == "ended":
            os._exit(3)
        raise KeyError("odd")

    jobs = deque(["raises", "killed", "ended"])
    ends = {job: message for job, message in run_forked(jobs, work, 20) if isinstance(message, Ended)}
    assert ends == {
        "raises": Ended(FAILED, "KeyError: 'odd'", raised=True),
        "killed": Ended(-9, "ended by signal 9", was_killed=True),
        "ended": Ended(3, "ended with status 3"),
    }
    printed = capfd.readouterr().err
    assert "Traceback" in printed and "KeyError: 'odd'" in printed


def test_one_child_answers_for_several_and_what_ends_it_stops_no_other():
    def answer(item: int) -> tuple[int, int]:
        if item in (3, 14):
            os._exit(item)
        return item, os.getpid()

    items = list(range(2 * TOGETHER + 1))
    found = dict(ask_forked(items, answer, 20, n_children=2))
    assert sorted(found) == items and len(found) == len(items)
    assert {item: found.pop(item) for item in (3, 14)} == {n: Ended(n, f"ended with status {n}") for n in (3, 14)}
    assert all(answer[0] == item for item, answer in found.items())
    children = {pid for _, pid in found.values()}
    assert 2 < len(children) < len(found) and os.getpid() not in children
    assert list(ask_forked([], answer, 20)) == []


def test_a_message_that_cannot_be_sent_is_the_childs_failure(capfd):
    [(_, ended)] = run_forked(deque([1]), lambda job: [lambda: job], 20)
    assert isinstance(ended, Ended) and ended.status == FAILED and "Traceback" in capfd.readouterr().err


INTERRUPTED_WHILE_FORKING = """
import os, signal
from collections import deque
from foundation.child_processes import run_forked

os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    print(list(run_forked(deque([1, 2]), lambda job: [job], 60, 1)))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_during_a_fork_is_not_forgotten():
    command = [sys.executable, "-c", INTERRUPTED_WHILE_FORKING]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
