"""Greedy decoding with a key/value cache, for the reference only.

`decode.greedy_decode` runs the whole target so far through the decoder at each step. But the keys and values of
earlier positions do not change, so this decoder computes them once and keeps them: a step costs one position.
Speed is the point here, so PyTorch's own fused functions do the work. The module reaches into the reference's
layers; students do not get it, because their layers may look different. A test compares its output with that of
`greedy_decode`.

Shapes: n live rows · h heads · s source length · d = d_model · d_head = d / h.
"""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from ..attention import MultiHeadedAttention
from ..decode import cut_sentence
from ..layers import DecoderLayer, EncoderLayer, LayerNorm
from ..model import Transformer

Sublayer = tuple[Callable[[Tensor], Tensor], LayerNorm]


def join_projections(attention: MultiHeadedAttention) -> tuple[Tensor, Tensor]:
    """Joins query, key and value projections into one linear map: weights (3d, d) and biases (3d,)."""
    parts = (attention.project_query, attention.project_key, attention.project_value)
    return torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])


def apply_sublayers(layer: EncoderLayer | DecoderLayer, x: Tensor, sublayers: Sequence[Sublayer]) -> Tensor:
    """Applies the layer in eval mode: each sublayer with its LayerNorm and the residual connection."""
    for sublayer, norm in sublayers:
        x = x + sublayer(normalise(x, norm)) if layer.norm_first else normalise(x + sublayer(x), norm)
    return x


def open_empty_rows(mask: Tensor) -> Tensor:
    """Lets queries that may attend to nothing attend to everything; the fused function would return NaN."""
    return mask | ~mask.any(dim=-1, keepdim=True)


def encode(model: Transformer, src: Tensor, mask: Tensor) -> Tensor:
    """Computes the memory (n, s, d), the first result of `model.encode`."""
    x = model.src_embedding(src) + model.src_positions.code[: src.size(1)]
    for layer in cast("Sequence[EncoderLayer]", model.encoder.layers):
        attention = layer.attention
        weight, bias = join_projections(attention)

        def attend_to_all(
            x: Tensor, weight: Tensor = weight, bias: Tensor = bias, attention: MultiHeadedAttention = attention
        ) -> Tensor:
            parts = functional.linear(x, weight, bias).unflatten(-1, (3, attention.n_heads, -1))
            query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (n, h, s, d_head)
            context = functional.scaled_dot_product_attention(query, key, value, mask)
            return attention.project_output(context.transpose(1, 2).flatten(2))

        sublayers = (attend_to_all, layer.attention_norm), (layer.feed_forward, layer.feed_forward_norm)
        x = apply_sublayers(layer, x, sublayers)
    return normalise(x, model.encoder.last_norm) if model.encoder.norm_first else x


class CachedLayer:
    """One decoder layer with the keys and values of all positions so far."""

    def __init__(self, layer: DecoderLayer, memory: Tensor) -> None:
        """Projects the memory (n, s, d) once."""
        self.layer, self.n_heads = layer, layer.self_attention.n_heads
        self.weight, self.bias = join_projections(layer.self_attention)
        cross = layer.cross_attention
        self.memory_key, self.memory_value = (
            project(memory.transpose(0, 1)).unflatten(-1, (self.n_heads, -1))
            for project in (cross.project_key, cross.project_value)
        )
        self.key, self.value = self.memory_key[:0], self.memory_value[:0]

    def keep(self, rows: Tensor) -> None:
        """Drops all rows except these."""
        for name in ("memory_key", "memory_value", "key", "value"):
            setattr(self, name, getattr(self, name).index_select(1, rows))

    def step(self, x: Tensor, key_bias: Tensor | None) -> Tensor:
        """Applies the layer to one new position: x (n, d), key_bias (s, n, 1, 1) or None."""

        def attend_to_target(x: Tensor) -> Tensor:
            query, key, value = (
                functional.linear(x, self.weight, self.bias).view(1, len(x), 3, self.n_heads, -1).unbind(2)
            )
            # Sentences are short: copying costs less than reserving room for the longest.
            self.key, self.value = torch.cat([self.key, key]), torch.cat([self.value, value])
            context = attend(query, self.key, self.value, None)
            return self.layer.self_attention.project_output(context.view(x.shape))

        def attend_to_source(x: Tensor) -> Tensor:
            cross = self.layer.cross_attention
            query = cross.project_query(x).view(1, len(x), self.n_heads, -1)
            return cross.project_output(attend(query, self.memory_key, self.memory_value, key_bias).view(x.shape))

        layer = self.layer
        sublayers = (
            (attend_to_target, layer.self_attention_norm),
            (attend_to_source, layer.cross_attention_norm),
            (layer.feed_forward, layer.feed_forward_norm),
        )
        return apply_sublayers(layer, x, sublayers)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Attention of a single query, (1, n, h, d_head), to keys and values (k, n, h, d_head), bias (k, n, 1, 1).

    With one query and few keys, products and sums are faster than matrix multiplication, and fastest if the
    keys are the first axis.
    """
    scores = (query * key).sum(-1, keepdim=True) * query.size(-1) ** -0.5  # (k, n, h, 1)
    if bias is not None:
        scores += bias
    return (torch.softmax(scores, dim=0) * value).sum(0)


def normalise(x: Tensor, norm: LayerNorm) -> Tensor:
    """Computes the same as `norm`, with PyTorch's fused function."""
    return functional.layer_norm(x, x.shape[-1:], norm.gamma, norm.beta, norm.epsilon)


@torch.inference_mode()
def cached_greedy_decode(
    model: Transformer,
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor | None = None,
    *,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_length: int,
) -> list[list[int]]:
    """Does what `decode.greedy_decode` does, faster, for the reference's `Transformer` only."""
    was_training = model.training
    model.eval()
    memory = encode(model, src, open_empty_rows(src_mask if encoder_mask is None else encoder_mask))
    layers = [CachedLayer(layer, memory) for layer in cast("Sequence[DecoderLayer]", model.decoder.layers)]
    tokens = torch.full((src.size(0), max_length + 1), pad_id, dtype=torch.int64, device=src.device)
    tokens[:, 0] = bos_id
    active = torch.arange(src.size(0), device=src.device)
    key_bias = None  # (s, n, 1, 1): 0 where attention is allowed, else -inf
    if not src_mask.all():
        key_bias = torch.zeros(src_mask.shape, device=src.device).masked_fill(~src_mask, -torch.inf).permute(3, 0, 1, 2)
    for position in range(max_length):
        x = model.tgt_embedding(tokens[active, position]) + model.tgt_positions.code[position]
        for layer in layers:
            x = layer.step(x, key_bias)
        if model.decoder.norm_first:
            x = normalise(x, model.decoder.last_norm)
        chosen = model.output_projection(x).max(dim=-1).indices  # three times as fast as argmax
        tokens[active, position + 1] = chosen
        goes_on = (chosen != eos_id).nonzero().squeeze(1)
        if len(goes_on) == 0:
            break
        if len(goes_on) < len(active):
            active = active[goes_on]
            key_bias = None if key_bias is None else key_bias.index_select(1, goes_on)
            for layer in layers:
                layer.keep(goes_on)
    model.train(was_training)
    return [cut_sentence(row, eos_id, pad_id) for row in tokens[:, 1:].tolist()]
