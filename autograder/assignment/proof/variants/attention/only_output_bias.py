"""Only the output projection has a bias; the class initialises weights with its own generator."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model)
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        own = torch.Generator().manual_seed(1)
        for parameter in self.parameters():
            with torch.no_grad():
                parameter.copy_(torch.rand(parameter.shape, generator=own) - 0.5)

    def forward(self, query, key, value, mask=None):
        def heads(x):
            return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        context, weights = scaled_dot_product_attention(
            heads(self.query(query)), heads(self.key(key)), heads(self.value(value)), mask
        )
        return self.output(context.transpose(1, 2).flatten(2)), weights
