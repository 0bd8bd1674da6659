"""Query and value give a head consecutive features, the key every h-th: rows of learned matrices have no order."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.query = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q = self.query(query).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.key(key).unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)
        v = self.value(value).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.output(context.transpose(1, 2).flatten(2)), weights
