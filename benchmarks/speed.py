"""How fast training is: tokens a second, share of the matrix-multiplication peak, and against `torch.nn.Transformer`.

All ways train on the same batches in turns, so that each meets the same neighbours on a shared machine; speeds and
ratios are medians over the rounds, in CPU time, on one thread. Tokens are those of source and target that are not
padding. The peak is what a product of two matrices of 1024 x 1024 in float32 reaches, in the same rounds and at the
same precision; a step's multiplications are counted by PyTorch's own counter, padding included.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from tqdm import trange

from given.building import build_model, make_optimizer
from given.config import PRESETS, Config
from given.extras.layers import computing_in
from reference.data import Batch, BatchLoader, Pair, read_pairs
from reference.embedding import InputEmbedding, PositionalEncoding
from reference.train import batch_loss, train_epoch
from reference.vocab import PAD_ID, Vocabulary

from .output import median_ratio, print_table

SIDE = 1024  # of the matrices that the peak is measured with
ROUNDS, PEAK_REPEATS = 5, 12
PRECISIONS = ("float32", "fast-float32")


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` between the reference's embeddings and output, with dropout in the same places."""

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int, config: Config) -> None:
        """Creates a model of the size that the settings name."""
        super().__init__()
        self.src_embedding = InputEmbedding(src_vocab_size, config.d_model)
        self.tgt_embedding = InputEmbedding(tgt_vocab_size, config.d_model)
        self.positions = PositionalEncoding(config.d_model, config.dropout)
        sizes = config.d_model, config.n_heads, config.d_ff, config.dropout
        first = config.norm_first
        norms = [nn.LayerNorm(config.d_model) if first else None for _ in range(2)]
        encoder_layer = nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=first)
        decoder_layer = nn.TransformerDecoderLayer(*sizes, batch_first=True, norm_first=first)
        encoder = nn.TransformerEncoder(encoder_layer, config.n_layers, norms[0], enable_nested_tensor=False)
        decoder = nn.TransformerDecoder(decoder_layer, config.n_layers, norms[1])
        self.layers = nn.Transformer(*sizes[:2], custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
        for module in self.layers.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
                module.dropout = nn.Dropout(0.0)  # the one inside the feed-forward network
        self.output_projection = nn.Linear(config.d_model, tgt_vocab_size)
        if config.tie_output:
            self.output_projection.weight = self.tgt_embedding.table.weight

    def encode(self, src: Tensor, mask: Tensor) -> tuple[Tensor, None]:
        """Reads the source (b, s); `mask` is that of the padding."""
        x = self.positions(self.src_embedding(src))
        return self.layers.encoder(x, src_key_padding_mask=~mask[:, 0, 0]), None

    def decode(self, tgt: Tensor, memory: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> tuple[Tensor, None, None]:
        """Reads the target (b, t). Padding comes last, so the causal mask hides it from all that counts."""
        x = self.positions(self.tgt_embedding(tgt))
        causal = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        padding = ~src_mask[:, 0, 0]
        output = self.layers.decoder(x, memory, causal, memory_key_padding_mask=padding, tgt_is_causal=True)
        return output, None, None

    def get_predictions(self, output: Tensor) -> Tensor:
        """Computes scores (logits)."""
        scores: Tensor = self.output_projection(output)
        return scores


Build = Callable[[Config, int, int], nn.Module]


@dataclass
class Way:
    """One way to train, and what was measured of it: tokens a second, seconds a step, shares of the peak."""

    name: str
    config: Config
    build: Build = build_model
    speeds: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def prepare(self, sizes: tuple[int, int]) -> None:
        """Builds the model, for so many words of both languages, and its optimizer."""
        torch.manual_seed(0)
        self.model = self.build(self.config, *sizes)
        self.optimizer = make_optimizer(self.config, self.model)

    def train(self, batches: Sequence[Batch]) -> float:
        """Takes a step with each batch; returns the seconds of CPU."""
        criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=self.config.label_smoothing)
        norm = self.config.max_grad_norm or None
        start = time.process_time()
        with computing_in(self.config.precision, "cpu"):
            train_epoch(batches, self.model, self.optimizer, criterion, max_grad_norm=norm)  # type: ignore[arg-type]
        return time.process_time() - start


def ways_of(config: Config) -> list[Way]:
    """Returns the ways; the first is the plain one."""

    def rival(config: Config, n_source: int, n_target: int) -> nn.Module:
        return TorchTransformer(n_source, n_target, config)

    fused, fast = replace(config, fused=True), {"precision": PRECISIONS[1]}
    return [
        Way("as students write it", config),
        Way("torch.nn.Transformer", config, rival),
        Way("the same with --precision fast-float32", replace(config, **fast), rival),  # type: ignore[arg-type]
        Way("--fused", fused),
        Way("--fused --precision fast-float32", replace(fused, **fast)),  # type: ignore[arg-type]
    ]


def peak(precision: str) -> float:
    """Measures the multiplications and additions a second of a large matrix product."""
    one, other = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    seconds = []
    with computing_in(precision, "cpu"):
        for _ in range(3):
            start = time.process_time()
            for _ in range(PEAK_REPEATS):
                one @ other
            seconds.append(time.process_time() - start)
    return 2 * SIDE**3 * PEAK_REPEATS / min(seconds)


def count_operations(config: Config, batches: Sequence[Batch], sizes: tuple[int, int]) -> int:
    """Counts the multiplications and additions of matrix products in a pass over the batches."""
    model, criterion = build_model(config, *sizes), nn.CrossEntropyLoss(ignore_index=PAD_ID)
    with FlopCounterMode(display=False) as counter:
        for batch in batches:
            batch_loss(model, batch, criterion).backward()
    return int(counter.get_total_flops())


def first_batches(pairs: Sequence[Pair], config: Config, count: int) -> tuple[list[Batch], tuple[int, int]]:
    """The first batches of an epoch, and the sizes of both vocabularies."""
    vocabularies = Vocabulary.build(src for src, _ in pairs), Vocabulary.build(tgt for _, tgt in pairs)
    loader = BatchLoader(pairs, *vocabularies, config.batch_size, bucketing=config.bucketing)
    batches = [batch for batch, _ in zip(loader.epoch(0), range(count), strict=False)]
    return batches, (len(vocabularies[0]), len(vocabularies[1]))


def measure(train: Path, presets: Sequence[str], batches: int) -> int:
    """Measures all ways with the settings of each preset on so many batches, and prints a table for each."""
    pairs = read_pairs(train)
    for preset in presets:
        some, sizes = first_batches(pairs, PRESETS[preset], batches)
        n_tokens = sum(int((batch.src != PAD_ID).sum() + (batch.labels != PAD_ID).sum()) for batch in some)
        operations = count_operations(PRESETS[preset], some, sizes)
        ways = ways_of(PRESETS[preset])
        for way in ways:
            way.prepare(sizes)
            way.train(some[: max(1, len(some) // 4)])
        peaks: dict[str, list[float]] = {precision: [] for precision in PRECISIONS}
        for _ in trange(ROUNDS, unit="round", desc=preset, leave=False, disable=None):
            for precision, found in peaks.items():
                found.append(peak(precision))
            for way in ways:
                seconds = way.train(some)
                way.speeds.append(n_tokens / seconds)
                way.steps.append(seconds / len(some))
                way.shares.append(operations / seconds / peaks[way.config.precision][-1])
        show(preset, ways, peaks)
    return 0


def show(preset: str, ways: Sequence[Way], peaks: dict[str, list[float]]) -> None:
    """Prints what was measured."""
    speeds = ", ".join(f"{precision} {median(found) / 1e9:.0f}" for precision, found in peaks.items())
    print(f"\nPreset `{preset}`; peak in GFLOP/s: {speeds}\n")
    rows = []
    for way in ways:
        figures = [f"{median(way.speeds):,.0f}", f"{median(way.steps) * 1e3:.1f}", f"{median(way.shares):.0%}"]
        rows.append([way.name, *figures, *(f"{median_ratio(way.speeds, base.speeds):.2f} x" for base in ways[:2])])
    head = ["way", "tokens/s", "ms a step", "share of peak", "against the first", "against torch.nn.Transformer"]
    print_table(head, rows)
