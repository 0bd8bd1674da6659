"""The table is a bare parameter, read by indexing."""

import torch
from torch import nn


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.E = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=0.02))

    def forward(self, tokens):
        return self.E[tokens] * self.E.shape[1] ** 0.5
