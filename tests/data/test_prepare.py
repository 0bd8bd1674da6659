"""Corpora from parallel text, up to a trained model: cutting, dropping, splitting, encoding; the command's output."""

from __future__ import annotations

import gzip
import json
import shlex
import socket
import subprocess
import time

import pytest
from tokenizers import Tokenizer

from data import __main__ as command_line
from data import parallel_text
from data.__main__ import main, put_in_course
from data.encodings import SPLITS, Choices, cut, empty_tokenizer, encode
from data.parallel_text import prepare
from foundation.command_line import UserError
from foundation.places import ROOT
from given.package import Package
from given.run_folder import Checkpoint
from reference.__main__ import main as reference
from reference.data import read_pairs
from reference.vocab import join_subwords
from release.contents import check_corpus

from ..conftest import examples_in

PAIRS = [(f"Das Haus_{n % 7} hat {n} Türen ...", f"The house_{n % 7} has {n} doors ...") for n in range(60)]


def run(*arguments: object) -> int:
    """The exit status of a command; argparse's too."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture
def command(tmp_path, capsys):
    """Runs `prepare` with --output out, or another: its standard output, or the error where it fails."""

    def command(*options, status=0):
        assert run("prepare", "--output", tmp_path / "out", *options) == status
        output, error = capsys.readouterr()
        assert not status or error.count("\n") == 1
        return error if status else output

    return command


def read(folder) -> dict[str, str]:
    """The texts of a folder by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.fixture
def made(tmp_path):
    """Prepares splits by choices: the texts of the corpus and its summary."""

    def make(splits, choices):
        folder = tmp_path / "made"
        folder.mkdir()
        summary = prepare(splits, choices, folder)
        return read(folder), summary

    return make


@pytest.fixture
def pairs(tmp_path):
    """Options that name a file of columns, with an empty line, as Tatoeba has it."""
    lines = [f"{en}\t{de}\tsomebody\n" for de, en in PAIRS]
    (tmp_path / "pairs.tsv.gz").write_bytes(gzip.compress("".join([*lines, "\n"]).encode()))
    return ["--pairs", tmp_path / "pairs.tsv.gz", "--columns", 2, 1, "--test", 0]


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
    assert cut(empty_tokenizer(Choices()), text) == words


@pytest.mark.parametrize(("encoding", "joint"), [("bpe", True), ("bpe", False), ("words", True)])
def test_a_corpus_reads_back(made, tmp_path, encoding, joint):
    texts, summary = made({"train": PAIRS}, Choices(encoding, joint=joint, vocabulary=200, dev=5, test=5))
    assert summary["pairs"] == {"train": 50, "dev": 5, "test": 5}
    splits = {split: read_pairs(tmp_path / "made" / f"{split}.{encoding}") for split in summary["pairs"]}
    assert {split: len(pairs) for split, pairs in splits.items()} == summary["pairs"]
    if encoding == "bpe":
        sources = [join_subwords(source) for pairs in splits.values() for source, _ in pairs]
        assert sorted(sources) == sorted(" ".join(cut(empty_tokenizer(Choices()), source)) for source, _ in PAIRS)
    tokenizer = Tokenizer.from_file(str(tmp_path / "made" / ("tokenizer.json" if joint else "tokenizer_source.json")))
    line = texts[f"train.{encoding}"].split("|||")[0]
    assert " ".join(encode(tokenizer, join_subwords(line.split()))) == line


def test_references_hold_the_true_words(made):
    """Else an <unk> in a translation would match; the training split and all sources keep to the encoding."""
    splits = {"train": [("a a a b", "x x x y")], "dev": [("a b", "x y")], "test": [("b a", "y x")]}
    texts, _ = made(splits, Choices("words", vocabulary=1))
    assert texts["train.words"] == "a a a <unk>|||x x x <unk>\n"
    assert texts["dev.words"] == "a <unk>|||x y\n"
    assert texts["test.words"] == "<unk> a|||y x\n"


def test_no_source_stands_in_two_splits(made):
    splits = {"train": [("one", "1"), ("two", "2"), ("", "3"), ("three " * 9, "4")], "test": [("two", "zwei")]}
    texts, summary = made(splits, Choices("words", dev=0, most_tokens=8))
    assert texts["train.words"] == "one|||1\n" and texts["test.words"].startswith("<unk>|||")
    assert summary["dropped"] == {"source seen before": 1, "empty": 1, "too long": 1}


def test_there_are_pairs_for_training(made):
    with pytest.raises(UserError, match="it has no split 'train', only test"):
        made({"test": PAIRS}, Choices())


def test_wrong_input(pairs, command, tmp_path):
    """One line, status 2, and nothing is written."""
    good, short = tmp_path / "good", tmp_path / "short"
    good.write_text("a\nb\n")
    short.write_text("a\n")
    (tmp_path / "latin").write_bytes("é\n".encode("latin-1"))
    (tmp_path / "bad.gz").write_bytes(b"no gzip")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a\nb\n" * 99)[:-9])
    for words, message in examples_in("data/prepare.toml")["mistakes"].items():
        more = shlex.split(words.format(folder=tmp_path, pairs=shlex.join(map(str, pairs))))
        assert message in command(*more, status=2)
    assert not (tmp_path / "out").exists()


def test_one_corpus_at_a_time(pairs, command, tmp_path):
    """The files of an earlier one go; other files stay. A folder without a record of ours is refused."""
    output = tmp_path / "out"
    command(*pairs, "--dev", 5, "--test", 5, "--joint")
    assert set(read(output)) == {"train.bpe", "dev.bpe", "test.bpe", "tokenizer.json", "languages.json", "summary.json"}
    (output / "notes.txt").write_text("mine")
    both = {"tokenizer_source.json", "tokenizer_target.json", "languages.json", "summary.json", "notes.txt"}
    command(*pairs, "--dev", 5, "--encoding", "words")
    assert set(read(output)) == {"train.words", "dev.words", *both}
    (output / "summary.json").unlink()
    assert "has files that 'prepare' did not write; choose another --output" in command(*pairs, status=2)
    assert "train.words" in read(output) and read(output)["notes.txt"] == "mine"


def test_too_long_pairs_are_dropped(command, tmp_path):
    """By their words, and by the tokens that only the encoding shows."""
    for side in ("de", "en"):
        (tmp_path / side).write_text("".join(f"{n} " + "a " * n + "\n" for n in (3, 120, 600)) + "xyz " * 60 + "\n")
    where = ["--train", tmp_path / "de", tmp_path / "en", "--dev", 0, "--test", 0]
    assert "dropped: 3 too long\n" in command(*where, "--vocabulary", 5)


@pytest.mark.parametrize("encoding", ["bpe", "words"])
def test_a_tokenizer_works_by_itself(pairs, command, tmp_path, encoding):
    """As the library has it: special tokens by their ids, a template around each sentence, words that decode."""
    more = ["--encoding", encoding, "--pre-tokenizer", "whitespace", "--joint", "--vocabulary", 120, "--dev", 5]
    command(*pairs, *more)
    content = json.loads(read(tmp_path / "out")["tokenizer.json"])
    special = [(token["id"], token["content"], token["special"]) for token in content["added_tokens"]]
    assert special == [(0, "[PAD]", True), (1, "[UNK]", True), (2, "[BOS]", True), (3, "[EOS]", True)]
    tokenizer = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json"))
    encoded = tokenizer.encode("Das Haus_3 hat zwölf Türen ...")
    assert encoded.tokens[0] == "[BOS]" and encoded.tokens[-1] == "[EOS]" and "[UNK]" in encoded.tokens
    assert tokenizer.decode(tokenizer.encode(PAIRS[3][0]).ids) == PAIRS[3][0]
    size = len(content["model"]["vocab"])
    assert tokenizer.get_vocab_size() == size and (size == 120 if encoding == "bpe" else size < 120)
    words = [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str("a_b... -- c")]
    assert words == ["a_b", "...", "--", "c"]


def test_rare_words_by_count(command, tmp_path):
    text = "once twice\tuna due\n" + "twice thrice\tdue tre\n" + "x thrice thrice\ty tre tre\n"
    (tmp_path / "pairs.txt").write_text(text)
    where = ["--pairs", tmp_path / "pairs.txt", "--encoding", "words", "--dev", 0, "--test", 0]
    output = command(*where, "--min-count", 2, "--languages", "en", "it")
    assert "longest source: 3 tokens; longest target: 3\n" in output and "dropped: none\n" in output
    assert "there is no dev split" in output
    texts = read(tmp_path / "out")
    lines = "<unk> twice|||<unk> due\ntwice thrice|||due tre\n<unk> thrice thrice|||<unk> tre tre\n"
    assert texts["train.words"] == lines
    vocabulary = json.loads(texts["tokenizer_it.json"])["model"]["vocab"]
    assert sorted(vocabulary, key=vocabulary.get) == ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "tre", "due"]


@pytest.mark.parametrize(("share", "dev", "train"), [("12.5%", 8, 52), ("0.5%", 1, 59), ("0%", 0, 60), ("7", 7, 53)])
def test_a_split_by_share(pairs, command, tmp_path, share, dev, train):
    command(*pairs, "--dev", share, "--encoding", "words")
    assert json.loads(read(tmp_path / "out")["summary.json"])["pairs"] == {"train": train, "dev": dev, "test": 0}
    assert read(tmp_path / "out")["train.words"].startswith("Das Haus _ 0 hat ")


def test_encodings_are_used_again(pairs, command, tmp_path):
    """Unless their choices change, or new ones are asked for."""
    where = [*pairs, "--languages", "en", "it", "--encoding", "words", "--dev", 5]
    assert "used again" not in command(*where)
    first = {name: text for name, text in read(tmp_path / "out").items() if name.startswith("tokenizer")}
    lines = "".join(f"three {n % 10}\tdrei {n % 10}{' .' * n}\n" for n in range(40))
    (tmp_path / "pairs.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    note = "tokenizer_en.json, tokenizer_it.json: used again, as found in the folder; --learn-anew replaces them"
    assert note in command(*where)
    texts = read(tmp_path / "out")
    assert first == {name: texts[name] for name in ("tokenizer_en.json", "tokenizer_it.json")}
    assert "drei" not in texts["train.words"]
    for more in (["--learn-anew"], ["--lowercase"]):
        assert "used again" not in command(*where, *more)
        assert "|||three 1\n" in read(tmp_path / "out")["train.words"]


def test_a_prepared_corpus_takes_the_course_s_place(made, tmp_path, monkeypatch):
    """Its test split becomes sources for students and private references; alignments of an earlier kit go."""
    data = tmp_path / "data"
    monkeypatch.setattr(command_line, "DATA_FOLDER", data)
    texts, summary = made({"train": PAIRS}, Choices(vocabulary=200, dev=5, test=5))
    (data / "private").mkdir(parents=True)
    (data / "private" / "fren.test.align").write_text("0-0\n")
    put_in_course(tmp_path / "made", summary)
    assert read(data / "private") == {"fren.test.bpe": texts["test.bpe"]}
    sources = [line.partition("|||")[0] for line in texts["test.bpe"].splitlines()]
    assert read(data / "corpus")["fren.test.src.bpe"].splitlines() == sources
    (tmp_path / "grading_secret.txt").write_text("0" * 64)
    check_corpus(tmp_path)  # of a release
    with pytest.raises(UserError, match="has no test split, which a course needs; --test N draws one"):
        put_in_course(tmp_path / "made", {**summary, "pairs": {"train": 50, "dev": 5, "test": 0}})


# -- datasets -------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the library."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.slow  # the library takes seconds to load
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["parquet", "arrow", "json", "csv"])
@pytest.mark.usefixtures("cache")
def test_a_dataset_of_each_kind_of_file_gives_its_splits(tmp_path, command, kind):
    """A folder that the library datasets reads, of rows with translations or of columns, with empty cells."""
    import datasets

    rows = [{"de": de, "en": en} for de, en in [*PAIRS[:40], ("", "empty"), *PAIRS[40:]]]
    rows = rows if kind == "csv" else [{"translation": row} for row in rows]
    parts = {"train": rows[:41], "validation": rows[41:53], "test": rows[53:]}
    tables = {name: datasets.Dataset.from_list(part) for name, part in parts.items()}
    folder = tmp_path / "table"
    folder.mkdir()
    if kind == "arrow":
        datasets.DatasetDict(tables).save_to_disk(folder)
    else:
        for name, table in tables.items():
            getattr(table, f"to_{kind}")(str(folder / f"{name}.{kind}"))
    words = ["--dataset", folder, "--encoding", "words", "--languages"]
    output = command(*words, "de", "en")
    assert "40 train, 12 dev, 8 test\n" in output and "dropped: 1 empty\n" in output
    if kind == "json":
        assert "a row has de, en; expected texts in en and fr" in command(*words, "en", "fr", status=2)
        for side in (0, 1):
            (tmp_path / f"dev{side}").write_text(f"{'xy'[side]} 1\n" * 3)
        assert "40 train, 1 dev, 8 test" in command(
            *words, "de", "en", "--dev-files", tmp_path / "dev0", tmp_path / "dev1"
        )
        assert read(tmp_path / "out")["dev.words"] == "<unk> 1|||y 1\n"


@pytest.mark.slow
def test_a_hub_that_does_not_answer_is_one_line_after_four_seconds(command, monkeypatch):
    """From a server that takes a connection and says nothing."""
    assert parallel_text.HUB_SECONDS == 4
    monkeypatch.setattr(parallel_text, "HUB_SECONDS", 0.5)
    for place in ("datasets.config", "huggingface_hub.constants"):
        monkeypatch.setattr(f"{place}.HF_HUB_OFFLINE", False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:{1}".format(*silent.getsockname()))
        start = time.monotonic()
        error = command("--dataset", "wmt14", "--config", "de-en", "--languages", "de", "en", status=2)
        assert "--dataset wmt14: it cannot be loaded: Couldn't reach" in error and time.monotonic() - start < 10


SMALL = "--d-model 16 --n-heads 2 --d-ff 16 --n-layers 1 --max-length 8"


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the library datasets
@pytest.mark.parametrize(
    ("preset", "text", "options", "counts", "tokenizers"),
    [
        ("wmt14-de-en", "--vocabulary 90 --dev 6 --test 4", "", (50, 6, 4), {"tokenizer.json"}),
        ("opus-books-en-it", "", SMALL, (54, 6, 0), {"tokenizer_en.json", "tokenizer_it.json"}),
    ],
)
@pytest.mark.usefixtures("cache")
def test_one_command_from_a_dataset_to_a_model(tmp_path, monkeypatch, preset, text, options, counts, tokenizers):
    """`make setting`: the commands that it would run are run here; the corpus and the run have the tokenizers."""
    rows = [{"translation": dict(zip(preset.split("-")[-2:], pair, strict=True))} for pair in PAIRS]
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    make = ["make", "-n", "--no-print-directory", "-f", str(ROOT / "Makefile"), "PY=python", "READY=", "setting"]
    make += [f"PRESET={preset}", f"TEXT=--dataset rows {text}", f"OPTIONS=--max-steps 2 --report-every 2 {options}"]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=True)
    [prepare, train] = [shlex.split(line) for line in done.stdout.splitlines()]
    assert prepare[:3] == ["python", "-m", "data"] and train[:3] == ["python", "-m", "reference"]
    monkeypatch.chdir(tmp_path)
    assert run(*prepare[3:]) == 0 and reference(train[3:]) == 0
    corpus, folder = tmp_path / "corpora" / preset, tmp_path / "runs" / preset
    assert json.loads((corpus / "summary.json").read_bytes())["pairs"] == dict(zip(SPLITS, counts, strict=True))
    assert {"languages.json", *tokenizers} <= {path.name for path in folder.iterdir()}
    model = Checkpoint.load(Package("reference"), folder / "last.pt")
    assert model.step == 2 and (model.src_vocab.tokens == model.tgt_vocab.tokens) == (len(tokenizers) == 1)
