"""Where to put the BLEU thresholds.

The reference is trained with several seeds, and its scores show what share of correct students would miss a threshold.
A student's BLEU is modelled as the seeds' mean plus two independent errors: the spread over training seeds, known only
from n runs (hence Student's t with n - 1 degrees of freedom, and the uncertainty of the mean), and the choice of the
test sentences (the bootstrap's standard error). Trained seeds stay in the output folder, so that an interrupted
calibration can be resumed.
"""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from autograder.grading.scoring import Score, read_references, read_translations
from autograder.grading.scoring import score as bleu_of
from foundation.assignment_file import read_assignment
from foundation.places import ROOT, TEST_REFERENCES

from .console import run_python

SHARES = (0.01, 0.05)
DRAWS = 200_000
RUNS = ROOT / "runs" / "calibration"
SEED = 12_345
INTERVAL_IN_ERRORS = 2 * 1.96  # a 95% interval, in standard errors
Floats = npt.NDArray[np.float64]


def calibrate(seeds: int, preset: str, epochs: int | None, output: Path | None) -> int:
    """Propose BLEU thresholds.

    Train the reference with several seeds, score its translations of the test sentences, and show what share of correct
    students would miss the present thresholds, and which thresholds few would miss. Started again after an
    interruption, it resumes where it stopped.
    """
    arguments = ["--preset", preset, *(["--epochs", str(epochs)] if epochs else [])]
    scores = run_seeds(range(seeds), arguments, TEST_REFERENCES, (output or RUNS).resolve())
    for seed, score in enumerate(scores):
        print(f"seed {seed}: BLEU {score.value:.3f}")
    values = np.array([score.value for score in scores])
    error = float(np.mean([(score.high - score.low) / INTERVAL_IN_ERRORS for score in scores]))
    deviations = f"{values.std(ddof=1):.3f} over seeds, {error:.3f} over test sentences"
    print(f"mean {values.mean():.3f}, standard deviation {deviations}")
    drawn = simulate(values, error)
    for name, value in read_assignment().thresholds.items():
        print(f"{np.mean(drawn < value):.1%} of correct students would miss {name} = {value:.2f}")
    for share in SHARES:
        print(f"at most {share:.0%} of them would miss {threshold_for(share, drawn):.2f}")
    return 0


def run_seeds(seeds: Sequence[int], arguments: Sequence[str], references: Path, output: Path) -> list[Score]:
    """The scores of all seeds, on the test split, with these arguments of `python -m reference train`.

    Each seed gets a folder in `output`, with translations once it is trained. Its name has a digest of everything that
    decides the score, so that an interrupted run is resumed and nothing outdated is used.
    """
    code = [path for package in ("reference", "given") for path in (ROOT / package).rglob("*.py")]
    files = [*sorted(code), *sorted((ROOT / "data" / "corpus").glob("*")), references]
    version = hashlib.sha256(" ".join(arguments).encode() + b"".join(path.read_bytes() for path in files)).hexdigest()
    targets, scores = read_references(references), []
    for seed in tqdm(seeds, desc="calibrate", unit="seed", disable=None):
        folder = output / f"seed-{seed}-{version[:8]}"
        translations = folder / "translations.txt"
        if not translations.is_file():
            is_begun = (folder / "last.pt").is_file()
            how = ["--resume"] if is_begun else [*arguments, "--seed", str(seed)]
            run_python("-m", "reference", "train", *how, "--output", folder)
            run_python("-m", "reference", "translate", "--checkpoint", folder / "best.pt", "--output", translations)
        scores.append(bleu_of(read_translations(translations, expected=len(targets)), targets))
    return scores


def simulate(values: Floats, error: float) -> Floats:
    """BLEU of correct students, by that of two seeds or more and the standard error over test sentences."""
    generator, n = np.random.default_rng(SEED), len(values)
    drawn: Floats = values.mean() + generator.standard_t(n - 1, DRAWS) * values.std(ddof=1) * math.sqrt(1 + 1 / n)
    return (drawn + generator.normal(0.0, error, DRAWS)).clip(0.0, 1.0)


def threshold_for(share: float, drawn: Floats) -> float:
    """The highest threshold, in hundredths, that at most this share of the drawn scores misses."""
    return math.floor(float(np.quantile(drawn, share)) * 100) / 100
