"""A true cluster on the loopback: a scheduler and two workers, of which one is killed while it grades."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Self

import psutil
import pytest

from autograder.classroom.machines import Cluster, terms_of
from autograder.classroom.machines.agreement import MismatchError
from autograder.classroom.staleness import Conditions
from autograder.grading.record import read_record
from benchmarks.processes import family, has_ended, start
from benchmarks.submissions import write_small_class
from foundation.places import ROOT, SKELETON

from ..conftest import ASSIGNMENT, SEEDS, VERSION

pytestmark = pytest.mark.slow

N = 4
SECONDS = 600
GONE_SECONDS = 1.0
START_SECONDS = 60.0
END_SECONDS = 10.0


class LoopbackCluster:
    """Used in a with-block, after which none of its processes is left.

    Attributes:
        address: of the scheduler.
        workers: their processes, in the order in which they were started.
    """

    def __init__(self, n_workers: int) -> None:
        """Starts the scheduler and the workers; returns as soon as all have joined."""
        from distributed import Client  # here: only these tests need it

        self._folder = tempfile.TemporaryDirectory(prefix="cluster-")
        file = Path(self._folder.name, "scheduler.json")
        options = ("--host", "127.0.0.1", "--port", 0, "--no-show", "--no-dashboard", "--scheduler-file", file)
        self.scheduler = start("-m", "dask", "scheduler", *options)
        self.address = address_in(file)
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(n_workers):
            self.add_worker()
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=START_SECONDS)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all."""
        processes = (*self.workers, self.scheduler)
        for process in processes:
            process.terminate()
        for process in processes:
            if not has_ended(process, END_SECONDS):
                process.kill()
                process.wait()
        self._folder.cleanup()

    def add_worker(self) -> None:
        """Starts one more, which joins when it is ready."""
        options = ("--no-nanny", "--nthreads", 1, "--no-dashboard", "--local-directory", self._folder.name)
        self.workers.append(start("-m", "dask", "worker", self.address, "--host", "127.0.0.1", *options))


def address_in(file: Path) -> str:
    """The address that a scheduler writes into its file as soon as it has one."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise RuntimeError("no Dask scheduler has started")


def grade_class(folder, output, *options) -> "subprocess.Popen[str]":
    """Starts the command; any warning is an error in it."""
    command = [sys.executable, "-W", "error", "-m", "autograder", "grade-class", str(folder), "--output", str(output)]
    return subprocess.Popen([*command, "--seed", "3", *options], cwd=ROOT, text=True, stderr=subprocess.PIPE)


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


def test_a_worker_is_killed_and_nothing_is_lost_doubled_or_left(tmp_path):
    write_small_class(tmp_path / "class", N)
    terms = terms_of(Conditions(ASSIGNMENT, SKELETON, tmp_path / "references", VERSION, SEEDS))
    with LoopbackCluster(2) as cluster:
        terms.facts["torch"] = "1.0"
        with pytest.raises(MismatchError, match=r"^worker tcp://127.0.0.1:\d+: torch is \S+ there and 1.0 here"):
            Cluster(cluster.address, terms)
        command = grade_class(tmp_path / "class", tmp_path / "marks", "--scheduler", cluster.address)
        wait_for_a_result(command, tmp_path / "marks")
        below = family(cluster.workers[0].pid)[1:]
        assert any("machines.server" in " ".join(process.cmdline()) for process in below)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        deadline = time.monotonic() + GONE_SECONDS
        while are_alive(below) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not are_alive(below)
        printed = command.communicate(timeout=SECONDS)[1]
        assert command.returncode == 0 and not printed, printed
        left = family(cluster.workers[1].pid)[1:]
        assert not are_alive(left), "graders end with the class, workers stay"
    records = [read_record(path) for path in (tmp_path / "marks" / "records").iterdir()]
    assert len(records) == N and all(record.is_finished for record in records)
    assert count(tmp_path / "marks", "results") == count(tmp_path / "marks", "runs") == N
