"""One linear map without bias, applied whole to each of the three arguments; the output map is made first."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads, self.d_model = n_heads, d_model
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        d = self.d_model
        q = self.qkv(query)[..., :d]
        k = self.qkv(key)[..., d : 2 * d]
        v = self.qkv(value)[..., 2 * d :]
        split = [x.reshape(*x.shape[:2], self.n_heads, -1).permute(0, 2, 1, 3) for x in (q, k, v)]
        context, weights = scaled_dot_product_attention(*split, mask=mask)
        return self.out(context.permute(0, 2, 1, 3).reshape(query.shape)), weights
