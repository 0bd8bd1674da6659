"""Feed-forward networks in other words and layouts."""

import torch
import torch.nn.functional as F
from torch import nn

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
