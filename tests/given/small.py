"""A small corpus and small settings, with which a run takes a moment."""

from dataclasses import replace
from pathlib import Path

from given.config import PRESETS

PAIRS = [
    ([subject, *verb.split(), "."], [other, *action.split(), "."])
    for subject, other in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for verb, action in (("man@@ ge", "eat"), ("dors", "sleep"), ("par@@ le", "sp@@ eak"), ("chante", "sing"))
][:15]
DEV = PAIRS[:4]
SMALL = replace(
    PRESETS["tiny"], d_model=16, d_ff=16, epochs=3, batch_size=2, dropout=0.2, learning_rate=5e-3
)  # 8 batches


def write_pairs(path: Path, pairs=PAIRS) -> Path:
    """Writes lines `source|||target`."""
    path.write_text("".join(f"{' '.join(source)}|||{' '.join(target)}\n" for source, target in pairs))
    return path


def corpus_flags(folder: Path) -> list[str]:
    """Writes the corpus, and returns the flags that name it and a run's folder."""
    train, dev = write_pairs(folder / "train"), write_pairs(folder / "dev", DEV)
    return ["--train", str(train), "--dev", str(dev), "--output", str(folder / "run")]
