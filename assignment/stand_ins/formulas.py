"""Formulas of the stand-ins, from explicit parameters: by these functions the tests know what to expect."""

from collections.abc import Iterable, Sequence

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


def progress(mask: Tensor | None, like: Tensor) -> tuple[Tensor, Tensor]:
    """Angles before each key and after it, (b, h, q, k), equal where the mask forbids the key.

    They grow with the number of keys that are allowed, slowly: layers of them must not magnify how float32 rounds.
    """
    if mask is None:
        mask = like.new_ones(1)
    try:
        steps = mask.expand(like.shape).to(like.dtype) * 0.3
    except RuntimeError:
        sizes = f"{tuple(mask.shape)} cannot be broadcast to the scores' (b, h, q, k) = {tuple(like.shape)}"
        raise RuntimeError(f"a mask of shape {sizes}") from None
    ends = steps.cumsum(dim=-1)
    return ends - steps, ends


def gaps(query: Tensor, key: Tensor) -> Tensor:
    """For each query and key, (…, q, k), a number that depends on how many features they have."""
    expect_one_dtype(query, key)
    expect_one_size(query, key, -1)
    return torch.cos(query.unsqueeze(-2) + 2 * key.unsqueeze(-3)).mean(dim=-1) * (1 + query.size(-1) / 50)


def swing(start: Tensor, end: Tensor, value: Tensor) -> Tensor:
    """For each query, (…, q, d), how far the waves of all keys move between angles (…, q, k); values are phases."""
    expect_one_dtype(start, value)
    expect_one_size(start.mT, value, -2)
    phase = value.unsqueeze(-3)
    return (torch.sin(end.unsqueeze(-1) + phase) - torch.sin(start.unsqueeze(-1) + phase)).sum(dim=-2)


def look_up(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """In place of attention, (b, h, positions, d_k). The order of the keys counts, as in no attention.

    A query that may attend to nothing gets 0.
    """
    gap = gaps(query, key)
    start, end = (gap + angle for angle in progress(mask, gap))
    return swing(start, end, value), torch.sin(end) - torch.sin(start)


def mixed_look_up(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, mix: Iterable[Tensor], n_heads: int
) -> tuple[Tensor, Tensor]:
    """In place of multi-head attention, (b, positions, d), with mix (4, 1, d): all heads move the same waves.

    Where the mix is 0, so is the output.
    """
    *inner, outer = mix
    asked, *places = map(project, (query, key, value), inner)
    moved, weights = blend(asked, places, mask, n_heads)
    return torch.sin(moved) * outer, weights


def blend(query: Tensor, places: Sequence[Tensor], mask: Tensor | None, n_heads: int) -> tuple[Tensor, Tensor]:
    """How far all heads together move the waves of places, keys and values, (b, q, d); and weights for each head."""
    key, value = places
    gap = gaps(query, key).unsqueeze(1)
    scale = torch.arange(1, n_heads + 1, device=gap.device).view(-1, 1, 1)
    starts, ends = progress(mask, gap.expand(-1, n_heads, -1, -1))
    weights = torch.sin(gap * scale + ends) - torch.sin(gap * scale + starts)
    first, last = ((gap + scale * angles).mean(dim=1) for angles in (starts, ends))
    return swing(first, last, value), weights


def project(x: Tensor, shift: Tensor) -> Tensor:
    """In place of a linear map. Like one, it keeps x for backward: x must not be changed in place afterwards."""
    expect_one_dtype(x, shift)
    return torch.sin(torch.addcmul(shift, x, 1 + shift))


def expect_one_dtype(x: Tensor, other: Tensor) -> None:
    """Fail as a linear map does, which does not compute with two."""
    if x.dtype != other.dtype:
        raise RuntimeError(f"an input of {x.dtype} for parameters of {other.dtype}")


def expect_one_size(x: Tensor, other: Tensor, axis: int) -> None:
    """Fail as a product of matrices does, where sums and differences would be broadcast."""
    if x.size(axis) != other.size(axis):
        raise RuntimeError(f"sizes {x.size(axis)} and {other.size(axis)} of {tuple(x.shape)} and {tuple(other.shape)}")


def squash(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """In place of LayerNorm. The shift is inside, as in no norm."""
    return torch.tanh(x + shift) * gain


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
    *inner, turn, share = mix
    asked, *places = (project(x, part) for part in inner)
    moved, weights = blend(asked, places, mask, n_heads)
    return torch.addcmul(x, share, torch.sin(moved + turn * x + extra)), weights


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    src_mask: Tensor | None,
    tgt_mask: Tensor | None,
    mix: Iterable[Tensor],
    n_heads: int,
    extra: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """In place of a decoder layer, with mix (6, 1, d): one wave for both x and memory; see `encoder_layer`."""
    *inner, change, turn, share = mix
    asked, *own = (project(x, part) for part in inner)
    there = [project(memory * change, part) for part in inner[1:]]
    (moved, self_weights), (more, cross_weights) = (
        blend(asked, places, mask, n_heads) for places, mask in ((own, tgt_mask), (there, src_mask))
    )
    return torch.addcmul(x, share, torch.sin(moved + more + turn * x + extra)), self_weights, cross_weights


def place(x: Tensor) -> Tensor:
    """In place of the positional encoding."""
    ramp = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None]
    return x + 0.3 * torch.sin(ramp + 1)


def name_tokens(tokens: Tensor, table: Tensor) -> Tensor:
    """In place of the input embedding, with table (vocab_size, d), of which all rows count for each token."""
    return torch.sin(tokens.unsqueeze(-1) + table.sum(dim=0))
