"""The settings of known corpora, from their text to a trained model: encodings, shares, counts, old encodings."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from data import __main__ as command_line
from given.extras.arrow_corpus import ArrowPairs
from given.run_folder import Checkpoint
from reference.__main__ import main as reference

from .conftest import run

PAIRS = [(f"Das Haus_{n % 7} hat {n} Türen ...", f"The house_{n % 7} has {n} doors ...") for n in range(60)]


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

    def tokenizers() -> dict[str, tuple[bytes, int]]:
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in output.glob("tokenizer_*.json")}

    assert run("prepare", "--pairs", pairs, *where) == 0
    assert "used again" not in capsys.readouterr().out
    first = tokenizers()
    assert set(first) == {"tokenizer_en.json", "tokenizer_it.json"}
    pairs.write_text("".join(f"drei {n % 10}{' .' * n}\tthree {n % 10}\n" for n in range(40)))
    assert run("prepare", "--pairs", pairs, *where) == 0
    said = capsys.readouterr().out
    assert (
        "tokenizer_en.json, tokenizer_it.json: used again, as found in the folder; --learn-anew replaces them" in said
    )
    assert {name: content for name, (content, _) in tokenizers().items()} == {n: c for n, (c, _) in first.items()}
    assert "drei" not in (output / "train.words").read_text()
    for more in (["--learn-anew"], ["--lowercase"]):
        assert run("prepare", "--pairs", pairs, *where, *more) == 0
        assert "used again" not in capsys.readouterr().out
        assert "|||three 1\n" in (output / "train.words").read_text()


def small_dataset(folder: Path, languages: tuple[str, str]) -> Path:
    """In the form that WMT14 and OPUS Books have."""
    folder.mkdir()
    rows = [{"id": str(n), "translation": dict(zip(languages, pair, strict=True))} for n, pair in enumerate(PAIRS)]
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the library datasets
def test_opus_books_from_its_dataset_to_a_model(tmp_path, capsys, monkeypatch):
    """Words that occur twice, a tenth for dev, a tokenizer of each language."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    dataset = small_dataset(tmp_path / "books", ("en", "it"))
    corpus, folder = tmp_path / "corpus", tmp_path / "run"
    assert run("prepare", "--preset", "opus-books-en-it", "--dataset", dataset, "--output", corpus) == 0
    said = capsys.readouterr().out
    assert "54 train, 6 dev, 0 test" in said and "longest source: 6 tokens; longest target: 6" in said
    assert {"tokenizer_en.json", "tokenizer_it.json"} <= {path.name for path in corpus.iterdir()}
    command = said.split("next: python -m reference ")[1].split()[:-2]
    small = ["--d-model", "16", "--n-heads", "2", "--d-ff", "16", "--n-layers", "1", "--max-length", "8"]
    assert reference([*command, "--output", str(folder), *small, "--max-steps", "2"]) == 0
    assert {"languages.json", "tokenizer_en.json", "tokenizer_it.json"} <= {path.name for path in folder.iterdir()}


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the library datasets
def test_one_command_from_the_dataset_to_the_model(tmp_path, monkeypatch):
    """`make setting`: the commands that it would run are run here."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    kit = Path(command_line.__file__).resolve().parent.parent
    small_dataset(tmp_path / "wmt", ("de", "en"))
    command = [
        "make",
        "--dry-run",
        "--no-print-directory",
        "-f",
        str(kit / "Makefile"),
        "PY=python",
        "READY=",
        "setting",
    ]
    text = "TEXT=--dataset wmt --vocabulary 90 --dev 6 --test 4"
    command += ["PRESET=wmt14-de-en", text, "OPTIONS=--max-steps 2 --report-every 2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    [prepare, train] = [shlex.split(line) for line in done.stdout.splitlines()]
    assert prepare[:3] == ["python", "-m", "data"] and train[:3] == ["python", "-m", "reference"]
    monkeypatch.chdir(tmp_path)
    assert run(*prepare[3:]) == 0 and reference(train[3:]) == 0
    assert (tmp_path / "corpora/wmt14-de-en/train.arrow").is_file()
    assert (tmp_path / "runs/wmt14-de-en/tokenizer.json").is_file()
    model = Checkpoint.load(tmp_path / "runs/wmt14-de-en/last.pt")
    assert model.step == 2 and model.src_vocab.tokens == model.tgt_vocab.tokens
    assert (model.config.d_model, model.config.n_heads, model.config.n_layers, model.config.d_ff) == (128, 8, 1, 512)
    assert len(ArrowPairs(tmp_path / "corpora/wmt14-de-en/train.arrow")) == 50
