"""Dropout on the attention weights and inside the feed-forward network, as some implementations have it.

Vaswani et al. 2017, section 5.4, apply dropout only to the output of each sublayer and to the embeddings. The option
`inner_dropout` adds these two places. Like `translation/cached/` this module relies on how the reference's layers are
written, which is why students do not get it. In eval mode nothing changes.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...attention import MultiHeadedAttention, scaled_dot_product_attention
from ...layers import FeedForward


class DroppingAttention(MultiHeadedAttention):
    """Attention that drops weights, after the softmax."""

    share: float

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Does what `MultiHeadedAttention` does; the weights that it returns are complete."""
        projections = (self.project_query, query), (self.project_key, key), (self.project_value, value)
        q, k, v = (project(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for project, x in projections)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        if self.training:
            context = functional.dropout(weights, self.share) @ v
        return self.project_output(context.transpose(1, 2).flatten(2)), weights


class DroppingFeedForward(FeedForward):
    """A feed-forward network that drops inner features, after the nonlinearity."""

    share: float

    def forward(self, x: Tensor) -> Tensor:
        """Applies the network: (b, s, d) -> (b, s, d)."""
        return self.contract(functional.dropout(torch.relu(self.expand(x)), self.share, self.training))


def add_inner_dropout(model: nn.Module, share: float) -> None:
    """Adds both to all layers of a model; no parameter changes, and neither do their names.

    Args:
        model: made of the reference's layers.
        share: of weights and of inner features that are dropped in training.
    """
    for module in model.modules():
        if isinstance(module, MultiHeadedAttention):
            module.__class__ = DroppingAttention
        elif isinstance(module, FeedForward):
            module.__class__ = DroppingFeedForward
        if isinstance(module, (DroppingAttention, DroppingFeedForward)):
            module.share = share
