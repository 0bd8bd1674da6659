"""Affine maps in other words."""

import torch
from torch import nn

# %% einsum
# The weight lies the other way round; einsum.


class Affine(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.matrix = nn.Parameter(torch.zeros(d_out, d_in))
        self.offset = nn.Parameter(torch.zeros(1, d_out))

    def forward(self, x):
        return torch.einsum("bi,oi->bo", x, self.matrix) + self.offset
