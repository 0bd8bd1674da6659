"""What BLEU can and cannot tell: the reference with several seeds, and models with a part missing.

Each ablation is the reference with one fault that a student might make, trained and decoded with it.
"""

import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor

from foundation.counting import counted
from foundation.whole_files import write_whole
from given.config import PRESETS, Config
from given.experiment import Experiment
from reference import attention, data, embedding, layers
from reference.data import Pair, read_pairs, take_census

torch_attention = attention.scaled_dot_product_attention


def unscaled(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The scores are not divided by sqrt(d_k)."""
    return torch_attention(query * query.size(-1) ** 0.5, key, value, mask)


def unmasked(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The mask is ignored: no padding mask and no causal mask anywhere."""
    return torch_attention(query, key, value)


def without_positions(self: embedding.PositionalEncoding, x: Tensor) -> Tensor:
    """The model does not know the order of the words."""
    return self.dropout(x)


def without_cross_attention(
    self: layers.DecoderLayer, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The decoder does not look at the source."""
    return intact_decoder_layer(self, x, torch.zeros_like(memory), src_mask, tgt_mask)


intact_decoder_layer = layers.DecoderLayer.forward

ABLATIONS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "no positional encoding": lambda: patch.object(embedding.PositionalEncoding, "forward", without_positions),
    "no cross-attention": lambda: patch.object(layers.DecoderLayer, "forward", without_cross_attention),
    "no causal mask in training": lambda: patch.object(
        data, "causal_mask", lambda length: torch.ones(length, length, dtype=torch.bool)
    ),
    "attention not scaled": lambda: patch.object(attention, "scaled_dot_product_attention", unscaled),
    "attention not masked": lambda: patch.object(attention, "scaled_dot_product_attention", unmasked),
}


@contextmanager
def ablated(name: str | None) -> Iterator[None]:
    """Leaves one part of the reference out; None = leaves it intact."""
    if name is None:
        yield
        return
    with ABLATIONS[name]():
        yield


def train_once(config: Config, train_pairs: list[Pair], dev_pairs: list[Pair]) -> list[float]:
    """Returns dev BLEU after each epoch."""
    run = Experiment(config, train_pairs, dev_pairs)
    for _ in range(config.epochs):
        run.run_epoch()
    return [line["dev_bleu"] for line in run.history]


def measure(seeds: int, epochs: int | None, train: Path, dev: Path, output: Path) -> int:
    """Trains all models that `output`/results.json does not have yet, and prints a table."""
    config = PRESETS["course"] if epochs is None else replace(PRESETS["course"], epochs=epochs)
    train_pairs, dev_pairs = read_pairs(train), read_pairs(dev)
    plan: list[tuple[str | None, int]] = [*((name, 0) for name in ABLATIONS), *((None, seed) for seed in range(seeds))]
    settings = f"{config.epochs} epochs, {take_census(train_pairs).fingerprint}, {take_census(dev_pairs).fingerprint}"

    def key_of(name: str | None, seed: int) -> str:
        return f"{name or 'intact'}, seed {seed}, {settings}"

    output.mkdir(parents=True, exist_ok=True)
    store = output / "results.json"
    results: dict[str, list[float]] = json.loads(store.read_text()) if store.exists() else {}
    for name, seed in plan:
        key = key_of(name, seed)
        if key not in results:
            print(f"training: {key}", flush=True)
            with ablated(name):
                results[key] = train_once(replace(config, seed=seed), train_pairs, dev_pairs)
            write_whole(store, json.dumps(results, indent=1))
    finals = [results[key_of(None, seed)][-1] for seed in range(seeds)]
    print("| model | dev BLEU |\n|---|---|")
    spread = f"{min(finals):.3f} to {max(finals):.3f}, mean {statistics.mean(finals):.3f}"
    print(f"| intact, {counted(seeds, 'seed')} | {spread} |")
    for name in ABLATIONS:
        print(f"| {name} | {results[key_of(name, 0)][-1]:.3f} |")
    return 0
