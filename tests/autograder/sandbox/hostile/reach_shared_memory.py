"""Makes shared memory for another worker to find.

Bites: reach.
Earns: nothing.
"""

import multiprocessing.shared_memory

import torch
from torch import nn


def attack(x, module):
    block = multiprocessing.shared_memory.SharedMemory(create=True, size=100)
    print("REACHED")
    block.close()
    block.unlink()


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
