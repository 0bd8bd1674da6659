"""Raw text: sacreBLEU's tokenizations, in the value, the interval, the signature and the notes."""

import json
import logging
import sys

import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from autograder.scoring import ScoringError, read_thresholds, score, tokenization

RAW = [
    ("He doesn't sleep; she (20,000 miles away) does.", "He doesn't sleep, she (20,000 miles away) does!"),
    ("«Où est-il?» asked the man.", "“Où est-il?”, asked the old man."),
    ("It costs $3.50 - or 4€.", "It costs $3.50 – or 4€."),
    ("你好，世界。 Hello!", "你好世界。 Hello."),
] * 10
OUTPUTS, TRUE = [pair[0] for pair in RAW], [pair[1] for pair in RAW]


@pytest.mark.parametrize("name", ["none", "13a", "intl", "zh", "char"])
def test_value_and_signature_are_sacrebleus(name, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    metric = BLEU(tokenize=name, force=True)
    theirs = metric.corpus_score(OUTPUTS, [TRUE], n_bootstrap=200)
    ours = score(OUTPUTS, TRUE, samples=200, tokenize=name)
    assert 100 * ours.bleu == pytest.approx(theirs.score, abs=1e-7)
    assert (ours.hypothesis_length, ours.reference_length) == (theirs.sys_len, theirs.ref_len)
    assert ours.signature == str(metric.get_signature()) and f"|tok:{name}|" in ours.signature


@pytest.mark.parametrize("name", ["13a", "char"])
def test_the_interval_has_the_same_tokenization(name, monkeypatch):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)  # its default is ours
    others = [line.lower() for line in OUTPUTS]
    metrics = {"BLEU": BLEU(tokenize=name, force=True)}
    systems = [("first", OUTPUTS), ("second", others)]
    _, results = PairedTest(systems, metrics, [TRUE], test_type="bs", n_samples=200, n_jobs=1)()
    for outputs, theirs in zip((OUTPUTS, others), results["BLEU"], strict=True):
        ours = score(outputs, TRUE, samples=200, tokenize=name)
        assert 50 * (ours.high - ours.low) == pytest.approx(theirs.ci, abs=1e-4)


def test_tokenizations_differ_on_raw_text():
    assert len({score(OUTPUTS, TRUE, samples=100, tokenize=name).bleu for name in ("none", "13a", "intl")}) == 3


@pytest.mark.parametrize("name", sorted({*tokenization.NAMES} - {"none", "13a", "intl", "zh", "char"}))
def test_a_lacking_package_is_named(name, monkeypatch, capfd):
    for module in ("sentencepiece", "MeCab", "mecab_ko"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("ja_mecab", "ko_mecab", "spm"):
        monkeypatch.delitem(sys.modules, f"sacrebleu.tokenizers.tokenizer_{module}", raising=False)
    level, needed = logging.getLogger("sacrebleu").level, r"needs a package that is not installed; pip install \S+"
    with pytest.raises(ScoringError, match=f"^tokenize {name}: {needed}$"):
        tokenization.make_metric(name)
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("sacrebleu").level == level


@pytest.mark.parametrize("error", [OSError("no\nnetwork"), SystemExit(1)])
def test_a_model_that_cannot_be_loaded_is_one_line(error, monkeypatch):
    def fail(**_):
        raise error

    monkeypatch.setattr(tokenization, "BLEU", fail)
    with pytest.raises(ScoringError, match=r"^tokenize spm: cannot be used \((no network|1)\)$"):
        tokenization.make_metric("spm")


@pytest.fixture
def raw(write):
    return "--translations", write("t", OUTPUTS), "--references", write("r", TRUE), "--samples", 100


def test_every_output_has_the_signature(grade, raw):
    table, data = grade(*raw, "--tokenize", "13a"), json.loads(grade(*raw, "--tokenize", "13a", "--json").out)
    expected = score(OUTPUTS, TRUE, samples=100, tokenize="13a")
    assert f"\nsignature  {expected.signature}\n" in table.out and "|tok:13a|" in table.out
    assert (data["signature"], data["tokenize"], data["bleu"]) == (expected.signature, "13a", expected.bleu)
    assert (data["interval"]["low"], data["interval"]["high"]) == (expected.low, expected.high)
    assert [t["threshold"] for t in data["thresholds"]] == list(read_thresholds().values())


def test_thresholds_of_another_tokenization_are_noted(grade, raw, write):
    note = "the assignment's thresholds are for --tokenize none, not for 13a"
    settings = write("mine.toml", "[thresholds]\nsome = 0.01\n")
    assert note in grade(*raw, "--tokenize", "13a").out
    assert note in grade(*raw, "--tokenize", "13a", "--thresholds", settings).out
    assert note not in grade(*raw, "--tokenize", "13a", "--threshold", "mine=0.2").out
    assert "thresholds are for" not in grade(*raw, "--tokenize", "none").out + grade(*raw).out
