"""A corpus of one's own in `data/`: the generator leaves it alone."""

import pytest

from data.generator import commands, corpus_files

from .conftest import run


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder `data/` with a corpus that the generator has not made."""
    for module in (corpus_files, commands):
        monkeypatch.setattr(module, "DATA_FOLDER", tmp_path)
        monkeypatch.setattr(module, "GENERATED", tmp_path / "private" / "generated.json")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "fren.train.bpe").write_text("a|||b\n")
    return tmp_path


def test_a_corpus_of_one_s_own_is_never_overwritten(own, capsys):
    assert run("generate", "--output", own) == 2
    assert "corpus/fren.train.bpe: not made by 'generate'" in capsys.readouterr().err
    assert run("generate", "--output", own, "--keep-own") == 0
    assert "a corpus of your own; it stays" in capsys.readouterr().out
    assert (own / "corpus" / "fren.train.bpe").read_text() == "a|||b\n"
    assert [path.name for path in own.rglob("*.bpe")] == ["fren.train.bpe"]
