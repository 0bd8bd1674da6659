"""`average`: one checkpoint from the last ones of a run.

The mean of a few late weights lies in a flatter place than each of them and usually translates better (Vaswani et al.
2017, section 6.1).
"""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from ..running.checkpoint import Checkpoint, CheckpointError
from ..running.config import ConfigError
from ..running.run_folder import kept_checkpoints


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="a run's folder, made with `train --keep-epochs`")
    parser.add_argument("--last", type=int, default=5, metavar="N", help="checkpoints to average (default: 5)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: average.pt in the run's folder")


def run(options: argparse.Namespace) -> int:
    """Writes the average; returns the exit status."""
    folder, n_last = options.run_folder, options.last
    if n_last < 2:
        raise ConfigError(f"--last {n_last}: expected at least 2")
    paths = kept_checkpoints(folder)
    if len(paths) < n_last:
        hint = "`train --keep-epochs` keeps them"
        raise ConfigError(f"{folder} keeps {len(paths)} checkpoints, --last asks for {n_last}; {hint}")
    paths = paths[-n_last:]
    output = options.output or folder / "average.pt"
    average_checkpoints(paths).save(output)
    print(f"{output}: the average of {n_last} checkpoints ({', '.join(path.name for path in paths)})")
    print(f"next: python -m {__name__.rsplit('.', 2)[0]} translate --checkpoint {shlex.quote(str(output))}")
    return 0


def average_checkpoints(paths: list[Path]) -> Checkpoint:
    """Returns the last of these checkpoints with the mean of all their weights, for translating.

    Raises:
        CheckpointError: if one cannot be read, or belongs to another run.
    """
    total: dict[str, Tensor] = {}
    first = Checkpoint.load(paths[0])
    for path in paths:
        saved = Checkpoint.load(path)
        if not is_same_run(first, saved):
            raise CheckpointError(f"{path}: is of another run than {paths[0].name}")
        weights = saved.weights if saved.average is None else saved.average
        for name, tensor in weights.items():
            total[name] = total.get(name, 0.0) + tensor.double()
    mean = {name: (tensor / len(paths)).to(saved.weights[name].dtype) for name, tensor in total.items()}
    return replace(saved, weights=mean, average=None, optimizer={}, scheduler={})


def is_same_run(one: Checkpoint, other: Checkpoint) -> bool:
    """Whether two checkpoints have the same model, data and settings; a run may have been prolonged between them."""
    length = {"epochs", "max_steps", "patience"}
    settings = [{name: value for name, value in vars(run.config).items() if name not in length} for run in (one, other)]
    return (
        settings[0] == settings[1]
        and one.corpus == other.corpus
        and one.src_vocab.tokens == other.src_vocab.tokens
        and one.tgt_vocab.tokens == other.tgt_vocab.tokens
    )
