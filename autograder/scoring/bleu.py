"""BLEU with its 95% interval, and chrF, of translations against one reference each.

BLEU (Papineni et al. 2002, section 2.3) of a corpus:

    BLEU = BP * exp(1/4 * sum_{n=1..4} log p_n)        BP = min(1, exp(1 - r / c))

where p_n is the share of the translations' n-grams that also occur in their references (each counted at most as
often as there), c the number of words in the translations and r that in the references. BLEU follows from ten numbers
per sentence: c, r, and for each n the matching and the total n-grams. Their sums over the corpus give BLEU, which
sacreBLEU computes; their sums over sentences drawn with replacement give the bootstrap interval (Koehn 2004, section
3), which is computed here for all samples at once, from the same draws as sacreBLEU's with the same seed.

The course's text is already tokenized, so sacreBLEU's own tokenizer is off by default (`tokenize=none`); raw text needs
one (`tokenization`). Without one, the value on ordinary text equals NLTK's `corpus_bleu`. They differ where a
translation has fewer than four words (NLTK counts one n-gram too many) and where no 4-gram of the whole corpus matches
(sacreBLEU smooths).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from foundation.counting import counted

from .errors import ScoringError
from .reading import undo_bpe
from .tokenization import DEFAULT, make_metric

Array = NDArray[Any]

SAMPLES = 1_000
SEED = 12_345  # sacreBLEU's own default, so that both draw the same samples
SAMPLES_RANGE = (100, 100_000)
SEED_RANGE = (0, 2**63 - 1)
LEVEL = 0.95
DECIMALS = 10
"""Sums of logarithms are accurate to about 15; a score of exactly 0.45 must not become 0.44999999999999996."""
DRAWS_AT_ONCE = 1_000_000
MAX_ORDER = 4


@dataclass(frozen=True)
class Measured:
    """What a verdict needs to know. All qualities are between 0 and 1.

    Attributes:
        bleu: corpus BLEU, rounded to ten decimals.
        low: the lower end of BLEU's 95% bootstrap interval.
        high: the upper end.
        n: the number of sentences.
    """

    bleu: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Score(Measured):
    """The quality of the translations, and how it was computed.

    Attributes:
        chrf: chrF2, which gives credit for parts of words.
        signature: sacreBLEU's record of every choice behind BLEU.
        chrf_signature: the same for chrF.
        precisions: p_1 to p_4.
        brevity_penalty: below 1 where the translations are shorter than the references.
        hypothesis_length: in words, as the tokenization splits them.
        reference_length: likewise.
        samples: the number of bootstrap samples.
        seed: for their draws.
        tokenize: the name of sacreBLEU's tokenization.
    """

    chrf: float
    signature: str
    chrf_signature: str
    precisions: tuple[float, float, float, float]
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int
    samples: int
    seed: int
    tokenize: str


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
    tokenize: str = DEFAULT,
) -> Score:
    """Scores translations against references, one each, in order.

    Args:
        hypotheses: translations; byte-pair marks are undone, an empty one counts as an empty translation.
        references: as many; byte-pair marks are undone here too.
        samples: the number of bootstrap samples.
        seed: for their draws. The same seed gives the same interval.
        tokenize: sacreBLEU's tokenization, for the value and the interval; one of `tokenization.NAMES`.

    Returns:
        The score.

    Raises:
        ScoringError: where the numbers of sentences differ or are zero, or samples or seed are out of range,
            or the tokenization cannot be used.
    """
    if len(hypotheses) != len(references):
        given = f"{counted(len(hypotheses), 'translation')} for {counted(len(references), 'reference')}"
        raise ScoringError(f"{given}; there must be one for each, in order")
    if not references:
        raise ScoringError("no translations and no references: there is nothing to score")
    _check_range("samples", samples, SAMPLES_RANGE)
    _check_range("seed", seed, SEED_RANGE)
    hypotheses = [undo_bpe(line) for line in hypotheses]
    references = [undo_bpe(line) for line in references]

    bleu = make_metric(tokenize)
    statistics = count(bleu, hypotheses, references)
    sums = statistics.sum(axis=0).tolist()
    corpus = BLEU.compute_bleu(
        correct=sums[2 : 2 + MAX_ORDER],
        total=sums[2 + MAX_ORDER :],
        sys_len=sums[0],
        ref_len=sums[1],
        smooth_method=bleu.smooth_method,
    )
    low, high = interval(bleu_of_sums(resample(statistics, samples, seed)))
    bleu.n_bootstrap, bleu.seed = samples, seed  # as sacreBLEU's own bootstrap sets them for the signature

    p_1, p_2, p_3, p_4 = corpus.precisions
    chrf = CHRF()
    return Score(
        bleu=_decimal(corpus.score),
        low=_decimal(low),
        high=_decimal(high),
        chrf=_decimal(chrf.corpus_score(hypotheses, [references]).score),
        n=len(references),
        signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        precisions=(_decimal(p_1), _decimal(p_2), _decimal(p_3), _decimal(p_4)),
        brevity_penalty=round(corpus.bp, DECIMALS),
        hypothesis_length=corpus.sys_len,
        reference_length=corpus.ref_len,
        samples=samples,
        seed=seed,
        tokenize=tokenize,
    )


def count(metric: BLEU, hypotheses: Sequence[str], references: Sequence[str]) -> Array:
    """Counts what BLEU follows from: for each sentence words, words of the reference, matches and n-grams per order.

    Args:
        metric: how to split and compare words.
        hypotheses: translations without byte-pair marks.
        references: as many, likewise.

    Returns:
        (sentences, 10), int64.
    """
    sentences = [metric.corpus_score([h], [[r]]) for h, r in zip(hypotheses, references, strict=True)]
    return np.array([[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in sentences], dtype=np.int64)


def resample(statistics: Array, samples: int, seed: int) -> Array:
    """Sums of the statistics over sentences that are drawn with replacement.

    Args:
        statistics: (sentences, 10), int64.
        samples: the number of samples; each draws as many sentences as there are.
        seed: for the draws.

    Returns:
        (samples, 10), int64.
    """
    generator = np.random.default_rng(seed)
    n = len(statistics)
    rows_at_once = max(1, DRAWS_AT_ONCE // n)
    sums = []
    for start in range(0, samples, rows_at_once):
        rows = min(rows_at_once, samples - start)
        drawn = generator.integers(n, size=(rows, n))
        cells = drawn + n * np.arange(rows)[:, None]  # (rows, n): each row has its own bins
        times = np.bincount(cells.ravel(), minlength=rows * n).reshape(rows, n)
        sums.append(times @ statistics)
    return np.concatenate(sums)


def bleu_of_sums(sums: Array) -> Array:
    """BLEU in percent for each row of sums, computed as in `sacrebleu.BLEU.compute_bleu`.

    Smoothing (`exp`): the k-th order, counted from 1-grams, that has n-grams but no match counts 1 / 2^k matches.

    Args:
        sums: (samples, 10): words of the translations, words of the references, matches per order, n-grams per order.

    Returns:
        (samples,), float64.
    """
    c, r = sums[:, 0], sums[:, 1]
    matches, totals = sums[:, 2 : 2 + MAX_ORDER], sums[:, 2 + MAX_ORDER :]
    smoothed = 0.5 ** np.cumsum(matches == 0, axis=1)
    p = np.where(matches > 0, matches, smoothed) / np.maximum(totals, 1)
    brevity_penalty = np.exp(np.minimum(0.0, 1.0 - r / np.maximum(c, 1)))
    bleu = 100.0 * brevity_penalty * np.exp(np.log(p).mean(axis=1))
    is_zero = (totals == 0).any(axis=1) | (matches == 0).all(axis=1)
    return np.where(is_zero, 0.0, bleu)


def interval(values: Array) -> tuple[float, float]:
    """The ends of the middle 95% of the values, by sacreBLEU's rule: a 40th is cut off at each end."""
    ordered = np.sort(values)
    cut = len(ordered) // round(2 / (1 - LEVEL))
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def _decimal(percent: float) -> float:
    return round(percent / 100, DECIMALS)


def _check_range(name: str, value: int, limits: tuple[int, int]) -> None:
    if not limits[0] <= value <= limits[1]:
        raise ScoringError(f"{name} {value}: must be from {limits[0]:,} to {limits[1]:,}")
