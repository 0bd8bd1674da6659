"""Draws what a component is called with: the arguments that the levels of a row stand for."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.testing.case import Case

from .levels import DTYPES, size_of


def draw_mask(case: Case, kind: str, b: int, h: int, q: int, k: int) -> Tensor | None:
    """A mask of one of the kinds."""
    if kind == "none":
        return None
    if kind == "all allowed":
        return torch.ones(b, 1, q, k, dtype=torch.bool)  # forbids nothing
    if kind == "(q, k), one without keys":
        mask = case.mask(q, k)
        mask[case.size(0, q - 1)] = False
        return mask
    if kind in ("a query without keys", "one without keys, for all"):
        mask = case.mask(1 if kind.endswith("for all") else b, h, q, k)
        mask[0, 0, case.size(0, q - 1)] = False
        return mask
    if kind.endswith(("at the start", "at the end")):
        mask = torch.ones(b, *((h, q) if kind.startswith("one query") else (1, 1)), k, dtype=torch.bool)
        mask.view(-1, k)[0 if kind.endswith("start") else -1, 1 : max(2, k - 1)] = False
        return mask
    if kind == "a sentence without keys":
        mask = case.padding_mask(b, k)
        mask[0] = False
        return mask
    if kind == "(b, 1, 1, k)":
        return case.padding_mask(b, k)
    sizes = {"b": b, "h": h, "q": q, "k": k, "1": 1}
    return case.mask(*(sizes[letter] for letter in kind.strip("()").split(", ")))


def served(*masks: Tensor | None) -> Tensor | None:
    """Which sentences count, (b, 1, 1): all but those in which a query may attend to nothing, where values are free.

    None = all of them.
    """
    rows = [mask.any(dim=-1).flatten(1).all(dim=-1) for mask in masks if mask is not None and mask.dim() == 4]
    rows = [row for row in rows if not row.all()]
    return torch.stack(rows).all(dim=0)[:, None, None] if rows else None


def counted_of(inputs: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """What counts of the result of a layer or a stack: x, and weights of one or two attentions; see `served`."""
    counts = served(*(tensor for tensor in inputs if tensor is not None and tensor.dtype == torch.bool))
    return (None, None, None) if counts is None else (counts, counts[..., None], counts[..., None])


def draw_shape(case: Case, kind: str | tuple[int, int], d: int) -> tuple[int, int]:
    """Sentences and positions of one of the SHAPES, or as given."""
    if isinstance(kind, tuple):
        return kind
    if kind == "coinciding":
        return (d, d) if d <= 12 else (2, d)
    if kind == "one sentence":
        return 1, case.size(13, 14)
    if kind == "one position":
        return 9, 1
    b, s = case.sizes(2, 2, 6)
    return b, s


def mask_before(case: Case, row: Mapping[str, Any], b: int, q: int, k: int) -> Tensor:
    """A mask for a call before, in the place of none: of padding where nothing is differentiated."""
    is_differentiated = str(row["gradients"]).startswith("of")
    return case.mask(q, k) if is_differentiated else case.padding_mask(b, k)


def masks_before(case: Case, row: Mapping[str, Any], inputs: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Masks for a call before, in the place of those that are None: of a layer, a stack or the model, x (b, t) first.

    The last of the masks is for x itself, the one before it for x and the memory.
    """
    tensors = [tensor for tensor in inputs if tensor is not None and tensor.dtype != torch.bool]
    (b, t), s = tensors[0].shape[:2], tensors[-1].size(1)
    keys = [t if number == len(inputs) - 1 else s for number in range(len(inputs))]
    return [mask_before(case, row, b, t, k) if tensor is None else None for tensor, k in zip(inputs, keys, strict=True)]


def lay_out_mask(mask: Tensor | None, layout: str) -> Tensor | None:
    """The mask, as it may lie in memory beside tensors of this layout.

    Where these have gaps, the mask of the first sentence serves for all of them, if it leaves something to each query.
    Where they repeat a sentence, the masks differ, and so must the results.
    """
    if mask is None or layout in ("contiguous", "expanded"):
        return mask
    if layout == "transposed":
        return mask.mT.contiguous().mT
    is_for_all = mask.dim() == 4 and bool(mask.any(dim=-1).all())
    return lay_out(mask, "expanded" if is_for_all and mask.size(0) > 1 else layout)


def lay_out(tensor: Tensor, layout: str) -> Tensor:
    """The tensor, as it may lie in memory; `expanded` repeats its first sentence."""
    if layout == "transposed" and tensor.dim() > 1:
        return tensor.transpose(0, 1).contiguous().transpose(0, 1)
    if layout == "with gaps":
        return torch.stack([tensor, tensor], dim=-1)[..., 0]
    if layout == "expanded" and tensor.dim() > 1 and tensor.size(0) > 1:
        return tensor[:1].expand_as(tensor)
    return tensor


def draw_values(case: Case, kind: str, dtype: torch.dtype, *shape: int) -> Tensor:
    """Floats of a kind; what rounding in float32 would drown is drawn in float64 alone."""
    if dtype == torch.float32 and kind in ("large", "all equal"):
        kind = "some zeros"
    x = case.normal(*shape, scale={"large": 3000.0, "small": 1e-3}.get(kind, 1.0))
    if kind == "one outlier":
        x[..., case.size(0, shape[-1] - 1)] = 1000.0
    if kind == "all equal":
        x = x[..., :1].mul(8).round().div(8).expand_as(x).clone()
    if kind == "some zeros":
        is_kept = case.normal(*shape[:-1], 1) > -0.5
        is_kept[tuple(case.size(0, size - 1) for size in shape[:-1])] = False  # one vector at least is all zeros
        x = x * (case.normal(*shape) > 0) * is_kept
    return x.to(dtype)


def made_the_same(kind: str, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value, of which some are one object if `kind` is one of SAME."""
    if kind in ("the query itself", "the query as value"):
        value = query
    if kind in ("the query itself", "the query as key"):
        key = query
    return query, value if kind == "the value itself" else key, value


def draw_layer_inputs(
    case: Case, row: Mapping[str, Any], d_model: int, n_heads: int, is_decoder: bool
) -> tuple[Tensor | None, ...]:
    """Arguments of a layer or a stack as a row of the covering array says: (x, mask), or those of a decoder."""
    b, t = draw_shape(case, row["shape"], d_model)
    dtype = DTYPES[row["dtype"]]
    x = lay_out(draw_values(case, row["values"], dtype, b, t, d_model), row["layout"])
    mask = lay_out_mask(draw_mask(case, row["mask"], b, n_heads, t, t), row["layout"])
    if not is_decoder:
        return x, mask
    s = draw_length(case, row["s"], t)
    memory = lay_out(draw_values(case, row["values"], dtype, b, s, d_model), row["layout"])
    memory = x if row["s"] == "x itself" else memory
    src_mask = lay_out_mask(draw_mask(case, row["src_mask"], b, n_heads, t, s), row["layout"])
    return x, memory, src_mask, mask


def draw_length(case: Case, kind: str | int, t: int) -> int:
    """Positions of a memory, one of the LENGTHS or as given; `t` is the length of the target."""
    return size_of(kind, {"one": 1, "few": case.size(2, 6), "many": case.size(65, 66), "t": t, "x itself": t})
