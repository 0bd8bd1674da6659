"""BLEU: by hand, and with its interval by sacreBLEU's own calls."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from autograder.scoring import ScoringError, score, undo_bpe


def bleu(hypotheses, references):
    return score(hypotheses, references, samples=100).bleu


@pytest.mark.parametrize(
    ("hypotheses", "references", "expected"),
    [
        # everything matches
        (["the cat sat down"], ["the cat sat down"], 1.0),
        # p = 3/4 and then 2/3, 1/2; no 4-gram: smoothing counts half a match of one
        (["the cat sat here"], ["the cat sat down"], (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)),
        # p = 4/5, 3/4, 2/3, 1/2
        (["a b c d x"], ["a b c d e"], (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)),
        # all four precisions are 1, but four words stand for six: BP = exp(1 - 6/4)
        (["a b c d"], ["a b c d e f"], math.exp(1 - 6 / 4)),
        # counts are summed over the corpus, not averaged: 8/9, 6/7, 4/5, 2/3
        (["a b c d x", "e f g h"], ["a b c d y", "e f g h"], (8 / 9 * 6 / 7 * 4 / 5 * 2 / 3) ** (1 / 4)),
        # an empty translation adds nothing but its reference's length: BP = exp(1 - 8/4)
        (["a b c d", ""], ["a b c d", "e f g h"], math.exp(1 - 8 / 4)),
        # nothing matches
        (["x y z w"], ["a b c d"], 0.0),
    ],
)
def test_values_computed_by_hand(hypotheses, references, expected):
    assert bleu(hypotheses, references) == pytest.approx(expected, abs=1e-9)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=8))
def test_any_text_gets_sacrebleus_value(pairs):
    result = score(*zip(*pairs, strict=True), samples=100)
    hypotheses, references = ([undo_bpe(line) for line in side] for side in zip(*pairs, strict=True))
    metric, chrf = BLEU(tokenize="none", force=True), CHRF()
    assert result.bleu == pytest.approx(metric.corpus_score(hypotheses, [references]).score / 100, abs=1e-9)
    assert result.chrf == pytest.approx(chrf.corpus_score(hypotheses, [references]).score / 100, abs=1e-9)
    assert 0 <= result.low <= result.high <= 1


RAW = [
    ("He doesn't sleep; she (20,000 miles away) does.", "He doesn't sleep, she (20,000 miles away) does!"),
    ("It costs $3.50 - or 4€.", "It costs $3.50 – or 4€."),
    ("你好，世界。 Hello!", "你好世界。 Hello."),
] * 10


@pytest.mark.parametrize("name", ["none", "13a", "intl", "zh", "char"])
def test_value_interval_and_signature_are_sacrebleus(name):
    outputs, true = zip(*RAW, strict=True)
    metric = BLEU(tokenize=name, force=True)
    theirs = metric.corpus_score(outputs, [true], n_bootstrap=200)
    ours = score(outputs, true, samples=200, tokenize=name)
    assert 100 * ours.bleu == pytest.approx(theirs.score, abs=1e-7)
    assert ours.n_words == theirs.sys_len
    assert 50 * (ours.high - ours.low) == pytest.approx(theirs._ci, abs=1e-4)  # theirs are float32 inside
    assert ours.signature == str(metric.get_signature()) and f"|tok:{name}|" in ours.signature


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("i m trus@@ t@@ wor@@ thy .", "i m trustworthy ."),
        ("cut off in@@", "cut off in"),
        ("  many\t spa@@  ces ", "many spaces"),
        ("me@home.org a@@b", "me@home.org a@@b"),
        ("e\u0301te@@ \u0301", "été"),
    ],
)
def test_byte_pair_marks_are_undone(marked, plain):
    assert undo_bpe(marked) == undo_bpe(plain) == plain


def test_marks_and_composed_letters_change_nothing_on_either_side():
    plain = ["l'été est très beau ici", "il est né à côté de la forêt"]
    marked = [" ".join(f"{w[:1]}@@ {w[1:]}" if w[1:] else w for w in line.split()) for line in plain]
    for other in (marked, [unicodedata.normalize("NFD", line) for line in plain]):
        assert other != plain
        assert score(plain, other) == score(other, plain) == score(plain, plain)


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (["a"], ["a", "b"], "1 translation for 2 references"),
        ([], [], "nothing to score"),
    ],
)
def test_what_cannot_be_scored(hypotheses, references, message):
    with pytest.raises(ScoringError, match=message):
        score(hypotheses, references)


def test_the_interval_narrows_with_more_sentences(corpus):
    hypotheses, references = corpus(1600)
    few, many = score(hypotheses[:100], references[:100]), score(hypotheses, references)
    assert many.low < many.bleu < many.high
    assert 2.5 < (few.high - few.low) / (many.high - many.low) < 6.5  # a sixteenth of the sentences: four times as wide
    same = score(["a b c d x"] * 30, ["a b c d e"] * 30)
    assert same.low == same.bleu == same.high
