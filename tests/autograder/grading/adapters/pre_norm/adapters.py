"""Components of the package `model`; it has no post-norm, and its attention has one context for keys and values."""

from .model.blocks import EncoderBlock, Mlp, Standardise


def LayerNorm(d_model, epsilon=1e-6):
    return Standardise(d_model, epsilon)


def FeedForward(d_model, d_ff):
    return Mlp(d_model, d_ff)


def EncoderLayer(d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
    if not norm_first:
        raise NotImplementedError("this model is pre-norm")
    return EncoderBlock(d_model, n_heads, d_ff, dropout)
