"""One linear map whose output is split by feature first, then by role and head; the heads are joined likewise."""

from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [
            self.qkv(x).unflatten(-1, (-1, 3, self.n_heads)).select(-2, role).movedim(-1, 1)
            for role, x in enumerate((query, key, value))
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.proj(context.movedim(1, -1).flatten(2)), weights
