"""Which gradebook is meant; slips are told in one line before anything is graded."""

import pytest

from autograder.__main__ import main
from autograder.reports.gradebook import find_target


@pytest.mark.parametrize(
    "text, url, shown",
    [
        ("sqlite:///a.db", "sqlite:///a.db", "a.db"),
        (
            "postgresql://me:secret@host/a",
            "postgresql+psycopg://me:secret@host/a",
            "postgresql+psycopg://me:***@host/a",
        ),
        ("postgresql+psycopg2://host/a", "postgresql+psycopg2://host/a", "postgresql+psycopg2://host/a"),
    ],
)
def test_a_url_is_shown_without_its_password(text, url, shown) -> None:
    assert (find_target(text).url, find_target(text).shown) == (url, shown)


@pytest.mark.parametrize("student", ["", "..", ".a", "a/b", "a\\b", "a b", "x" * 129, "a\n"])
def test_ids_that_could_lead_elsewhere_are_refused(student, tmp_path, capsys) -> None:
    assert main(["grade", str(tmp_path), "--to-nbgrader", "sqlite:///a.db", "--student", student]) == 2
    assert "--student" in (said := capsys.readouterr().err) and "expected letters" in said


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--student", "a"], "--student is whose marks nbgrader gets: add --to-nbgrader, or leave it out"),
        (["--to-nbgrader", "", "--student", "a"], "--to-nbgrader: is not an nbgrader course"),
        (["--to-nbgrader", "nowhere"], "--to-nbgrader also needs --student ID"),
        (["--to-nbgrader", "nowhere", "--student", "a"], "nowhere: is not an nbgrader course (it has no"),
        (["--to-nbgrader", "postgresql:/me:s3cret@host/a", "--student", "a"], "--to-nbgrader: is not an nbgrader cou"),
        (["--to-nbgrader", "postgresql://me:s3cret/a", "--student", "a"], "--to-nbgrader: not a database's URL; expec"),
        (["--to-nbgrader", "odd://x", "--student", "a"], "odd://x: Can't load plugin: sqlalchemy.dialects:odd"),
    ],
)
def test_slips_are_one_line(tmp_path, monkeypatch, capsys, arguments, said) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["grade", str(tmp_path), *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("autograder: ") and said in told and told.count("\n") == 1 and "s3cret" not in told
    assert not (tmp_path / "results.json").exists()
