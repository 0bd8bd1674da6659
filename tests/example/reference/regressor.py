"""The model."""

import torch
from torch import Tensor, nn

from .affine import Affine


class Regressor(nn.Module):
    """Predicts one number from d_in features."""

    def __init__(self, d_in: int, d_hidden: int) -> None:
        """Makes two affine maps, from d_in to d_hidden features and from these to one."""
        super().__init__()
        # TODO 2.1: make the two maps.
        ### BEGIN SOLUTION
        self.first = Affine(d_in, d_hidden)
        self.second = Affine(d_hidden, 1)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """(b, d_in) -> (b,)."""
        # TODO 2.1: apply them, with a tanh between.
        ### BEGIN SOLUTION
        return self.second(torch.tanh(self.first(x))).squeeze(-1)
        ### END SOLUTION
