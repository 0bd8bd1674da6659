"""The reference's layers, used otherwise: decoding with a key/value cache, and dropout in two more places.

The keys and values of earlier positions do not change, so decoding computes them once and keeps them, and those of the
memory too. All of this relies on how the reference's layers are written.

Shapes: r rows, one for each beginning of a sentence · t target length so far · d = d_model.
"""

from copy import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..package import Package, Transformer


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Turns (r, t, d) into (r, h, t, d_head)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


class CachedAttention(nn.Module):
    """`MultiHeadedAttention` that keeps the keys and values of what it has read."""

    def __init__(self, package: Package, attention: Any, grows: bool) -> None:
        """Takes the parts of `attention`; with `grows`, each call adds positions to those that are kept."""
        super().__init__()
        self.attend = package.attention.scaled_dot_product_attention
        self.attention, self.grows = attention, grows
        self.kept: tuple[Tensor, Tensor] | None = None  # keys and values, each (r, h, positions, d_head)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Lets `query` attend to all positions that were ever given."""
        inner = self.attention
        if self.kept is None or self.grows:
            projected = inner.project_key(key), inner.project_value(value)
            new = split_heads(projected[0], inner.n_heads), split_heads(projected[1], inner.n_heads)
            if self.kept is not None:
                new = torch.cat([self.kept[0], new[0]], dim=2), torch.cat([self.kept[1], new[1]], dim=2)
            self.kept = new
        query = split_heads(inner.project_query(query), inner.n_heads)
        context, weights = self.attend(query, *self.kept, mask)
        return inner.project_output(context.transpose(1, 2).flatten(2)), weights


class CachedModel(nn.Module):
    """Offers `encode`, `decode` and `get_predictions` to one search, which decodes one more position at each step."""

    def __init__(self, package: Package, model: Transformer) -> None:
        """Takes the parts of `model`."""
        super().__init__()
        self.model, self.get_predictions = model, model.get_predictions
        self.training = model.training  # to which a search returns at its end
        self.layers: list[Any] = []
        original: Any
        for original in model.decoder.layers:
            layer: Any = copy(original)  # the same parts, but for the attentions
            layer._modules = {
                **original._modules,
                "self_attention": CachedAttention(package, original.self_attention, grows=True),
                "cross_attention": CachedAttention(package, original.cross_attention, grows=False),
            }
            self.layers.append(layer)

    def encode(self, src: Tensor, mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """Returns, in place of the memory, the number of each sentence, (b, 1), by which `decode` knows it again."""
        self.memory, weights = self.model.encode(src, mask)
        self.rows = {(sentence,): sentence for sentence in range(len(src))}  # of a sentence and a beginning of it
        return torch.arange(len(src), device=src.device).unsqueeze(1), weights

    def decode(
        self, tgt: Tensor, sentences: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Reads the last tokens of tgt (r, t), whose beginnings were read in the step before; returns (r, 1, d)."""
        beginnings = [(*sentence, *ids) for sentence, ids in zip(sentences.tolist(), tgt.tolist(), strict=True)]
        rows = torch.tensor([self.rows[beginning[:-1]] for beginning in beginnings], device=tgt.device)
        self.rows = {beginning: row for row, beginning in enumerate(beginnings)}
        self.memory = self.memory[rows]
        x = self.model.tgt_embedding(tgt[:, -1:]) + self.model.tgt_positions.code[tgt.size(1) - 1]
        for layer in self.layers:
            for attention in (layer.self_attention, layer.cross_attention):
                if attention.kept is not None:
                    attention.kept = attention.kept[0][rows], attention.kept[1][rows]
            x, _, _ = layer(x, self.memory, src_mask, None)
        if self.model.decoder.norm_first:
            x = self.model.decoder.last_norm(x)
        return x, [], []


class DroppingAttention(nn.Module):
    """`MultiHeadedAttention` that drops weights, after the softmax; the parameters and their names stay."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Does what `MultiHeadedAttention` does; the weights that it returns are complete."""
        parts: Any = self
        projections = (parts.project_query, query), (parts.project_key, key), (parts.project_value, value)
        q, k, v = (split_heads(project(x), parts.n_heads) for project, x in projections)
        context, weights = parts.attend(q, k, v, mask)
        if self.training:
            context = functional.dropout(weights, parts.share) @ v
        return parts.project_output(context.transpose(1, 2).flatten(2)), weights


def add_inner_dropout(model: nn.Module, package: Package, share: float) -> None:
    """Adds dropout, of this share, to the attention weights and inside the feed-forward networks of a model.

    Vaswani et al. 2017, section 5.4, apply dropout only to the output of each sublayer and to the embeddings; some
    implementations have these two places, too. In eval mode nothing changes.
    """
    for module in model.modules():
        part: Any = module
        if isinstance(module, package.attention.MultiHeadedAttention):
            part.__class__, part.share = DroppingAttention, share
            part.attend = package.attention.scaled_dot_product_attention
        elif isinstance(module, package.layers.FeedForward):  # before the nonlinearity, which is the same as after it
            part.expand.register_forward_hook(lambda linear, _, x: functional.dropout(x, share, linear.training))
