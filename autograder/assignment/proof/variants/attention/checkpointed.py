"""The heads are computed once more in the backward pass, with PyTorch's older kind of checkpoint."""

from torch import nn
from torch.utils.checkpoint import checkpoint

from .attention import scaled_dot_product_attention


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be a multiple of n_heads")
        self.n_heads = n_heads
        self.projections = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.view(len(x), x.size(1), self.n_heads, -1).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        parts = zip(self.projections, (query, key, value), strict=False)
        heads = [self.split(project(x)) for project, x in parts]
        context, weights = checkpoint(scaled_dot_product_attention, *heads, mask, use_reentrant=True)
        return self.projections[3](context.transpose(1, 2).flatten(2)), weights
