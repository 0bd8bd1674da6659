"""Types, shapes and the sums of the weights are checked in every call."""

import torch
from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


def check_weights(weights, mask):
    assert isinstance(weights, torch.Tensor) and weights.dim() == 4
    assert bool((weights >= 0).all())
    assert torch.allclose(weights.sum(-1), torch.ones_like(weights[..., 0]), atol=1e-5), "weights must sum to 1"
    if mask is not None:
        assert mask.dtype is torch.bool
        free = mask | ~mask.any(dim=-1, keepdim=True)  # a query that may attend to nothing
        assert float(weights.detach().masked_fill(free, 0.0).abs().max()) < 1e-6


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        assert 0 <= dropout <= 1 and isinstance(norm_first, bool)
        self.norm_first = norm_first
        self.attention, self.feed_forward = MultiHeadedAttention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        assert x.dim() == 3 and x.is_floating_point()
        shape = x.shape
        y = self.norm_1(x) if self.norm_first else x
        y, weights = self.attention(y, y, y, mask)
        check_weights(weights, mask)
        assert y.shape == shape
        x = x + self.dropout(y)
        x = x if self.norm_first else self.norm_1(x)
        y = self.dropout(self.feed_forward(self.norm_2(x) if self.norm_first else x))
        x = x + y if self.norm_first else self.norm_2(x + y)
        assert x.shape == shape and torch.isfinite(x).all()
        return x, weights


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads")
        self.norm_first = norm_first
        self.self_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList([LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)])
        self.dropout = nn.Dropout(dropout)

    def before(self, i, x):
        return self.norms[i](x) if self.norm_first else x

    def after(self, i, x):
        return x if self.norm_first else self.norms[i](x)

    def forward(self, x, memory, src_mask, tgt_mask):
        assert x.size(0) == memory.size(0) and x.size(2) == memory.size(2)
        y = self.before(0, x)
        y, self_weights = self.self_attention(y, y, y, tgt_mask)
        check_weights(self_weights, tgt_mask)
        x = self.after(0, x + self.dropout(y))
        y, cross_weights = self.cross_attention(self.before(1, x), memory, memory, src_mask)
        check_weights(cross_weights, src_mask)
        x = self.after(1, x + self.dropout(y))
        return self.after(2, x + self.dropout(self.feed_forward(self.before(2, x)))), self_weights, cross_weights
