"""Is right, and has parameters that no test can learn: a whole number, an empty one.

Bites: the protocol.
Earns: everything.
"""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon
        self.size = nn.Parameter(torch.tensor(d_model), requires_grad=False)
        self.nothing = nn.Parameter(torch.empty(0))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
