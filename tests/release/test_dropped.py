"""A task that was taken out of assignment.toml: every place that still names it is told, at once, before the gates."""

from dataclasses import replace
from pathlib import Path

import pytest

from foundation.assignment_file import Assignment, read_assignment
from foundation.places import ROOT
from release.__main__ import main
from release.build import Project
from release.dropped import places_of_dropped_tasks

PLACES = {
    "2.3": {
        "reference/model.py",
        "notebooks/prose/2_layers_and_model.md",
        "assignment/misconceptions/encoder.toml",
        "assignment/tests/test_2_3_encoder_decoder.py",
        "docs/pictures/architecture.svg",
    },
    "1.2": {"assignment/assignment.toml", "reference/hunts.py", "notebooks/prose/4_extensions.md"},
    "E.2": {"given/config.py", "assignment/handout.md", "reference/answers.md"},
    "E.8": set(),
}


def without(number: str) -> Assignment:
    assignment = read_assignment()
    return replace(assignment, tasks=tuple(task for task in assignment.tasks if task.number != number))


@pytest.mark.parametrize("number", PLACES)
def test_every_place_is_named(number: str) -> None:
    found = places_of_dropped_tasks(ROOT, ROOT / "reference", without(number))
    assert PLACES[number] <= {line.partition(":")[0] for line in found}
    assert all(line.endswith(f": names task {number}, which is not in assignment.toml") for line in found)
    for file, line, _ in (place.split(":", 2) for place in found):
        text = (ROOT / file).read_text().splitlines()[int(line) - 1]
        assert number in text or f"task_{number.replace('.', '_').lower()}" in text


def test_nothing_is_named_while_all_tasks_are_there() -> None:
    assert places_of_dropped_tasks(ROOT, ROOT / "reference", read_assignment()) == []


def test_a_release_stops_before_its_gates(project: Project, edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit(project.root / "assignment" / "assignment.toml", 'number = "1.2"', 'number = "1.7"')
    assert main(["build", "--root", str(project.root), "--output", str(project.output)]) == 2
    out, err = capsys.readouterr()
    *places, last = err.splitlines()
    assert out == "" and last == "release: stopped; nothing was written"
    assert {Path(place.partition(":")[0]).name for place in places} >= {"loss.py", "test_1_2_loss.py"}
