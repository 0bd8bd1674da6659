"""`translate` (raw text and tokens, files and streams, several translations, unknown words), and the tokenizers."""

import io
import sys

import pytest

from data.__main__ import main as data
from given.extras.raw_text import TextTokenizer
from reference.__main__ import main
from reference.data import read_pairs

from .conftest import REFERENCE

SENTENCES = [
    (f"{subject} {verb}.", f"{other} {action}.")
    for subject, other in (("Ich", "I"), ("Du", "You"), ("Wir", "We"))
    for verb, action in (("esse", "eat"), ("schlafe", "sleep"), ("lese", "read"))
]
RAW = [(f"Ein Haus, {n} Katzen.", f"It's a house, {n} cats.") for n in range(40)]


@pytest.fixture(scope="module")
def prepare(tmp_path_factory):
    """Prepares a corpus of pairs, with these options more."""

    def run(pairs, *more):
        folder = tmp_path_factory.mktemp("corpus")
        for side, name in enumerate(("de", "en")):
            (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
        where = ["--train", folder / "de", folder / "en", "--languages", "de", "en", "--test", 0, "--vocabulary", 60]
        assert data(["prepare", *map(str, [*where, "--output", folder / "corpus", *more])]) == 0
        return folder / "corpus"

    return run


@pytest.fixture(scope="module")
def run_folder(prepare, tmp_path_factory):
    """A trained model, small but good at its nine sentences, with its tokenizers."""
    corpus = prepare(SENTENCES, "--dev", 0)
    (corpus / "dev.bpe").write_bytes((corpus / "train.bpe").read_bytes())
    folder, length = tmp_path_factory.mktemp("run"), ["--max-steps", "150", "--report-every", "150"]
    flags = ["--corpus", str(corpus), "--output", str(folder), "--preset", "tiny", "--batch-size", "9", *length]
    assert main(["train", *flags, "--learning-rate", "5e-3", "--dropout", "0"]) == 0
    return folder


def translate(folder, lines, *flags, name="text.txt"):
    """Runs the command on a file; returns what it wrote."""
    (folder / name).write_text("".join(line + "\n" for line in lines))
    files = ["--checkpoint", str(folder / "best.pt"), "--input", str(folder / name), "--output", str(folder / "out")]
    assert main(["translate", *files, *flags]) == 0
    return (folder / "out").read_text().splitlines()


def test_raw_text_becomes_text_and_tokens_stay_tokens(run_folder, tmp_path):
    assert translate(run_folder, ["Ich esse.", "", "  ", "Du lese."]) == ["I eat.", "", "", "You read."]
    tokens = TextTokenizer.load(REFERENCE, run_folder).split
    lines = [" ".join(tokens("Ich esse.")), " ".join(tokens("Du schlafe.")) + "|||You sleep ."]
    assert translate(run_folder, lines, name="test.bpe") == ["I eat .", "You sleep ."], "a corpus' file has tokens"
    (tmp_path / "best.pt").write_bytes((run_folder / "best.pt").read_bytes())
    assert translate(tmp_path, lines) == ["I eat .", "You sleep ."], "without tokenizers there is nothing else"


def test_every_search_translates_the_same(run_folder):
    lines = ["Ich lese.", "", "Wir esse."]
    flags = [[], ["--cached"], ["--no-cached"], ["--beam-size", "3"], ["--beam-size", "3", "--no-cached"]]
    assert {tuple(translate(run_folder, lines, *more)) for more in flags} == {("I read.", "", "We eat.")}


def test_standard_streams(run_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ich esse.\n\nDu lese."))
    command = ["translate", "--checkpoint", str(run_folder / "best.pt"), "--input"]
    assert main([*command, "-"]) == 0
    assert capsys.readouterr() == ("I eat.\n\nYou read.\n", "")
    (tmp_path / "text.txt").write_text("Ich esse.\n")
    assert main([*command, str(tmp_path / "text.txt"), "--output", "-"]) == 0
    assert capsys.readouterr() == ("I eat.\n", "")


def test_the_most_tokens(run_folder):
    assert translate(run_folder, ["Ich lese.", *["Du lese."] * 5], "--max-length", "2")[0] == "I read"


@pytest.mark.parametrize(
    "encoding, pre_tokenizer, joint", [("bpe", "signs", True), ("bpe", "whitespace", False), ("words", "signs", False)]
)
def test_raw_text_becomes_the_tokens_of_the_corpus(prepare, encoding, pre_tokenizer, joint):
    folder = prepare(RAW, "--dev", 4, "--encoding", encoding, "--pre-tokenizer", pre_tokenizer, *["--joint"] * joint)
    text = TextTokenizer.load(REFERENCE, folder)
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
def test_tokens_become_text_that_people_read(run_folder, language, tokens, text):
    assert (
        TextTokenizer(REFERENCE, TextTokenizer.load(REFERENCE, run_folder).source, language).join(tokens.split())
        == text
    )
