"""F.linear with parameters in a ParameterDict; sizes are printed; an in-place relu on the inner values."""

import torch
import torch.nn.functional as F
from torch import nn


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
