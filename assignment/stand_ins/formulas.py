"""Formulas of the stand-ins, from explicit parameters: by these functions the tests know what to expect."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

VECTORS = {"LayerNorm": 2, "FeedForward": 3, "MultiHeadedAttention": 4, "EncoderLayer": 5, "DecoderLayer": 6}
"""How many vectors the stand-in has for its only parameter, (n, 1, d): by this number tests recognise it."""


def spread(*shape: int) -> nn.Parameter:
    """A parameter of distinct values between -1 and 1, the same in each instance; tests overwrite it."""
    return nn.Parameter(distinct(*shape).float())


def distinct(*shape: int) -> Tensor:
    """Numbers between -1 and 1, all of them different, in float64."""
    return torch.cos(torch.arange(torch.Size(shape).numel(), dtype=torch.float64) * 1.7).view(shape)


def restrict(scores: Tensor, mask: Tensor | None) -> Tensor:
    """In place of masked weights, (b, h, q, k): numbers between 0 and 1, and 0 where the mask forbids."""
    weights = torch.sigmoid(scores)
    if mask is None:
        return weights
    try:
        allowed = weights * mask
    except RuntimeError:
        allowed = weights[:0]
    if allowed.shape != weights.shape:
        sizes = f"{tuple(mask.shape)} cannot be broadcast to the scores' (b, h, q, k) = {tuple(weights.shape)}"
        raise RuntimeError(f"a mask of shape {sizes}")
    return allowed


def look_up(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """In place of attention, (b, h, positions, d_k); scores depend on d_k: a head shows how many features it has.

    A query that may attend to nothing gets 0.
    """
    shares = restrict(query @ torch.asinh(key).mT * (1 + query.size(-1) / 50), mask)
    return torch.matmul(shares, torch.asinh(value)), shares


def mixed_look_up(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, mix: Iterable[Tensor], n_heads: int
) -> tuple[Tensor, Tensor]:
    """In place of multi-head attention, (b, positions, d), with mix (4, 1, d): each head scales the scores.

    Where the mix is 0, so is the output.
    """
    output, [weights] = blend(query, [(key, value, mask)], mix, n_heads)
    return output, weights


def blend(
    query: Tensor, sources: Iterable[tuple[Tensor, Tensor, Tensor | None]], mix: Iterable[Tensor], n_heads: int
) -> tuple[Tensor, list[Tensor]]:
    """Look up in several sources, each of key, value and mask, with one mix: their sum, and weights for each."""
    ask, offer, give, end = mix
    scale = torch.arange(1, n_heads + 1, dtype=query.dtype, device=query.device).view(-1, 1, 1)
    asked, total = project(query, ask), torch.zeros_like(query)
    weights = []
    for key, value, mask in sources:
        scores = torch.bmm(asked, project(key, offer).mT)
        weights.append(restrict(scores.unsqueeze(1) * scale, mask))
        total = total + torch.bmm(weights[-1].sum(dim=1), project(value, give))
    return torch.sin(total) * end, weights


def project(x: Tensor, shift: Tensor) -> Tensor:
    """In place of a linear map. Like one, it keeps x for backward: x must not be changed in place afterwards."""
    if x.dtype != shift.dtype:  # nor does a linear map compute with two
        raise RuntimeError(f"an input of {x.dtype} for parameters of {shift.dtype}")
    return torch.sin(torch.addcmul(shift, x, 1 + shift))


def squash(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """In place of LayerNorm."""
    return torch.addcmul(shift, torch.tanh(x), gain)


def wave(x: Tensor, mix: Iterable[Tensor], d_ff: int) -> Tensor:
    """In place of the feed-forward network, with mix (3, 1, d)."""
    inner, contract, outer = mix
    return torch.addcmul(outer, project(x, inner), contract) + d_ff / 1000


def trace(*settings: float) -> float:
    """One small number that depends on each setting: it shows in the output whether all were passed on."""
    return sum(float(setting) * 0.01 * (index + 1) for index, setting in enumerate(settings))


def encoder_layer(
    x: Tensor, mask: Tensor | None, mix: Iterable[Tensor], n_heads: int, extra: float
) -> tuple[Tensor, Tensor]:
    """In place of an encoder layer, with mix (5, 1, d).

    It adds to x, which so does not fade in a deep stack; nothing where the mix is 0.
    """
    *attention, share = mix
    context, weights = mixed_look_up(x, x, x, mask, attention, n_heads)
    return x + context + (torch.sin(x) + extra) * share, weights


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    src_mask: Tensor | None,
    tgt_mask: Tensor | None,
    mix: Iterable[Tensor],
    n_heads: int,
    extra: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """In place of a decoder layer, with mix (6, 1, d): one look into both x and memory; see `encoder_layer`."""
    *attention, turn, share = mix
    sources = [(x, x, tgt_mask), (turn + memory, memory, src_mask)]
    context, [self_weights, cross_weights] = blend(x, sources, attention, n_heads)
    return x + context + (torch.sin(x) + extra) * share, self_weights, cross_weights


def place(x: Tensor) -> Tensor:
    """In place of the positional encoding."""
    ramp = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None]
    return x + 0.3 * torch.sin(ramp + 1)


def name_tokens(tokens: Tensor, table: Tensor) -> Tensor:
    """In place of the input embedding, with table (vocab_size, d), of which all rows count for each token."""
    return torch.sin(tokens.unsqueeze(-1) + table.sum(dim=0))
