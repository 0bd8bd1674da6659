"""Greedy search with the key/value cache."""

import torch
from torch import Tensor

from ...decode import cut_sentence
from ...model import Transformer
from .decoder import CachedDecoder
from .fused_model import FusedModel

FEWER = 0.9  # share of the rows: dropping the others copies the cache, and so does not pay for a few
STEP = 16  # the rows left are a multiple: oneDNN prepares itself anew for each number of rows that it meets


@torch.inference_mode()
def cached_greedy_decode(
    model: Transformer,
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor | None = None,
    *,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_length: int,
    fused: FusedModel | None = None,
) -> list[list[int]]:
    """Does what `decode.greedy_decode` does, faster, for the reference's `Transformer` only.

    Args:
        model: made of the reference's layers; see `checking.py`.
        src: as in `greedy_decode`.
        src_mask: likewise.
        encoder_mask: likewise.
        bos_id: likewise.
        eos_id: likewise.
        pad_id: likewise.
        max_length: likewise.
        fused: made from the model; None = that is done here, for each batch.
    """
    fused = fused or FusedModel(model)
    decoder = CachedDecoder(fused, fused.encode(src, src_mask if encoder_mask is None else encoder_mask), src_mask)
    rows = torch.arange(src.size(0), device=src.device)
    tokens = torch.full((src.size(0), max_length), pad_id, device=src.device)
    last, goes_on = torch.full_like(rows, bos_id), torch.ones_like(rows, dtype=torch.bool)
    for position in range(max_length):
        last = decoder.step(last.unsqueeze(1)).squeeze(1).max(dim=-1).indices  # faster than argmax
        tokens[rows, position] = last
        goes_on &= last != eos_id
        n_left = int(goes_on.sum())
        if n_left == 0:
            break
        n_kept = -(-n_left // STEP) * STEP
        if n_kept <= FEWER * len(rows):
            kept = goes_on.argsort(descending=True, stable=True)[:n_kept]
            decoder.keep(kept)
            decoder.follow(kept)
            rows, last, goes_on = rows[kept], last[kept], goes_on[kept]
    return [cut_sentence(row, eos_id, pad_id) for row in tokens.tolist()]
