"""Each head has an output projection of its own, with a bias, and their results are added up."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.into = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(3))
        self.out = nn.ModuleList(nn.Linear(d_model // n_heads, d_model) for _ in range(n_heads))

    def forward(self, query, key, value, mask=None):
        parts = [
            layer(x).unflatten(-1, (len(self.out), -1)).transpose(1, 2)
            for layer, x in zip(self.into, (query, key, value), strict=True)
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return sum(layer(context[:, head]) for head, layer in enumerate(self.out)), weights
