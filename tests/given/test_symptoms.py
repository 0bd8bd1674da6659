"""`hunt` shows a student's hunts, with a picture of each symptom that was measured."""

from autograder.grading.made_code import make_hunts
from foundation.assignment_file import read_assignment
from given.drawing import show_hunts
from given.pictures import plot_symptom
from reference.__main__ import main

HUNTS = make_hunts(read_assignment())
NAME, DRAWN = next(
    (name, drawn) for name in map(str, range(100)) if len(drawn := [one for one in HUNTS.of(name) if one.shown]) == 2
)


def test_a_picture_for_each_measured_symptom(tmp_path, capsys):
    pictures = show_hunts(NAME, tmp_path)
    assert [path.name for path in pictures] == [f"hunt_{one.number}.png" for one in DRAWN]
    assert all(path.stat().st_size > 10_000 for path in pictures)
    told = capsys.readouterr().out
    assert all(f"{path}: what a model" in told for path in pictures) and "trained with the preset quick" in told


def test_a_picture_names_the_hunt_and_nothing_else_about_it():
    figure = plot_symptom(DRAWN[0].shown, "hunt 1")
    titles = [axes.get_title() for axes in figure.axes]
    assert figure.get_suptitle() == "hunt 1"
    assert titles == ["", "cross-attention with the mistake", "cross-attention without it"]


def test_a_name_is_needed(capsys):
    assert main(["hunt", " "]) == 2 and "whose hunts?" in capsys.readouterr().err
