"""Besides four linear maps there are unused parameters: a scalar, an empty one, a frozen counter."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.temperature = nn.Parameter(torch.ones(()))
        self.nothing = nn.Parameter(torch.empty(0))
        self.counter = nn.Parameter(torch.zeros(1, dtype=torch.int64), requires_grad=False)
        self.maps = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("q", "k", "v", "o")})

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        parts = [self.heads(self.maps[name](x)) for name, x in zip("qkv", (query, key, value), strict=True)]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.maps["o"](context.transpose(1, 2).flatten(2)), weights
