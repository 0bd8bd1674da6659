"""Jobs through an executor: each comes back once, whatever becomes of the machines that grade it."""

import pickle
from collections import Counter, deque
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from autograder.classroom.entries import take_class
from autograder.classroom.machines.agreement import MismatchError, check, references_of, terms_of
from autograder.classroom.machines.cluster import Cluster, ClusterError, Reader, grade_on
from autograder.classroom.machines.grader_process import (
    GraderLostError,
)
from autograder.classroom.machines.jobs import MOST_TRIES, Job, UnreadJob, record_from
from autograder.classroom.staleness import Conditions
from autograder.grading.recording import Recorder
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.scoring import read_references
from foundation.child_processes import run_forked
from foundation.places import SKELETON

from ..conftest import ASSIGNMENT, SEEDS, VERSION, StubGrader

OPENER = "tests.autograder.classroom.conftest:open_stub"


@pytest.fixture
def conditions(folder):
    return Conditions(ASSIGNMENT, SKELETON, folder / "references", VERSION, SEEDS, n_children=2)


@pytest.fixture
def jobs(folder, output, conditions):
    """Three submissions, and one that is none."""
    (folder / "dan.zip").write_bytes(b"no archive")
    return [UnreadJob(entry, conditions) for entry in take_class(folder, output, ASSIGNMENT)[1]]


@pytest.fixture
def sent(jobs, conditions):
    reader = Reader(jobs, conditions)
    yield iter(reader)
    reader.close()


def graded(job: Job, log) -> str:
    """As a machine would."""
    return Recorder(job.name, ASSIGNMENT, VERSION, job.notes).add_all(job.events(StubGrader(log))).model_dump_json()


@pytest.fixture
def run(sent, conditions, tmp_path):
    """Grades all with a task; the records by name, and what was complained about."""

    def grade(task, room=lambda: 2):
        complaints: list[MismatchError] = []
        terms = terms_of(conditions)

        def with_job(parcel: bytes) -> str:
            told, job = pickle.loads(parcel)
            assert told == terms
            return task(job)

        with ThreadPoolExecutor(2) as executor:
            found = list(grade_on(executor, sent, with_job, terms, conditions, room, complaints.append))
        names = [job.name for job, _ in found]
        assert len(names) == len(set(names)), "none twice"
        return {job.name: record for job, record in found}, complaints

    return grade


def test_each_job_comes_back_once_and_the_secret_never_leaves(run, tmp_path):
    sizes = []

    def task(job: Job) -> str:
        parcel = pickle.dumps(job)
        assert SEEDS.secret not in parcel and str(tmp_path).encode() not in parcel
        sizes.append(len(parcel))
        return graded(job, tmp_path / "log")

    records, _ = run(task)
    assert {name: record.judgement.score for name, record in records.items()} == {
        "anna": 100,
        "bob": 100,
        "carl": 100,
        "dan": None,
    }
    assert all(record.is_finished for record in records.values()) and len(sizes) == 4
    assert {records[name].judgement.seed_id for name in ("anna", "bob", "carl")} == {SEEDS.id_of_tests}


def test_what_is_lost_is_graded_again_but_not_for_ever(run, tmp_path):
    tries: Counter[str] = Counter()

    def task(job: Job) -> str:
        tries[job.name] += 1
        if job.name == "anna" or (job.name == "bob" and tries["bob"] == 1):
            raise GraderLostError("gone")
        return graded(job, tmp_path / "log")

    records, _ = run(task)
    assert tries["anna"] == MOST_TRIES and tries["bob"] == 2
    assert records["anna"].run.error == "gone" and not records["anna"].is_finished
    assert records["bob"].is_finished and records["bob"].judgement.score == 100


def test_a_machine_that_differs_grades_nothing(run, tmp_path):
    refused = []

    def task(job: Job) -> str:
        if not refused:
            refused.append(job.name)
            raise MismatchError("torch is 1.0 there", "tcp://10.0.0.7:1")
        return graded(job, tmp_path / "log")

    records, complaints = run(task)
    assert [str(one) for one in complaints] == ["worker tcp://10.0.0.7:1: torch is 1.0 there"]
    assert len(records) == 4 and all(record.is_finished for record in records.values())


@pytest.mark.parametrize(
    "failure, expected, words",
    [
        (CancelledError(), ClusterError, "connection to the scheduler was lost"),
        (ModuleNotFoundError("No module named 'autograder'"), ClusterError, "No module named 'autograder'"),
        (SandboxUnavailableError("no namespaces"), SandboxUnavailableError, "no namespaces"),
    ],
)
def test_what_concerns_all_jobs_ends_the_run(run, failure, expected, words):
    def task(job: Job) -> str:
        raise failure

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
def test_a_record_of_something_else_is_not_taken(sent, tmp_path, change):
    job = next(one.job for one in sent if one.job.name == "anna")
    record = Recorder(job.name, ASSIGNMENT, VERSION).add_all(job.events(StubGrader(tmp_path / "log")))
    assert record_from(record.model_dump_json(), job, ASSIGNMENT, VERSION) == record
    with pytest.raises(ValueError, match="of something else"):
        record_from(change(record).model_dump_json(), job, ASSIGNMENT, VERSION)
    with pytest.raises(ValueError, match="not a record"):
        record_from("{}", job, ASSIGNMENT, VERSION)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("torch", "1.0", r"torch is \S+ there and 1.0 here; install the same version"),
        ("Python", "2.7", r"Python is \S+ there and 2.7 here"),
        ("limits", "{}", "limits differs from the one here; bring the kit to the same commit"),
        ("points", "0", "points differs"),
        ("autograder/testing/nothing.py", "0", "is here, but not there"),
    ],
)
def test_a_difference_between_machines_is_one_clear_line(conditions, name, value, words):
    terms = terms_of(conditions)
    check(terms)
    terms.facts[name] = value
    with pytest.raises(MismatchError, match=words) as raised:
        check(terms)
    assert "\n" not in str(raised.value)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_terms_bring_the_references_along(conditions):
    with references_of(terms_of(conditions)) as path:
        assert not path.exists()
    conditions.references.write_bytes(b"a ||| b\nc ||| d\n")
    terms = terms_of(conditions)
    assert terms.key != terms_of(conditions, "x").key
    with references_of(terms) as path:
        for _ in range(2):
            [(_, answer), _] = run_forked(deque([1]), lambda _: [read_references(path)], 20)
            assert answer == read_references(conditions.references), "in a child, more than once"


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_a_scheduler_that_does_not_answer_is_one_clear_line(conditions, monkeypatch, address):
    monkeypatch.setattr("autograder.classroom.machines.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=address) as raised:
        Cluster(address, terms_of(conditions))
    assert "\n" not in str(raised.value)


def test_without_dask_everything_else_works(conditions, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ClusterError, match="install the extra `staff`"):
        Cluster("tcp://127.0.0.1:1", terms_of(conditions))
