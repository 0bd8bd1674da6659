"""The encoder layer, the decoder layer, and their parts: LayerNorm and the feed-forward network.

Shapes: b batch · s source length · t target length · h heads · d = d_model.
Masks are boolean, True = may attend; None = no restriction.
A component leaves its arguments, its mode and the settings of the program as they are, keeps nothing from one call to
the next, and works in float32 and float64.
Papers: Vaswani et al. 2017, sections 3.1, 3.3 and 5.4 (the paper's d_ff is `d_ff`); Ba et al. 2016, "Layer
Normalization", section 3; for `norm_first` Xiong et al. 2020, "On Layer Normalization in the Transformer
Architecture", figure 1b.
"""

from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Gives the features of each position mean 0 and variance 1, then applies a learned gain and shift (Ba et al.).

    y = gamma * (x - mu) / sqrt(var + epsilon) + beta

    mu and var are computed over the last axis, separately for each position; var is the population
    variance (the sum is divided by d, not by d - 1).
    """

    def __init__(self, d_model: int, epsilon: float = 1e-6) -> None:
        """Creates one gain and one shift for each of the `d_model` features."""
        super().__init__()
        self.epsilon = epsilon
        # TODO 1.4: create the learned gain (1 at first) and shift (0 at first) of each feature.
        raise NotImplementedError("TODO 1.4")

    def forward(self, x: Tensor) -> Tensor:
        """Normalises x (..., d) over its last axis and returns the same shape."""
        # TODO 1.4: normalise over the last axis, then apply gain and shift.
        raise NotImplementedError("TODO 1.4")


class FeedForward(nn.Module):
    """A small network applied to each position separately (section 3.3, equation 2).

    FFN(x) = W_2 relu(W_1 x + b_1) + b_2
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        """Creates the two affine maps, d_model -> d_ff -> d_model, both with a bias."""
        super().__init__()
        # TODO 1.5: create the two affine maps.
        raise NotImplementedError("TODO 1.5")

    def forward(self, x: Tensor) -> Tensor:
        """Applies the network: (b, s, d) -> (b, s, d)."""
        # TODO 1.5: apply the first map, the nonlinearity, and the second map.
        raise NotImplementedError("TODO 1.5")


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with dropout (section 5.4), a residual connection and a LayerNorm (3.1).

    post-norm, as in the paper:  x <- LayerNorm(x + dropout(sublayer(x)))
    pre-norm (`norm_first`):     x <- x + dropout(sublayer(LayerNorm(x)))

    Each sublayer has its own LayerNorm.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.1, norm_first: bool = False) -> None:
        """Creates both sublayers (`MultiHeadedAttention`, `FeedForward`), a `LayerNorm` for each, and the dropout."""
        super().__init__()
        self.norm_first = norm_first
        # TODO 2.1: create the attention, the feed-forward network, a LayerNorm for each of the two,
        # and the dropout (one for both, or one for each).
        raise NotImplementedError("TODO 2.1")

    def forward(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Applies the layer.

        Args:
            x: (b, s, d).
            mask: which positions may attend to which, broadcastable to (b, h, s, s).

        Returns:
            x (b, s, d), and the attention weights (b, h, s, s).
        """
        if self.norm_first:
            # TODO E.2: (extension) the same two sublayers with the normalisation before each of them
            # instead of after it.
            raise NotImplementedError("TODO E.2")
        # TODO 2.1: self-attention and feed-forward, each followed by dropout, residual connection
        # and normalisation.
        raise NotImplementedError("TODO 2.1")


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the source, then feed-forward (section 3.1).

    Residual connections, dropout and LayerNorm stand where they do in the `EncoderLayer`. In cross-attention
    the query comes from the decoder; key and value are the `memory`, which pre-norm does not normalise again.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.1, norm_first: bool = False) -> None:
        """Creates the three sublayers, a `LayerNorm` for each, and the dropout."""
        super().__init__()
        self.norm_first = norm_first
        # TODO 2.2: create both attentions, the feed-forward network, a LayerNorm for each of the
        # three, and the dropout (one for all, or one for each).
        raise NotImplementedError("TODO 2.2")

    def forward(
        self, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Applies the layer.

        Args:
            x: (b, t, d).
            memory: the encoder's output, (b, s, d).
            src_mask: which source positions may be attended to, broadcastable to (b, h, t, s).
            tgt_mask: which target positions may attend to which, broadcastable to (b, h, t, t).

        Returns:
            x (b, t, d), the weights of self-attention (b, h, t, t) and of cross-attention (b, h, t, s).
        """
        if self.norm_first:
            # TODO E.2: (extension) the same three sublayers with the normalisation before each of
            # them; the memory is not normalised again.
            raise NotImplementedError("TODO E.2")
        # TODO 2.2: self-attention, cross-attention and feed-forward, each followed by dropout,
        # residual connection and normalisation.
        raise NotImplementedError("TODO 2.2")
