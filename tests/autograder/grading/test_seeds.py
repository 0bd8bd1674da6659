"""One policy for seeds: every mark can be replayed, and no seed foretold or guessed from its id."""

import json
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.__main__ import main
from autograder.commands import grade
from autograder.grading.record import read_record, write_record
from autograder.grading.seeds import Seeds
from autograder.grading.submission import open_grader
from autograder.testing.results import State
from foundation.command_line import UserError
from foundation.places import REFERENCES
from foundation.term_secret import SECRET, term_secret

from .conftest import SEEDS


def test_a_seed_follows_from_the_secret_alone():
    """So the same mistake earns the same marks in every submission of a term."""
    seeds = Seeds(b"secret")
    assert seeds.of_tests == Seeds(b"secret").of_tests < 2**128
    assert len({seeds.of_tests, Seeds(b"other").of_tests, seeds.seed_of("questions")}) == 3
    assert Seeds(b"secret", fixed=7).of_tests == 7


def test_a_secret_is_drawn_where_there_is_none_and_kept(tmp_path, capsys):
    secret = term_secret(tmp_path)
    assert str(tmp_path / SECRET) in capsys.readouterr().err
    assert secret == term_secret(tmp_path) and len(secret) == 65
    assert capsys.readouterr().err == ""
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / SECRET).parent.iterdir()] == [SECRET.name]


def test_the_references_do_not_give_the_secret_away(tmp_path):
    """They can be drawn again by whoever knows, or tries, the number of the test set."""
    secrets = set()
    for folder in (tmp_path / "one", tmp_path / "two"):
        (folder / REFERENCES).parent.mkdir(parents=True)
        (folder / REFERENCES).write_text("a|||b\n")
        secrets.add(term_secret(folder))
    assert len(secrets) == 2


def test_processes_that_draw_at_once_get_one_secret(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(term_secret, [tmp_path] * 64))) == 1


def test_a_secret_that_cannot_be_used_is_one_line(tmp_path):
    for written in (b"", b"\n", b"a short one\n"):
        (tmp_path / SECRET).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / SECRET).write_bytes(written)
        with pytest.raises(UserError, match="shorter than 16 characters"):
            term_secret(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data").write_text("a file")
    with pytest.raises(UserError, match="secret cannot be kept"):
        term_secret(tmp_path / "other")


@pytest.fixture
def disputed(tmp_path, graded, class_folder, zygote, monkeypatch):
    """A submission and its record, as `grade --record` writes it; the secret is the test's own."""
    folder = tmp_path / "anna"
    shutil.copytree(class_folder / "attention only", folder)
    path = tmp_path / "anna.json"
    write_record(path, graded("attention only"))
    monkeypatch.setattr(grade, "seeds_of_term", lambda root, fixed: Seeds(SEEDS.secret, fixed))
    monkeypatch.setattr(grade, "open_grader", lambda *arguments: open_grader(*arguments, zygote))
    return path, folder


@pytest.mark.slow
def test_a_disputed_mark_is_replayed(disputed, references, capsys):
    path, folder = disputed
    arguments = ["replay", str(path), str(folder), "--references", str(references)]
    assert main(arguments) == 0
    assert "the marks are those of" in capsys.readouterr().out
    record = read_record(path)
    parts = list(record.judgement.parts)
    parts[3] = parts[3].changed(state=State.PASSED, score=10.0)
    write_record(path, record.changed(judgement=record.judgement.changed(parts=tuple(parts))))
    assert main(arguments) == 1
    assert "1.4 Layer normalisation: 10 → 0 (passed → not attempted)" in capsys.readouterr().out


def test_what_cannot_be_replayed_is_one_line(disputed, references, tmp_path, capsys):
    path, folder = disputed
    record = read_record(path)
    rest = ["--references", str(references)]

    def refused(*arguments: str) -> str:
        assert main(["replay", *arguments, *rest]) == 2
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1
        return printed

    assert "not a record" in refused(str(folder / "attention.py"), str(folder))
    assert "nowhere.json: No such file or directory" in refused("nowhere.json", str(folder))
    assert "another seed" in refused(str(path), str(folder), "--seed", "7")
    judgement = record.judgement.changed(seed_id="0" * 12)
    write_record(tmp_path / "other.json", record.changed(judgement=judgement))
    assert "--seed N" in refused(str(tmp_path / "other.json"), str(folder))
    (folder / "train.py").write_text("# changed\n")
    assert "not the files that" in refused(str(path), str(folder))
    assert json.loads(path.read_text())["judgement"]["seed_id"] == record.judgement.seed_id
