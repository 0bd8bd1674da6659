"""What the stand-ins compute, from explicit parameters: by these functions the tests know what to expect."""

import torch
from torch import Tensor, nn


def spread(*shape: int) -> nn.Parameter:
    """A parameter of distinct values between -1 and 1, the same in each instance; tests overwrite it."""
    return nn.Parameter(distinct(*shape).float())


def distinct(*shape: int) -> Tensor:
    """Numbers between -1 and 1, all of them different, in float64."""
    return torch.cos(torch.arange(torch.Size(shape).numel(), dtype=torch.float64) * 1.7).view(shape)


FAINT = 0.01
"""What each allowed key has of a weight at least, before they are divided by their sum, which so is never 0."""


def allowed(mask: Tensor, scores: Tensor) -> Tensor:
    """The mask as factors 0 and 1, of the shape of the scores (b, h, q, k).

    A query that may attend to nothing gets 1 everywhere, as from a softmax of equal scores.
    """
    try:
        factors = mask.to(scores.dtype).expand_as(scores)
    except RuntimeError:
        sizes = f"{tuple(mask.shape)} cannot be broadcast to the scores' (b, h, q, k) = {tuple(scores.shape)}"
        raise RuntimeError(f"a mask of shape {sizes}") from None
    return factors.masked_fill((factors == 0).all(dim=-1, keepdim=True), 1.0)


def look_up(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """In place of attention, (b, h, positions, d_k): weights are sigmoids, divided by their sum.

    Like true weights they lie between 0 and 1, sum to 1 (for a query without keys, too) and else are 0 where the mask
    forbids: a submission may check.
    """
    weights = torch.sigmoid(query @ key.transpose(-2, -1)) + FAINT
    if mask is not None:
        weights = weights * allowed(mask, weights)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


def mixed_look_up(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, mix: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """In place of multi-head attention, (b, positions, d), with mix (4, d, d): each head scales the query."""
    scale = torch.arange(1, n_heads + 1, dtype=query.dtype, device=query.device)[:, None, None]
    queries = torch.sin(query @ mix[0]).unsqueeze(1) * scale
    context, weights = look_up(queries, torch.sin(key @ mix[1]).unsqueeze(1), (value @ mix[2]).unsqueeze(1), mask)
    return torch.sin(context.sum(dim=1) @ mix[3]), weights


def squash(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """In place of LayerNorm."""
    return torch.tanh(x) * gain + shift


def wave(x: Tensor, mix: Tensor, d_ff: int) -> Tensor:
    """In place of the feed-forward network, with mix (2, d, d)."""
    return torch.sin(x @ mix[0]) @ mix[1] + d_ff / 1000


def trace(*settings: float) -> float:
    """One small number that depends on each setting: it shows in the output whether all were passed on."""
    return sum(float(setting) * 0.01 * (index + 1) for index, setting in enumerate(settings))


def encoder_layer(x: Tensor, mask: Tensor | None, mix: Tensor, n_heads: int, extra: float) -> tuple[Tensor, Tensor]:
    """In place of an encoder layer, with mix (5, d, d)."""
    context, weights = mixed_look_up(x, x, x, mask, mix[:4], n_heads)
    return torch.sin(x @ mix[4]) + context + extra, weights


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    src_mask: Tensor | None,
    tgt_mask: Tensor | None,
    mix: Tensor,
    n_heads: int,
    extra: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """In place of a decoder layer, with mix (9, d, d)."""
    context, self_weights = mixed_look_up(x, x, x, tgt_mask, mix[:4], n_heads)
    x = torch.sin(x @ mix[8]) + context
    context, cross_weights = mixed_look_up(x, memory, torch.sin(memory), src_mask, mix[4:8], n_heads)
    return x + context + extra, self_weights, cross_weights


def place(x: Tensor) -> Tensor:
    """In place of the positional encoding."""
    ramp = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None]
    return x + 0.3 * torch.sin(ramp + 1)


def name_tokens(tokens: Tensor, table: Tensor) -> Tensor:
    """In place of the input embedding, with table (vocab_size, d)."""
    return torch.sin(table)[tokens]
