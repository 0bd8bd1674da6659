"""BLEU with its 95% interval, and chrF, of translations against one reference each.

BLEU (Papineni et al. 2002, section 2.3) of a corpus:

    BLEU = BP * exp(1/4 * sum_{n=1..4} log p_n)        BP = min(1, exp(1 - r / c))

where p_n is the share of the translations' n-grams that also occur in their references (each counted at most as
often as there), c the number of words in the translations and r that in the references. BLEU follows from ten numbers
per sentence: c, r, and for each n the matching and the total n-grams. Their sums over the corpus give BLEU, which
sacreBLEU computes; their sums over sentences drawn with replacement give the bootstrap interval (Koehn 2004, section
3). sacreBLEU draws the same samples, but keeps only the width of the interval, holds all samples in memory at once, and
takes its seed from the environment alone.

The course's text is already tokenized, so sacreBLEU's own tokenizer is off by default (`tokenize=none`).
"""

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU, BLEUScore
from sacrebleu.metrics.chrf import CHRF

from foundation.texts import counted, printable

from .reading import ScoringError, undo_bpe

Array = NDArray[Any]

TOKENIZATIONS: tuple[str, ...] = tuple(BLEU.TOKENIZERS)
"""All that the installed sacreBLEU knows, in its order."""
DEFAULT_TOKENIZATION = "none"
SAMPLES = 1_000
SEED = 12_345  # sacreBLEU's own default, so that both draw the same samples
LEVEL = 0.95
DECIMALS = 10
"""Sums of logarithms are accurate to about 15; a score of exactly 0.45 must not become 0.44999999999999996."""
MAX_ORDER = 4


@dataclass(frozen=True)
class Measured:
    """What a verdict needs to know: corpus BLEU with its 95% interval, between 0 and 1, of `n` sentences."""

    bleu: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Score(Measured):
    """The quality of the translations, and how it was computed.

    Attributes:
        chrf: chrF2, which gives credit for parts of words; None where nobody has asked for it.
        signature: sacreBLEU's record of every choice behind BLEU.
        n_words: in the translations, as the tokenization splits them.
        samples: the number of bootstrap samples.
    """

    chrf: float | None
    signature: str
    n_words: int
    samples: int


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    samples: int = SAMPLES,
    tokenize: str = DEFAULT_TOKENIZATION,
    with_chrf: bool = True,
) -> Score:
    """Scores translations against references, one each, in order.

    Args:
        hypotheses: translations; byte-pair marks are undone, an empty one counts as an empty translation.
        references: as many; byte-pair marks are undone here too.
        samples: the number of bootstrap samples.
        tokenize: sacreBLEU's tokenization, for the value and the interval; one of `TOKENIZATIONS`.
        with_chrf: computes chrF too, which takes as long as BLEU and its interval.

    Raises:
        ScoringError: where the numbers of sentences differ or are zero, or the tokenization cannot be used.
    """
    if len(hypotheses) != len(references):
        given = f"{counted(len(hypotheses), 'translation')} for {counted(len(references), 'reference')}"
        raise ScoringError(f"{given}; there must be one for each, in order")
    if not references:
        raise ScoringError("no translations and no references: there is nothing to score")
    hypotheses = [undo_bpe(line) for line in hypotheses]
    references = [undo_bpe(line) for line in references]

    bleu, chrf = make_metric(tokenize), CHRF() if with_chrf else None
    statistics = count(bleu, hypotheses, references)
    corpus = bleu_of_sums(statistics.sum(axis=0))
    low, high = interval(bootstrap(statistics, samples))
    bleu.n_bootstrap, bleu.seed = samples, SEED  # as sacreBLEU's own bootstrap sets them for the signature
    return Score(
        bleu=_decimal(corpus.score),
        low=_decimal(low),
        high=_decimal(high),
        chrf=_decimal(chrf.corpus_score(hypotheses, [references]).score) if chrf else None,
        n=len(references),
        signature=str(bleu.get_signature()),
        n_words=corpus.sys_len,
        samples=samples,
    )


def make_metric(tokenize: str) -> BLEU:
    """Creates sacreBLEU's metric with one of its tokenizations. Raises: ScoringError where it cannot be used."""
    if tokenize not in TOKENIZATIONS:
        raise ScoringError(f'tokenize "{printable(tokenize, 40)}": unknown; sacreBLEU has {", ".join(TOKENIZATIONS)}')
    logging.getLogger("sacrebleu").setLevel(logging.CRITICAL)  # its remarks on the way would be more lines on stderr
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # sacreBLEU's own calls
            return BLEU(tokenize=tokenize, force=True)
    except (ImportError, RuntimeError, OSError, SystemExit) as error:
        raise ScoringError(f"tokenize {tokenize}: {printable(' '.join(str(error).split()))}") from None


def count(metric: BLEU, hypotheses: Sequence[str], references: Sequence[str]) -> Array:
    """What BLEU follows from: (sentences, 10) with words, words of the reference, matches and n-grams per order."""
    sentences = [metric.corpus_score([h], [[r]]) for h, r in zip(hypotheses, references, strict=True)]
    return np.array([[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in sentences], dtype=np.int64)


def bleu_of_sums(sums: Array) -> BLEUScore:
    """BLEU in percent, as sacreBLEU computes it, of the ten sums over a corpus."""
    c, r, *counts = sums.tolist()
    return BLEU.compute_bleu(counts[:MAX_ORDER], counts[MAX_ORDER:], c, r, smooth_method="exp")


def bootstrap(statistics: Array, samples: int) -> Array:
    """BLEU in percent of samples that draw, with replacement, as many sentences as there are: (samples,)."""
    generator, n = np.random.default_rng(SEED), len(statistics)
    drawn = (statistics[generator.integers(n, size=n)].sum(axis=0) for _ in range(samples))
    return np.array([bleu_of_sums(sums).score for sums in drawn])


def interval(values: Array) -> tuple[float, float]:
    """The ends of the middle 95% of the values, by sacreBLEU's rule: a 40th is cut off at each end."""
    ordered = np.sort(values)
    cut = len(ordered) // round(2 / (1 - LEVEL))
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def _decimal(percent: float) -> float:
    return round(percent / 100, DECIMALS)
