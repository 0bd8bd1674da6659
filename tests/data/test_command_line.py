"""The command line: what it writes, what it says, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.generator import commands
from data.generator.build import Corpus
from data.generator.corpus_files import MANIFEST, read_manifest

from .conftest import run

pytestmark = pytest.mark.slow  # the whole corpus is drawn for them, which takes five seconds


@pytest.fixture(autouse=True)
def whole_corpus(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the corpus that was drawn already where the command would draw the same again."""
    drawn = commands._build

    def build(settings: object, seed: int, test_seed: int) -> Corpus:
        if (seed, test_seed) == (corpus.seed, corpus.test_seed):
            return corpus
        return drawn(settings, seed, test_seed)  # type: ignore[arg-type]

    monkeypatch.setattr(commands, "_build", build)


def test_generate_and_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is written passes the check; a changed file does not."""
    assert run("generate", "--output", tmp_path) == 0
    said = capsys.readouterr().out
    assert "8701 train, 971 dev, 971 test pairs" in said and "1382 French" in said
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {
        "corpus/fren.train.bpe", "corpus/fren.dev.bpe", "corpus/fren.test.src.bpe", "private/fren.train.align",
        "corpus/fren.dev.align", "private/fren.dev.align", "private/fren.test.bpe", "private/fren.test.align",
        "manifest.json",
    }  # fmt: skip
    assert json.loads((tmp_path / "manifest.json").read_text()) == json.loads(MANIFEST.read_text())
    assert run("check", "--output", tmp_path) == 0
    assert "all 8 files are as the manifest says" in capsys.readouterr().out
    dev = tmp_path / "corpus/fren.dev.bpe"
    dev.write_text(dev.read_text().replace("je ", "jeu ", 1))
    assert run("check", "--output", tmp_path) == 1
    assert "corpus/fren.dev.bpe: the file in" in capsys.readouterr().err
    dev.unlink()
    assert run("check", "--output", tmp_path) == 2
    assert capsys.readouterr().err == f"data: {dev}: missing; 'python -m data generate' writes it\n"


def test_a_changed_lexicon_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its usual place, the corpus must be what the manifest records, unless the manifest is to be renewed."""
    manifest = tmp_path / "manifest.json"
    recorded = json.loads(MANIFEST.read_text())
    recorded["files"]["corpus/fren.dev.bpe"] = "0" * 64
    manifest.write_text(json.dumps(recorded))
    monkeypatch.setattr(commands, "MANIFEST", manifest)
    monkeypatch.setattr(commands, "DATA_FOLDER", tmp_path)
    monkeypatch.setattr(commands, "read_manifest", lambda path=manifest: read_manifest(path))
    assert run("generate", "--output", tmp_path) == 1
    error = capsys.readouterr().err
    assert "corpus/fren.dev.bpe" in error and "--update-manifest" in error
    assert not (tmp_path / "corpus").exists()
    assert run("generate", "--output", tmp_path, "--update-manifest") == 0
    assert json.loads(manifest.read_text()) == json.loads(MANIFEST.read_text())
