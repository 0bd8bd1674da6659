"""Affine maps."""

import torch
from torch import Tensor, nn


class Affine(nn.Module):
    """x W + b, with a learned weight and bias."""

    def __init__(self, d_in: int, d_out: int) -> None:
        """Makes the parameters: from d_in to d_out features."""
        super().__init__()
        # TODO 1.1: make the weight and the bias.
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.randn(d_in, d_out) / d_in**0.5)
        self.bias = nn.Parameter(torch.zeros(d_out))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """(b, d_in) -> (b, d_out)."""
        # TODO 1.1: apply the map.
        ### BEGIN SOLUTION
        return x @ self.weight + self.bias
        ### END SOLUTION
