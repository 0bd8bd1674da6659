"""The table is a bare parameter that the model's predictions use too."""

import torch
from torch import nn


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.E = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)

    def forward(self, tokens):
        return nn.functional.embedding(tokens, self.E) * (self.E.size(1) ** 0.5)
