"""A class: nothing that one submission does stops it, and what is done is kept."""

import json
import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import pytest

from autograder.__main__ import main
from autograder.classroom import grading as class_grading
from autograder.classroom import record_names
from autograder.classroom.downloads import DownloadError
from autograder.classroom.entries import take_class
from autograder.classroom.machines import here
from autograder.classroom.record_names import file_name
from autograder.classroom.results import results_of
from autograder.classroom.store import received_of
from autograder.grading.events import Noted, TasksJudged
from autograder.grading.judging import Grader
from autograder.grading.marks import TaskResult
from autograder.grading.record import Record
from autograder.grading.recording import Recorder
from autograder.grading.states import State
from autograder.grading.submission import refusal
from autograder.intake import IntakeRefusedError
from autograder.reports.class_summary import as_class_table, parts_of, rows_of, write_summary
from autograder.reports.spreadsheets import harmless
from autograder.sandbox.containment.layers import layers_of, satisfies
from autograder.sandbox.errors import SandboxUnavailableError
from foundation.assignment_file import read_assignment

from .conftest import ASSIGNMENT, SEEDS, VERSION, StubGrader, opened, put, run


def states_of(record: Record) -> set[str]:
    return {part.state for part in record.judgement.parts}


@pytest.mark.slow
def test_finished_records_are_kept_until_something_that_decides_marks_changes(folder, output, log):
    everyone = ["anna", "bob", "carl"]
    assert list(run(folder, output)) == everyone and log() == everyone
    run(folder, output)
    assert log() == []
    (folder / "bob" / "layers.py").write_text("# changed\n")
    run(folder, output)
    assert log() == ["bob"]
    records = run(folder, output)
    carl = records["carl"]
    put(output, "carl", SEEDS.seal(carl.changed(run=carl.run.changed(finished=None))))
    put(output, "anna", records["anna"].changed(seal=""))
    run(folder, output)
    assert log() == ["anna", "carl"]
    run(folder, output, again=True)
    assert log() == everyone
    run(folder, output, version="f" * 16)
    assert log() == everyone


@pytest.mark.slow
def test_a_record_is_kept_only_where_its_level_and_its_seed_are_as_asked(folder, output, log):
    def who(**options):
        run(folder, output, **options)
        return log()

    everyone = ["anna", "bob", "carl"]
    assert who() == everyone
    assert who(level="require-uid") == who(level="unsafe") == []
    for layers, level in ((("uid", "landlock"), "auto"), (("seccomp", "uid"), "require-namespaces")):
        record = run(folder, output)["anna"]
        put(output, "anna", SEEDS.seal(record.changed(run=record.run.changed(layers=layers))))
        assert "anna" in who(level=level)
    assert who(seed=7) == everyone and who(seed=7) == []
    assert who(seed=8) == everyone
    assert who() == who(seed=7) == [], "what was found out once is not run again"


@pytest.mark.parametrize(
    "level, described, is_enough",
    [
        ("auto", "seccomp", True),
        ("auto", "rlimits only (unsafe)", False),
        ("auto", "namespaces+uid (unsafe)", False),
        ("unsafe", "rlimits only (unsafe)", True),
        ("require-namespaces", "seccomp+namespaces+uid+landlock", True),
        ("require-namespaces", "seccomp+uid+landlock", False),
        ("require-landlock", "uid+landlock (unsafe)", False),
        ("require-uid", "seccomp+uid", True),
        ("require-uid", None, True),
    ],
)
def test_which_containment_is_enough(level, described, is_enough):
    assert satisfies(level, None if described is None else layers_of(described)) == is_enough


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


@pytest.mark.slow
def test_a_child_that_takes_too_long_is_named_as_the_reason(folder, output, use, monkeypatch):
    class Slow(StubGrader):
        def parts(self, intake):
            if intake.name == "bob":
                signal.pause()
            yield from super().parts(intake)

    use(Slow)
    assignment = read_assignment()
    short = replace(assignment, limits=replace(assignment.limits, total_seconds=0.5))
    monkeypatch.setattr(here, "GRACE_SECONDS", 3.5)
    anna, bob, _ = run(folder, output, assignment=short).values()
    assert anna.judgement.score == 100
    assert states_of(bob) == {"grader error"} and "longer than 4 s" in bob.judgement.parts[0].message


def kept(folder, output) -> dict[str, Record]:
    """The records that count, by entry."""
    roll, entries = take_class(folder, output, ASSIGNMENT)
    received = received_of(roll, entries)
    with opened(output) as results:
        results.enrol(received.values())
        return {entry.entry: results.kept(received[entry.key]).record for entry in entries}


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
    assert stub.names() == sorted(["anna", "bob", "carl"] * here.MOST_TRIES)
    assert all("no processes left" in record.run.error for record in records.values())


def test_every_submission_gets_a_record_and_a_stray_none(folder, output, log):
    (folder / "notes.txt").write_text("not a submission")
    (folder / "-=2+3\n\x1b[2J.zip").write_bytes(b"no archive")
    (folder / ".hidden").write_text("")
    (folder / "dan").mkdir()
    records = run(folder, output)
    assert len(records) == 5 and log() == ["anna", "bob", "carl"]
    for name in ("-=2+3\n\x1b[2J.zip", "dan"):
        assert states_of(records[name]) == {"refused"} and records[name].is_finished


def test_names_of_records_are_files_and_differ():
    names = ["anna", "a b", "a_b", "a\nb", "x" * 300, "x" * 301, "..", ".a", "é", "a/b", "anna.zip", "\udcff"]
    made = [file_name(name) for name in names]
    assert len(set(made)) == len(made) and made[0] == "anna" and made[-2] == "anna.zip"
    assert all(len(name) <= 100 and name.isascii() and "/" not in name and name[0] != "." for name in made)


def test_no_entrys_record_is_that_of_another(folder, output, log):
    victim = "Jörg Müller"
    for name in (victim, file_name(victim), file_name(file_name(victim)), "Anna", "ANNA", "a.b", "a.B"):
        (folder / name).mkdir()
        (folder / name / "layers.py").write_text(f"# by {name}\n")
    _, entries = take_class(folder, output, ASSIGNMENT)
    assert len({entry.record.name.casefold() for entry in entries}) == len(entries) == 10
    assert len(run(folder, output)) == len(kept(folder, output)) == 10
    again = {entry.entry: entry.record.name for entry in take_class(folder, output, ASSIGNMENT)[1]}
    assert again == {entry.entry: entry.record.name for entry in entries}
    assert again["bob"] == "bob.json"


def test_names_that_come_to_the_same_record_stop_nobody(folder, output, monkeypatch):
    monkeypatch.setattr(record_names, "FEW", 0)  # as if somebody had found two names with the same digits
    before = {entry.entry: entry.record.name for entry in take_class(folder, output, ASSIGNMENT)[1]}
    for name in ("a b", "a c", "a\nb", "a_b-"):
        (folder / name).mkdir()
    made = {entry.entry: entry.record.name for entry in take_class(folder, output, ASSIGNMENT)[1]}
    assert len(set(made.values())) == len(made) == 7
    assert {name: made[name] for name in before} == before, "nobody else's record has another name"


def test_hidden_entries_are_named(folder, output):
    for name in (".DS_Store", "._anna"):
        (folder / name).touch()
    assert not take_class(folder, output, ASSIGNMENT)[0].left_out
    for name in (".dan", "__eve__"):
        (folder / name).mkdir()
    roll, entries = take_class(folder, output, ASSIGNMENT)
    assert [entry.entry for entry in entries] == ["anna", "bob", "carl"]
    assert {one.entry: one.reason.split(":")[0] for one in roll.left_out} == {".dan": "hidden", "__eve__": "hidden"}


def test_a_name_with_line_ends_stays_in_one_row(folder, output, log):
    (folder / "dan\nanna,100\r\u2028.zip").write_bytes(b"no archive")
    assert main(["grade-class", str(folder), "--output", str(output)]) == 0
    assert len((output / "summary.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize("entry, words", [(None, "expected one folder"), ("layers.py", "grade it with `grade ")])
def test_what_is_not_a_class_is_said(tmp_path, entry, words, capsys):
    (tmp_path / "class").mkdir()
    if entry:
        (tmp_path / "class" / entry).touch()
    assert main(["grade-class", str(tmp_path / "class"), "--output", str(tmp_path / "marks")]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and words in printed
    with pytest.raises(DownloadError, match="No such file"):
        take_class(tmp_path / "nowhere", tmp_path, ASSIGNMENT)


def test_the_command_writes_records_and_summaries_and_resumes(folder, output, log, capsys):
    arguments = ["grade-class", str(folder), "--output", str(output)]
    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert "3 submissions, mean 100.0" in table and "Layer normalisation" in table
    assert sorted(path.name for path in output.iterdir()) == [
        "class.db",
        "class.html",
        "class.json",
        "records",
        "students",
        "summary.csv",
        "summary.json",
    ]
    log()
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["submission"] for row in rows] == ["anna", "bob", "carl"] and log() == []
    heading = "id,name,submission,late,status,reason,score,max_score,bleu,1.1,"
    assert (output / "summary.csv").read_text(encoding="utf-8-sig").splitlines()[0].startswith(heading)
    assert main([*arguments, "--again", "--jobs", "2"]) == 0 and log() == ["anna", "bob", "carl"]


def test_the_summary_tells_all_kinds_apart(folder, output, use):
    class Mixed(StubGrader):
        def parts(self, intake):
            yield from super().parts(intake)
            state = {"anna": State.TIMEOUT, "bob": State.FAILED}.get(intake.name)
            if state:
                yield TasksJudged((TaskResult(read_assignment().tasks[3], state, 0.0, "why"),))
            if state == State.FAILED:
                yield Noted("task 1.4: the diagnosis broke", is_about_run=True)

    use(Mixed)
    (folder / "dan.zip").write_bytes(b"no archive")
    found = run(folder, output)
    roll, entries = take_class(folder, output, ASSIGNMENT)
    records = {entry.key: found[entry.entry] for entry in entries}
    results = results_of(roll, records)
    table = as_class_table(roll, results)
    assert f"{len(records)} submissions" in table and "timeout: anna" in table and "refused: dan\n" in table
    assert "1 with notes on the grading itself: bob" in table
    assert len(table.splitlines()) < 40 and max(map(len, table.splitlines())) <= 120
    for part in parts_of(records.values()):
        assert sum(part["states"].values()) == len(records)
    write_summary(roll, results, output)
    assert {row["id"]: row["1.4 state"] for row in rows_of(results)}["bob"] == "failed"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\uff1d1+1"])
def test_a_name_is_not_a_formula(text):
    plain = text.lstrip("=+-@\uff1d")
    assert harmless(text) == f"'{text}" and harmless(plain) == plain
    for separator in (";", ",", "\t", "|", "\n", '"', "; ", '";"', "\r\n "):
        cell = harmless(f"anna{separator}{text}")
        assert cell == f"anna{separator}'{text}", "whatever a spreadsheet takes for the end of a cell"
    assert harmless("jean-luc o'neill a=b, c-d") == "jean-luc o'neill a=b, c-d" and harmless(1.5) == 1.5


def test_a_refused_submission_is_looked_at_again(folder, output, log):
    (folder / "dan.zip").write_bytes(b"no archive")
    assert run(folder, output)["dan.zip"].judgement.score == 0
    recorder = Recorder("dan", read_assignment(), VERSION)
    put(output, "dan.zip", SEEDS.seal(recorder.add_all(refusal(IntakeRefusedError("dan", "because")))))
    assert "because" not in run(folder, output)["dan.zip"].judgement.parts[0].message


def test_a_look_at_an_odd_submission_that_breaks_is_shown_and_regrades(folder, output, log, monkeypatch, capfd):
    run(folder, output)
    log()

    def broken(*arguments):
        raise KeyError("a bug in intake")

    monkeypatch.setattr("autograder.classroom.staleness.take_in", broken)
    run(folder, output)
    assert log() == ["anna", "bob", "carl"] and "a bug in intake" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("true_grader")
def test_a_class_graded_for_real(folder, output):
    """The stub above is no other than the true grader."""
    records = run(folder, output, n_children=2)
    assert all(record.is_finished and record.judgement.seed_id for record in records.values())
