"""`translate` (raw text and tokens, files and streams, several translations, unknown words), and the tokenizers."""

import io
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from data.__main__ import main as data
from given.config import LANGUAGES, PRESETS
from given.experiment import Experiment
from given.extras.raw_text import TextTokenizer
from reference.__main__ import main
from reference.data import read_pairs

PAIRS = [
    (f"{subject} {verb} .".split(), f"{other} {action} .".split())
    for subject, other in (("ich", "i"), ("du", "you"), ("wir", "we"))
    for verb, action in (("ess@@ e", "eat"), ("schlafe", "sl@@ eep"), ("lese", "read"))
]
RAW = [(f"Ein Haus, {n} Katzen.", f"It's a house, {n} cats.") for n in range(40)]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A trained model, small but good at its nine sentences."""
    folder = tmp_path_factory.mktemp("run")
    length = {"epochs": 1, "max_steps": 150, "report_every": 150}
    config = replace(PRESETS["tiny"], batch_size=18, learning_rate=5e-3, dropout=0.0, **length)
    Experiment(config, PAIRS * 2, PAIRS[:3]).run(folder, progress=False)
    return folder


@pytest.fixture
def raw_folder(run_folder, tmp_path, monkeypatch):
    """The same with tokenizers: they split at spaces, in lower case, and join words to sentences."""
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "best.pt").write_bytes((run_folder / "best.pt").read_bytes())
    (folder / LANGUAGES).write_text("{}")
    pieces = {"esse": ["ess@@", "e"]}
    tokenizer = SimpleNamespace(
        split=lambda text: [p for word in text.lower().replace(".", " .").split() for p in pieces.get(word, [word])],
        join=lambda tokens: " ".join(tokens).replace("@@ ", "").replace(" .", ".").capitalize(),
    )
    monkeypatch.setattr("given.extras.raw_text.TextTokenizer.load", lambda path: tokenizer)
    return folder


def translate(folder, lines, *flags, name="text.txt"):
    """Runs the command on a file; returns what it wrote."""
    (folder / name).write_text("".join(line + "\n" for line in lines))
    files = ["--checkpoint", str(folder / "best.pt"), "--input", str(folder / name), "--output", str(folder / "out")]
    assert main(["translate", *files, *flags]) == 0
    return (folder / "out").read_text().splitlines()


def test_raw_text_becomes_text_and_tokens_stay_tokens(raw_folder, run_folder):
    assert translate(raw_folder, ["Ich esse.", "", "  ", "Du lese."]) == ["I eat.", "", "", "You read."]
    lines = ["ich ess@@ e .", "du schlafe .|||you sl@@ eep ."]
    expected = ["i eat .", "you sleep ."]
    assert translate(raw_folder, lines, name="test.bpe") == expected, "a corpus' file has tokens"
    assert translate(run_folder, lines) == expected, "without tokenizers there is nothing else"


def test_every_search_translates_the_same(run_folder):
    lines = ["ich lese .", "", "wir ess@@ e ."]
    flags = [[], ["--cached"], ["--no-cached"], ["--beam-size", "3"], ["--beam-size", "3", "--no-cached"]]
    assert {tuple(translate(run_folder, lines, *more)) for more in flags} == {("i read .", "", "we eat .")}


def test_standard_streams(raw_folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ich esse.\n\nDu lese."))
    command = ["translate", "--checkpoint", str(raw_folder / "best.pt"), "--input"]
    assert main([*command, "-"]) == 0
    assert capsys.readouterr() == ("I eat.\n\nYou read.\n", "")
    (raw_folder / "text.txt").write_text("Ich esse.\n")
    assert main([*command, str(raw_folder / "text.txt"), "--output", "-"]) == 0
    assert capsys.readouterr() == ("I eat.\n", "")


def test_a_note_on_unknown_words_and_the_most_tokens(run_folder, capsys):
    assert translate(run_folder, ["ich lese .", *["du lese ."] * 5], "--max-length", "2")[0] == "i read"
    assert capsys.readouterr().err == ""
    translate(run_folder, ["elle dort ."])
    assert "note: 67% of the tokens are not in the checkpoint's vocabulary" in capsys.readouterr().err


@pytest.fixture
def corpus(tmp_path):
    """Prepares a corpus with these options more."""

    def prepare(*more):
        for side, name in enumerate(("de", "en")):
            (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in RAW))
        where = ["--train", tmp_path / "de", tmp_path / "en", "--languages", "de", "en", "--dev", 4, "--test", 0]
        where += ["--vocabulary", 60, "--output", tmp_path / "corpus", *more]
        assert data(["prepare", *map(str, where)]) == 0
        return tmp_path / "corpus"

    return prepare


@pytest.mark.parametrize(
    "encoding, pre_tokenizer, joint", [("bpe", "signs", True), ("bpe", "whitespace", False), ("words", "signs", False)]
)
def test_raw_text_becomes_the_tokens_of_the_corpus(corpus, encoding, pre_tokenizer, joint):
    folder = corpus("--encoding", encoding, "--pre-tokenizer", pre_tokenizer, *["--joint"] * joint)
    text = TextTokenizer.load(folder)
    train = read_pairs(folder / f"train.{encoding}")
    assert {tuple(text.split(source)) for source, _ in RAW} >= {tuple(source) for source, _ in train}
    assert {target for _, target in RAW} >= {text.join(target) for _, target in train}


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("en", "don ' t go , he said : \" 3 . 5 % of 10 , 000 ! \"", "don't go, he said: \"3.5% of 10,000!\""),
        ("en", "the dogs ' t@@ a@@ il , a t - shirt ...", "the dogs' tail, a t-shirt..."),
        ("fr", "l ' homme n ' est pas là , dit - il .", "l'homme n'est pas là, dit-il."),
        ("it", "dell ' acqua c ' è .", "dell'acqua c'è."),
    ],
)  # fmt: skip
def test_tokens_become_text_that_people_read(corpus, language, tokens, text):
    assert TextTokenizer(TextTokenizer.load(corpus()).source, language).join(tokens.split()) == text
