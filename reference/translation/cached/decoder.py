"""The decoder with a key/value cache: each step computes one position.

The keys and values of earlier positions do not change, so they are computed once and kept, and those of the memory too.
A sentence has `p` places: one in greedy search, `beam_size` in beam search.

Shapes: n live sentences · p places of each · r = n p rows · t target length so far · s source length · h heads ·
d = d_model · d_head = d / h.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from .fused_model import FusedDecoderLayer, FusedModel, normalise

ROOM = 8  # positions by which the cache grows


class CachedDecoder:
    """Decodes one position after another; the caller says which rows go on."""

    def __init__(self, model: FusedModel, memory: Tensor, src_mask: Tensor) -> None:
        """Projects the memory once.

        Args:
            model: the rearranged weights.
            memory: (n, s, d).
            src_mask: (n, 1, 1, s).
        """
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
        """Reads the next token of each place, int64 (n, p).

        Returns:
            Scores of the tokens after it (n, p, vocabulary); their log-softmax are the log-probabilities.
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
