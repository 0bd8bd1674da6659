"""What BLEU can and cannot tell: the reference, with several seeds, and with one fault that a student might make."""

import json
import shutil
import tempfile
from pathlib import Path
from statistics import mean

from foundation.places import REFERENCE, ROOT
from foundation.texts import counted
from validity.processes import run
from validity.report import print_table

ABLATIONS = {
    "no positional encoding": ("embedding.py", "self.dropout(x + self.code[:length])", "self.dropout(x)"),
    "no cross-attention": ("layers.py", "attention(x, memory, memory", "attention(x, 0 * memory, 0 * memory"),
    "no causal mask in training": ("data.py", " & causal_mask(tgt_input.size(1))", ""),
    "attention not scaled": ("attention.py", " / math.sqrt(query.size(-1))", ""),
    "attention not masked": ("attention.py", "if mask is not None:", "if False:"),
}
"""The file of the reference, the text that goes, and what takes its place."""


def run_reference(folder: Path, train: Path, dev: Path, *flags: object, cwd: Path = ROOT) -> None:
    """Trains once into `folder`, in a process of its own, with the package `reference` in `cwd`."""
    files = ["--train", train.resolve(), "--dev", dev.resolve(), "--output", folder.resolve(), "--samples", 0]
    run("-m", "reference", "train", *files, *flags, cwd=cwd)


def bleu_without(part: str, train: Path, dev: Path, seed: int = 0) -> float:
    """Trains the reference without a part, or, by another name, with all; dev BLEU after the last epoch."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(REFERENCE, Path(name, REFERENCE.name))
        if part in ABLATIONS:
            file, old, new = ABLATIONS[part]
            path = Path(name, REFERENCE.name, file)
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise RuntimeError(f"{file}: expected {old!r} once")
            path.write_text(text.replace(old, new), encoding="utf-8")
        run_reference(Path(name, "run"), train, dev, "--preset", "course", "--seed", seed, cwd=Path(name))
        last = Path(name, "run", "history.jsonl").read_text(encoding="utf-8").splitlines()[-1]
        return float(json.loads(last)["dev_bleu"])


def measure_ablations(seeds: int, train: Path, dev: Path) -> int:
    """Trains all models, and prints a table, each row once it is known."""

    def row(part: str) -> list[str]:
        if part in ABLATIONS:
            return [part, f"{bleu_without(part, train, dev):.3f}"]
        found = [bleu_without(part, train, dev, seed) for seed in range(seeds)]
        return [f"intact, {counted(seeds, 'seed')}", f"{min(found):.3f} to {max(found):.3f}, mean {mean(found):.3f}"]

    print_table(["model", "dev BLEU"], map(row, ["intact", *ABLATIONS]))
    return 0
