"""From the model's predictions to a translation: greedy search and beam search.

Both work with any model that offers `encode`, `decode` and `get_predictions`.
Shapes: b batch · s source length · t target length so far.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .masks import causal_mask

if TYPE_CHECKING:  # only annotations name it: any model with the same methods will do
    from .model import Transformer


@torch.no_grad()
def greedy_decode(
    model: "Transformer",
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor | None = None,
    *,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_length: int,
) -> list[list[int]]:
    """Takes the most probable token at each step, for all sentences of the batch at once.

    A sentence that has ended leaves the batch; the search stops when none is left.

    Args:
        model: it is put into eval mode, and back into its former mode at the end.
        src: ids, int64, (b, s).
        src_mask: (b, 1, 1, s).
        encoder_mask: for the encoder's self-attention, broadcastable to (b, 1, s, s); None = src_mask.
        bos_id: begins every target sentence.
        eos_id: ends every target sentence.
        pad_id: fills up a batch.
        max_length: the most tokens of a translation, eos included.

    Returns:
        The ids of each sentence, without bos and eos.
    """
    was_training = model.training
    model.eval()
    memory, _ = model.encode(src, src_mask if encoder_mask is None else encoder_mask)
    tokens = torch.full((src.size(0), max_length + 1), pad_id, dtype=torch.int64, device=src.device)
    tokens[:, 0] = bos_id
    active = torch.arange(src.size(0), device=src.device)  # the rows that have not ended
    for length in range(1, max_length + 1):
        output, _, _ = model.decode(tokens[active, :length], memory, src_mask, causal_mask(length, src.device))
        chosen = model.get_predictions(output[:, -1:])[:, -1].argmax(dim=-1)  # (rows,)
        tokens[active, length] = chosen
        goes_on = chosen != eos_id
        if not goes_on.any():
            break
        active, memory, src_mask = active[goes_on], memory[goes_on], src_mask[goes_on]
    model.train(was_training)
    return [cut_sentence(row, eos_id, pad_id) for row in tokens[:, 1:].tolist()]


def cut_sentence(ids: list[int], eos_id: int, pad_id: int) -> list[int]:
    """Drops eos and everything after it, or the padding of a sentence that never ended."""
    if eos_id in ids:
        return ids[: ids.index(eos_id)]
    while ids and ids[-1] == pad_id:
        ids = ids[:-1]
    return ids


@torch.no_grad()
def beam_decode(
    model: "Transformer",
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
) -> list[list[int]]:
    """Keeps the `beam_size` best beginnings of each sentence instead of one.

    The beam of a sentence has `beam_size` places. At each step the extensions with the highest log p fill the free
    places. A hypothesis that ends keeps its place (or frees it: that is your choice) and gets the score
    log p / length ** length_penalty, where eos counts as a token (Wu et al. 2016, section 7, with a simpler penalty).
    The search for a sentence ends when `beam_size` hypotheses have ended, or at `max_length`, where all remaining ones
    count as ended. `beam_size=1` gives the same result as `greedy_decode`.

    Args:
        model: as in `greedy_decode`.
        src: likewise.
        src_mask: likewise.
        encoder_mask: likewise.
        bos_id: likewise.
        eos_id: likewise.
        pad_id: likewise.
        max_length: likewise.
        beam_size: places in the beam, at least 1.
        length_penalty: 0 = compare plain log-probabilities; larger values favour longer sentences.

    Returns:
        The ids of the best hypothesis of each sentence, without bos and eos.
    """
    # TODO E.3: (extension) extend every live beginning by every token, keep the best, set the ended
    # ones aside, and return the hypothesis with the best score of each sentence.
    raise NotImplementedError("TODO E.3")
