"""Where to put the BLEU thresholds.

The reference is trained with several seeds, and its scores show what share of correct students would miss a threshold.
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
from typing import Annotated

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from autograder.grading.scoring import Score, read_references, read_translations
from autograder.grading.scoring import score as bleu_of
from foundation.assignment_file import read_assignment
from foundation.command_line import at_least, positive
from foundation.places import ROOT, TEST_REFERENCES
from foundation.whole_files import write_whole

from .console import option, run_python

SHARES = (0.01, 0.05)
DRAWS = 200_000
RUNS = ROOT / "runs" / "calibration"
SEED = 12_345
INTERVAL_IN_ERRORS = 2 * 1.96  # a 95% interval, in standard errors


def calibrate(
    seeds: Annotated[int, option("number of seeds, 2 or more: one has no spread", type=at_least(2))] = 5,
    preset: Annotated[str, option("the reference's settings")] = "course",
    epochs: Annotated[int | None, option("default: the preset's", type=positive)] = None,
    output: Annotated[Path, option("folder for runs, and calibration.json", type=Path)] = RUNS,
) -> int:
    """Propose BLEU thresholds.

    Train the reference with several seeds, score its translations of the test sentences, and show what share of correct
    students would miss the present thresholds, and which thresholds few would miss. Started again after an
    interruption, it resumes where it stopped.
    """
    arguments = ["--preset", preset, *(["--epochs", str(epochs)] if epochs else [])]
    output = output.resolve() / "-".join([preset, *([f"{epochs}-epochs"] if epochs else [])])
    scores = run_seeds(range(seeds), arguments, TEST_REFERENCES, output)
    spread, present = spread_of(scores), read_assignment().thresholds
    missing = {name: round(spread.share_below(value), 4) for name, value in present.items()}
    proposed = {f"{share:.0%}": spread.threshold_for(share) for share in SHARES}
    intervals = [{"bleu": score.value, "low": score.low, "high": score.high} for score in scores]
    content = {"scores": intervals, "share_that_misses": missing, "thresholds": proposed}
    write_whole(output / "calibration.json", json.dumps(content, indent=1) + "\n")
    for seed, score in enumerate(scores):
        print(f"seed {seed}: BLEU {score.value:.3f}")
    deviations = f"{spread.over_seeds:.3f} over seeds, {spread.over_sentences:.3f} over test sentences"
    print(f"mean {spread.mean:.3f}, standard deviation {deviations}")
    for name, value in present.items():
        print(f"{missing[name]:.1%} of correct students would miss {name} = {value:.2f}")
    for share, threshold in proposed.items():
        print(f"at most {share} of them would miss {threshold:.2f}")
    return 0


def run_seeds(seeds: Sequence[int], arguments: Sequence[str], references: Path, output: Path) -> list[Score]:
    """The scores of all seeds, on the test split, with these arguments of `python -m reference train`.

    Each seed gets a folder in `output`, with translations once it is trained. Its name identifies everything that
    decides the score, so that an interrupted run is resumed and nothing outdated is used.
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
            run_python("-m", "reference", "train", *how, "--output", folder)
            run_python("-m", "reference", "translate", "--checkpoint", folder / "best.pt", "--output", translations)
        scores.append(bleu_of(read_translations(translations, expected=len(targets)), targets))
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
