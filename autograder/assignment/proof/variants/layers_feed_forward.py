"""Feed-forward networks in other words and layouts."""

import torch
import torch.nn.functional as F
from torch import nn

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
