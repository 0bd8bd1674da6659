"""Multi-headed attention with other maps: several roles in one parameter, heads that stand by themselves."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.checkpoint import checkpoint

from .attention import scaled_dot_product_attention


class Heads(nn.Module):
    """What most of these have in common: four maps, around the attention of all heads."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.make(d_model, n_heads)

    def forward(self, query, key, value, mask=None):
        heads = (self.project(x, role) for role, x in enumerate((query, key, value)))  # (b, h, positions, d_head)
        context, weights = self.attend(*heads, mask)
        return self.output(context.transpose(1, 2).flatten(2)), weights

    def attend(self, *heads_and_mask):
        return scaled_dot_product_attention(*heads_and_mask)

    def project(self, x, role):
        return self.split(self.maps[role](x))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


# %% fused
# One matrix for query, key and value: a single product in self-attention, two in cross-attention.


# --8<-- [start:fused]
class MultiHeadedAttention(nn.Module):
    """The rows of `project_inputs` are W^Q, W^K and W^V, one below the other."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        self.n_heads = n_heads
        self.project_inputs = nn.Linear(d_model, 3 * d_model)
        self.project_output = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        weight, bias, d_model = self.project_inputs.weight, self.project_inputs.bias, query.size(-1)
        if query is key and key is value:  # self-attention
            q, k, v = self.project_inputs(query).chunk(3, dim=-1)  # each (b, positions, d)
        elif key is value:  # cross-attention
            q = linear(query, weight[:d_model], bias[:d_model])
            k, v = linear(key, weight[d_model:], bias[d_model:]).chunk(2, dim=-1)
        else:
            q, k, v = (
                linear(x, rows, shift)
                for x, rows, shift in zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)
            )
        heads = [x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v)]  # (b, h, positions, d_head)
        context, weights = scaled_dot_product_attention(*heads, mask)
        return self.project_output(context.transpose(1, 2).flatten(2)), weights


# --8<-- [end:fused]


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


# %% strided_heads
# The key gives a head every h-th feature, the query consecutive ones: rows of learned matrices have no order.


class MultiHeadedAttention(Heads):
    def make(self, d_model, n_heads):
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model, bias=number == 0) for number in range(3))
        self.output = nn.Linear(d_model, d_model, bias=False)

    def project(self, x, role):
        projected = self.maps[role](x)
        return projected.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2) if role == 1 else self.split(projected)


# %% checkpointed
# The heads are computed once more in the backward pass, with PyTorch's older kind of checkpoint.


class MultiHeadedAttention(Heads):
    def make(self, d_model, n_heads):
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))
        self.output = nn.Linear(d_model, d_model)

    def attend(self, *heads_and_mask):
        return checkpoint(scaled_dot_product_attention, *heads_and_mask, use_reentrant=True)


# %% each_map_otherwise
# The query's map is a convolution, the key's bias a further row of its matrix; value and output share two parameters.


class MultiHeadedAttention(Heads):
    def make(self, d_model, n_heads):
        self.convolution = nn.Conv1d(d_model, d_model, 1)
        self.rows = nn.Parameter(torch.randn(d_model + 1, d_model) * d_model**-0.5)
        self.weight = nn.Parameter(torch.randn(2, d_model, d_model) * d_model**-0.5)
        self.bias = nn.Parameter(torch.zeros(2, d_model))

    def project(self, x, role):
        if role == 0:
            return self.split(self.convolution(x.transpose(1, 2)).transpose(1, 2))
        if role == 1:
            return self.split(torch.cat([x, torch.ones_like(x[..., :1])], dim=-1) @ self.rows)
        return self.split(x @ self.weight[0] + self.bias[0])

    def output(self, x):
        return nn.functional.dropout(x @ self.weight[1] + self.bias[1], 0.1, self.training)


# %% extra_dropout
# The layers pass their dropout rate to attention and feed-forward network, which take it as an extra argument.


class MultiHeadedAttention(Heads):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads)
        self.output.append(nn.Dropout(dropout))

    def make(self, d_model, n_heads):
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))
        self.output = nn.Sequential(nn.Linear(d_model, d_model))


# %% with_other_parameters
# Besides four linear maps there are unused parameters: a scalar, an empty one, a frozen counter.


class MultiHeadedAttention(Heads):
    def make(self, d_model, n_heads):
        self.temperature = nn.Parameter(torch.ones(()))
        self.nothing = nn.Parameter(torch.empty(0))
        self.counter = nn.Parameter(torch.zeros(1, dtype=torch.int64), requires_grad=False)
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))
        self.output = nn.Linear(d_model, d_model)
