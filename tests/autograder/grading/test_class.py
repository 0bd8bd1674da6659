"""A class: nothing that one submission does stops it, and what is done is kept."""

import json
import os
import shutil
import signal
from collections import deque

import pytest

from autograder.__main__ import main
from autograder.classroom import grading as class_grading
from autograder.classroom.grading import ClassError, ClassGrading, file_name, submissions_in
from autograder.grading.marks import TaskResult
from autograder.grading.one import name_seed, refuse
from autograder.grading.record import Record, read_record
from autograder.intake import take_in
from autograder.reports.class_summary import as_class_table, harmless, parts_of, read_class, rows_of, write_summary
from autograder.sandbox import SandboxUnavailableError
from autograder.sandbox.containment.layers import satisfies
from foundation.assignment_file import read_assignment
from foundation.child_processes import FAILED, run_forked

from .conftest import SKELETON, SUITE, Shared

ASSIGNMENT = read_assignment()
CONTRACT = ASSIGNMENT.contract


@pytest.fixture
def folder(tmp_path):
    """Three submissions of one line each."""
    for name in ("anna", "bob", "carl"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "layers.py").write_text(f"# by {name}\n")
    return tmp_path / "class"


@pytest.fixture
def output(tmp_path):
    return tmp_path / "marks"


@pytest.fixture
def log(tmp_path, monkeypatch):
    """In the place of true grading: notes who is graded, and gives every point. Returns the names, and forgets them."""
    path = tmp_path / "log"
    path.touch()

    def stub(intake, assignment, references, *, suite, after_each, seed=None, **options):
        with path.open("a") as file:
            file.write(f"{intake.name}\n")
        results = [TaskResult(task, "passed", task.points, "") for task in assignment.tasks]
        how = {"seed_id": "" if seed is None else name_seed(seed), "sandbox": "seccomp+uid"}
        after_each(Record(intake.name, assignment, results, suite, **how, is_finished=True, files=intake.hashes))

    def names():
        found = sorted(path.read_text().split())
        path.write_text("")
        return found

    monkeypatch.setattr(class_grading, "grade", stub)
    monkeypatch.setattr(class_grading, "_Zygotes", Shared(None))
    return names


def run(folder, output, again=False, suite=SUITE, **options):
    """Grades a class; its records by file name."""
    submissions = submissions_in(folder, output, CONTRACT)
    ClassGrading(read_assignment(), SKELETON, folder / "references", suite, **options).run(submissions, again)
    return read_class(submissions)


def test_finished_records_are_kept_until_something_that_decides_marks_changes(folder, output, log):
    everyone = ["anna", "bob", "carl"]
    assert list(run(folder, output)) == everyone and log() == everyone
    run(folder, output)
    assert log() == []
    (folder / "bob" / "layers.py").write_text("# changed\n")
    run(folder, output)
    assert log() == ["bob"]
    content = read_record(output / "records" / "carl.json")
    (output / "records" / "carl.json").write_text(json.dumps({**content, "finished": False}))
    (output / "records" / "anna.json").write_text("{")
    run(folder, output)
    assert log() == ["anna", "carl"]
    run(folder, output, again=True)
    assert log() == everyone
    run(folder, output, suite="f" * 16)
    assert log() == everyone


def test_a_record_is_kept_only_where_its_level_and_its_seed_are_as_asked(folder, output, log):
    def who(**options):
        run(folder, output, **options)
        return log()

    everyone = ["anna", "bob", "carl"]
    assert who() == everyone
    assert who(level="require-uid") == who(level="unsafe") == []
    for sandbox, level in (("uid+landlock (unsafe)", "auto"), ("seccomp+uid", "require-namespaces")):
        path = output / "records" / "anna.json"
        path.write_text(json.dumps({**read_record(path), "sandbox": sandbox}))
        assert "anna" in who(level=level)
    assert who(seed=7) == everyone and who(seed=7) == [] and who() == []
    assert who(seed=8) == everyone


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
        ("require-uid", "", True),
    ],
)
def test_which_containment_is_enough(level, described, is_enough):
    assert satisfies(level, described) == is_enough


def test_a_grader_that_is_killed_stops_no_other_and_takes_no_points(folder, output, log, monkeypatch, capfd):
    gives_points = class_grading.grade

    def fatal(intake, *arguments, **options):
        if intake.name == "anna":
            os.kill(os.getpid(), signal.SIGKILL)
        if intake.name == "bob":
            raise RuntimeError("a bug of ours")
        gives_points(intake, *arguments, **options)

    monkeypatch.setattr(class_grading, "grade", fatal)
    records = run(folder, output, n_children=2)
    assert records["carl"]["score"] == 100
    for name, reason in (("anna", "by signal 9"), ("bob", f"with status {FAILED}")):
        assert {part["state"] for part in records[name]["parts"]} == {"grader error"}
        assert reason in records[name]["parts"][0]["message"]
    assert "a bug of ours" in capfd.readouterr().err


def test_a_zygote_that_ends_is_replaced(folder, output, log, monkeypatch):
    gives_points = class_grading.grade

    class Zygote:
        """The first one ends as soon as it is used."""

        made: list["Zygote"] = []

        def __init__(self, level: str) -> None:
            self.made.append(self)
            self.number = len(self.made)

        def is_alive(self) -> bool:
            return self.number != 1 or not log()

        def close(self) -> None:
            pass

    def grade(intake, *arguments, zygote, **options):
        gives_points(intake, *arguments, **options)
        if zygote.number == 1:
            raise SandboxUnavailableError("the zygote did not start a worker")

    monkeypatch.undo()
    monkeypatch.setattr(class_grading, "Zygote", Zygote)
    monkeypatch.setattr(class_grading, "grade", grade)
    records = run(folder, output)
    assert [zygote.number for zygote in Zygote.made] == [1, 2]
    assert {record["score"] for record in records.values()} == {100}


def test_every_entry_gets_a_record(folder, output, log):
    (folder / "notes.txt").write_text("not a submission")
    (folder / "-=2+3\n\x1b[2J.zip").write_bytes(b"no archive")
    (folder / ".hidden").write_text("")
    (folder / "dan").mkdir()
    records = run(folder, output)
    assert len(records) == 6 and log() == ["anna", "bob", "carl"]
    for name in ("notes.txt", "-=2+3\n\x1b[2J.zip", "dan"):
        assert {part["state"] for part in records[name]["parts"]} == {"refused"}


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
    submissions = submissions_in(folder, output, CONTRACT)
    assert len({submission.record.name.casefold() for submission in submissions}) == len(submissions) == 10
    assert len(run(folder, output)) == 10 and len(list((output / "records").iterdir())) == 10
    again = {submission.path.name: submission.record.name for submission in submissions_in(folder, output, CONTRACT)}
    assert again == {submission.path.name: submission.record.name for submission in submissions}
    assert again["bob"] == "bob.json"


def test_names_that_come_to_the_same_record_are_refused(folder, output, monkeypatch):
    monkeypatch.setattr(class_grading, "with_digest", lambda name: "made")
    (folder / "a b").mkdir()
    assert len(submissions_in(folder, output, CONTRACT)) == 4
    (folder / "a c").mkdir()
    with pytest.raises(ClassError, match="a b and a c would have the same record"):
        submissions_in(folder, output, CONTRACT)


def test_hidden_entries_are_named(folder, output, capsys):
    submissions_in(folder, output, CONTRACT)
    (folder / ".DS_Store").touch()
    assert capsys.readouterr().err == ""
    for name in (".dan", "__eve__"):
        (folder / name).mkdir()
    assert [submission.path.name for submission in submissions_in(folder, output, CONTRACT)] == ["anna", "bob", "carl"]
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "not graded" in printed and ".dan, __eve__" in printed


def test_a_name_with_line_ends_stays_in_one_row(folder, output, log):
    (folder / "dan\nanna,100\r\u2028.zip").write_bytes(b"no archive")
    records = run(folder, output)
    write_summary(records, output)
    assert len((output / "summary.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize("entry, words", [(None, "expected one folder"), ("layers.py", "grade it with `grade ")])
def test_what_is_no_class_is_said(tmp_path, entry, words, capsys):
    if entry:
        (tmp_path / entry).touch()
    assert main(["grade-class", str(tmp_path), "--output", str(tmp_path / "marks")]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and words in printed
    with pytest.raises(ClassError, match="No such file"):
        submissions_in(tmp_path / "nowhere", tmp_path, CONTRACT)


def test_the_command_writes_records_and_summaries_and_goes_on(folder, output, log, capsys):
    arguments = ["grade-class", str(folder), "--output", str(output)]
    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert "3 submissions, mean 100.0" in table and "Layer normalisation" in table
    assert sorted(path.name for path in output.iterdir()) == [
        "histogram.png",
        "records",
        "summary.csv",
        "summary.json",
    ]
    log()
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["submission"] for row in rows] == ["anna", "bob", "carl"] and log() == []
    assert (output / "summary.csv").read_text().splitlines()[0].startswith("submission,file,score,max_score,bleu,1.1,")
    assert main([*arguments, "--again", "--jobs", "2"]) == 0 and log() == ["anna", "bob", "carl"]


def test_the_summary_tells_all_kinds_apart(graded, tmp_path):
    table = as_class_table(graded)
    assert f"{len(graded)} submissions" in table and "timeout: trouble" in table and "refused: no archive.zip" in table
    assert len(table.splitlines()) < 40 and max(map(len, table.splitlines())) <= 120
    for part in parts_of(graded):
        assert sum(part["states"].values()) == len(graded)
    write_summary(graded, tmp_path)
    rows = rows_of(graded)
    assert {row["file"]: row["1.4 state"] for row in rows}["trouble"] == "timeout"
    assert (tmp_path / "histogram.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x"])
def test_a_name_is_no_formula(text):
    assert harmless(text) == f"'{text}" and harmless(text.lstrip("=+-@")) == text.lstrip("=+-@")


def test_a_refused_submission_is_looked_at_again(folder, output, log):
    shutil.rmtree(folder / "bob")
    (folder / "bob").write_bytes(b"no archive")
    assert run(folder, output)["bob"]["score"] == 0
    refused = refuse("bob", "because", ASSIGNMENT, take_in(folder / "anna", SKELETON, ASSIGNMENT).hashes, SUITE)
    refused.write(output / "records" / "bob.json")
    assert "because" not in run(folder, output)["bob"]["parts"][0]["message"]


def test_jobs_run_side_by_side_and_are_ended_in_time():
    def work(job: int) -> int:
        if job == 2:
            signal.pause()
        return job

    assert sorted(run_forked(deque([0, 1, 2, 3]), work, 0.5, n_children=2)) == [(0, 0), (1, 1), (2, -9), (3, 3)]
