"""Two convolutions of width one, as section 3.3 of the paper suggests."""

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.conv_1 = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.conv_2 = nn.Conv1d(d_ff, d_model, kernel_size=1)

    def forward(self, x):
        y = self.conv_1(x.permute(0, 2, 1))
        return self.conv_2(torch.maximum(y, torch.zeros_like(y))).permute(0, 2, 1)
