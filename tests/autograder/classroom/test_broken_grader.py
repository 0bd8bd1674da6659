"""A grader that is killed, hangs or fails stops no class and takes no points; what was done is kept."""

import os
import signal
from contextlib import contextmanager

import pytest

from autograder.classroom import grading as class_grading
from autograder.classroom import jobs
from autograder.diagnosis.catalogue import CatalogueError
from autograder.grading import judging
from autograder.grading.judging import Grader
from autograder.grading.recording import TasksJudged
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment

from .conftest import StubGrader, kept, run


class FatalGrader(StubGrader):
    """Ends its process over anna, and raises over bob; both after the first part."""

    def parts(self, intake):
        tasks = read_assignment().tasks
        yield TasksJudged((TaskResult(tasks[0], State.PASSED, 4.0, ""),))
        if intake.name == "anna":
            os.kill(os.getpid(), signal.SIGKILL)
        if intake.name == "bob":
            raise RuntimeError("a bug of ours")
        yield from super().parts(intake)


@pytest.mark.slow
def test_a_grader_that_is_killed_stops_no_other_and_takes_no_points(folder, output, use, capfd):
    use(FatalGrader)
    records = run(folder, output, n_children=2)
    assert records["carl"].judgement.score == 100
    for name, reason in (("anna", "ended by signal 9"), ("bob", "RuntimeError: a bug of ours")):
        first, *others = records[name].judgement.parts
        assert (first.state, first.score) == ("passed", 4), "what was judged before stays"
        assert {part.state for part in others} == {"grader error"}
        assert all(reason in part.message for part in others) and reason in records[name].run.error
        assert not records[name].is_finished
    printed = capfd.readouterr().err
    assert "Traceback" in printed and "a bug of ours" in printed


def test_a_misconception_that_does_not_fit_stops_no_class(monkeypatch):
    """A word of a solution was renamed: what knows it is told of in the diagnosis, and no marks depend on that."""

    class Broken:
        def prepare(self, components, task):
            raise CatalogueError(f"task {task}: `find` occurs 0 times")

    monkeypatch.setattr(judging, "make_diagnostician", lambda *arguments: Broken())
    grader = Grader(read_assignment(), None, None, None)
    grader.prepare()
    assert isinstance(grader.diagnostician, Broken)


def test_no_record_is_deleted_before_its_successor_exists(folder, output, log, use, monkeypatch, capsys):
    """Neither where grading cannot start, nor where it is interrupted or fails."""
    before = run(folder, output)

    @contextmanager
    def unavailable(*arguments):
        raise SandboxUnavailableError("no namespaces")
        yield

    monkeypatch.setattr(class_grading, "open_grader", unavailable)
    with pytest.raises(SandboxUnavailableError):
        run(folder, output, again=True)
    assert kept(folder, output) == before

    class Interrupted(StubGrader):
        def renew(self) -> None:
            if "anna" in self.log.read_text():
                raise KeyboardInterrupt

    use(Interrupted).names()
    with pytest.raises(KeyboardInterrupt):
        run(folder, output, again=True)
    assert kept(folder, output) == before

    use(FatalGrader)
    capsys.readouterr()
    after = run(folder, output, again=True)
    assert after["anna"] == before["anna"] and after["bob"] == before["bob"]
    assert "note: anna: the grader failed this time, so that the earlier result stays" in capsys.readouterr().err


def test_a_zygote_that_ends_is_replaced(folder, output, monkeypatch, tmp_path):
    class Zygote:
        """The first one ends as soon as it is used."""

        made: list["Zygote"] = []

        def __init__(self, assignment: object, level: str) -> None:
            self.made.append(self)
            self.number = len(self.made)

        is_ours = True

        def is_alive(self) -> bool:
            return self.number != 1 or not (tmp_path / "log").exists()

        def kill(self) -> None:
            pass

    class Breaking(Grader):
        def judge(self, intake, seed, **options):
            yield from StubGrader(tmp_path / "log").judge(intake, seed)
            if self.zygote.number == 1:
                raise SandboxUnavailableError("the zygote did not start a worker")

    @contextmanager
    def open_breaking(assignment, references, level):
        yield Breaking(assignment, references, None, Zygote(assignment, level), level)

    monkeypatch.setattr("autograder.sandbox.containment.zygote.Zygote", Zygote)
    monkeypatch.setattr(class_grading, "open_grader", open_breaking)
    records = run(folder, output)
    assert [zygote.number for zygote in Zygote.made] == [1, 2]
    assert {record.judgement.score for record in records.values()} == {100}
    assert all(record.is_finished for record in records.values())


def test_a_sandbox_that_stays_unavailable_is_told(folder, output, use):
    class Unavailable(StubGrader):
        def parts(self, intake):
            raise SandboxUnavailableError("no processes left")
            yield

    stub = use(Unavailable)
    records = run(folder, output)
    assert stub.names() == sorted(["anna", "bob", "carl"] * jobs.MOST_TRIES)
    assert all("no processes left" in record.run.error for record in records.values())
