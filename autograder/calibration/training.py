"""Trains the reference seed by seed, translates the test split, and scores it; what is done is not done again."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from ..record import write_json
from ..scoring import read_references, read_translations, score
from .spread import SeedScore

ROOT = Path(__file__).resolve().parents[2]


class CalibrationError(RuntimeError):
    """A run that failed; the message has its last line."""


def run_seeds(seeds: Sequence[int], arguments: Sequence[str], references: Path, output: Path) -> list[SeedScore]:
    """The scores of all seeds.

    Args:
        seeds: of the runs.
        arguments: for `python -m reference train`: preset, epochs, other settings.
        references: the test split, `source|||target` lines.
        output: folder; each seed gets one in it, with `score.json` once it is done. A run that was broken off goes on.

    Raises:
        CalibrationError: where training or translating fails.
        ScoringError: where the references cannot be read.
    """
    targets = read_references(references)
    scores = []
    for seed in tqdm(seeds, desc="calibrate", unit="seed", disable=None):
        folder = output / f"seed-{seed}"
        done = folder / "score.json"
        settings = [*arguments, str(references)]
        kept = json.loads(done.read_text(encoding="utf-8")) if done.is_file() else {}
        if kept.get("settings") != settings:
            train = ["train", *arguments, "--seed", str(seed), "--output", str(folder)]
            _reference(train if not (folder / "last.pt").is_file() else [*train, "--resume"])
            translations = folder / "translations.txt"
            _reference(["translate", "--checkpoint", str(folder / "best.pt"), "--output", str(translations)])
            found = score(read_translations(translations, expected=len(targets)), targets)
            kept = {"settings": settings, "score": asdict(SeedScore(seed, found.bleu, found.low, found.high))}
            write_json(done, kept)
        scores.append(SeedScore(**kept["score"]))
    return scores


def _reference(arguments: Sequence[str]) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "reference", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CalibrationError(f"`python -m reference {' '.join(arguments)}` failed: {last}")
