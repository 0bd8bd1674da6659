"""The sample class of `demo`: each submission shows what it is there for."""

import csv

import pytest

from autograder.__main__ import main
from foundation.assignment_file import read_assignment

LOST = {  # tasks that lose points
    "Amina Right": set(),
    "Ben Scale": {"1.2"},
    "Carla Norm": {"1.4"},
    "Deniz Batch": {"1.2"},
    "Eva Unfinished": {"1.4", "1.5", "1.6", "2.1", "2.2", "2.3", "2.4", "3.1", "4.1", "4.2"},
    "Femi Notebook": set(),
    "Gina Late": set(),
    "Ines Hostile": {"1.4", "1.5", "2.1", "2.2"},
    "Jan Copy": {"1.2"},
    "Kim Flat": {"1.5"},
    "Lea Tests": {"4.1", "4.2"},
}


@pytest.mark.parametrize("made", [["marks.csv"], ["submissions/", "other.csv"]])
def test_a_folder_with_something_else_in_it_stays(tmp_path, capsys, made):
    for name in made:
        path = tmp_path / name
        path.mkdir() if name.endswith("/") else path.write_text("mine")
    assert main(["demo", "--output", str(tmp_path)]) == 2
    assert "no demo; name another folder" in capsys.readouterr().err and (tmp_path / made[-1]).exists()


@pytest.mark.slow
def test_each_submission_shows_what_it_is_there_for(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "demo"), "--jobs", "1"]) == 0
    with (tmp_path / "demo" / "marks" / "summary.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    tasks = [(task.number, task.points) for task in read_assignment().tasks if not task.understanding]
    lost = {row["name"]: {n for n, points in tasks if float(row[n]) < points} for row in rows if row["score"]}
    assert lost == LOST and len(rows) == 12
    printed = capsys.readouterr().out
    assert "late (1): Gina Late" in printed and "Jan Copy and Ben Scale: " in printed and "% in common" in printed
    assert "an archive that was cut off" in printed
