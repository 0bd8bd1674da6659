"""The reference's model rearranged for decoding, with a key/value cache: each step computes one position.

Projections are joined, and the matrix product is the fastest that PyTorch has. Nothing here is trained and dropout is
left out, so the values are those of the model in eval mode, but for rounding. The keys and values of earlier positions
do not change, so they are computed once and kept, and those of the memory too. All of this relies on how the
reference's layers are written.

Shapes: n sentences · p places of each: one in greedy search, `beam_size` in beam search · r = n p rows ·
t target length so far · s source length · h heads · d = d_model · d_head = d / h.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from .. import package

FEWEST_ROWS = 32  # with fewer, the way into oneDNN takes longer than it saves


def has_onednn() -> bool:
    """Whether PyTorch has its entry to oneDNN for matrix products of ordinary tensors."""
    return platform.machine() in ("x86_64", "AMD64") and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class Affine:
    """y = x W^T + b, also with a ReLU or a residual connection behind it.

    `functional.linear` calls MKL, which uses only half of the vector unit of a processor that is not Intel's: 115
    instead of 260 billion operations a second on the EPYC where this was measured. oneDNN uses all of it. PyTorch has
    it, but under a private name; where that is missing, or rows are few, MKL does the work.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Takes W (outputs, inputs) and b (outputs)."""
        self.weight, self.bias, self.packed = weight.contiguous(), bias, None
        if weight.device.type == "cpu" and weight.dtype == torch.float32 and has_onednn():
            self.packed = torch.ops.mkldnn._reorder_linear_weight(self.weight)

    def __call__(self, x: Tensor, relu: bool = False) -> Tensor:
        """Maps x (r, inputs) to (r, outputs)."""
        if self.packed is not None and len(x) >= FEWEST_ROWS:
            fused = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "relu" if relu else "none", [], "")
            return cast("Tensor", fused)
        y = functional.linear(x, self.weight, self.bias)
        return y.relu_() if relu else y

    def plus(self, x: Tensor, residual: Tensor) -> Tensor:
        """Maps x likewise and adds a residual (r, outputs)."""
        if self.packed is not None and len(x) >= FEWEST_ROWS:
            fused = torch.ops.mkldnn._linear_pointwise.binary(x, residual, self.packed, self.bias, "add")
            return cast("Tensor", fused)
        return functional.linear(x, self.weight, self.bias).add_(residual)


def join_projections(attention: package.attention.MultiHeadedAttention, names: str) -> Affine:
    """Makes one map of the projections that read the same input, such as "query key value".

    Queries are scaled by 1 / sqrt(d_head) there.
    """
    weights, biases = [], []
    for name in names.split():
        projection: nn.Linear = getattr(attention, f"project_{name}")
        scale = (projection.out_features // attention.n_heads) ** -0.5 if name == "query" else 1.0
        weights.append(projection.weight * scale)
        biases.append(projection.bias * scale)
    return Affine(torch.cat(weights), torch.cat(biases))


class Ending:
    """What each sublayer ends with: an affine map, the residual connection, and LayerNorm, which may come first."""

    def __init__(self, last: nn.Linear, norm: package.layers.LayerNorm, norm_first: bool) -> None:
        """Takes the parts of the model's sublayer."""
        self.last, self.norm, self.norm_first = Affine(last.weight, last.bias), norm, norm_first

    def __call__(self, x: Tensor, beginning: Callable[[Tensor], Tensor]) -> Tensor:
        """Applies the whole sublayer to x (r, d)."""
        if self.norm_first:
            return self.last.plus(beginning(normalise(x, self.norm)), x)
        return normalise(self.last.plus(beginning(x), x), self.norm)


class FusedLayer:
    """The parts that encoder and decoder layers have in common."""

    def __init__(
        self,
        layer: package.layers.EncoderLayer | package.layers.DecoderLayer,
        attention: package.attention.MultiHeadedAttention,
        norm: package.layers.LayerNorm,
    ) -> None:
        """Rearranges self-attention and feed-forward."""
        self.n_heads = attention.n_heads
        self.query_key_value = join_projections(attention, "query key value")
        self.self_attention = Ending(attention.project_output, norm, layer.norm_first)
        self._expand = Affine(layer.feed_forward.expand.weight, layer.feed_forward.expand.bias)
        self._feed_forward = Ending(layer.feed_forward.contract, layer.feed_forward_norm, layer.norm_first)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Applies the feed-forward sublayer to x (r, d)."""
        return self._feed_forward(x, lambda x: self._expand(x, relu=True))


class FusedDecoderLayer(FusedLayer):
    """A decoder layer; the projections of cross-attention stay apart, since their inputs do."""

    def __init__(self, layer: package.layers.DecoderLayer) -> None:
        """Rearranges the layer."""
        super().__init__(layer, layer.self_attention, layer.self_attention_norm)
        cross = layer.cross_attention
        self.query, self.key, self.value = (join_projections(cross, name) for name in ("query", "key", "value"))
        self.cross_attention = Ending(cross.project_output, layer.cross_attention_norm, layer.norm_first)


class FusedModel:
    """The weights of a `Transformer`, as they are now, rearranged."""

    @torch.inference_mode()
    def __init__(self, model: package.model.Transformer) -> None:
        """Rearranges the weights; this takes about a millisecond.

        Raises: AttributeError if a layer lacks a part that the reference's has.
        """
        self.model = model
        encoder_layers = cast("list[package.layers.EncoderLayer]", model.encoder.layers)
        self.encoder_layers = [FusedLayer(layer, layer.attention, layer.attention_norm) for layer in encoder_layers]
        self.decoder_layers = [
            FusedDecoderLayer(cast("package.layers.DecoderLayer", layer)) for layer in model.decoder.layers
        ]
        self.output_projection = Affine(model.output_projection.weight, model.output_projection.bias)
        self.targets = model.tgt_embedding.table.weight * math.sqrt(model.tgt_embedding.d_model)
        self.target_positions = model.tgt_positions.code

    def encode(self, src: Tensor, mask: Tensor) -> Tensor:
        """Computes the memory (n, s, d), the first result of `model.encode`, from src (n, s) and its mask."""
        open_mask = None if mask.all() else open_empty_rows(mask)
        x = self.model.src_embedding(src) + self.model.src_positions.code[: src.size(1)]
        n, s, d = x.shape
        x = x.flatten(0, 1)
        for layer in self.encoder_layers:

            def attend(x: Tensor, layer: FusedLayer = layer) -> Tensor:
                parts = layer.query_key_value(x).view(n, s, 3, layer.n_heads, -1)
                query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (n, h, s, d_head)
                context = functional.scaled_dot_product_attention(query, key, value, open_mask, scale=1.0)
                return context.transpose(1, 2).reshape(n * s, d)

            x = layer.feed_forward(layer.self_attention(x, attend))
        if self.model.encoder.norm_first:
            x = normalise(x, self.model.encoder.last_norm)
        return x.view(n, s, d)


def open_empty_rows(mask: Tensor) -> Tensor:
    """Lets queries that may attend to nothing attend to everything; the fused function would return NaN."""
    return mask | ~mask.any(dim=-1, keepdim=True)


def normalise(x: Tensor, norm: package.layers.LayerNorm) -> Tensor:
    """Computes the same as `norm`, with PyTorch's fused function."""
    return functional.layer_norm(x, x.shape[-1:], norm.gamma, norm.beta, norm.epsilon)


ROOM = 8  # positions by which the cache grows


class CachedDecoder:
    """Decodes one position after another; the caller says which rows go on."""

    def __init__(self, model: FusedModel, memory: Tensor, src_mask: Tensor) -> None:
        """Projects the memory (n, s, d), whose mask is (n, 1, 1, s), once."""
        self.model, self.length = model, 0
        n, s, d = memory.shape
        positions = memory.transpose(0, 1).reshape(s * n, d)  # with keys as the first axis, attention is fastest
        self.memory_keys, self.memory_values = [], []  # for each layer (s, n, 1, h, d_head)
        for layer in model.decoder_layers:
            self.memory_keys.append(layer.key(positions).view(s, n, 1, layer.n_heads, -1))
            self.memory_values.append(layer.value(positions).view(s, n, 1, layer.n_heads, -1))
        self.cache = memory.new_empty(ROOM, len(model.decoder_layers), 2, n, d)  # the target's keys and values
        self.spare = self.cache[:0]  # the tensor that was the cache before: new memory costs time
        self.bias: Tensor | None = None  # (s, n, 1, 1, 1): 0 where attention is allowed, else -inf
        if not src_mask.all():
            bias = torch.zeros(src_mask.shape, dtype=memory.dtype, device=memory.device)
            self.bias = bias.masked_fill_(~src_mask, -torch.inf).permute(3, 0, 1, 2).unsqueeze(-1)

    def step(self, tokens: Tensor) -> Tensor:
        """Reads the next token of each place, int64 (n, p); returns scores of the tokens after it, (n, p, vocabulary).

        Their log-softmax are the log-probabilities.
        """
        n, p = tokens.shape
        if self.length == len(self.cache):
            self.cache = torch.cat([self.cache, torch.empty_like(self.cache[:ROOM])])
        x = functional.embedding(tokens.flatten(), self.model.targets) + self.model.target_positions[self.length]
        self.length += 1
        for index, layer in enumerate(self.model.decoder_layers):

            def attend_to_target(x: Tensor, index: int = index, layer: FusedDecoderLayer = layer) -> Tensor:
                keys, values = self.cache[: self.length, index].unbind(1)  # (t, r, d)
                query, keys[-1], values[-1] = layer.query_key_value(x).chunk(3, dim=-1)
                heads = layer.n_heads, -1
                return attend(query.unflatten(-1, heads), keys.unflatten(-1, heads), values.unflatten(-1, heads), None)

            def attend_to_source(x: Tensor, index: int = index, layer: FusedDecoderLayer = layer) -> Tensor:
                query = layer.query(x).view(n, p, layer.n_heads, -1)
                return attend(query, self.memory_keys[index], self.memory_values[index], self.bias)

            x = layer.self_attention(x, attend_to_target)
            x = layer.cross_attention(x, attend_to_source)
            x = layer.feed_forward(x)
        if self.model.model.decoder.norm_first:
            x = normalise(x, self.model.model.decoder.last_norm)
        return self.model.output_projection(x).view(n, p, -1)

    def follow(self, rows: Tensor) -> None:
        """Makes each row (r) of the next step go on from one of the rows so far."""
        so_far = self.cache[: self.length]
        shape = self.length + ROOM, *so_far.shape[1:3], len(rows), so_far.size(-1)
        if self.spare.numel() < math.prod(shape):
            self.spare = self.cache.new_empty(2 * math.prod(shape))
        following = self.spare.flatten()[: math.prod(shape)].view(shape)
        torch.index_select(so_far, 3, rows, out=following[: self.length])
        self.cache, self.spare = following, self.cache

    def keep(self, sentences: Tensor) -> None:
        """Drops the memory of all sentences except these; `follow` does so with the rows."""
        if self.bias is not None:
            self.bias = self.bias.index_select(1, sentences)
        self.memory_keys = [keys.index_select(1, sentences) for keys in self.memory_keys]
        self.memory_values = [values.index_select(1, sentences) for values in self.memory_values]


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Attention of one query a row, (…, h, d_head), to keys and values (k, …, h, d_head); returns (r, d).

    With one query and few keys, products and sums are faster than matrix multiplication.
    """
    scores = (query * key).sum(-1, keepdim=True)  # (k, …, h, 1)
    if bias is not None:
        scores += bias
    return (torch.softmax(scores, dim=0) * value).sum(0).flatten(-2).flatten(0, -2)


TOLERANCE = 1e-4  # of log-probabilities, in proportion to the largest


@torch.inference_mode()
def find_fused(model: package.model.Transformer) -> FusedModel | None:
    """Rearranges a model; None if its layers are not written as the reference's are.

    Names alone could deceive, so both read two short sentences, one with padding, and must agree.
    """
    was_training = model.training
    model.eval()
    try:
        fused = FusedModel(model)
        sizes = model.src_embedding.table.num_embeddings, model.tgt_embedding.table.num_embeddings
        device = model.output_projection.weight.device
        src, tgt = ((torch.arange(2 * 6, device=device) % size).view(2, 6) for size in sizes)
        src_mask = torch.ones(2, 1, 1, 6, dtype=torch.bool, device=device)
        src_mask[1, ..., 4:] = False
        memory, _ = model.encode(src, src_mask)
        output, _, _ = model.decode(tgt, memory, src_mask, package.masks.causal_mask(6, device))
        expected = model.get_predictions(output)
        decoder = CachedDecoder(fused, fused.encode(src, src_mask), src_mask)
        found = torch.cat([decoder.step(tgt[:, [position]]) for position in range(6)], dim=1).log_softmax(dim=-1)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):  # other names, other shapes
        return None
    finally:
        model.train(was_training)
    agrees = found.shape == expected.shape and (found - expected).abs().max() <= TOLERANCE * expected.abs().max()
    return fused if agrees else None
