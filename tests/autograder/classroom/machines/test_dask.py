"""A true cluster on the loopback: a scheduler and three workers, of which two are killed while they grade."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import psutil
import pytest

from autograder.classroom.machines import Cluster, terms_of
from autograder.classroom.machines.agreement import MismatchError
from autograder.classroom.staleness import Conditions
from autograder.grading.record import read_record
from benchmarks.processes import family
from benchmarks.submissions import write_small_class
from foundation.places import ROOT, SKELETON

from ..conftest import ASSIGNMENT, SEEDS, VERSION
from .loopback_cluster import LoopbackCluster

pytestmark = pytest.mark.slow

N = 4
SECONDS = 600
GONE_SECONDS = 1.0


def grade_class(folder, output, *options) -> "subprocess.Popen[str]":
    """Starts the command; any warning is an error in it."""
    command = [sys.executable, "-W", "error", "-m", "autograder", "grade-class", str(folder), "--output", str(output)]
    return subprocess.Popen([*command, "--seed", "3", *options], cwd=ROOT, text=True, stderr=subprocess.PIPE)


def judgements(output) -> dict[str, object]:
    return {path.stem: read_record(path).judgement for path in (output / "records").iterdir()}


def count(output, table: str) -> int:
    """Rows of a table; 0 where there is none yet."""
    if not (output / "class.db").exists():
        return 0
    with closing(sqlite3.connect(f"file:{output / 'class.db'}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def wait_for_a_result(command: subprocess.Popen, output) -> None:
    while not count(output, "results"):
        assert command.poll() is None, command.stderr.read()
        time.sleep(0.05)


def are_alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_two_of_three_workers_are_killed_and_nothing_is_lost_doubled_or_left(tmp_path):
    write_small_class(tmp_path / "class", N)
    with LoopbackCluster(3) as cluster:
        command = grade_class(tmp_path / "class", tmp_path / "marks", "--scheduler", cluster.address)
        wait_for_a_result(command, tmp_path / "marks")
        below = [process for worker in cluster.workers[:2] for process in family(worker.pid)[1:]]
        assert any("machines.server" in " ".join(process.cmdline()) for process in below)
        for worker in cluster.workers[:2]:
            os.kill(worker.pid, signal.SIGKILL)
        deadline = time.monotonic() + GONE_SECONDS
        while are_alive(below) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not are_alive(below)
        cluster.add_worker()
        printed = command.communicate(timeout=SECONDS)[1]
        assert command.returncode == 0 and not printed, printed
        left = [process for worker in cluster.workers[2:] for process in family(worker.pid)[1:]]
        assert not are_alive(left), "graders end with the class, workers stay"
    local = grade_class(tmp_path / "class", tmp_path / "local", "--jobs", "2")
    assert local.communicate(timeout=SECONDS)[1] == "" and local.returncode == 0
    assert judgements(tmp_path / "marks") == judgements(tmp_path / "local")
    assert count(tmp_path / "marks", "results") == count(tmp_path / "marks", "runs") == N


def test_without_a_scheduler_any_more_what_is_finished_stays(tmp_path):
    write_small_class(tmp_path / "class", N)
    with LoopbackCluster(1) as cluster:
        command = grade_class(tmp_path / "class", tmp_path / "marks", "--scheduler", cluster.address)
        wait_for_a_result(command, tmp_path / "marks")
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        printed = command.communicate(timeout=SECONDS)[1]
    assert command.returncode == 2 and printed.count("\n") == 1, printed
    assert "the connection to the scheduler was lost" in printed
    assert 0 < count(tmp_path / "marks", "results") < N


def test_workers_that_differ_are_named_before_anything_is_graded(tmp_path):
    references = tmp_path / "references"
    terms = terms_of(Conditions(ASSIGNMENT, SKELETON, references, VERSION, SEEDS))
    with LoopbackCluster(2) as cluster:
        with Cluster(cluster.address, terms):
            pass
        terms.facts["torch"] = "1.0"
        with pytest.raises(MismatchError, match=r"^worker tcp://127.0.0.1:\d+: torch is \S+ there and 1.0 here") as it:
            Cluster(cluster.address, terms)
        assert "\n" not in str(it.value)
