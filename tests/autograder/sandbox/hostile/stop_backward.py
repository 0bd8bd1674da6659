"""Ends the process in the backward pass.

Bites: stop.
Earns: nothing.
"""

import os

import torch
from torch import nn


class Trap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, gradient):
        os._exit(0)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return Trap.apply(x * self.gain)
