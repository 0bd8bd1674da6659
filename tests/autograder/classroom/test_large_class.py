"""A hundred students in each layout, with a stub as the grader: everyone's mark comes back to the platform."""

import csv
import io

import pytest

from autograder.__main__ import main
from autograder.classroom.downloads import LAYOUTS
from autograder.commands import export_marks as command
from autograder.grading.events import TasksJudged
from autograder.grading.marks import TaskResult
from autograder.grading.states import State
from foundation.assignment_file import read_assignment

from .conftest import SEEDS, StubGrader

pytestmark = pytest.mark.slow

N_STUDENTS, N_MISSING = 100, 7
SCORES = {
    "canvas": (f"{read_assignment().title}", "ID"),
    "moodle": ("Grade", "Identifier"),
    "gradescope": ("Total Score", "SID"),
}


def names_in(layout: str, number: int) -> list[str]:
    """The files of a student."""
    match layout:
        case "canvas":
            late = "LATE_" * (number % 10 == 0)
            return [
                f"student{number}_{late}{1000 + number}_{2 * number + part}_{name}" for part, name in enumerate(FILES)
            ]
        case "moodle":
            return [f"Student Number{number}_{1000 + number}_assignsubmission_file_/{name}" for name in FILES]
        case "gradescope":
            return [f"submission_{number}/{name}" for name in FILES]
        case "nbgrader":
            return [f"s{number}/transformer/{name}" for name in FILES]
        case "github":
            return [f"transformer-hub{number}/{name}" for name in (*FILES, ".git/HEAD")]
    return [f"s{number}/{name}" for name in FILES]


FILES = ("layers.py", "attention.py")
ROSTERS = {
    "canvas": ("Student,ID,SIS User ID,SIS Login ID,Section", '"Number{0}, Student",{1},u{0},s{0},A'),
    "moodle": (
        "Identifier,Full name,Email address,Grade,Last modified (grade)",
        "Participant {1},Student Number{0},s{0}@x,,-",
    ),
    "gradescope": ("First Name,Last Name,SID,Email", "Student,Number{0},{1},s{0}@x"),
    "github": ("identifier,github_username,name", "u{0},hub{0},Student Number{0}"),
}


class ScoringGrader(StubGrader):
    """Gives each student another score: the first task's points are lost by every second one."""

    def parts(self, intake):
        yield from super().parts(intake)
        text = intake.sources["layers"][1]
        if int(text.split()[-1]) % 2:
            yield TasksJudged((TaskResult(read_assignment().tasks[0], State.FAILED, 0.0, "why"),))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_everyones_mark_comes_back(layout, tmp_path, use, monkeypatch, capsys):
    use(ScoringGrader)
    monkeypatch.setattr(command, "seeds_of_term", lambda root: SEEDS)
    folder, marks = tmp_path / "class", tmp_path / "marks"
    for number in range(N_STUDENTS - N_MISSING):
        for name in names_in(layout, number):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"# {number}\n")
    if layout == "gradescope":
        who = "submission_{0}:\n  :submitters:\n  - :name: Somebody\n    :sid: '{1}'\n"
        text = "".join(who.format(number, 1000 + number) for number in range(N_STUDENTS - N_MISSING))
        (folder / "submission_metadata.yml").write_text(text)
    if layout == "nbgrader":
        (folder / "s0" / "transformer" / "timestamp.txt").write_text("2026-11-02 15:58:23.948203 UTC")
    (folder / "grades.csv").write_text("a stray")
    heading, line = ROSTERS.get(layout, ("id,name", "s{0},Student Number{0}"))
    lines = [line.format(number, 1000 + number) for number in range(N_STUDENTS)]
    (tmp_path / "roster.csv").write_text("\n".join([heading, *lines]))
    roster = ["--roster", str(tmp_path / "roster.csv")]
    assert main(["list-class", str(folder), *roster]) == 0
    assert main(["grade-class", str(folder), *roster, "--output", str(marks), "--jobs", "2"]) == 0
    printed = capsys.readouterr().out
    assert f"{N_STUDENTS - N_MISSING} submissions, mean 98.0" in printed and f"handed in ({N_MISSING})" in printed
    platform = layout if layout in SCORES else "plain"
    assert main(["export-marks", str(marks), "--for", platform, *roster]) == 0
    text = (marks / "export" / f"{platform}.csv").read_text(encoding="utf-8-sig")
    table = [
        row for row in csv.DictReader(io.StringIO(text, newline="")) if "Points Possible" not in [*row.values()][0]
    ]
    score, id_ = SCORES.get(layout, ("score", "name"))
    assert len(table) == N_STUDENTS - N_MISSING * (layout == "canvas")
    for row in table:
        number = int("".join(filter(str.isdigit, row[id_]))) % 1000
        expected = "" if number >= N_STUDENTS - N_MISSING else "96" if number % 2 else "100"
        assert row[score] == expected, row
