"""`grade`, `grade-class`, `demo`: what is written and where; mistakes, full disks, folders of others, shares."""

import errno
import json
import os
from unittest.mock import Mock

import pytest

from autograder.__main__ import main
from autograder.classroom.grading import hold
from autograder.grading.record import read_record
from autograder.intake.submission import take_in
from autograder.reports.gradescope import as_results

from ..conftest import changed_assignment, examples_in, rows_of, words_of

MISTAKES = examples_in("commands/mistakes.toml")


@pytest.mark.parametrize("words, message", MISTAKES["grading"].items())
def test_a_mistake_is_told_in_one_line_before_anything_is_done(tmp_path, capsys, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "anna").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert main(words.split()) == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.err.count("\n") == 1 and not printed.out
    assert sorted(tmp_path.rglob("*")) == before


def test_an_interrupt_is_told_in_one_line(typed, monkeypatch):
    monkeypatch.setattr("autograder.commands.classes.grade_class", Mock(side_effect=KeyboardInterrupt))
    assert typed.grade() == 130 and typed.err == "autograder: stopped; finished results are kept\n"


def test_what_is_not_graded_gets_a_result_with_the_reason(tmp_path, capsys, monkeypatch):
    missing = tmp_path / "none.bpe"  # goes on without
    monkeypatch.setattr("autograder.commands.arguments.TEST_REFERENCES", missing)
    submission = tmp_path / "anna.zip"
    submission.write_bytes(b"not an archive")
    record = tmp_path / "records" / "anna.json"
    assert main(["grade", str(submission), "--results", str(tmp_path / "r.json"), "--record", str(record)]) == 1
    results = json.loads((tmp_path / "r.json").read_text())
    assert results == as_results(read_record(record))
    assert "score" not in results and not any("score" in test for test in results["tests"])
    assert {test["extra_data"]["state"] for test in results["tests"]} == {"not graded"}
    assert "expected a folder, a .zip" in results["output"]
    printed = capsys.readouterr()
    assert "not graded" in printed.out and f"note: no BLEU: {missing} is not there" in printed.err


def test_the_command_writes_records_and_summaries_and_resumes(typed, folder, output, log):
    (folder / "dan\nanna,100\r\u2028.zip").write_bytes(b"no archive")
    assert typed.grade() == 1
    assert "4 submissions, mean 100," in typed.out and "look at these first:\n  dan\\nanna" in typed.out
    files = {"class.html", "class.json", "records", "students", "summary.csv"}
    assert {path.name for path in output.iterdir()} == files
    heading, *rows = (output / "summary.csv").read_text(encoding="utf-8-sig").splitlines()
    assert heading.startswith("id,name,submission,late,status,reason,score,max_score,bleu,1.1,") and len(rows) == 4
    assert log() == ["anna", "bob", "carl"]
    assert typed.grade("--again") == 1 and log() == ["anna", "bob", "carl"]
    (output / "class.json").write_text((output / "class.json").read_text().replace('"transformer"', '"regression"'))
    assert typed.grade() == 2 and "has the marks of 'regression', not of 'transformer'" in typed.err


def test_a_submission_that_breaks_its_reader_keeps_nobodys_marks_from_nbgrader(typed, monkeypatch):
    book = Mock(**{"take_back.return_value": []})
    monkeypatch.setattr("autograder.commands.classes.Gradebook", lambda *of: book)

    def read(source, *others):
        if source.name == "anna":
            raise RecursionError
        return take_in(source, *others)

    monkeypatch.setattr("autograder.commands.classes.take_in", read)
    assert typed.grade("--to-nbgrader", "course") == 0 and "nbgrader's gradebook: 3 students" in typed.out
    written = {student: bool(intake) for student, _, intake, _ in (call.args for call in book.write.call_args_list)}
    assert written == {"anna": False, "bob": True, "carl": True}


@pytest.mark.parametrize("place", ["class/marks", "class", "class/anna", "link/marks"])
def test_records_among_the_submissions_are_refused(typed, folder, log, place):
    (folder.parent / "link").symlink_to(folder)
    typed.output = folder.parent / place
    assert typed.grade() == 2 and typed.err.count("\n") == 1 and "forged" in typed.err
    assert log() == [] and not (folder / "marks").exists()


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(typed, output, log, monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(os, "fsync", Mock(side_effect=[None, None, full]))  # the roll, a record
        assert typed.grade("--jobs", "1") == 2 and typed.err.count("\n") == 1
    assert f"bob.json: {os.strerror(errno.ENOSPC)}\n" in typed.err
    assert [path.name for path in (output / "records").iterdir()] == ["anna.json"]
    assert log() == ["anna", "bob"]
    (output / "class.html").mkdir()
    assert typed.grade() == 2 and "class.html: Is a directory\n" in typed.err
    assert log() == ["bob", "carl"], "what was finished is not run again"
    (output / "class.html").rmdir()
    assert typed.grade() == 0 and log() == [] and len(typed.scores()) == 3


def test_shares_of_a_class_are_graded_at_once_and_then_gathered(typed, output, log):
    """A share that is started again runs nothing twice; only the command without one writes pages, and works alone."""
    for share, graded in (("1/2", ["anna", "carl"]), ("2/2", ["bob"]), ("1/2", [])):
        with hold(output, is_alone=False):
            assert typed.grade("--shard", share) == 0 and log() == graded
            assert typed.grade() == 2 and "another command is writing there" in typed.err
    assert {path.name for path in output.iterdir()} == {"class.json", "records"}
    assert typed.grade() == 0 and log() == [] and (output / "summary.csv").exists()
    with hold(output):
        assert typed.grade("--shard", "2/2") == 2 and "another command" in typed.err
    with pytest.raises(SystemExit):
        typed.grade("--shard", "3/2")
    assert "'3/2': expected I/N with I from 1 to N" in typed.capsys.readouterr().err


def test_a_demo_leaves_a_folder_with_something_else_in_it(typed, folder):
    (folder / "roster.csv").write_text("id\nanna\n")
    assert typed.run("demo", "--output", folder) == 2
    assert "no demo; name another folder" in typed.err and (folder / "anna" / "layers.py").exists()


@pytest.mark.slow
def test_each_submission_of_the_demo_shows_what_it_is_there_for(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "demo"), "--jobs", "1"]) == 0
    scores = {row["name"]: row["score"] for row in rows_of(tmp_path / "demo" / "marks" / "summary.csv")}
    assert scores == {"Amina": "100.0", "Ben": "22.5", "Carla": "30.5", "Hugo": "", "Ines": "0.0", "Kim": "34.5"}
    assert "Hugo: not graded: the archive is damaged" in capsys.readouterr().out
    page = words_of((tmp_path / "demo" / "marks" / "class.html").read_text())
    assert "1 × 1.2 Scaled dot-product attention: code that does not scale the scores" in page
    assert "1 × 1.4 Layer normalisation: code that" in page and "1 × 1.5 Feed-forward network: code that" in page


CANVAS = ("smithanna_11_70_layers.py", "bergbob_LATE_12_73_work.zip", "stranger_99_74_work.zip", "grades.csv")
TEXT = "clarkcarl_13_text.html"
ROSTER = 'Student,ID,SIS User ID\n"Smith, Anna",11,u1\n"Berg, Bob",12,u2\n"Clark, Carl",13,u3\n'


def test_a_class_as_text(lay, typed):
    typed.folder = lay(dict.fromkeys((*CANVAS, TEXT), ""))
    typed.enrol(ROSTER)
    assert typed.run("list-class", typed.folder, *typed.options) == 1
    assert typed.out.split("\n\n") == [
        f"{typed.folder}: Canvas\n2 submissions, from 2 of 3 students",
        "  bergbob_12    Bob Berg; late\n  smithanna_11  Anna Smith",
        "for you to decide:\n  stranger_99: fits no student in the roster",
        f"nothing handed in:\n  Carl Clark (u3): {TEXT}: a text entry, which only a person can read",
        f"left out:\n  {TEXT}: a text entry, which only a person can read\n"
        "  grades.csv: not named as Canvas names submissions\n",
    ]
    assert typed.run("list-class", typed.folder) == 0, "without a roster, nobody is known to be missing"
    assert "3 submissions\n" in typed.out
    typed.enrol("id,name\nzoe,Zoe\n")
    assert typed.run("list-class", typed.folder, *typed.options) == 2
    assert "no submission fits any of its students (layout: Canvas); none of its columns" in typed.err


def test_of_two_attempts_without_times_none_counts_until_a_person_decides(lay, typed):
    who = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: {}\n"
    text = who.format(2, "Anna", "u1") + "".join(who.format(n, "Bob", "u2") for n in range(3, 20))
    typed.folder = lay({f"submission_{n}/layers.py": "" for n in range(2, 20)} | {"submission_metadata.yml": text})
    assert typed.grade() == 1
    assert "look at these first:\n  Bob: several submissions, and it is not known which" in typed.out
    bob = typed.row("u2")
    assert (bob["status"], bob["score"]) == ("needs review", None) and "submission_3, submission_4" in bob["reason"]
    for said in (typed.out, typed.run("list-class", typed.folder) and typed.out):
        assert bob["reason"] in " ".join(said.split()) and max(map(len, said.splitlines())) <= 120, "all of it"


LATE = "due = 2026-12-25T15:00:00+01:00\npercent_per_day = 10"


def rows_with_times(typed, output, tmp_path, roster):
    """Grades with a late penalty: the score, late, and late days of each student."""
    typed.enrol(roster)
    typed.assignment = ["--assignment", changed_assignment(tmp_path / "assignment.toml", late=LATE)]
    assert typed.grade() == 1 and "the time of submission cannot be read (" in (output / "class.html").read_text()
    return [f"{row['score']} {row['late']} {row['late_days']}" for row in rows_of(output / "summary.csv")]


def test_a_time_of_nbgraders_that_cannot_be_read_is_never_in_time(lay, typed, output, tmp_path):
    times = {"anna": "2026-12-25 15:58:23 UTC", "carl": "2026-12-25 17:58 +0100", "dora": "yesterday", "eve": ""}
    files = {f"submitted/{name}/transformer/layers.py": f"# {name}" for name in (*times, "fay")}
    typed.folder = lay(files | {f"submitted/{name}/transformer/timestamp.txt": time for name, time in times.items()})
    rows = rows_with_times(typed, output, tmp_path, "id\nanna\ncarl\ndora\neve\nfay\n")
    assert rows == ["90.0 late 1", "90.0 late 1", *[" unknown "] * 3]
    assert "dora: the time of submission cannot be read" in typed.out and "`late` (3): dora, eve, fay\n" in typed.out
    assert typed.run("list-class", typed.folder, *typed.options, *typed.assignment) == 1
    assert "the time cannot be read: 'yesterday' in timestamp.txt" in typed.out


WORKSHEET = (
    "Identifier,Full name,Status,Maximum Grade,Grade,Feedback comments,Last modified (submission)\n"
    'Participant 0,Anna,Submitted,90.00,-,,"Friday, 25 December 2026, 3:00 PM"\n'
    'Participant 1,Bob,Submitted - 1 day late,90.00,-,,"Saturday, 26 December 2026, 4:10 PM"\n'
    'Participant 2,Carl,Submitted,90.00,-,,"gestern"\nParticipant 3,Dora,Submitted,90.00,-,,"-"\n'
)


def test_moodles_worksheet_has_the_times_of_its_download(lay, typed, output, tmp_path):
    names = enumerate(("Anna", "Bob", "Carl", "Dora"))
    typed.folder = lay({f"{name}_{n}_assignsubmission_file/layers.py": f"# {n}" for n, name in names})
    rows = rows_with_times(typed, output, tmp_path, WORKSHEET)
    assert rows == ["100.0 no 0", "80.0 late 2", " unknown ", "100.0  "]
    assert "\nlate (1): Bob\n" in typed.out and "with `late` (1): Carl\n" in typed.out
    assert "so they count as on time (1): Dora\n" in typed.out
    assert typed.run("list-class", typed.folder, *typed.options, *typed.assignment) == 1
    assert "Bob; 2026-12-26 16:10; 2 days late\n" in typed.out
    assert typed.run("list-class", typed.folder, *typed.options) == 0
    assert "Bob; 2026-12-26 16:10; late\n" in typed.out, "without a due date"
