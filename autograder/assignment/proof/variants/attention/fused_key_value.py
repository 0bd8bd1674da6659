"""The query has a linear map of its own; key and value share one of twice the width."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_kv = nn.Linear(d_model, d_model * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(d_model, d_model), nn.Dropout(0.1))

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        k, _ = self.to_kv(key).chunk(2, dim=-1)
        _, v = self.to_kv(value).chunk(2, dim=-1)
        context, weights = scaled_dot_product_attention(
            self.heads(self.to_q(query)), self.heads(k), self.heads(v), mask
        )
        return self.to_out(context.transpose(1, 2).flatten(2)), weights
