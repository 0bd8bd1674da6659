"""Has 300 parameters that take no memory here, being expanded, and 64 MB each in a grader that copies them.

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
        for index in range(300):
            large = torch.zeros(1, dtype=torch.float16).expand(32 << 20)
            self.register_parameter(f"p{index}", nn.Parameter(large, requires_grad=False))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
