"""Has so many parameters that a grader has no end of roles to try for them.

Bites: the protocol.
Earns: nothing.
"""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon
        self.more = nn.ParameterList([nn.Parameter(torch.ones(d_model)) for _ in range(3_500)])

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
