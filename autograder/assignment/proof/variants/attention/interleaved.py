"""One linear map whose output holds, head by head, query, key and value."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def cut(self, x):
        b, s, d = x.shape
        return self.qkv(x).view(b, s, self.n_heads, 3 * (d // self.n_heads)).transpose(1, 2).chunk(3, dim=-1)

    def forward(self, query, key, value, mask=None):
        context, weights = scaled_dot_product_attention(self.cut(query)[0], self.cut(key)[1], self.cut(value)[2], mask)
        return self.proj(context.transpose(1, 2).flatten(2)), weights
