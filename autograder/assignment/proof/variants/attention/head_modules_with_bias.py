"""A module for each head, each with three small linear maps and an attention of its own."""

import torch
from torch import Tensor, nn

from .attention import scaled_dot_product_attention


class Head(nn.Module):
    """One head: Attention(Q W_i^Q, K W_i^K, V W_i^V)."""

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.project_query = nn.Linear(d_model, d_head)
        self.project_key = nn.Linear(d_model, d_head)
        self.project_value = nn.Linear(d_model, d_head)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        q, k, v = self.project_query(query), self.project_key(key), self.project_value(value)  # (b, positions, d_head)
        return scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], mask)  # as one head: (b, 1, …)


class MultiHeadedAttention(nn.Module):
    """A list of heads, and the map from their concatenation to the output."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        self.heads = nn.ModuleList(Head(d_model, d_model // n_heads) for _ in range(n_heads))
        self.project_output = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        masks = [mask] * len(self.heads)
        if mask is not None and mask.dim() > 2 and mask.size(-3) > 1:  # (b, h, q, k): a mask of its own for each head
            masks = list(mask.split(1, dim=-3))
        found = [head(query, key, value, own) for head, own in zip(self.heads, masks, strict=True)]
        contexts, weights = zip(*found, strict=True)  # of each head (b, 1, q, d_head) and (b, 1, q, k)
        return self.project_output(torch.cat(contexts, dim=-1).squeeze(1)), torch.cat(weights, dim=1)
