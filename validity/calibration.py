"""`python -m validity calibrate`: where to put the BLEU thresholds.

The reference is trained with several seeds, and its scores tell what share of correct students would miss a threshold.
A student's BLEU is modelled as the seeds' mean plus two independent errors: the spread over training seeds, known only
from n runs (hence Student's t with n - 1 degrees of freedom, and the uncertainty of the mean), and the choice of the
test sentences (the bootstrap's standard error). Trained seeds stay in the output folder, so that an interrupted
calibration can be resumed.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from autograder.grading.scoring import Score, read_references, read_translations, score
from foundation.assignment_file import read_assignment
from foundation.places import ROOT, TEST_REFERENCES
from foundation.whole_files import write_whole

from .processes import run

SHARES = (0.01, 0.05)
DRAWS = 200_000
SEED = 12_345
INTERVAL_IN_ERRORS = 2 * 1.96  # a 95% interval, in standard errors


def calibrate(seeds: int, preset: str, epochs: int | None, output: Path) -> int:
    """Prints the report, and writes calibration.json."""
    arguments = ["--preset", preset, *(["--epochs", str(epochs)] if epochs else [])]
    output = output.resolve() / "-".join([preset, *([f"{epochs}-epochs"] if epochs else [])])
    scores = run_seeds(range(seeds), arguments, TEST_REFERENCES, output)
    spread, present = spread_of(scores), read_assignment().thresholds
    missing = {name: round(spread.share_below(value), 4) for name, value in present.items()}
    proposed = {f"{share:.0%}": spread.threshold_for(share) for share in SHARES}
    found = [{"bleu": one.value, "low": one.low, "high": one.high} for one in scores]
    content = {"scores": found, "share_that_misses": missing, "thresholds": proposed}
    write_whole(output / "calibration.json", json.dumps(content, indent=1) + "\n")
    for seed, one in enumerate(scores):
        print(f"seed {seed}: BLEU {one.value:.3f}")
    deviations = f"{spread.over_seeds:.3f} over seeds, {spread.over_sentences:.3f} over test sentences"
    print(f"mean {spread.mean:.3f}, standard deviation {deviations}")
    for name, value in present.items():
        print(f"{missing[name]:.1%} of correct students would miss {name} = {value:.2f}")
    for share, threshold in proposed.items():
        print(f"at most {share} of them would miss {threshold:.2f}")
    return 0


def run_seeds(seeds: Sequence[int], arguments: Sequence[str], references: Path, output: Path) -> list[Score]:
    """The scores of all seeds.

    Args:
        seeds: one per run.
        arguments: arguments of `python -m reference train`: preset, epochs, other settings.
        references: the test split, `source|||target` lines.
        output: folder; each seed gets one in it, with translations once it is trained. An interrupted run is resumed.
            The folder's name identifies everything that decides the score, so that nothing outdated is used.

    Raises:
        UserError: where training or translating fails, or the references cannot be read.
    """
    targets = read_references(references)
    version = version_of(arguments, references)
    scores = []
    for seed in tqdm(seeds, desc="calibrate", unit="seed", disable=None):
        folder = output / f"seed-{seed}-{version}"
        translations = folder / "translations.txt"
        if not translations.is_file():
            is_begun = (folder / "last.pt").is_file()
            how = ["--resume"] if is_begun else [*arguments, "--seed", str(seed)]
            run("-m", "reference", "train", *how, "--output", folder)
            run("-m", "reference", "translate", "--checkpoint", folder / "best.pt", "--output", translations)
        scores.append(score(read_translations(translations, expected=len(targets)), targets))
    return scores


def version_of(arguments: Sequence[str], references: Path) -> str:
    """Eight hex digits that identify the settings, the reference, the corpus and the test split."""
    digest = hashlib.sha256(json.dumps(list(arguments)).encode())
    code = [path for package in ("reference", "given") for path in (ROOT / package).rglob("*.py")]
    corpus = (ROOT / "data" / "corpus").glob("*")
    for path in [*sorted(code), *sorted(corpus), references]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:8]


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


def spread_of(scores: Sequence[Score]) -> Spread:
    """The spread of two scores or more."""
    values = np.array([score.value for score in scores])
    over_seeds = float(values.std(ddof=1))
    over_sentences = float(np.mean([(score.high - score.low) / INTERVAL_IN_ERRORS for score in scores]))
    generator = np.random.default_rng(SEED)
    n = len(scores)
    seeds = generator.standard_t(n - 1, DRAWS) * over_seeds * math.sqrt(1 + 1 / n)
    draws = float(values.mean()) + seeds + generator.normal(0.0, over_sentences, DRAWS)
    return Spread(float(values.mean()), over_seeds, over_sentences, np.sort(draws.clip(0.0, 1.0)))
