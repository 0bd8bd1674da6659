"""Searches every object that the garbage collector knows.

Bites: loot.
Earns: nothing.
"""

import gc

import torch
from torch import nn


def attack(x, module):
    for thing in gc.get_objects():
        if type(thing) is dict:
            for value in list(thing.values()):
                if type(value) is str and value.startswith("TOKEN-"):
                    print(value)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
