"""The encoder layer writes its attention out, with one fused linear map; norms and feed-forward network are parts."""

from torch import nn

from .attention import scaled_dot_product_attention
from .layers import FeedForward, LayerNorm


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first, self.n_heads = norm_first, n_heads

    def attend(self, x, mask):
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out(context.transpose(1, 2).flatten(2)), weights

    def forward(self, x, mask):
        if self.norm_first:
            y, weights = self.attend(self.norm1(x), mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.feed_forward(self.norm2(x))), weights
        y, weights = self.attend(x, mask)
        x = self.norm1(x + self.dropout(y))
        return self.norm2(x + self.dropout(self.feed_forward(x))), weights
