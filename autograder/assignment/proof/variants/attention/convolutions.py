"""The projections are convolutions of width one."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.q = nn.Conv1d(d_model, d_model, 1)
        self.k = nn.Conv1d(d_model, d_model, 1)
        self.v = nn.Conv1d(d_model, d_model, 1)
        self.o = nn.Conv1d(d_model, d_model, 1)

    def forward(self, query, key, value, mask=None):
        def heads(conv, x):
            return conv(x.transpose(1, 2)).unflatten(1, (self.n_heads, -1)).transpose(2, 3)

        context, weights = scaled_dot_product_attention(
            heads(self.q, query), heads(self.k, key), heads(self.v, value), mask
        )
        return self.o(context.transpose(1, 2).flatten(2).transpose(1, 2)).transpose(1, 2), weights
