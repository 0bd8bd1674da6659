"""The bootstrap interval: sacreBLEU's own tools as the yardstick, then its meaning, then its cost."""

import random
import time

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from autograder.scoring import score
from autograder.scoring.bleu import bleu_of_sums, interval, resample


def test_half_width_and_signature_are_sacrebleus(corpus, monkeypatch):
    seed = random.randrange(10**6)
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    hypotheses, references = corpus(200)
    metric = BLEU(tokenize="none", force=True)
    theirs = metric.corpus_score(hypotheses, [references], n_bootstrap=1000)
    ours = score(hypotheses, references, seed=seed)
    assert 100 * (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, abs=1e-4)  # theirs are float32 inside
    assert ours.signature == str(metric.get_signature())


@pytest.mark.parametrize("samples", [100, 333, 1000])
def test_paired_bootstrap_test_gives_the_same_interval(corpus, monkeypatch, samples):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)  # its default is ours
    first, references = corpus(150, 0.8)
    second = [" ".join(reversed(line.split())) if i % 3 else line for i, line in enumerate(first)]
    test = PairedTest(
        [("first", first), ("second", second)],
        {"BLEU": BLEU(tokenize="none", force=True)},
        [references],
        test_type="bs",
        n_samples=samples,
        n_jobs=1,
    )
    _, results = test()
    for hypotheses, theirs in zip((first, second), results["BLEU"], strict=True):
        ours = score(hypotheses, references, samples=samples)
        assert 100 * ours.bleu == pytest.approx(theirs.score, abs=1e-7)
        assert 50 * (ours.high - ours.low) == pytest.approx(theirs.ci, abs=1e-4)
        assert 100 * ours.low - 1e-6 <= theirs.mean <= 100 * ours.high + 1e-6


def test_many_sums_at_once_are_scored_like_one():
    generator = np.random.default_rng()
    totals = generator.integers(0, 4, size=(500, 4))
    matches = generator.integers(0, totals + 1)
    lengths = generator.integers(1, 9, size=(500, 2))
    sums = np.concatenate([lengths, matches, totals], axis=1)
    expected = [
        BLEU.compute_bleu(row[2:6], row[6:], row[0], row[1], smooth_method="exp").score for row in sums.tolist()
    ]
    assert bleu_of_sums(sums) == pytest.approx(np.array(expected), abs=1e-9)


def test_resampling_in_parts_draws_the_same(monkeypatch):
    statistics = np.random.default_rng().integers(0, 20, size=(37, 10))
    at_once = resample(statistics, 500, seed=7)
    monkeypatch.setattr("autograder.scoring.bleu.DRAWS_AT_ONCE", 37 * 3)
    assert np.array_equal(resample(statistics, 500, seed=7), at_once)
    draws = np.random.default_rng(7).choice(37, size=(500, 37), replace=True)
    assert np.array_equal(at_once, statistics[draws].sum(axis=1))


def test_a_40th_is_cut_off_on_each_side():
    assert interval(np.arange(1000.0)[::-1]) == (25.0, 974.0)
    assert interval(np.arange(100.0)) == (2.0, 97.0)


def test_the_seed_decides_and_nothing_else(corpus):
    hypotheses, references = corpus(60)
    state = np.random.get_state()[1].copy()
    assert score(hypotheses, references, seed=5) == score(hypotheses, references, seed=5)
    assert np.array_equal(np.random.get_state()[1], state)
    first, second = score(hypotheses, references, seed=5), score(hypotheses, references, seed=6)
    assert (first.low, first.high) != (second.low, second.high)
    assert (first.bleu, first.chrf) == (second.bleu, second.chrf)


def test_the_interval_holds_the_value_and_narrows_with_more_sentences(corpus):
    hypotheses, references = corpus(1600)
    few, many = score(hypotheses[:100], references[:100]), score(hypotheses, references)
    assert many.low < many.bleu < many.high
    ratio = (few.high - few.low) / (many.high - many.low)
    assert 2.5 < ratio < 6.5  # a sixteenth of the sentences: four times as wide


def test_equal_sentences_leave_nothing_uncertain():
    result = score(["a b c d x"] * 30, ["a b c d e"] * 30)
    assert result.low == result.bleu == result.high


def test_a_course_test_set_takes_less_than_a_second_of_cpu(corpus):
    hypotheses, references = corpus(971)
    start = time.process_time()
    score(hypotheses, references)
    assert time.process_time() - start < 1.0
