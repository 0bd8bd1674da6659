"""Rows are picked one by one and stacked; shapes are checked along the way."""

import math

import torch
import torch.nn as nn


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        assert isinstance(vocab_size, int) and isinstance(d_model, int)
        self.vectors = nn.Parameter(torch.randn(vocab_size, d_model), requires_grad=True)

    def forward(self, tokens):
        assert torch.is_tensor(tokens) and tokens.dtype == torch.int64
        if tokens.dim() != 2:
            raise TypeError("expected (batch, length)")
        rows = torch.index_select(self.vectors, 0, tokens.reshape(-1))
        d_model = self.vectors.size(-1)
        return rows.reshape(tokens.size(0), tokens.size(1), d_model) * math.sqrt(d_model)
