"""Multi-headed attention with several roles in one parameter."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from .attention import scaled_dot_product_attention

# %% features_outermost
# One linear map whose output is split by feature first, then by role and head; the heads are joined likewise.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [
            self.qkv(x).unflatten(-1, (-1, 3, self.n_heads)).select(-2, role).movedim(-1, 1)
            for role, x in enumerate((query, key, value))
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.proj(context.movedim(1, -1).flatten(2)), weights


# %% flat
# All projections and their biases are views of one flat parameter.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.d_model, self.n_heads = d_model, n_heads
        self.theta = nn.Parameter(torch.randn(4 * (d_model * d_model + d_model)) * d_model**-0.5)

    def project(self, x, number):
        d = self.d_model
        part = self.theta.view(4, d * d + d)[number]
        return x @ part[: d * d].view(d, d) + part[d * d :]

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = (self.heads(self.project(x, number)) for number, x in enumerate((query, key, value)))
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.project(context.transpose(1, 2).flatten(2), 3), weights


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


# %% fused_heads
# A linear map for each head makes its query, key and value.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.heads = nn.ModuleList(nn.Linear(d_model, 3 * d_model // n_heads) for _ in range(n_heads))
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [
            torch.stack([head(x).chunk(3, dim=-1)[role] for head in self.heads], dim=1)
            for role, x in enumerate((query, key, value))
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.proj(context.transpose(1, 2).flatten(2)), weights


# %% fused_key_value
# The query has a linear map of its own; key and value share one of twice the width.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_kv = nn.Linear(d_model, d_model * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(d_model, d_model), nn.Dropout(0.1))

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        k, _ = self.to_kv(key).chunk(2, dim=-1)
        _, v = self.to_kv(value).chunk(2, dim=-1)
        context, weights = scaled_dot_product_attention(
            self.heads(self.to_q(query)), self.heads(k), self.heads(v), mask
        )
        return self.to_out(context.transpose(1, 2).flatten(2)), weights


# %% fused_without_bias
# One linear map without bias, applied whole to each of the three arguments; the output map is made first.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads, self.d_model = n_heads, d_model
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        d = self.d_model
        q = self.qkv(query)[..., :d]
        k = self.qkv(key)[..., d : 2 * d]
        v = self.qkv(value)[..., 2 * d :]
        split = [x.reshape(*x.shape[:2], self.n_heads, -1).permute(0, 2, 1, 3) for x in (q, k, v)]
        context, weights = scaled_dot_product_attention(*split, mask=mask)
        return self.out(context.permute(0, 2, 1, 3).reshape(query.shape)), weights


# %% innermost
# One linear map in which query, key and value of a feature lie side by side.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [
            self.qkv(x).unflatten(-1, (self.n_heads, -1, 3)).select(-1, role).transpose(1, 2)
            for role, x in enumerate((query, key, value))
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.proj(context.transpose(1, 2).flatten(2)), weights


# %% interleaved
# One linear map whose output holds, head by head, query, key and value.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def cut(self, x):
        b, s, d = x.shape
        return self.qkv(x).view(b, s, self.n_heads, 3 * (d // self.n_heads)).transpose(1, 2).chunk(3, dim=-1)

    def forward(self, query, key, value, mask=None):
        context, weights = scaled_dot_product_attention(self.cut(query)[0], self.cut(key)[1], self.cut(value)[2], mask)
        return self.proj(context.transpose(1, 2).flatten(2)), weights


# %% one_parameter_by_head
# One parameter (h, 4, d_head, d): the three projections of each head, and its part of the output's.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be a multiple of n_heads")
        self.heads = nn.Parameter(torch.randn(n_heads, 4, d_model // n_heads, d_model) * d_model**-0.5)

    def forward(self, query, key, value, mask=None):
        *into, back = self.heads.unbind(1)
        parts = [torch.einsum("bnd,hed->bhne", x, one) for x, one in zip((query, key, value), into, strict=True)]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return torch.einsum("bhqe,hed->bqd", context, back), weights


# %% raw_by_head_and_role
# One parameter (heads, roles, d_model, d_head) for the three projections.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.into = nn.Parameter(torch.randn(n_heads, 3, d_model, d_model // n_heads) / d_model**0.5)
        self.shift = nn.Parameter(torch.zeros(n_heads, 3, 1, d_model // n_heads))
        self.out = nn.Parameter(torch.randn(n_heads, d_model // n_heads, d_model) / d_model**0.5)

    def forward(self, query, key, value, mask=None):
        inputs = enumerate((query, key, value))
        parts = [x.unsqueeze(1) @ self.into[:, role] + self.shift[:, role] for role, x in inputs]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return (context @ self.out).sum(dim=1), weights


# %% raw_fused_heads
# One parameter (heads, d_model, 3 d_head), split along its last axis.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.into = nn.Parameter(torch.randn(n_heads, d_model, 3 * d_model // n_heads) / d_model**0.5)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [(x.unsqueeze(1) @ self.into).chunk(3, dim=-1)[role] for role, x in enumerate((query, key, value))]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.out(context.transpose(1, 2).flatten(2)), weights


# %% raw_mixed
# The input projections are bare matrices on the right of x; the output projection is an nn.Linear.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.q, self.k, self.v = (nn.Parameter(torch.randn(d_model, d_model)) for _ in range(3))
        self.o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = []
        for x, w in ((query, self.q), (key, self.k), (value, self.v)):
            parts.append(torch.matmul(x, w).unflatten(-1, (self.n_heads, -1)).transpose(1, 2))
        context, weights = scaled_dot_product_attention(parts[0], parts[1], parts[2], mask)
        return self.o(context.transpose(1, 2).flatten(2)), weights


# %% stacked
# All four matrices are one parameter (4, d, d), all biases another.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.h = n_heads
        self.weight = nn.Parameter(torch.randn(4, d_model, d_model) * d_model**-0.5)
        self.bias = nn.Parameter(torch.zeros(4, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            (x @ self.weight[i] + self.bias[i]).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for i, x in enumerate((query, key, value))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return context.transpose(1, 2).flatten(2) @ self.weight[3] + self.bias[3], weights
