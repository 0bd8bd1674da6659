"""From scores of correct code with several seeds to the share of correct students who would miss a threshold.

A student's BLEU is modelled as the seeds' mean plus two independent errors: the spread over training seeds, known only
from n runs (hence Student's t with n - 1 degrees of freedom, and the uncertainty of the mean), and the choice of the
test sentences (the bootstrap's standard error).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

DRAWS = 200_000
SEED = 12_345
INTERVAL_IN_ERRORS = 2 * 1.96  # a 95% interval, in standard errors


@dataclass(frozen=True)
class SeedScore:
    """BLEU of one trained seed with the ends of its 95% bootstrap interval, all between 0 and 1."""

    seed: int
    bleu: float
    low: float
    high: float


@dataclass(frozen=True)
class Spread:
    """How the scores of correct students are distributed.

    Attributes:
        mean: the mean of the seeds' BLEU.
        over_seeds: standard deviation between seeds.
        over_sentences: standard error of one score by the bootstrap, averaged over the seeds.
        draws: simulated scores, ascending.
    """

    mean: float
    over_seeds: float
    over_sentences: float
    draws: npt.NDArray[np.float64]

    def share_below(self, threshold: float) -> float:
        """The expected share of correct students who miss a threshold."""
        return float(np.searchsorted(self.draws, threshold) / len(self.draws))

    def threshold_for(self, share: float) -> float:
        """The highest threshold, in hundredths, that at most this share of correct students misses."""
        return max(0.0, math.floor(float(np.quantile(self.draws, share)) * 100) / 100)


def spread_of(scores: Sequence[SeedScore]) -> Spread:
    """The spread.

    Raises:
        ValueError: with fewer than two seeds, or with one of them twice.
    """
    if len({score.seed for score in scores}) < max(2, len(scores)):
        raise ValueError(f"{len(scores)} scores: expected two different seeds or more")
    values = np.array([score.bleu for score in scores])
    over_seeds = float(values.std(ddof=1))
    over_sentences = float(np.mean([(score.high - score.low) / INTERVAL_IN_ERRORS for score in scores]))
    generator = np.random.default_rng(SEED)
    n = len(scores)
    seeds = generator.standard_t(n - 1, DRAWS) * over_seeds * math.sqrt(1 + 1 / n)
    draws = float(values.mean()) + seeds + generator.normal(0.0, over_sentences, DRAWS)
    return Spread(float(values.mean()), over_seeds, over_sentences, np.sort(draws.clip(0.0, 1.0)))


def propose(spread: Spread, present: Mapping[str, float], shares: Sequence[float]) -> dict[str, Any]:
    """As JSON: the spread, the share of correct students who miss each present threshold, and proposed thresholds."""
    return {
        "mean": round(spread.mean, 4),
        "over_seeds": round(spread.over_seeds, 4),
        "over_sentences": round(spread.over_sentences, 4),
        "present": [
            {"name": name, "threshold": value, "share_that_misses": round(spread.share_below(value), 4)}
            for name, value in present.items()
        ],
        "proposed": [
            {"at_most": share, "threshold": threshold, "share_that_misses": round(spread.share_below(threshold), 4)}
            for share in shares
            for threshold in [spread.threshold_for(share)]
        ],
    }
