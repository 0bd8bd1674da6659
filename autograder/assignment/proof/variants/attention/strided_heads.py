"""Head i takes every h-th of the projected features: the rows of a learned matrix may be in any order."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        def heads(x):
            return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

        context, weights = scaled_dot_product_attention(
            heads(self.query(query)), heads(self.key(key)), heads(self.value(value)), mask
        )
        return self.output(context.transpose(1, 2).flatten(2)), weights
