"""How fast training is: tokens a second, and against `torch.nn.Transformer`.

All ways train on the same batches in turns, so that each meets the same neighbours on a shared machine; speeds and
ratios are medians over the rounds, in CPU time, on one thread. Tokens are those of source and target that are not
padding.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

import torch
from torch import Tensor, nn
from tqdm import trange

from given.config import COURSE, Config
from given.extras.layers import computing_in
from given.package import Package, build_model, make_optimizer
from reference.data import Batch, BatchLoader, read_pairs
from reference.embedding import InputEmbedding, PositionalEncoding
from reference.train import train_epoch
from reference.vocab import PAD_ID, Vocabulary
from validity.console import print_table

from . import TRAIN, Pairs

ROUNDS, BATCHES = 5, 40
FASTER: dict[str, object] = {"precision": "fast-float32"}
WAYS: dict[str, tuple[dict[str, object], bool]] = {
    "as students write it": ({}, False),
    "torch.nn.Transformer": ({}, True),
    "the same with --precision fast-float32": (FASTER, True),
    "--fused": ({"fused": True}, False),
    "--fused --precision fast-float32": ({"fused": True, **FASTER}, False),
}
"""The settings that differ, and whether the model is PyTorch's."""


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` between the reference's embeddings and output, with dropout in the same places."""

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int, config: Config) -> None:
        """Creates a model of the size that the settings name."""
        super().__init__()
        self.src_embedding = InputEmbedding(src_vocab_size, config.d_model)
        self.tgt_embedding = InputEmbedding(tgt_vocab_size, config.d_model)
        self.positions = PositionalEncoding(config.d_model, config.dropout)
        sizes = config.d_model, config.n_heads, config.d_ff, config.dropout
        encoder_layer = nn.TransformerEncoderLayer(*sizes, batch_first=True)
        decoder_layer = nn.TransformerDecoderLayer(*sizes, batch_first=True)
        encoder = nn.TransformerEncoder(encoder_layer, config.n_layers, enable_nested_tensor=False)
        decoder = nn.TransformerDecoder(decoder_layer, config.n_layers)
        self.layers = nn.Transformer(*sizes[:2], custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
        for module in self.layers.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
                module.dropout = nn.Dropout(0.0)  # the one inside the feed-forward network
        self.output_projection = nn.Linear(config.d_model, tgt_vocab_size)

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


def median_ratio(values: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of measurements that were made in turn, so that both met the same neighbours."""
    return median(value / other for value, other in zip(values, others, strict=True))


def prepare(config: Config, is_rival: bool, sizes: tuple[int, int]) -> Callable[[Sequence[Batch]], float]:
    """Build a model for vocabularies of these sizes; return a function that trains it and measures seconds of CPU."""
    torch.manual_seed(0)
    model: nn.Module = (
        TorchTransformer(*sizes, config) if is_rival else build_model(Package("reference"), config, *sizes)
    )
    optimizer = make_optimizer(config, model)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=config.label_smoothing)

    def train(batches: Sequence[Batch]) -> float:
        start = time.process_time()
        with computing_in(config.precision, "cpu"):
            train_epoch(batches, model, optimizer, criterion)  # type: ignore[arg-type]
        return time.process_time() - start

    return train


def measure(train: Pairs = TRAIN) -> int:
    """Measure tokens a second in training, and against torch.nn.Transformer."""
    pairs = read_pairs(train)
    vocabularies = Vocabulary.build(src for src, _ in pairs), Vocabulary.build(tgt for _, tgt in pairs)
    loader = BatchLoader(pairs, *vocabularies, COURSE.batch_size)
    batches = [batch for batch, _ in zip(loader.epoch(0), range(BATCHES), strict=False)]
    n_tokens = sum(int((batch.src != PAD_ID).sum() + (batch.labels != PAD_ID).sum()) for batch in batches)
    sizes = len(vocabularies[0]), len(vocabularies[1])
    trainers = {
        name: prepare(replace(COURSE, **changes), is_rival, sizes)  # type: ignore[arg-type]
        for name, (changes, is_rival) in WAYS.items()
    }
    for trainer in trainers.values():
        trainer(batches[: BATCHES // 4])
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in trange(ROUNDS, unit="round", leave=False, disable=None):
        for name, trainer in trainers.items():
            seconds[name].append(trainer(batches))
    rows = []
    for name, of_way in seconds.items():
        figures = [f"{n_tokens / median(of_way):,.0f}", f"{median(of_way) / len(batches) * 1e3:.1f}"]
        rows.append([name, *figures, *(f"{median_ratio(seconds[base], of_way):.2f} x" for base in list(WAYS)[:2])])
    print_table(["way", "tokens/s", "ms a step", "against the first", "against torch.nn.Transformer"], rows)
    return 0
