"""`python -m reference translate`: raw text and tokens, files and streams, several translations, unknown words."""

import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from given.building import build_model
from given.config import PRESETS
from given.experiment import Experiment
from given.raw_text import LANGUAGES
from given.run_folder import Checkpoint
from given.translating import LineTranslator, replace_unknown, word_at
from reference.__main__ import main
from reference.vocab import UNK_ID

PAIRS = [
    (f"{subject} {verb} .".split(), f"{other} {action} .".split())
    for subject, other in (("ich", "i"), ("du", "you"), ("wir", "we"))
    for verb, action in (("ess@@ e", "eat"), ("schlafe", "sl@@ eep"), ("lese", "read"))
]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A trained model, small but good at its nine sentences."""
    folder = tmp_path_factory.mktemp("run")
    config = replace(
        PRESETS["tiny"],
        d_model=32,
        epochs=1,
        max_steps=150,
        report_every=150,
        batch_size=18,
        learning_rate=5e-3,
        dropout=0.0,
    )
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
    monkeypatch.setattr("given.raw_text.TextTokenizer.load", lambda path: tokenizer)
    return folder


def translate(folder, lines, *flags, name="text.txt"):
    """Runs the command on a file; returns what it wrote."""
    (folder / name).write_text("".join(line + "\n" for line in lines))
    files = ["--checkpoint", str(folder / "best.pt"), "--input", str(folder / name), "--output", str(folder / "out")]
    assert main(["translate", *files, *flags]) == 0
    return (folder / "out").read_text().splitlines()


def test_raw_text_becomes_text(raw_folder):
    assert translate(raw_folder, ["Ich esse.", "", "  ", "Du lese."]) == ["I eat.", "", "", "You read."]


def test_tokens_stay_tokens(raw_folder, run_folder):
    lines = ["ich ess@@ e .", "du schlafe .|||you sl@@ eep ."]
    expected = ["i eat .", "you sleep ."]
    assert translate(raw_folder, lines, "--tokens") == expected
    assert translate(raw_folder, lines, name="test.bpe") == expected, "a corpus' file has tokens"
    assert translate(run_folder, lines) == expected, "without tokenizers there is nothing else"


def test_standard_streams(raw_folder, run_folder, monkeypatch, capsys):
    arguments = ["translate", "--input", "-", "--checkpoint", str(raw_folder / "best.pt")]
    for extra in ([], ["--output", "-"]):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"Ich esse.\r\n\nDu lese."), isatty=bool))
        assert main([*arguments, *extra]) == 0
        assert capsys.readouterr().out == "I eat.\n\nYou read.\n", "nothing but translations"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b""), isatty=bool))
    assert main(arguments) == 0 and capsys.readouterr().out == ""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"Ich\nd\xff"), isatty=bool))
    assert main(arguments) == 2
    assert capsys.readouterr().err == "reference: standard input:2: not UTF-8 text (byte 1)\n"
    monkeypatch.setattr(sys, "stdin", None)
    assert main(arguments) == 2
    assert capsys.readouterr().err == "reference: standard input: it is closed\n"


@pytest.mark.slow
def test_what_is_typed_is_translated_line_by_line(run_folder):
    theirs, ours = pty.openpty()
    command = [sys.executable, "-m", "reference", "translate", "--input", "-", "--checkpoint", run_folder / "best.pt"]
    with subprocess.Popen(command, stdin=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as done:
        try:
            for line, expected in (
                (b"ich lese .\n", b"i read .\n"),
                (b"\n", b"\n"),
                (b"du ess@@ e .\n", b"you eat .\n"),
            ):
                os.write(theirs, line)
                assert done.stdout.readline() == expected, "before the next line is typed"
            os.write(theirs, b"\x04")
            assert done.wait(60) == 0
            assert b"one sentence per line; Ctrl-D ends" in done.stderr.read()
        finally:
            done.kill()
            os.close(ours)
            os.close(theirs)


def test_n_best_lists(raw_folder):
    lines = translate(raw_folder, ["Ich esse.", "", "Du lese."], "--n-best", "3", "--beam-size", "4")
    rows = [line.split(" ||| ") for line in lines]
    assert [int(row[0]) for row in rows] == [0, 0, 0, 1, 2, 2, 2]
    assert [rows[index][1] for index in (0, 3, 4)] == ["I eat.", "", "You read."]
    for sentence in (rows[:3], rows[4:]):
        scores = [float(row[3]) for row in sentence]
        assert scores == sorted(scores, reverse=True) and len({row[1] for row in sentence}) == 3
        for row, score in zip(sentence, scores, strict=True):
            assert row[2].startswith("logp= ") and float(row[2].split()[1]) <= score < 0
    one = translate(raw_folder, ["Ich esse."], "--n-best", "1", "--length-penalty", "0")
    assert len(one) == 1
    assert one[0].split(" ||| ")[2].split()[1] == one[0].split(" ||| ")[3], "without a penalty they are the same"


def test_lines_of_json(raw_folder):
    plain = [json.loads(line) for line in translate(raw_folder, ["Ich esse.", ""], "--json")]
    assert plain == [
        {"number": 0, "source": "Ich esse.", "translation": "I eat."},
        {"number": 1, "source": "", "translation": ""},
    ]
    [line] = translate(raw_folder, ["Ich esse."], "--json", "--n-best", "2")
    found = json.loads(line)
    assert found["translation"] == found["n_best"][0]["translation"] == "I eat."
    assert found["n_best"][0]["score"] > found["n_best"][1]["score"]


def test_notes_on_lines_that_are_cut(run_folder, capsys):
    lines = translate(run_folder, ["ich lese .", "lese " * 600, *["du lese ."] * 5], "--max-length", "2")
    assert lines[0] == "i read" and len(lines) == 7
    errors = capsys.readouterr().err
    path = run_folder / "text.txt"
    assert f"{path}: line 2: too long, only the first 512 tokens are translated\n" in errors
    assert f"{path}: lines 1, 2, 3 and 4 more: the translation stops at 2 tokens; --max-length allows more\n" in errors
    translate(run_folder, ["ich lese ."], "--max-length", "9")
    assert capsys.readouterr().err == ""


def test_a_package_without_the_cache(run_folder, monkeypatch, capsys):
    monkeypatch.setattr("given.decoding.find_n_best_search", lambda *a: None)
    monkeypatch.setattr("given.translating.find_n_best_search", lambda *a: None)
    monkeypatch.setattr("given.translating.find_cached_search", lambda *a: None)
    files = ["--checkpoint", str(run_folder / "best.pt"), "--input", str(run_folder / "text.txt"), "--output", "-"]
    (run_folder / "text.txt").write_text("ich lese .\n")
    assert main(["translate", *files, "--n-best", "2"]) == 2
    assert "--n-best needs the key/value cache, which only the reference has" in capsys.readouterr().err
    assert main(["translate", *files, "--cached"]) == 2
    assert "--cached: only the reference has a key/value cache" in capsys.readouterr().err
    assert main(["translate", *files]) == 0
    found = capsys.readouterr()
    assert (
        found.out == "i read .\n"
        and "note: these layers are not the reference's, so decoding takes longer" in found.err
    )
    monkeypatch.setattr("given.translating.has_cache", lambda: False)
    assert main(["translate", *files]) == 0
    assert capsys.readouterr().err == "", "students need no such note"


def test_words_of_the_source_replace_unknown_ones(run_folder):
    saved = Checkpoint.load(run_folder / "best.pt")
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).eval()
    weights = torch.zeros(1, 2, 4, 4)
    weights[0, :, [0, 1, 2, 3], [3, 2, 0, 1]] = 1.0  # the first token looks at the last word, and so on
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "given.translating.forced_decode",
            lambda model, batch: (None, {"cross": [torch.zeros_like(weights), weights[..., : batch.src.size(1)]]}),
        )
        ids = [saved.tgt_vocab.ids["you"], UNK_ID, UNK_ID]
        found = replace_unknown(model, ["Ma@@", "ri@@", "a", "isst"], [ids], saved.src_vocab, saved.tgt_vocab)
    assert found == [["you", "Maria", "Maria"]]


def test_unknown_words_are_replaced_on_request(tmp_path):
    """A model that can say nothing but <unk> copies; without the flag it says so."""
    saved = Experiment(replace(PRESETS["tiny"], min_count=2, max_length=2), PAIRS, PAIRS).checkpoint()
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).eval()
    with torch.no_grad():
        model.output_projection.weight.zero_()
        model.output_projection.bias.zero_()[UNK_ID] = 9.0
    for beam in ({}, {"n_best": 2}):
        config = replace(saved.config, beam_size=2)
        [plain] = LineTranslator(model, saved, config, **beam).translate(["Berlin"])
        [copied] = LineTranslator(model, saved, config, replaces_unknown=True, **beam).translate(["Berlin"])
        assert plain.as_text() == "<unk> <unk>" and copied.as_text() == "Berlin Berlin"


def test_a_piece_stands_for_its_word():
    tokens = ["l'", "ho@@", "mm@@", "e", "dort"]
    assert [word_at(tokens, position) for position in range(5)] == ["l'", "homme", "homme", "homme", "dort"]
    assert word_at(["ho@@"], 0) == "ho"
