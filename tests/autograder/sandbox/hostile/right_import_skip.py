"""Is right, and names a module whose import ends with pytest's Skipped, which is no Exception.

Bites: the protocol.
Earns: everything.
"""

import torch
from torch import nn

if False:
    pass


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
