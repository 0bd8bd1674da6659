"""Feed-forward networks in other words and layouts."""

import torch
import torch.nn.functional as F
from torch import nn

# %% feed_forward_bias_rows
# Each bias is a further row of its matrix, and x gets a further feature 1.


def with_one(x):
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.expand = nn.Parameter(torch.randn(d_model + 1, d_ff) * 0.05)
        self.contract = nn.Parameter(torch.randn(d_ff + 1, d_model) * 0.05)

    def forward(self, x):
        return with_one(torch.relu(with_one(x) @ self.expand)) @ self.contract


# %% feed_forward_blocks
# The hidden units are computed in two blocks, each with maps of its own.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        sizes = [size for size in (d_ff // 2, d_ff - d_ff // 2) if size]
        self.into = nn.ModuleList(nn.Linear(d_model, size) for size in sizes)
        self.out_of = nn.ModuleList(nn.Linear(size, d_model, bias=False) for size in sizes)
        self.shift = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        blocks = zip(self.into, self.out_of, strict=True)
        return self.shift + sum(second(first(x).relu()) for first, second in blocks)


# %% feed_forward_convolutions
# Two convolutions of width one, as section 3.3 of the paper suggests.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.conv_1 = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.conv_2 = nn.Conv1d(d_ff, d_model, kernel_size=1)

    def forward(self, x):
        y = self.conv_1(x.permute(0, 2, 1))
        return self.conv_2(torch.maximum(y, torch.zeros_like(y))).permute(0, 2, 1)


# %% feed_forward_flat
# All numbers are views of one flat parameter.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.sizes = [d_model * d_ff, d_ff, d_ff * d_model, d_model]
        self.shape = d_model, d_ff
        self.theta = nn.Parameter(torch.randn(sum(self.sizes)) * 0.05)

    def forward(self, x):
        d_model, d_ff = self.shape
        first, inner, second, outer = self.theta.split(self.sizes)
        return torch.relu(x @ first.view(d_model, d_ff) + inner) @ second.view(d_ff, d_model) + outer


# %% feed_forward_functional
# F.linear with parameters in a ParameterDict; sizes are printed; an in-place relu on the inner values.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.p = nn.ParameterDict(
            {
                "w2": nn.Parameter(torch.empty(d_model, d_ff)),
                "b2": nn.Parameter(torch.zeros(d_model)),
                "w1": nn.Parameter(torch.empty(d_ff, d_model)),
                "b1": nn.Parameter(torch.zeros(d_ff)),
            }
        )
        for name in ("w1", "w2"):
            nn.init.kaiming_uniform_(self.p[name])
        print("feed-forward", d_model, d_ff)

    def forward(self, x):
        inner = F.linear(x, self.p["w1"], self.p["b1"])
        F.relu(inner, inplace=True)
        return F.linear(inner, self.p["w2"], self.p["b2"])


# %% feed_forward_left
# The feed-forward network uses bare matrices on the left of x, and a product for the relu.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.first, self.first_bias = nn.Parameter(torch.randn(d_ff, d_model)), nn.Parameter(torch.zeros(d_ff, 1))
        self.second, self.second_bias = nn.Parameter(torch.randn(d_model, d_ff)), nn.Parameter(torch.zeros(d_model, 1))

    def forward(self, x):
        inner = self.first @ x.transpose(1, 2) + self.first_bias
        inner = inner * (inner > 0)
        return (self.second @ inner + self.second_bias).transpose(1, 2)


# %% feed_forward_rows_of_units
# Each row of one parameter is a hidden unit: what it reads, its bias, and what it writes.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.units = nn.Parameter(torch.randn(d_ff, 2 * d_model + 1) * (d_model + d_ff) ** -0.5)
        self.rest = nn.Parameter(torch.zeros(1, 1, d_model))

    def forward(self, x):
        d_model = x.size(-1)
        reads, biases, writes = self.units.split([d_model, 1, d_model], dim=1)
        active = (torch.tensordot(x, reads, dims=([2], [1])) + biases.squeeze(1)).clamp_min(0)
        return torch.tensordot(active, writes, dims=1) + self.rest
