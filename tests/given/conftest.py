"""A small corpus and settings with which a run takes a moment; curves, which take longer, are empty files."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from given import run_folder
from given.config import PRESETS
from given.package import Package
from reference.__main__ import main

REFERENCE = Package("reference")
PAIRS = [
    ([subject, *verb.split(), "."], [other, *action.split(), "."])
    for subject, other in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for verb, action in (("man@@ ge", "eat"), ("dors", "sleep"), ("par@@ le", "sp@@ eak"), ("chante", "sing"))
][:15]
DEV = PAIRS[:4]
SMALL = replace(PRESETS["tiny"], d_model=16, d_ff=16, epochs=3, batch_size=2, dropout=0.2, learning_rate=5e-3)
"""Eight batches an epoch."""


def write_pairs(path: Path, pairs=PAIRS) -> Path:
    """Writes lines `source|||target`."""
    path.write_text("".join(f"{' '.join(source)}|||{' '.join(target)}\n" for source, target in pairs))
    return path


def corpus_flags(folder: Path) -> list[str]:
    """Writes the corpus, and returns the flags that name it and a run's folder."""
    train, dev = write_pairs(folder / "train"), write_pairs(folder / "dev", DEV)
    return ["--train", str(train), "--dev", str(dev), "--output", str(folder / "run")]


def call(*arguments: object, status: int = 0) -> None:
    """Runs a command of the reference."""
    assert main([str(argument) for argument in arguments]) == status


@pytest.fixture(scope="module", autouse=True)
def _without_curves() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_folder, "draw_curves", lambda history, path: path.touch())
        yield
