"""Parcels through an executor: each job comes back once, whatever becomes of the machines; and a true cluster."""

import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from autograder.classroom.cluster import (
    Answer,
    ClusterError,
    Parcel,
    connected,
    difference,
    grade_jobs,
    grade_on,
    read_all,
    record_from,
    references_of,
    terms_of,
)
from autograder.classroom.entries import take_class
from autograder.classroom.grading import MOST_TRIES, Job, job_of
from autograder.classroom.regrading import Conditions
from autograder.grading.record import read_record
from autograder.grading.recording import Recorder
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.scoring import read_references
from benchmarks.processes import family, has_ended, start
from benchmarks.submissions import write_small_class
from foundation.child_processes import run_forked
from foundation.places import ROOT, SKELETON

from .conftest import ASSIGNMENT, SEEDS, VERSION, StubGrader


@pytest.fixture
def conditions(folder):
    return Conditions(ASSIGNMENT, SKELETON, folder / "references", VERSION, SEEDS, n_children=2)


@pytest.fixture
def read(folder, output, conditions, tmp_path):
    """Three submissions, and one that is none, with the files that hold them as read."""
    (folder / "dan.zip").write_bytes(b"no archive")
    (tmp_path / "read").mkdir()
    jobs = [job_of(entry, conditions) for entry in take_class(folder, output, ASSIGNMENT)[1]]
    return read_all(jobs, tmp_path / "read", 2)


def graded(job: Job, log) -> str:
    """As a machine would."""
    return Recorder(job.name, ASSIGNMENT, VERSION, job.notes).add_all(job.events(StubGrader(log))).model_dump_json()


@pytest.fixture
def run(read, conditions, tmp_path):
    """Grades all, two to a parcel, with a task that answers for jobs; the records by name."""

    def grade(task):
        terms = terms_of(conditions)

        def answer(parcel: bytes) -> Answer:
            told, packed = pickle.loads(parcel)
            assert told == terms and SEEDS.secret not in parcel and str(tmp_path).encode() not in parcel
            return task([pickle.loads(one) for one in packed])

        parcels = iter([Parcel(read[:2]), Parcel(read[2:])])
        with ThreadPoolExecutor(2) as executor:
            found = list(grade_on(executor, parcels, answer, terms, conditions, lambda: 2))
        names = [job.name for job, _ in found]
        assert sorted(names) == ["anna", "bob", "carl", "dan"], "none twice"
        return {job.name: record for job, record in found}

    return grade


def test_each_job_comes_back_once(run, tmp_path):
    records = run(lambda jobs: {"records": [graded(job, tmp_path / "log") for job in jobs]})
    scores = {name: record.judgement.score for name, record in records.items()}
    assert scores == {"anna": 100, "bob": 100, "carl": 100, "dan": None}
    assert all(record.is_finished for record in records.values())
    assert {records[name].judgement.seed_id for name in ("anna", "bob", "carl")} == {SEEDS.id_of_tests}


def test_what_is_lost_is_graded_again_but_not_for_ever(run, tmp_path):
    tries: Counter[str] = Counter()

    def task(jobs: list[Job]) -> Answer:
        tries.update(job.name for job in jobs)
        if any(job.name == "anna" for job in jobs):
            return {"lost": "gone", "machine": "tcp://10.0.0.7:1"}
        return {"records": [graded(job, tmp_path / "log") for job in jobs]}

    records = run(task)
    assert tries["anna"] == MOST_TRIES + 1, "in a parcel, then alone"
    assert records["anna"].run.error == "gone" and not records["anna"].is_finished
    assert records["bob"].is_finished and records["bob"].judgement.score == 100


@pytest.mark.parametrize(
    "failure, expected, words",
    [
        (CancelledError(), ClusterError, "connection to the scheduler was lost"),
        (ModuleNotFoundError("No module named 'autograder'"), ClusterError, "No module named 'autograder'"),
        ({"unavailable": "no namespaces"}, SandboxUnavailableError, "no namespaces"),
        ({"differs": "torch is 1.0 there", "machine": "tcp://10.0.0.7:1"}, ClusterError, "7:1: torch is 1.0 there"),
    ],
)
def test_what_concerns_all_jobs_ends_the_run(run, failure, expected, words):
    def task(jobs: list[Job]) -> Answer:
        if isinstance(failure, Exception):
            raise failure
        return failure

    with pytest.raises(expected, match=words):
        run(task)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.changed(submission="eve"),
        lambda record: record.changed(judgement=record.judgement.changed(seed_id="0" * 12)),
        lambda record: record.changed(judgement=record.judgement.changed(content_hash="0" * 64)),
        lambda record: record.changed(judgement=record.judgement.changed(grader_version="0" * 16)),
    ],
)
def test_a_record_of_something_else_is_not_taken(read, conditions, tmp_path, change):
    job = next(pickle.loads(file.read_bytes()) for origin, file in read if origin.name == "anna")
    record = Recorder(job.name, ASSIGNMENT, VERSION).add_all(job.events(StubGrader(tmp_path / "log")))
    assert record_from(record.model_dump_json(), job, conditions) == record
    with pytest.raises(ValueError, match="of something else"):
        record_from(change(record).model_dump_json(), job, conditions)
    with pytest.raises(ValueError, match="not a record"):
        record_from("{}", job, conditions)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("torch", "1.0", r" there and 1.0 here; install the same version"),
        ("Python", "2.7", r" there and 2.7 here"),
        ("limits", "{}", "limits differs from the one here; bring the kit to the same commit"),
        ("points", "0", "points differs"),
        ("autograder/testing/nothing.py", "0", "is here, but not there"),
    ],
)
def test_a_difference_between_machines_is_one_clear_line(conditions, name, value, words):
    terms = terms_of(conditions)
    assert difference(terms) == ""
    terms.facts[name] = value
    assert words in difference(terms) and "\n" not in difference(terms)
    assert grade_jobs(terms, []) == {"differs": difference(terms)}


def test_terms_bring_the_references_along(conditions):
    with references_of(terms_of(conditions)) as path:
        assert not path.exists()
    conditions.references.write_bytes(b"a ||| b\nc ||| d\n")
    with references_of(terms_of(conditions)) as path:
        for _ in range(2):
            [(_, answer), _] = run_forked(deque([1]), lambda _: [read_references(path)], 20)
            assert answer == read_references(conditions.references), "in a child, more than once"


N = 4
SECONDS = 600
GONE_SECONDS = 1.0
START_SECONDS = 60.0
END_SECONDS = 10.0


@contextmanager
def loopback_cluster(folder: Path, n_workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler's address and the processes of its workers; none of them is left after the block."""
    from distributed import Client  # here: only these tests need it

    file, here, quiet = folder / "scheduler.json", ("--host", "127.0.0.1"), ("--no-dashboard",)
    processes = [start("-m", "dask", "scheduler", *here, "--port", 0, "--no-show", *quiet, "--scheduler-file", file)]
    try:
        address = address_in(file)
        options = ("--no-nanny", "--nthreads", 1, *quiet, "--local-directory", folder)
        processes += [start("-m", "dask", "worker", address, *here, *options) for _ in range(n_workers)]
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=START_SECONDS)
        yield address, processes[1:]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            if not has_ended(process, END_SECONDS):
                process.kill()
                process.wait()


def address_in(file: Path) -> str:
    """The address that a scheduler writes into its file as soon as it has one."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise RuntimeError("no Dask scheduler has started")


def n_results(output: Path) -> int:
    """Results in the database; 0 where there is none yet."""
    file = f"file:{output / 'class.db'}?mode=ro"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file, uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    return 0


def are_alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_a_worker_is_killed_and_nothing_is_lost_doubled_or_left(tmp_path):
    """Any warning is an error in the command."""
    marks = tmp_path / "marks"
    write_small_class(tmp_path / "class", N)
    terms = terms_of(Conditions(ASSIGNMENT, SKELETON, tmp_path / "references", VERSION, SEEDS))
    terms.facts["torch"] = "1.0"
    wanted = r"^worker tcp://127.0.0.1:\d+: torch is \S+ there and 1.0 here"
    with loopback_cluster(tmp_path, 2) as (address, workers):
        with pytest.raises(ClusterError, match=wanted), connected(address, terms):
            pass
        words = ["-m", "autograder", "grade-class", tmp_path / "class", "--output", marks, "--seed", "3"]
        words = [sys.executable, "-W", "error", *map(str, words), "--scheduler", address]
        command = subprocess.Popen(words, cwd=ROOT, text=True, stderr=subprocess.PIPE)
        while not n_results(marks):
            assert command.poll() is None, command.stderr.read()
            time.sleep(0.05)
        below = family(workers[0].pid)[1:]
        assert any("classroom.cluster" in " ".join(process.cmdline()) for process in below)
        os.kill(workers[0].pid, signal.SIGKILL)
        deadline = time.monotonic() + GONE_SECONDS
        while are_alive(below) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not are_alive(below)
        printed = command.communicate(timeout=SECONDS)[1]
        lines = [line for line in printed.splitlines() if "drew the term's secret" not in line]  # in a new checkout
        assert command.returncode == 0 and not lines, printed
        assert not are_alive(family(workers[1].pid)[1:]), "graders end with the class, workers stay"
    records = [read_record(path) for path in (marks / "records").iterdir()]
    assert len(records) == n_results(marks) == N and all(record.is_finished for record in records)
