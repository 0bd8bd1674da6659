"""Traces its parent, to write into its memory.

Bites: reach.
Earns: nothing.
"""

import ctypes
import os

import torch
from torch import nn


def attack(x, module):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, os.getppid(), None, None) == 0:
        os.waitpid(os.getppid(), 0x40000000)
        libc.ptrace(17, os.getppid(), None, None)
        print("REACHED")


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
