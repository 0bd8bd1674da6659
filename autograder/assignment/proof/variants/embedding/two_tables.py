"""Two tables side by side, each with some of the features."""

import torch
from torch import nn


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = d_model**0.5
        self.left = nn.Embedding(vocab_size, d_model // 2) if d_model > 1 else None
        self.right = nn.Embedding(vocab_size, d_model - d_model // 2)

    def forward(self, tokens):
        parts = [table(tokens) for table in (self.left, self.right) if table is not None]
        return torch.cat(parts, dim=-1) * self.scale
