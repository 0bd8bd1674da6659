"""`list-class`: a download and a roster, for people and for programs."""

import pytest

from autograder.__main__ import main

ROSTER = 'Student,ID,SIS User ID,SIS Login ID\n"Smith, Anna",1,u1,as\n"Berg, Bob",2,u2,bb\n"Clark, Carl",3,u3,cc\n'


@pytest.fixture
def class_(tmp_path):
    """Canvas's download of two students, one of them unknown, and a roster of three."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("smithanna_1_11_layers.py", "smithanna_1_12_model.py", "dora_LATE_9_13_layers.py", "grades.csv"):
        (folder / name).write_text("# text\n")
    (folder / "clarkcarl_3_text.html").write_text("<p>see my e-mail</p>")
    (tmp_path / "roster.csv").write_text(ROSTER)
    return folder, tmp_path / "roster.csv"


def test_a_class_as_text(class_, capsys):
    folder, roster = class_
    assert main(["list-class", str(folder), "--roster", str(roster)]) == 1
    assert capsys.readouterr().out.split("\n\n") == [
        f"{folder}: Canvas\n1 submission, from 1 of 3 students",
        "  smithanna_1  Anna Smith",
        "for you to decide:\n  dora_9: fits no student in the roster",
        "nothing handed in:\n  Bob Berg (u2)\n  Carl Clark (u3)",
        "left out:\n  clarkcarl_3_text.html: a text entry, which only a person can read\n"
        "  grades.csv: not named as Canvas names submissions\n",
    ]
    assert main(["list-class", str(folder)]) == 0, "without a roster nobody is missing"
    printed = capsys.readouterr().out
    assert "2 submissions\n" in printed and "  dora_9       dora; late\n" in printed


def test_two_students_of_one_name_are_named(tmp_path, capsys):
    (tmp_path / "class" / "Anna Smith").mkdir(parents=True)
    (tmp_path / "class" / "Anna Smith" / "layers.py").write_text("# text\n")
    (tmp_path / "class" / "bob").mkdir()
    (tmp_path / "roster.csv").write_text("id,name\n1,Anna Smith\n2,Anna Smith\n3,Bob\n")
    assert main(["list-class", str(tmp_path / "class"), "--roster", str(tmp_path / "roster.csv")]) == 1
    printed = capsys.readouterr().out
    assert "  Anna Smith: fits more than one student: 1, 2\n" in printed


def test_mistakes_are_one_line(class_, tmp_path, capsys):
    for arguments in (["nowhere"], [class_[0], "--roster", tmp_path / "none.csv"], [class_[0], "--layout", "plain"]):
        assert main(["list-class", *map(str, arguments)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
