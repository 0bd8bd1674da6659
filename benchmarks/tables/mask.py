"""Does the diagonal mask help? Differences of BLEU between runs that differ only in the mask, with two intervals.

Two models with the same seed begin with the same weights and see the same batches, so seeds are compared in pairs. The
interval over seeds is Student's: it says how far the mean difference may change with other seeds, on the same
sentences. The interval over sentences (paired bootstrap: Koehn 2004, section 4) says how far it may change with other
sentences, for these very models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np

from autograder.scoring.bleu import SAMPLES, SEED, bleu_of_sums, bootstrap, count, interval, make_metric

T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The 97.5% quantiles of Student's t with 1, 2, … degrees of freedom; with more than 9 the last one, a little wide."""


@dataclass(frozen=True)
class Difference:
    """BLEU with the mask minus BLEU without it, on the same sentences.

    Attributes:
        by_seed: one difference for each seed.
        mean: of the seeds.
        over_seeds: the ends of its 95% interval; None with a single seed.
        over_sentences: likewise.
    """

    by_seed: tuple[float, ...]
    mean: float
    over_seeds: tuple[float, float] | None
    over_sentences: tuple[float, float]


def compare(without: Sequence[Sequence[str]], masked: Sequence[Sequence[str]], references: Sequence[str]) -> Difference:
    """Compares translations of the same sentences by pairs of models, one pair for each seed.

    Args:
        without: translations by the models without the mask, for each seed.
        masked: likewise, with the mask.
        references: one for each sentence.
    """
    metric = make_metric()
    statistics = [[count(metric, lines, references) for lines in side] for side in (without, masked)]
    here, there = ([bleu_of_sums(one.sum(axis=0)).score / 100 for one in side] for side in statistics)
    by_seed = [after - before for before, after in zip(here, there, strict=True)]
    middle = mean(by_seed)
    # The same seed of the bootstrap draws the same sentences for every model.
    drawn = [np.mean([bootstrap(one, SAMPLES, SEED) / 100 for one in side], axis=0) for side in statistics]
    over_seeds = None
    if len(by_seed) > 1:
        margin = T_975[min(len(by_seed) - 2, len(T_975) - 1)] * stdev(by_seed) / len(by_seed) ** 0.5
        over_seeds = (middle - margin, middle + margin)
    return Difference(tuple(by_seed), middle, over_seeds, interval(drawn[1] - drawn[0]))


def verdict(difference: Difference) -> str:
    """Says in words what the interval over seeds allows to say."""
    if difference.over_seeds is None:
        return "one seed: nothing can be said"
    low, high = difference.over_seeds
    if low > 0:
        return "helps"
    return "harms" if high < 0 else "no effect that these seeds can show"
