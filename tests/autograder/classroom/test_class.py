"""A class, by the command: who is graded, and what is written."""

import csv
import json

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import take_class
from autograder.classroom.marks import results_of
from autograder.commands import export_marks
from autograder.grading.recording import Noted, TasksJudged
from autograder.reports.class_summary import as_class_table, harmless, rows_of, tasks_of, write_summary
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT_FILE

from .conftest import ASSIGNMENT, SEEDS, StubGrader, run, states_of


def test_every_submission_gets_a_record_and_a_stray_none(folder, output, log):
    (folder / "notes.txt").write_text("not a submission")
    (folder / "-=2+3\n\x1b[2J.zip").write_bytes(b"no archive")
    (folder / ".hidden").write_text("")
    (folder / "dan").mkdir()
    records = run(folder, output)
    assert len(records) == 5 and log() == ["anna", "bob", "carl"]
    for name in ("-=2+3\n\x1b[2J.zip", "dan"):
        assert states_of(records[name]) == {"not graded"} and records[name].is_finished


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
    assert main(["grade-class", str(folder), "--output", str(output)]) == 1
    assert len((output / "summary.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize("entry, words", [(None, "expected one folder"), ("layers.py", "grade it with `grade ")])
def test_what_is_not_a_class_is_said(tmp_path, entry, words, capsys):
    (tmp_path / "class").mkdir()
    if entry:
        (tmp_path / "class" / entry).touch()
    assert main(["grade-class", str(tmp_path / "class"), "--output", str(tmp_path / "marks")]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and words in printed
    with pytest.raises(UserError, match="No such file"):
        take_class(tmp_path / "nowhere", tmp_path, ASSIGNMENT)


@pytest.fixture
def walk(tmp_path, output, log, monkeypatch):
    """From files of a download to the rows that a platform imports; what the command returns."""
    monkeypatch.setattr(export_marks, "seeds_of_term", lambda root: SEEDS)

    def go(files: dict[str, str], platform: str, *options: str, roster: str = "") -> tuple[int, list[dict[str, str]]]:
        for name, text in files.items():
            (tmp_path / "download" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "download" / name).write_text(text)
        (tmp_path / "roster.csv").write_text(roster)
        options += ("--roster", str(tmp_path / "roster.csv")) if roster else ()
        status = main(["grade-class", str(tmp_path / "download"), "--output", str(output), *options])
        assert main(["export-marks", str(output), "--for", platform, *options]) == 0
        with (output / "export" / f"{platform}.csv").open(encoding="utf-8-sig") as file:
            return status, list(csv.DictReader(file))

    return go


def test_ids_that_a_spreadsheet_has_rounded_come_from_the_download(walk):
    lines = '"Smith, Anna",1.3146E+17,,as,\n"Ray, Ben",1.3146E+17,,br,\n'
    status, rows = walk(
        {"smithanna_131460000000012345_70_layers.py": "# Anna", "rayben_131460000000067890_71_layers.py": "# Ben"},
        "canvas",
        roster=f"Student,ID,SIS User ID,SIS Login ID,Section\n{lines}",
    )
    found = [(row["ID"], row["SIS Login ID"]) for row in rows[1:]]
    assert status == 0 and found == [("131460000000012345", "as"), ("131460000000067890", "br")]


def test_no_late_penalty_is_lost_with_the_way_in_which_a_time_is_written(walk, tmp_path, output, capsys):
    times = {"anna": "2026-12-25 15:58:23 UTC", "bob": "2026-12-25 15:58:23.9 CET", "carl": "2026-12-25 17:58 +0100"}
    times |= {"dora": "yesterday", "eve": ""}
    files = {f"submitted/{name}/transformer/layers.py": f"# {name}" for name in (*times, "fay")}
    files |= {f"submitted/{name}/transformer/timestamp.txt": time for name, time in times.items()}
    late = "[late]\ndue = 2026-12-25T15:00:00Z\npercent_per_day = 50\n\n[release]"
    (tmp_path / "assignment.toml").write_text(ASSIGNMENT_FILE.read_text().replace("[release]", late, 1))
    options = ("--assignment", str(tmp_path / "assignment.toml"))
    status, rows = walk(files, "plain", *options)
    assert "time of submission that cannot be read: dora, eve, fay" in capsys.readouterr().out
    page = (output / "class.html").read_text()
    assert "the time of submission cannot be read (&#39;yesterday&#39; in timestamp.txt)" in page
    scores = {row["id"]: row["score"] for row in rows}
    assert status == 1 and scores == {"anna": "50", "bob": "100", "carl": "50", "dora": "", "eve": "", "fay": ""}
    assert main(["list-class", str(tmp_path / "download"), *options]) == 1
    assert "the time cannot be read: 'yesterday' in timestamp.txt" in capsys.readouterr().out


def test_an_empty_scheduler_is_not_this_machine(folder, output, log, capsys):
    assert main(["grade-class", str(folder), "--output", str(output), "--scheduler", ""]) == 2
    assert "--scheduler: it is empty; expected an address" in capsys.readouterr().err and log() == []


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
    assert f"{len(records)} submissions" in table and "timeout: anna" in table and "not graded: dan\n" in table
    assert "1 with notes on the grading itself: bob" in table
    assert len(table.splitlines()) < 40 and max(map(len, table.splitlines())) <= 120
    for task in tasks_of(records.values()):
        assert sum(task.states.values()) == len(records)
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
