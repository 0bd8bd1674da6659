"""Laws that hold for any parameters: what remains to judge a component by whose parameters cannot be recognised.

They are weaker than a comparison with the formula, but they ask nothing of the layout.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .comparison import TOLERANCE, difference, expect, expect_close, expect_shape

Layer = Callable[..., Sequence[Tensor]]


def check_weights(weights: object, shape: Sequence[int], mask: Tensor | None, what: str) -> None:
    """Weights lie between 0 and 1, sum to 1 over the keys, and are 0 where the mask forbids."""
    expect_shape(weights, shape, what)
    total = weights.sum(dim=-1)
    expect_close(total, torch.ones_like(total), f"{what}, summed over the keys", "the softmax runs over the keys")
    if mask is not None:
        forbidden = weights.masked_fill(mask, 0.0)
        expect_close(
            forbidden, torch.zeros_like(weights), f"{what} of forbidden keys", "the mask reaches the attention"
        )


def check_encoder_layer(layer: Layer, x: Tensor, mask: Tensor, n_heads: int) -> None:
    """Order, padding and batch of self-attention: x (b, s, d), mask (b, 1, s, s)."""
    b, s, _ = x.shape
    output, weights = layer(x, mask)
    expect_shape(output, x.shape, "the output of the layer", dtype=x.dtype)
    check_weights(weights, (b, n_heads, s, s), mask, "the weights of the layer")
    order = torch.arange(s).flip(0)
    shuffled, _ = layer(x[:, order], mask[:, :, order][..., order])
    expect_close(shuffled, output[:, order], "the output for positions in another order", "positions are treated alike")
    for query in range(s):
        hidden = ~mask[0, 0, query]
        hidden[query] = False  # its own vector reaches it through the residual connection
        other = torch.where(hidden[:, None], x[0] + 5.0, x[0])[None]
        came = layer(other, mask[:1])[0][:, query]
        expect_close(came, output[:1, query], "the output after forbidden positions were changed", "the mask")
    expect_close(layer(x[:1], mask[:1])[0], output[:1], "one sentence by itself", "sentences do not mix")
    changed = difference(layer(x + 0.5, mask)[0], output) > TOLERANCE
    expect(changed, "the output for another x", "another one", "the same")


def check_decoder_layer(
    layer: Layer, x: Tensor, memory: Tensor, src_mask: Tensor, tgt_mask: Tensor, n_heads: int
) -> None:
    """Memory, masks and batch: x (b, t, d), memory (b, s, d), src_mask (b, 1, 1, s), tgt_mask (b, 1, t, t)."""
    (b, t, _), s = x.shape, memory.size(1)
    inputs = x, memory, src_mask, tgt_mask
    output, *weights = layer(*inputs)
    expect_shape(output, x.shape, "the output of the layer", dtype=x.dtype)
    check_weights(weights[0], (b, n_heads, t, t), tgt_mask, "self_weights")
    check_weights(weights[1], (b, n_heads, t, s), src_mask, "cross_weights")
    order = torch.arange(s).flip(0)
    came = layer(x, memory[:, order], src_mask[..., order], tgt_mask)[0]
    expect_close(came, output, "the output for a memory in another order", "the memory's positions are treated alike")
    hidden = ~src_mask[:, 0, 0, :, None]
    came = layer(x, torch.where(hidden, memory + 5.0, memory), src_mask, tgt_mask)[0]
    expect_close(came, output, "the output after forbidden memory was changed", "src_mask reaches cross-attention")
    for query in range(t):
        hidden = ~tgt_mask[0, 0, query]
        hidden[query] = False
        other = torch.where(hidden[:, None], x[0] + 5.0, x[0])[None]
        came = layer(other, memory[:1], src_mask[:1], tgt_mask[:1])[0][:, query]
        expect_close(came, output[:1, query], "the output after forbidden positions were changed", "tgt_mask")
    changed = difference(layer(x, memory.flip(-1), src_mask, tgt_mask)[0], output) > TOLERANCE
    expect(changed, "the output for another memory", "another one", "the same", "cross-attention reads the memory")
