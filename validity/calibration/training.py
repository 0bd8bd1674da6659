"""Trains the reference seed by seed, translates the test split, and scores it; finished seeds are not repeated."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from autograder.scoring import read_references, read_translations, score
from foundation.places import ROOT
from foundation.whole_files import write_whole

from .spread import SeedScore


class CalibrationError(RuntimeError):
    """A run failed; the message has its last line.

    Attributes:
        status: of the command that failed; 2 where it was given something wrong.
    """

    def __init__(self, message: str, status: int) -> None:
        """Takes what the command said and its exit status."""
        super().__init__(message)
        self.status = status


def run_seeds(seeds: Sequence[int], arguments: Sequence[str], references: Path, output: Path) -> list[SeedScore]:
    """The scores of all seeds.

    Args:
        seeds: one per run.
        arguments: arguments of `python -m reference train`: preset, epochs, other settings.
        references: the test split, `source|||target` lines.
        output: folder; each seed gets one in it, with `score.json` once it is done. An interrupted run is resumed.
            The folder's name identifies everything that decides the score, so that an outdated score is never used.

    Raises:
        CalibrationError: where training or translating fails.
        ScoringError: where the references cannot be read.
    """
    targets = read_references(references)
    version = version_of(arguments, references)
    scores = []
    for seed in tqdm(seeds, desc="calibrate", unit="seed", disable=None):
        folder = output / f"seed-{seed}-{version}"
        done = folder / "score.json"
        if not done.is_file():
            is_begun = (folder / "last.pt").is_file()
            how = ["--resume"] if is_begun else [*arguments, "--seed", str(seed)]
            _reference(["train", *how, "--output", str(folder)])
            translations = folder / "translations.txt"
            _reference(["translate", "--checkpoint", str(folder / "best.pt"), "--output", str(translations)])
            found = score(read_translations(translations, expected=len(targets)), targets)
            write_whole(done, json.dumps(asdict(SeedScore(seed, found.bleu, found.low, found.high))) + "\n")
        scores.append(SeedScore(**json.loads(done.read_text(encoding="utf-8"))))
    return scores


def version_of(arguments: Sequence[str], references: Path) -> str:
    """Eight hex digits that identify the settings, the reference, the corpus and the test split."""
    digest = hashlib.sha256(json.dumps(list(arguments)).encode())
    code = [path for package in ("reference", "given") for path in (ROOT / package).rglob("*.py")]
    corpus = (ROOT / "data" / "corpus").glob("*")
    for path in [*sorted(code), *sorted(corpus), references]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:8]


def _reference(arguments: Sequence[str]) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "reference", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)  # noqa: S603  our own
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CalibrationError(f"`python -m reference {' '.join(arguments)}` failed: {last}", done.returncode)
