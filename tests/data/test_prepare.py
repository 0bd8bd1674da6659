"""Corpora from parallel text, up to a trained model: cutting, dropping, splitting, encoding; what the command says."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from data.files import CorpusError
from data.preparation.commands import put_in_course
from data.preparation.corpus import prepare
from data.preparation.encodings import UNKNOWN_WORD as UNKNOWN
from data.preparation.encodings import Choices, Encoding, empty_tokenizer, read_encoding
from foundation.places import ROOT
from given.package import Package
from given.run_folder import Checkpoint
from reference.__main__ import main as reference
from reference.data import read_pairs
from reference.vocab import join_subwords
from release.contents import check_corpus

from .conftest import run

PAIRS = [(f"Das Haus_{n % 7} hat {n} Türen ...", f"The house_{n % 7} has {n} doors ...") for n in range(60)]
cut_words = Encoding(empty_tokenizer("signs", lowercase=False)).cut


def made(splits: dict, choices: Choices) -> tuple[dict[str, bytes], dict]:
    """The files of the corpus and its summary."""
    with tempfile.TemporaryDirectory() as folder:
        summary = prepare(splits, choices, Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}, summary


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("L'homme, 3.5 % !", ["L", "'", "homme", ",", "3", ".", "5", "%", "!"]),
        ("a\u0301 \u00e1", ["\u00e1", "\u00e1"]),
        ("x|||y\u00a0z\u200b", ["x", "y", "z"]),
        ("नमस्ते", ["नमस्ते"]),
    ],
)
def test_words_and_signs(text, words):
    assert cut_words(text) == words


@pytest.mark.parametrize(("encoding", "joint"), [("bpe", True), ("bpe", False), ("words", True)])
def test_a_corpus_reads_back(tmp_path, encoding, joint):
    files, summary = made({"train": PAIRS}, Choices(encoding, joint=joint, vocabulary=200, dev=5, test=5))
    assert summary["pairs"] == {"train": 50, "dev": 5, "test": 5}
    sources = []
    for split, count in summary["pairs"].items():
        (tmp_path / split).write_bytes(files[f"{split}.{encoding}"])
        pairs = read_pairs(tmp_path / split)
        assert len(pairs) == count
        sources += [join_subwords(source) for source, _ in pairs]
    if encoding == "bpe":
        assert sorted(sources) == sorted(" ".join(cut_words(source)) for source, _ in PAIRS)
    name = "tokenizer.json" if joint else "tokenizer_source.json"
    (tmp_path / name).write_bytes(files[name])
    line = (tmp_path / "train").read_text().split("|||")[0]
    assert " ".join(read_encoding(tmp_path / name).encode(join_subwords(line.split()))) == line


@pytest.mark.parametrize("joint", [True, False])
def test_references_hold_the_true_words(joint):
    """Else a translation that says <unk> would match; the training split and all sources keep to the encoding."""
    splits = {"train": [("a a a b", "x x x y")], "dev": [("a b", "x y")], "test": [("b a", "y x")]}
    files, _ = made(splits, Choices("words", vocabulary=2 if joint else 1, joint=joint))
    assert files["train.words"].decode() == f"a a a {UNKNOWN}|||x x x {UNKNOWN}\n"
    assert files["dev.words"].decode() == f"a {UNKNOWN}|||x y\n"
    assert files["test.words"].decode() == f"{UNKNOWN} a|||y x\n"


def test_no_source_stands_in_two_splits():
    splits = {"train": [("one", "1"), ("two", "2"), ("", "3"), ("three " * 9, "4")], "test": [("two", "zwei")]}
    files, summary = made(splits, Choices("words", dev=0, most_tokens=8))
    assert files["train.words"] == b"one|||1\n" and files["test.words"].startswith(b"<unk>|||")
    assert summary["dropped"] == {"source seen before": 1, "empty": 1, "too long": 1}


@pytest.mark.parametrize(
    ("splits", "choices", "message"),
    [
        ({"train": [("", "")] * 2}, Choices(), "no pair is left for training .2 empty.$"),
        ({"test": PAIRS}, Choices(), "it has no split 'train', only test"),
        (
            {"train": PAIRS},
            Choices(dev=40, test=6),
            "60 pairs are too few to take 40 of them for dev and 6 of them for test; name a smaller --dev or --test$",
        ),
        ({"train": PAIRS}, Choices(dev=0, test=0, most_tokens=2), "no pair is left for training .60 too long.$"),
    ],
)
def test_what_cannot_be_a_corpus(splits, choices, message):
    with pytest.raises(CorpusError, match=message):
        made(splits, choices)


def test_wrong_input(text, tmp_path, capsys):
    """One line, status 2, and nothing is written."""
    good, short = tmp_path / "good", tmp_path / "short"
    good.write_text("a\nb\n")
    short.write_text("a\n")
    (tmp_path / "latin").write_bytes("é\n".encode("latin-1"))
    (tmp_path / "bad.gz").write_bytes(b"no gzip")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a\nb\n" * 99)[:-9])
    for more, message in (
        (["--train", good, short], "short ends after 1 lines"),
        (["--train", good, tmp_path / "none"], "none: No such file"),
        (["--train", good, tmp_path / "latin"], "latin:1: not UTF-8 text"),
        (["--train", good, tmp_path / "bad.gz"], "bad.gz: Not a gzipped file"),
        (["--train", tmp_path / "cut.gz", tmp_path / "cut.gz"], "cut.gz: "),
        (["--dataset", "x"], "--languages"),
        ([*text, "--vocabulary", 0], "'0': expected a whole number of at least 1"),
        ([*text, "--languages", "de", "../en"], "argument --languages: '../en' is not the code of a language"),
        ([*text, "--output", ""], "argument --output: the name is empty"),
    ):
        assert run("prepare", "--output", tmp_path / "out", *more) == 2
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    """Makes a dataset in the form that WMT14 and OPUS Books have, with the pairs in two languages."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")

    def make(name, *languages):
        (tmp_path / name).mkdir()
        rows = [{"id": str(n), "translation": dict(zip(languages, pair, strict=True))} for n, pair in enumerate(PAIRS)]
        (tmp_path / name / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return tmp_path / name

    return make


@pytest.mark.slow  # the library takes seconds to load
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dataset(tmp_path, capsys, datasets):
    """A folder that the library datasets reads, of rows with translations or of columns."""
    where = ["--dataset", datasets("books", "it", "en"), "--encoding", "words", "--dev", 5, "--test", 5]
    where += ["--output", tmp_path / "enit"]
    assert run("prepare", *where, "--languages", "en", "it") == 0
    assert "50 train, 5 dev, 5 test" in capsys.readouterr().out
    assert (tmp_path / "enit/train.words").read_text().startswith("The house _ 0 has ")
    assert run("prepare", *where, "--languages", "en", "fr") == 2
    assert "a row has it, en; expected texts in en and fr" in capsys.readouterr().err
    for side in (0, 1):
        (tmp_path / f"dev{side}").write_text(f"{'xy'[side]} 1\n" * 3)
    more = ["--languages", "en", "it", "--dev-files", tmp_path / "dev0", tmp_path / "dev1"]
    assert run("prepare", *where, *more) == 0
    assert "55 train, 1 dev, 5 test" in capsys.readouterr().out
    assert (tmp_path / "enit/dev.words").read_text() == "<unk> 1|||y 1\n"
    assert run("prepare", "--dataset", tmp_path / "none", *where[2:], "--languages", "en", "it") == 2
    assert capsys.readouterr().err.count("\n") == 1
    table = tmp_path / "table"
    table.mkdir()
    (table / "train.csv").write_text("de,en\n,empty\n" + "".join(f'"{de}","{en}"\n' for de, en in PAIRS))
    where = ["--dataset", table, *where[2:-1], tmp_path / "deen", "--languages", "de"]
    assert run("prepare", *where, "en") == 0
    said = capsys.readouterr().out
    assert "50 train, 5 dev, 5 test\n" in said and "dropped: 1 empty\n" in said
    assert run("prepare", *where, "it") == 2
    assert "a row has de, en; expected texts in de and it" in capsys.readouterr().err


@pytest.fixture
def text(tmp_path: Path) -> list[object]:
    """Options that name a small text."""
    for side in ("de", "en"):
        lines = "".join(f"{side} {n}\n" for n in range(20)).encode()
        (tmp_path / f"{side}.gz").write_bytes(gzip.compress(lines))
    return ["--train", tmp_path / "de.gz", tmp_path / "en.gz", "--dev", 4, "--test", 0]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_one_corpus_at_a_time(text, tmp_path, capsys):
    """What an earlier one left there goes; other files stay. A folder without a record of ours is refused."""
    output = tmp_path / "corpus"
    assert run("prepare", *text, "--test", 5, "--joint", "--output", output) == 0
    assert names(output) == {"train.bpe", "dev.bpe", "test.bpe", "tokenizer.json", "languages.json", "summary.json"}
    (output / "notes.txt").write_text("mine")
    both = {"tokenizer_source.json", "tokenizer_target.json", "languages.json", "summary.json", "notes.txt"}
    assert run("prepare", *text, "--encoding", "words", "--output", output) == 0
    assert names(output) == {"train.words", "dev.words", *both}
    assert (output / "notes.txt").read_text() == "mine"
    (output / "summary.json").unlink()
    assert run("prepare", *text, "--output", output) == 2 and "train.words" in names(output)
    assert "has files that 'prepare' did not write; choose another --output" in capsys.readouterr().err


def test_what_was_dropped_as_too_long(tmp_path, capsys):
    for side in ("de", "en"):
        (tmp_path / side).write_text(f"{side}\n" + "".join(f"{n} " + "a " * n + "\n" for n in (3, 120, 600)))
    where = ["--train", tmp_path / "de", tmp_path / "en", "--dev", 0, "--test", 0, "--output", tmp_path / "out"]
    assert run("prepare", *where) == 0
    said = capsys.readouterr().out
    assert "dropped: 2 too long\n" in said and "there is no dev split" in said and "next:" not in said


def test_columns_of_a_file(tmp_path, capsys):
    table = tmp_path / "pairs.tsv.gz"
    lines = [f"Cat {n} .\tLe chat {n} .\tsomebody\n" for n in range(60)]
    table.write_bytes(gzip.compress("".join([*lines, "\n"]).encode()))
    more = ["--pairs", table, "--dev", 4, "--test", 0, "--encoding", "words", "--output", tmp_path / "out"]
    assert run("prepare", *more, "--columns", 2, 1) == 0
    assert (tmp_path / "out" / "train.words").read_text().startswith("Le chat 0 .|||Cat 0 .\n")
    capsys.readouterr()
    assert run("prepare", *more, "--columns", 4, 1) == 2
    assert f"{table}:1: 3 columns, separated by tabs; expected at least 4" in capsys.readouterr().err


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of pairs, separated by tabs."""
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{de}\t{en}\n" for de, en in PAIRS), encoding="utf-8")
    return path


@pytest.mark.parametrize("encoding", ["bpe", "words"])
def test_a_tokenizer_works_by_itself(pairs, tmp_path, encoding):
    """As the library has it: special tokens by their ids, a template around each sentence, words that decode."""
    more = ["--encoding", encoding, "--pre-tokenizer", "whitespace", "--joint", "--vocabulary", 120, "--dev", 5]
    assert run("prepare", "--pairs", pairs, *more, "--test", 0, "--output", tmp_path / "out") == 0
    path = tmp_path / "out/tokenizer.json"
    content = json.loads(path.read_text())
    assert [token["content"] for token in content["added_tokens"]] == ["[PAD]", "[UNK]", "[BOS]", "[EOS]"]
    assert all(token["special"] and token["id"] == number for number, token in enumerate(content["added_tokens"]))
    assert content["pre_tokenizer"] == {"type": "Whitespace"}
    assert content["post_processor"]["type"] == "TemplateProcessing"
    assert content["model"]["unk_token"] == "[UNK]"
    tokenizer = Tokenizer.from_file(str(path))
    encoded = tokenizer.encode("Das Haus_3 hat zwölf Türen ...")
    assert encoded.tokens[0] == "[BOS]" and encoded.tokens[-1] == "[EOS]" and "[UNK]" in encoded.tokens
    assert tokenizer.decode(tokenizer.encode(PAIRS[3][0]).ids) == PAIRS[3][0]
    assert tokenizer.get_vocab_size() == len(content["model"]["vocab"]) <= 120
    words = [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str("a_b... -- c")]
    assert words == ["a_b", "...", "--", "c"]


def test_rare_words_by_count(tmp_path, capsys):
    text = "once twice\tuna due\n" + "twice thrice\tdue tre\n" + "x thrice thrice\ty tre tre\n"
    (tmp_path / "pairs.txt").write_text(text)
    where = ["--pairs", tmp_path / "pairs.txt", "--encoding", "words", "--dev", 0, "--test", 0]
    assert run("prepare", *where, "--min-count", 2, "--languages", "en", "it", "--output", tmp_path / "out") == 0
    assert (tmp_path / "out/train.words").read_text() == (
        "<unk> twice|||<unk> due\ntwice thrice|||due tre\n<unk> thrice thrice|||<unk> tre tre\n"
    )
    vocabulary = json.loads((tmp_path / "out/tokenizer_it.json").read_text())["model"]["vocab"]
    assert sorted(vocabulary, key=vocabulary.get) == ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "tre", "due"]
    assert "longest source: 3 tokens; longest target: 3" in capsys.readouterr().out


@pytest.mark.parametrize(("share", "dev", "train"), [("12.5%", 8, 52), ("0.5%", 1, 59), ("0%", 0, 60), ("7", 7, 53)])
def test_a_split_by_share(pairs, tmp_path, share, dev, train):
    where = ["--pairs", pairs, "--dev", share, "--test", 0, "--encoding", "words"]
    assert run("prepare", *where, "--output", tmp_path / "out") == 0
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["pairs"] == {"train": train, "dev": dev, "test": 0}


def test_encodings_are_used_again(pairs, tmp_path, capsys):
    """Unless their choices change, or it is asked for."""
    output = tmp_path / "out"
    where = ["--languages", "en", "it", "--encoding", "words", "--test", 0, "--dev", 5, "--output", output]
    assert run("prepare", "--pairs", pairs, *where) == 0
    assert "used again" not in capsys.readouterr().out
    first = {path: path.read_bytes() for path in output.glob("tokenizer_*.json")}
    assert {path.name for path in first} == {"tokenizer_en.json", "tokenizer_it.json"}
    pairs.write_text("".join(f"drei {n % 10}{' .' * n}\tthree {n % 10}\n" for n in range(40)))
    assert run("prepare", "--pairs", pairs, *where) == 0
    said = "tokenizer_en.json, tokenizer_it.json: used again, as found in the folder; --learn-anew replaces them"
    assert said in capsys.readouterr().out and all(path.read_bytes() == content for path, content in first.items())
    assert "drei" not in (output / "train.words").read_text()
    for more in (["--learn-anew"], ["--lowercase"]):
        assert run("prepare", "--pairs", pairs, *where, *more) == 0
        assert "used again" not in capsys.readouterr().out
        assert "|||three 1\n" in (output / "train.words").read_text()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the library datasets
def test_opus_books_from_its_dataset_to_a_model(tmp_path, capsys, datasets):
    """Words that occur twice, a tenth for dev, a tokenizer of each language."""
    dataset, corpus, folder = datasets("books", "en", "it"), tmp_path / "corpus", tmp_path / "run"
    assert run("prepare", "--preset", "opus-books-en-it", "--dataset", dataset, "--output", corpus) == 0
    said = capsys.readouterr().out
    assert "54 train, 6 dev, 0 test" in said and "longest source: 6 tokens; longest target: 6" in said
    assert {"tokenizer_en.json", "tokenizer_it.json"} <= {path.name for path in corpus.iterdir()}
    command = said.split("next: python -m reference ")[1].split()[:-2]
    small = ["--d-model", "16", "--n-heads", "2", "--d-ff", "16", "--n-layers", "1", "--max-length", "8"]
    assert reference([*command, "--output", str(folder), *small, "--max-steps", "2"]) == 0
    assert {"languages.json", "tokenizer_en.json", "tokenizer_it.json"} <= {path.name for path in folder.iterdir()}


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the library datasets
def test_one_command_from_the_dataset_to_the_model(tmp_path, monkeypatch, datasets):
    """`make setting`: the commands that it would run are run here."""
    datasets("wmt", "de", "en")
    command = ["make", "-n", "--no-print-directory", "-f", str(ROOT / "Makefile"), "PY=python", "READY=", "setting"]
    text = "TEXT=--dataset wmt --vocabulary 90 --dev 6 --test 4"
    command += ["PRESET=wmt14-de-en", text, "OPTIONS=--max-steps 2 --report-every 2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    [prepare, train] = [shlex.split(line) for line in done.stdout.splitlines()]
    assert prepare[:3] == ["python", "-m", "data"] and train[:3] == ["python", "-m", "reference"]
    monkeypatch.chdir(tmp_path)
    assert run(*prepare[3:]) == 0 and reference(train[3:]) == 0
    assert (tmp_path / "runs/wmt14-de-en/tokenizer.json").is_file()
    model = Checkpoint.load(Package("reference"), tmp_path / "runs/wmt14-de-en/last.pt")
    assert model.step == 2 and model.src_vocab.tokens == model.tgt_vocab.tokens
    assert (model.config.d_model, model.config.n_heads, model.config.n_layers, model.config.d_ff) == (128, 8, 1, 512)
    assert len(read_pairs(tmp_path / "corpora/wmt14-de-en/train.bpe")) == 50


def test_a_prepared_corpus_takes_the_course_s_place(tmp_path, capsys):
    """Its test split becomes sources for students and private references; the old corpus' alignments go."""
    folder, data = tmp_path / "made", tmp_path / "data"
    folder.mkdir()
    summary = prepare({"train": PAIRS}, Choices(vocabulary=200, dev=5, test=5), folder)
    (data / "private").mkdir(parents=True)
    (data / "private" / "fren.test.align").write_text("0-0\n")
    put_in_course(folder, summary, data)
    test = (folder / "test.bpe").read_text()
    assert (data / "private" / "fren.test.bpe").read_text() == test
    assert [line.partition("|||")[0] for line in test.splitlines()] == (
        (data / "corpus" / "fren.test.src.bpe").read_text().splitlines()
    )
    assert not (data / "private" / "fren.test.align").exists()
    (tmp_path / "grading_secret.txt").write_text("0" * 64)
    check_corpus(tmp_path)  # of a release
    with pytest.raises(CorpusError, match="has no test split, which a course needs; --test N draws one"):
        put_in_course(folder, {**summary, "pairs": {"train": 50, "dev": 5, "test": 0}}, data)
