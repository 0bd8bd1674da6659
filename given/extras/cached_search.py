"""Greedy and beam search with the key/value cache, for all sentences of a batch at once.

They do what `greedy_decode` and `beam_decode` do, faster.

Shapes: n live sentences · p = beam_size places of each · c candidates for these places.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .. import package
from .cached_model import CachedDecoder, FusedModel

FEWER = 0.9  # share of the rows: dropping the others copies the cache, and so does not pay for a few
STEP = 16  # the rows left are a multiple: oneDNN prepares itself anew for each number of rows that it meets


@torch.inference_mode()
def cached_greedy_decode(
    model: package.model.Transformer,
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
    """Does what `decode.greedy_decode` does, faster, for the reference's layers only.

    `fused` is made from the model; None = that is done here, for each batch.
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
    return [package.decode.cut_sentence(row, eos_id, pad_id) for row in tokens.tolist()]


@torch.inference_mode()
def cached_beam_decode(
    model: package.model.Transformer,
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor | None = None,
    *,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_length: int,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    fused: FusedModel | None = None,
) -> list[list[int]]:
    """Searches as `decode.beam_decode` does, faster, for the reference's layers only.

    `fused` is made from the model; None = that is done here, for each batch.
    """
    fused = fused or FusedModel(model)
    decoder = CachedDecoder(fused, fused.encode(src, src_mask if encoder_mask is None else encoder_mask), src_mask)
    n, device = src.size(0), src.device
    sentences, places = torch.arange(n, device=device), torch.arange(beam_size, device=device)
    ids = torch.full((n, 1, 1), bos_id, device=device)  # (n, p, length); at first there is one place
    log_p = torch.zeros(n, 1, dtype=fused.targets.dtype, device=device)  # (n, p); -inf: the place is not taken
    n_ended = torch.zeros_like(sentences)
    ended: list[list[tuple[float, list[int]]]] = [[] for _ in range(n)]  # score and ids, with bos and eos
    for length in range(1, max_length + 1):
        log_probs = decoder.step(ids[:, :, -1]).log_softmax(dim=-1)
        best = log_probs.topk(min(beam_size, log_probs.size(-1)), dim=-1)  # no beginning can have more successors
        totals = (log_p.unsqueeze(-1) + best.values).flatten(1)  # (n, c)
        log_p, chosen = totals.topk(min(beam_size, totals.size(1)), dim=-1)  # (n, p), the best one first
        parents = chosen // best.values.size(-1)
        tokens = best.indices.flatten(1).gather(1, chosen)
        rows = torch.arange(len(ids), device=device).unsqueeze(1) * ids.size(1) + parents
        ids = torch.cat([ids.flatten(0, 1)[rows], tokens.unsqueeze(-1)], dim=-1)
        # Each ended hypothesis keeps its place, and there is none for the last candidates.
        has_place = (places[: ids.size(1)] < beam_size - n_ended.unsqueeze(1)) & (log_p > -torch.inf)
        ends = has_place & ((tokens == eos_id) | (length == max_length))
        n_ended = n_ended + ends.sum(dim=1)
        which = sentences.unsqueeze(1).expand_as(ends)[ends].tolist()
        for sentence, total, words in zip(which, log_p[ends].tolist(), ids[ends].tolist(), strict=True):
            ended[sentence].append((total / length**length_penalty, words))
        log_p = log_p.masked_fill(ends | ~has_place, -torch.inf)
        goes_on = (log_p > -torch.inf).any(dim=1)
        n_left = int(goes_on.sum())
        if n_left == 0:
            break
        if n_left <= FEWER * len(sentences):
            kept = goes_on.nonzero().squeeze(1)
            decoder.keep(kept)
            sentences, n_ended, ids, log_p, rows = (x[kept] for x in (sentences, n_ended, ids, log_p, rows))
        decoder.follow(rows.flatten())

    return [package.decode.cut_sentence(max(found)[1][1:], eos_id, pad_id) for found in ended]
