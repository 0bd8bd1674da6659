"""What whole training runs cost and reach, each in a process of its own, `python -m reference train`.

`quick` charges a run for everything: imports, reading the corpus, translating dev.

`ablations` shows what BLEU can and cannot tell: each is the reference with one fault that a student might make.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from statistics import mean

from foundation.places import REFERENCE, ROOT
from foundation.texts import counted
from foundation.whole_files import write_whole
from given.config import PRESETS, Config
from reference.data import read_pairs, take_census

from .processes import Run, print_table, run

LENGTHS = ("epochs", "max_steps", "report_every", "report_epochs")
ABLATIONS = {
    "no positional encoding": ("embedding.py", "self.dropout(x + self.code[:length])", "self.dropout(x)"),
    "no cross-attention": ("layers.py", "attention(x, memory, memory", "attention(x, 0 * memory, 0 * memory"),
    "no causal mask in training": ("data.py", " & causal_mask(tgt_input.size(1))", ""),
    "attention not scaled": ("attention.py", " / math.sqrt(query.size(-1))", ""),
    "attention not masked": ("attention.py", "if mask is not None:", "if False:"),
}
"""The file of the reference, the text that goes, and what takes its place."""


def run_reference(folder: Path, train: Path, dev: Path, *flags: object, cwd: Path = ROOT) -> tuple[Run, list[float]]:
    """Trains once into `folder`, with the package `reference` in `cwd`; what that took, and dev BLEU of each report."""
    files = ["--train", train.resolve(), "--dev", dev.resolve(), "--output", folder.resolve(), "--samples", 0]
    done = run("-m", "reference", "train", *files, *flags, every=0.1, cwd=cwd)
    lines = (folder / "history.jsonl").read_text().splitlines()
    return done, [float(json.loads(line)["dev_bleu"]) for line in lines]


def tricks(preset: str) -> dict[str, list[str]]:
    """Returns, for each setting of a preset that `course` does not have, the flag that takes it back."""
    course, found = PRESETS["course"], {}
    for item in fields(Config):
        value = getattr(course, item.name)
        if value != getattr(PRESETS[preset], item.name) and item.name not in LENGTHS:
            name = item.name.replace("_", "-")
            found[item.name] = [f"--{name}" if value else f"--no-{name}"]
            if not isinstance(value, bool):
                found[item.name] = [f"--{name}", str(value)]
    return found


def measure_quick(train: Path, dev: Path, preset: str, seeds: int, ablation: bool) -> int:
    """Trains, and prints what each run took.

    Args:
        train: training pairs.
        dev: dev pairs.
        preset: what to train.
        seeds: runs of each row.
        ablation: also take back each setting that `course` does not have, one at a time.
    """
    runs: dict[str, list[str]] = {preset: []}
    if ablation:
        runs |= {f"without {name}: `{' '.join(flags)}`": flags for name, flags in tricks(preset).items()}

    def cost(*flags: str) -> tuple[float, Run]:
        with tempfile.TemporaryDirectory() as folder:
            done, bleu = run_reference(Path(folder), train, dev, "--preset", preset, *flags)
        return max(bleu), done

    def rows() -> Iterator[list[str]]:
        for name, flags in runs.items():
            costs = [cost(*flags, "--seed", str(seed)) for seed in range(seeds)]
            scores, cpu = ", ".join(f"{bleu:.3f}" for bleu, _ in costs), mean(done.cpu for _, done in costs)
            yield [name, scores, f"{cpu:.1f}", f"{max(done.memory for _, done in costs):.0f}"]

    print_table(["run", "dev BLEU", "seconds of CPU", "MiB"], rows())
    return 0


def bleu_without(part: str, train: Path, dev: Path, *flags: object) -> float:
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
        return run_reference(Path(name, "run"), train, dev, "--preset", "course", *flags, cwd=Path(name))[1][-1]


def measure_ablations(seeds: int, epochs: int | None, train: Path, dev: Path, output: Path) -> int:
    """Trains all models that `output`/results.json does not have yet, and prints a table."""
    length = ["--epochs", epochs] if epochs else []
    files = [take_census(read_pairs(path)).fingerprint for path in (train, dev)]
    output.mkdir(parents=True, exist_ok=True)
    store = output / "results.json"
    results: dict[str, float] = json.loads(store.read_text()) if store.exists() else {}

    def bleu_of(part: str, seed: int = 0) -> float:
        key = ", ".join([part, f"seed {seed}", f"{epochs or PRESETS['course'].epochs} epochs", *files])
        if key not in results:
            print(f"training: {key}", flush=True)
            results[key] = bleu_without(part, train, dev, "--seed", seed, *length)
            write_whole(store, json.dumps(results, indent=1))
        return results[key]

    ablated = [[part, f"{bleu_of(part):.3f}"] for part in ABLATIONS]
    intact = [bleu_of("intact", seed) for seed in range(seeds)]
    spread = f"{min(intact):.3f} to {max(intact):.3f}, mean {mean(intact):.3f}"
    print_table(["model", "dev BLEU"], [[f"intact, {counted(seeds, 'seed')}", spread], *ablated])
    return 0
