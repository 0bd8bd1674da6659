"""Greedy decoding with a key/value cache, for the reference alone.

`decode.greedy_decode` runs the whole target so far through the decoder at every step. Keys and values of
earlier positions do not change, though, so this decoder computes them once and keeps them: a step costs one
position. It reaches into the reference's layers, which is why it is a module of its own and why students,
whose layers may look otherwise, do not get it. A test holds its output against `greedy_decode`.

Shapes: n live rows · h heads · s source length · d_head = d / h.
"""

import math

import torch
from torch import Tensor

from .attention import MultiHeadedAttention
from .decode import cut_sentence
from .layers import DecoderLayer
from .model import Transformer


def _heads(x: Tensor, attention: MultiHeadedAttention) -> Tensor:
    """(n, positions, d) -> (n, h, positions, d_head)."""
    return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)


class LayerCache:
    """Keys and values of one decoder layer: those of the memory, and those of the target so far."""

    def __init__(self, layer: DecoderLayer, memory: Tensor, max_length: int) -> None:
        """Projects the memory (n, s, d) once, and makes room for `max_length` target positions."""
        cross, rows = layer.cross_attention, memory.size(0)
        self.memory_key = _heads(cross.project_key(memory), cross)
        self.memory_value = _heads(cross.project_value(memory), cross)
        room = (rows, cross.n_heads, max_length, self.memory_key.size(-1))
        self.key, self.value = memory.new_empty(room), memory.new_empty(room)

    def keep(self, rows: Tensor) -> None:
        """Drops the rows that are not named."""
        for name, tensor in vars(self).items():
            setattr(self, name, tensor[rows])


def _attend(attention: MultiHeadedAttention, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention of one query position (n, 1, d) to projected keys and values (n, h, k, d_head)."""
    projected = _heads(attention.project_query(query), attention)
    scores = projected @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    context = torch.softmax(scores, dim=-1) @ value
    return attention.project_output(context.transpose(1, 2).flatten(2))


def _step(layer: DecoderLayer, cache: LayerCache, x: Tensor, position: int, src_mask: Tensor) -> Tensor:
    """Applies a decoder layer in eval mode to one new position, x (n, 1, d)."""

    def attend_to_target(query: Tensor) -> Tensor:
        attention = layer.self_attention
        cache.key[:, :, position] = _heads(attention.project_key(query), attention)[:, :, 0]
        cache.value[:, :, position] = _heads(attention.project_value(query), attention)[:, :, 0]
        known = slice(position + 1)
        return _attend(attention, query, cache.key[:, :, known], cache.value[:, :, known], None)

    def attend_to_source(query: Tensor) -> Tensor:
        return _attend(layer.cross_attention, query, cache.memory_key, cache.memory_value, src_mask)

    for sublayer, norm in (
        (attend_to_target, layer.self_attention_norm),
        (attend_to_source, layer.cross_attention_norm),
        (layer.feed_forward, layer.feed_forward_norm),
    ):
        x = x + sublayer(norm(x)) if layer.norm_first else norm(x + sublayer(x))
    return x


@torch.no_grad()
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
    """Arguments, result and output of `decode.greedy_decode`, for the reference's `Transformer` only."""
    was_training = model.training
    model.eval()
    memory, _ = model.encode(src, src_mask if encoder_mask is None else encoder_mask)
    caches = [LayerCache(layer, memory, max_length) for layer in model.decoder.layers]
    tokens = torch.full((src.size(0), max_length + 1), pad_id, dtype=torch.int64, device=src.device)
    tokens[:, 0] = bos_id
    active = torch.arange(src.size(0), device=src.device)
    code = model.tgt_positions.code
    for position in range(max_length):
        x = model.tgt_embedding(tokens[active, position : position + 1]) + code[position]
        for layer, cache in zip(model.decoder.layers, caches, strict=True):
            x = _step(layer, cache, x, position, src_mask)
        if model.decoder.norm_first:
            x = model.decoder.last_norm(x)
        chosen = model.output_projection(x)[:, 0].argmax(dim=-1)
        tokens[active, position + 1] = chosen
        goes_on = chosen != eos_id
        if not goes_on.any():
            break
        if not goes_on.all():
            active, src_mask = active[goes_on], src_mask[goes_on]
            for cache in caches:
                cache.keep(goes_on)
    model.train(was_training)
    return [cut_sentence(row, eos_id, pad_id) for row in tokens[:, 1:].tolist()]
