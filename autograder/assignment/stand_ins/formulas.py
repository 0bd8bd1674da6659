"""What the stand-ins compute, from explicit parameters: by these functions the tests know what to expect."""

from collections.abc import Iterable

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
    """The mask, with factors for the scores (b, h, q, k); a query that may attend to nothing may attend to all.

    A softmax of equal scores would give each key the same weight there, too.
    """
    try:
        mask.expand_as(scores)
    except RuntimeError:
        sizes = f"{tuple(mask.shape)} cannot be broadcast to the scores' (b, h, q, k) = {tuple(scores.shape)}"
        raise RuntimeError(f"a mask of shape {sizes}") from None
    if mask.dtype != torch.bool:
        mask = mask.to(scores.dtype)
    is_open = mask.any(dim=-1, keepdim=True)
    return mask if is_open.all() else torch.where(is_open, mask, torch.ones_like(mask))


def share_out(scores: Tensor, mask: Tensor | None) -> Tensor:
    """In place of the softmax, (b, h, q, k): sigmoids, divided by their sum.

    Like true weights they lie between 0 and 1, sum to 1 (for a query without keys, too) and else are 0 where the mask
    forbids: a submission may check.
    """
    weights = torch.sigmoid(scores) + FAINT
    if mask is not None:
        weights = weights * allowed(mask, weights)
    total = weights.sum(dim=-1, keepdim=True)
    return weights / total


def look_up(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """In place of attention, (b, h, positions, d_k)."""
    weights = share_out(query @ key.mT, mask)
    return weights @ value, weights


def mixed_look_up(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, mix: Iterable[Tensor], n_heads: int
) -> tuple[Tensor, Tensor]:
    """In place of multi-head attention, (b, positions, d), with mix (4, d, d): each head scales the scores."""
    ask, offer, give, end = mix
    scale = torch.arange(1, n_heads + 1, dtype=query.dtype, device=query.device).view(-1, 1, 1)
    scores = torch.sin(query @ ask) @ torch.sin(key @ offer).mT
    weights = share_out(scores.unsqueeze(1) * scale, mask)
    return torch.sin(weights.sum(dim=1) @ (value @ give) @ end), weights


def squash(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """In place of LayerNorm."""
    return torch.tanh(x) * gain + shift


def wave(x: Tensor, mix: Iterable[Tensor], d_ff: int) -> Tensor:
    """In place of the feed-forward network, with mix (2, d, d)."""
    expand, contract = mix
    return torch.sin(x @ expand) @ contract + d_ff / 1000


def trace(*settings: float) -> float:
    """One small number that depends on each setting: it shows in the output whether all were passed on."""
    return sum(float(setting) * 0.01 * (index + 1) for index, setting in enumerate(settings))


def encoder_layer(
    x: Tensor, mask: Tensor | None, mix: Iterable[Tensor], n_heads: int, extra: float
) -> tuple[Tensor, Tensor]:
    """In place of an encoder layer, with mix (5, d, d)."""
    *attention, keep = mix
    context, weights = mixed_look_up(x, x, x, mask, attention, n_heads)
    return torch.sin(x @ keep) + context + extra, weights


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    src_mask: Tensor | None,
    tgt_mask: Tensor | None,
    mix: Iterable[Tensor],
    n_heads: int,
    extra: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """In place of a decoder layer, with mix (9, d, d)."""
    *attentions, keep = mix
    context, self_weights = mixed_look_up(x, x, x, tgt_mask, attentions[:4], n_heads)
    x = torch.sin(x @ keep) + context
    context, cross_weights = mixed_look_up(x, memory, torch.sin(memory), src_mask, attentions[4:], n_heads)
    return x + context + extra, self_weights, cross_weights


def place(x: Tensor) -> Tensor:
    """In place of the positional encoding."""
    ramp = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None]
    return x + 0.3 * torch.sin(ramp + 1)


def name_tokens(tokens: Tensor, table: Tensor) -> Tensor:
    """In place of the input embedding, with table (vocab_size, d)."""
    return torch.sin(table)[tokens]
