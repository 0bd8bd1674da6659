"""Processes that die: no test is blamed for it, nothing outlives its parent, marks stay as they would have been."""

import os
import signal
import time
from collections import deque
from pathlib import Path

import psutil
import pytest

from autograder.grading.record import Record
from autograder.grading.recording import Recorder
from autograder.grading.submission import events_of, open_grader
from autograder.intake import take_in
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.child_processes import run_forked

from .conftest import SEEDS, SKELETON, VERSION

NORM = "layers.LayerNorm"


@pytest.fixture
def own_zygote():
    """One that a test may kill."""
    with Zygote(read_assignment()) as started:
        assert started.is_alive()
        yield started


def last_below(zygote: Zygote) -> int:
    """The process id of the worker, or of the zygote itself where there is none."""
    process = psutil.Process(zygote._process.pid)
    return [process, *process.children(recursive=True)][-1].pid


def grade(folder: Path, zygote: Zygote, references: Path, strike) -> Record:
    """The record of a folder; after the first results, `strike` is called."""
    intake = take_in(folder, SKELETON, read_assignment())
    with open_grader(read_assignment(), references, zygote=zygote) as grader:
        recorder = Recorder(intake.name, grader.assignment, VERSION)
        blows = deque([strike])
        for event in events_of(intake, SEEDS, grader):
            recorder.add(event)
            if type(event).__name__ == "Contained" and blows:
                blows.popleft()()
        if grader.zygote is not zygote:
            grader.zygote.close()
        return recorder.record


@pytest.mark.slow
def test_a_killed_zygote_is_replaced_and_no_test_is_blamed(own_zygote, graded, references, class_folder):
    pid = last_below(own_zygote)
    record = grade(class_folder / "good", own_zygote, references, lambda: os.kill(pid, signal.SIGKILL))
    assert record.judgement == graded("good").judgement and record.is_finished
    assert any("judged again" in note for note in record.run.notes)


def test_children_end_with_their_parent():
    """Also where it is killed, and where it has no namespaces to take them along."""
    pipe, sender = os.pipe()
    parent = os.fork()
    if parent == 0:
        try:

            def work(job: int):
                os.write(sender, b"%d\n" % os.getpid())
                while True:
                    signal.pause()
                    yield job

            for _ in run_forked(deque([1, 2]), work, 60, n_children=2):
                pass
        finally:
            os._exit(0)
    os.close(sender)
    found = b""
    while found.count(b"\n") < 2:
        found += os.read(pipe, 100)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    deadline = time.monotonic() + 1
    pids = [int(line) for line in found.split()]
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
