"""Multi-headed attention whose four maps are other than four `nn.Linear`, or do more."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from .attention import scaled_dot_product_attention

# %% bias_rows
# Each bias is a further row of its matrix, and x gets a further feature 1.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.maps = nn.ParameterList(torch.randn(d_model + 1, d_model) * d_model**-0.5 for _ in range(4))

    def apply_map(self, x, number):
        return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1) @ self.maps[number]

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.apply_map(x, number).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for number, x in enumerate((query, key, value))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.apply_map(context.transpose(1, 2).flatten(2), 3), weights


# %% checkpointed
# The heads are computed once more in the backward pass, with PyTorch's older kind of checkpoint.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be a multiple of n_heads")
        self.n_heads = n_heads
        self.projections = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.view(len(x), x.size(1), self.n_heads, -1).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        parts = zip(self.projections, (query, key, value), strict=False)
        heads = [self.split(project(x)) for project, x in parts]
        context, weights = checkpoint(scaled_dot_product_attention, *heads, mask, use_reentrant=True)
        return self.projections[3](context.transpose(1, 2).flatten(2)), weights


# %% convolutions
# The projections are convolutions of width one.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.q = nn.Conv1d(d_model, d_model, 1)
        self.k = nn.Conv1d(d_model, d_model, 1)
        self.v = nn.Conv1d(d_model, d_model, 1)
        self.o = nn.Conv1d(d_model, d_model, 1)

    def forward(self, query, key, value, mask=None):
        def heads(conv, x):
            return conv(x.transpose(1, 2)).unflatten(1, (self.n_heads, -1)).transpose(2, 3)

        context, weights = scaled_dot_product_attention(
            heads(self.q, query), heads(self.k, key), heads(self.v, value), mask
        )
        return self.o(context.transpose(1, 2).flatten(2).transpose(1, 2)).transpose(1, 2), weights


# %% extra_dropout
# The layers pass their dropout rate to attention and feed-forward network, which take it as an extra argument.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for f, x in ((self.q, query), (self.k, key), (self.v, value))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.dropout(self.o(context.transpose(1, 2).flatten(2))), weights


# %% only_output_bias
# Only the output projection has a bias; the class initialises weights with its own generator.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model)
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        own = torch.Generator().manual_seed(1)
        for parameter in self.parameters():
            with torch.no_grad():
                parameter.copy_(torch.rand(parameter.shape, generator=own) - 0.5)

    def forward(self, query, key, value, mask=None):
        def heads(x):
            return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        context, weights = scaled_dot_product_attention(
            heads(self.query(query)), heads(self.key(key)), heads(self.value(value)), mask
        )
        return self.output(context.transpose(1, 2).flatten(2)), weights


# %% raw_left
# Bare matrices (d_out, d_in) on the left of x, with bare biases that are declared after all matrices.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.w_o, self.w_v, self.w_k, self.w_q = (
            nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(d_model, d_model))) for _ in range(4)
        )
        self.b_q, self.b_k, self.b_v, self.b_o = (nn.Parameter(torch.zeros(d_model)) for _ in range(4))

    def apply_left(self, w, x, b):
        return (w @ x.transpose(-1, -2)).transpose(-1, -2) + b

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.apply_left(w, x, b).unflatten(2, (self.n_heads, -1)).permute(0, 2, 1, 3)
            for w, x, b in ((self.w_q, query, self.b_q), (self.w_k, key, self.b_k), (self.w_v, value, self.b_v))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.apply_left(self.w_o, context.transpose(1, 2).flatten(2), self.b_o), weights


# %% raw_right
# Bare matrices (d_in, d_out) on the right of x, without biases.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.Wq = nn.Parameter(torch.randn(d_model, d_model) * 0.1)
        self.Wk = nn.Parameter(torch.randn(d_model, d_model) * 0.1)
        self.Wv = nn.Parameter(torch.randn(d_model, d_model) * 0.1)
        self.Wo = nn.Parameter(torch.randn(d_model, d_model) * 0.1)

    def forward(self, query, key, value, mask=None):
        b = query.size(0)
        q = (query @ self.Wq).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        k = (key @ self.Wk).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (value @ self.Wv).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return context.transpose(1, 2).flatten(2) @ self.Wo, weights


# %% with_other_parameters
# Besides four linear maps there are unused parameters: a scalar, an empty one, a frozen counter.


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.temperature = nn.Parameter(torch.ones(()))
        self.nothing = nn.Parameter(torch.empty(0))
        self.counter = nn.Parameter(torch.zeros(1, dtype=torch.int64), requires_grad=False)
        self.maps = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("q", "k", "v", "o")})

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        parts = [self.heads(self.maps[name](x)) for name, x in zip("qkv", (query, key, value), strict=True)]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.maps["o"](context.transpose(1, 2).flatten(2)), weights
