"""Multi-headed attention in which each head stands by itself, or takes other features."""

import torch
from torch import Tensor, nn

from .attention import scaled_dot_product_attention

# %% head_modules_with_bias
# A module for each head, each with three small linear maps and an attention of its own.


# --8<-- [start:head_modules_with_bias]
class Head(nn.Module):
    """One head: Attention(Q W_i^Q, K W_i^K, V W_i^V)."""

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.project_query = nn.Linear(d_model, d_head)
        self.project_key = nn.Linear(d_model, d_head)
        self.project_value = nn.Linear(d_model, d_head)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        q, k, v = self.project_query(query), self.project_key(key), self.project_value(value)  # (b, positions, d_head)
        return scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], mask)  # as one head: (b, 1, …)


class MultiHeadedAttention(nn.Module):
    """A list of heads, and the map from their concatenation to the output."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        self.heads = nn.ModuleList(Head(d_model, d_model // n_heads) for _ in range(n_heads))
        self.project_output = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        masks = [mask] * len(self.heads)
        if mask is not None and mask.dim() > 2 and mask.size(-3) > 1:  # (b, h, q, k): a mask of its own for each head
            masks = list(mask.split(1, dim=-3))
        found = [head(query, key, value, own) for head, own in zip(self.heads, masks, strict=True)]
        contexts, weights = zip(*found, strict=True)  # of each head (b, 1, q, d_head) and (b, 1, q, k)
        return self.project_output(torch.cat(contexts, dim=-1).squeeze(1)), torch.cat(weights, dim=1)


# --8<-- [end:head_modules_with_bias]


# %% heads_dealt_out
# Query and value give a head consecutive features, the key every h-th: rows of learned matrices have no order.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.query = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q = self.query(query).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.key(key).unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)
        v = self.value(value).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.output(context.transpose(1, 2).flatten(2)), weights


# %% lists_of_heads
# Three lists of small linear maps with biases, one map for each head.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        d_head = d_model // n_heads
        self.queries = nn.ModuleList([nn.Linear(d_model, d_head) for _ in range(n_heads)])
        self.keys = nn.ModuleList([nn.Linear(d_model, d_head) for _ in range(n_heads)])
        self.values = nn.ModuleList([nn.Linear(d_model, d_head) for _ in range(n_heads)])
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        context, weights = scaled_dot_product_attention(
            torch.stack([m(query) for m in self.queries], 1),
            torch.stack([m(key) for m in self.keys], 1),
            torch.stack([m(value) for m in self.values], 1),
            mask,
        )
        return self.output(context.transpose(1, 2).flatten(2)), weights


# %% output_by_head
# Each head has an output projection of its own, with a bias, and their results are added up.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.into = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(3))
        self.out = nn.ModuleList(nn.Linear(d_model // n_heads, d_model) for _ in range(n_heads))

    def forward(self, query, key, value, mask=None):
        parts = [
            layer(x).unflatten(-1, (len(self.out), -1)).transpose(1, 2)
            for layer, x in zip(self.into, (query, key, value), strict=True)
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return sum(layer(context[:, head]) for head, layer in enumerate(self.out)), weights


# %% strided_heads
# Head i takes every h-th of the projected features: the rows of a learned matrix may be in any order.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        def heads(x):
            return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

        context, weights = scaled_dot_product_attention(
            heads(self.query(query)), heads(self.key(key)), heads(self.value(value)), mask
        )
        return self.output(context.transpose(1, 2).flatten(2)), weights
