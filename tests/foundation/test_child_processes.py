"""Jobs in forked children."""

import os
import signal
from collections import deque
from collections.abc import Iterator

from foundation.child_processes import FAILED, Ended, ask_forked, run_forked


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
        "raises": Ended(FAILED, "KeyError: 'odd'"),
        "killed": Ended(-9, "ended by signal 9", was_killed=True),
        "ended": Ended(3, "ended with status 3"),
    }
    printed = capfd.readouterr().err
    assert "Traceback" in printed and "KeyError: 'odd'" in printed


def test_each_item_has_an_answer_or_an_end():
    def answer(item: int) -> int:
        if item == 3:
            os._exit(item)
        return item * item

    found = dict(ask_forked([2, 3, 4], answer, 20, n_children=2))
    assert found == {2: 4, 3: Ended(3, "ended with status 3"), 4: 16}


def test_a_message_that_cannot_be_sent_is_the_childs_failure(capfd):
    [(_, ended)] = run_forked(deque([1]), lambda job: [lambda: job], 20)
    assert isinstance(ended, Ended) and ended.status == FAILED and "Traceback" in capfd.readouterr().err
