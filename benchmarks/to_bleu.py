"""What a training run costs as a whole: seconds of CPU and memory to a BLEU, and what each trick of `quick` brings.

Each run is a process of its own, `python -m reference train`, and is charged for everything: imports, reading the
corpus, translating dev. The unit is a step of the preset `course` with an optimizer that loops over the parameters, as
the course's original has it, measured before and after each run: the original needs 1.16 times as long for a step
(67.6 ms against 58.1 ms on one machine) and 9 epochs of 272 steps to dev BLEU 0.45 on Tatoeba.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import mean

import torch
from torch import nn

from foundation.command_line import INTERRUPTED
from foundation.places import ROOT
from given.building import build_model
from given.config import PRESETS, Config
from reference.data import BatchLoader, DataError, Pair, read_pairs
from reference.train import train_epoch
from reference.vocab import PAD_ID, Vocabulary

ORIGINAL_STEPS = 9 * 272 * 67.6 / 58.1  # steps of `course` that take as long as the original to dev BLEU 0.45
UNIT_BATCHES = 20
LENGTHS = ("epochs", "max_steps", "report_every", "report_epochs")


@dataclass
class Cost:
    """What one run took: seconds of CPU, MiB of memory at most, dev BLEU, and seconds of a step of `course`."""

    cpu: float
    memory: float
    bleu: float
    unit: float

    @property
    def share(self) -> float:
        """The seconds of CPU as a share of what the original takes to dev BLEU 0.45."""
        return self.cpu / self.unit / ORIGINAL_STEPS


def step_of_course(pairs: list[Pair]) -> float:
    """Measures seconds of CPU for a step of the preset `course` on these pairs."""
    config = PRESETS["course"]
    vocabularies = Vocabulary.build(src for src, _ in pairs), Vocabulary.build(tgt for _, tgt in pairs)
    loader = BatchLoader(pairs, *vocabularies, config.batch_size)
    batches = [batch for batch, _ in zip(loader.epoch(0), range(UNIT_BATCHES), strict=False)]
    model = build_model(config, *map(len, vocabularies))
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=config.label_smoothing)
    train_epoch(batches[:5], model, optimizer, criterion)
    start = time.process_time()
    train_epoch(batches, model, optimizer, criterion)
    return (time.process_time() - start) / len(batches)


def run_once(train: Path, dev: Path, preset: str, flags: list[str], unit_pairs: list[Pair]) -> Cost:
    """Trains once, in a process of its own.

    Raises:
        DataError: if the run fails; it has said why.
    """
    before = step_of_course(unit_pairs)
    with tempfile.TemporaryDirectory() as folder:
        files = ["--train", str(train.resolve()), "--dev", str(dev.resolve()), "--output", folder]
        command = [sys.executable, "-m", "reference", "train", "--preset", preset, *files, "--samples", "0", *flags]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)  # noqa: S603  the command is ours
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode == INTERRUPTED:
            raise KeyboardInterrupt
        if child.returncode:
            raise DataError(f"python -m reference train ended with status {child.returncode}")
        lines = (Path(folder) / "history.jsonl").read_text().splitlines()
    bleu = max(json.loads(line)["dev_bleu"] for line in lines)
    unit = (before + step_of_course(unit_pairs)) / 2
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, bleu, unit)


def tricks(preset: str) -> dict[str, list[str]]:
    """Returns, for each setting of a preset that `course` does not have, the flag that takes it back."""
    course, found = PRESETS["course"], {}
    for item in fields(Config):
        value = getattr(course, item.name)
        if value != getattr(PRESETS[preset], item.name) and item.name not in LENGTHS:
            flag = "--" + item.name.replace("_", "-")
            if isinstance(value, bool):
                found[item.name] = [flag if value else f"--no-{flag.removeprefix('--')}"]
            else:
                found[item.name] = [flag, str(value)]
    return found


def measure(train: Path, dev: Path, preset: str, seeds: int, is_ablation: bool) -> int:
    """Trains and prints a table; returns the exit status.

    Args:
        train: training pairs.
        dev: dev pairs.
        preset: what to train.
        seeds: runs of each row.
        is_ablation: also take back each setting that `course` does not have, one at a time.
    """
    pairs = read_pairs(train)
    rows: dict[str, list[str]] = {preset: []}
    if is_ablation:
        rows |= {f"without {name}: `{' '.join(flags)}`": flags for name, flags in tricks(preset).items()}
    print("| run | dev BLEU | seconds of CPU | of the original's | MiB |\n|---|---|---|---|---|", flush=True)
    for name, flags in rows.items():
        costs = [run_once(train, dev, preset, [*flags, "--seed", str(seed)], pairs) for seed in range(seeds)]
        scores = ", ".join(f"{cost.bleu:.3f}" for cost in costs)
        cpu, share = mean(cost.cpu for cost in costs), mean(cost.share for cost in costs)
        memory = max(cost.memory for cost in costs)
        print(f"| {name} | {scores} | {cpu:.1f} | {share:.3f} (1/{1 / share:.1f}) | {memory:.0f} |", flush=True)
    return 0
