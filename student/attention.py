"""Attention: each position gathers what it needs from the others.

Shapes: b batch · h heads · q query positions · k key positions · d = d_model · d_k = d_head = d / h.
Masks are boolean, True = may attend: (q, k), or four axes broadcastable to (b, h, q, k).
A component leaves its arguments, its mode and the settings of the program as they are, keeps nothing from one call to
the next, and works in float32 and float64.
Paper: Vaswani et al. 2017, section 3.2. The paper's Q, K, V are `query`, `key`, `value` here.
"""

from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Averages the values, weighted by how well each key fits the query (equation 1).

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

    A key that the mask forbids has weight 0. A query that may attend to nothing still gets finite
    output, weights and gradients; the numbers are your choice.

    Args:
        query: (b, h, q, d_k).
        key: (b, h, k, d_k).
        value: (b, h, k, d_k).
        mask: True = may attend, (q, k) or four axes broadcastable to (b, h, q, k); None = no restriction.

    Returns:
        context (b, h, q, d_k), and the weights after the softmax (b, h, q, k).
    """
    # TODO 1.2: compute the scaled scores, exclude what the mask forbids, normalise over the keys,
    # and average the values.
    raise NotImplementedError("TODO 1.2")


class MultiHeadedAttention(nn.Module):
    """Attention in several subspaces at once (section 3.2.2).

    MultiHead(Q, K, V) = Concat(head_1, …, head_h) W^O
    head_i             = Attention(Q W_i^Q, K W_i^K, V W_i^V)

    The h projections of the queries (likewise of the keys, and of the values) may be one d x d matrix whose
    output is split into heads, or one smaller matrix per head. Biases are optional; the paper has none.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        """Creates the four projections.

        Raises:
            ValueError: if d_model is not a multiple of n_heads.
        """
        super().__init__()
        # TODO 1.3: refuse a d_model that n_heads does not divide, and create the projections of
        # query, key, value and output.
        raise NotImplementedError("TODO 1.3")

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Lets each position of `query` attend to the positions of `key` and `value`.

        Args:
            query: (b, q, d).
            key: (b, k, d).
            value: (b, k, d).
            mask: True = may attend, (q, k) or four axes broadcastable to (b, h, q, k); None = no restriction.

        Returns:
            output (b, q, d), and the weights of every head (b, h, q, k).
        """

        # TODO 1.3: project query, key and value, split each into heads (b, h, positions, d_head),
        # and let every head attend: `context` is (b, h, q, d_head).
        raise NotImplementedError("TODO 1.3")
        concatenated = context.transpose(1, 2).flatten(2)  # given: (b, h, q, d_head) -> (b, q, d)
        # TODO 1.3: project the concatenated heads, and return the result with the weights of the heads.
        raise NotImplementedError("TODO 1.3")
