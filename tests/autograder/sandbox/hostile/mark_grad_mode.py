"""Leaves hooks behind that change the results of the grader's own modules.

Bites: mark.
Earns: nothing.
"""

import torch
from torch import nn


def attack(x, module):
    nn.modules.module.register_module_forward_hook(lambda module, arguments, output: output * 0)
    original = nn.functional.layer_norm
    nn.functional.layer_norm = lambda *arguments, **options: original(*arguments, **options) * 0


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
