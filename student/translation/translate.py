"""Translation of text with a trained model, and its BLEU."""

from collections.abc import Iterator
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from tqdm import tqdm

from ..data import Batch, pad_ids, restrict_to_diagonal
from ..decode import beam_decode, greedy_decode
from ..masks import padding_mask
from ..model import Transformer
from ..running.config import Config
from ..vocab import BOS_ID, EOS_ID, PAD_ID, Vocabulary, join_subwords

BATCH_SIZE = 256  # the most sentences that are decoded together


class Search(Protocol):
    """A way to decode: `greedy_decode`, or any function with its arguments and result."""

    def __call__(
        self,
        model: Transformer,
        src: Tensor,
        src_mask: Tensor,
        encoder_mask: Tensor | None = None,
        *,
        bos_id: int,
        eos_id: int,
        pad_id: int,
        max_length: int,
    ) -> list[list[int]]:
        """Decodes one batch."""


def translate(
    model: Transformer,
    sentences: list[list[str]],
    src_vocab: Vocabulary,
    tgt_vocab: Vocabulary,
    config: Config,
    *,
    diagonal: Tensor | None = None,
    search: Search | None = None,
    subwords: bool = False,
    progress: bool = False,
) -> list[str]:
    """Translates tokenized sentences (subwords) into text without byte-pair marks.

    Args:
        model: offers `encode`, `decode` and `get_predictions`.
        sentences: lists of subwords; the translation of an empty one is an empty line.
        src_vocab: the source vocabulary that the model was trained with.
        tgt_vocab: the target vocabulary that the model was trained with.
        config: its `max_length`, `beam_size` and `length_penalty` are used.
        diagonal: the mask that the model was trained with, or None.
        search: None = greedy search, or beam search if `config.beam_size` is above 1.
        subwords: keep the byte-pair marks.
        progress: show a progress bar.

    Returns:
        One line per sentence, in the given order.
    """
    device = next(model.parameters()).device
    if search is None and config.beam_size > 1:
        search = partial(beam_decode, beam_size=config.beam_size, length_penalty=config.length_penalty)
    decode: Search = search or greedy_decode
    lines = [""] * len(sentences)
    with tqdm(total=len(sentences), unit="sentence", disable=not progress, leave=False) as bar:
        for indices in batches_by_length(sentences):
            src = pad_ids([src_vocab.encode(sentences[index]) for index in indices]).to(device)
            src_mask = padding_mask(src, PAD_ID)
            encoder_mask = restrict_to_diagonal(src_mask, diagonal)
            special = {"bos_id": BOS_ID, "eos_id": EOS_ID, "pad_id": PAD_ID}
            found = decode(model, src, src_mask, encoder_mask, **special, max_length=config.max_length)
            for index, ids in zip(indices, found, strict=True):
                tokens = tgt_vocab.decode(ids)
                lines[index] = " ".join(tokens) if subwords else join_subwords(tokens)
            bar.update(len(indices))
    return lines


def find_cached_search() -> Search | None:
    """Returns the greedy search with the key/value cache; None if this package does not have it."""
    try:
        from .cached_greedy import cached_greedy_decode
    except ImportError:
        return None
    return cached_greedy_decode


def batches_by_length(sentences: list[list[str]]) -> Iterator[list[int]]:
    """Yields the indices of all sentences that are not empty; sentences of similar length share a batch."""
    order = sorted((i for i, sentence in enumerate(sentences) if sentence), key=lambda i: len(sentences[i]))
    for start in range(0, len(order), BATCH_SIZE):
        yield order[start : start + BATCH_SIZE]


def bleu(translations: list[str], references: list[str]) -> float:
    """Computes corpus BLEU, between 0 and 1, of lines that are already tokenized (Papineni et al. 2002).

    `grade.py` computes the same BLEU and adds its interval and the thresholds.
    """
    import sacrebleu  # here, because only this function needs it and it is slow to load

    return sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True).score / 100


@torch.no_grad()
def forced_decode(model: Transformer, batch: Batch) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """Runs the model, in eval mode, on pairs whose translations are given.

    Returns:
        Log-probabilities (b, t, classes), and the attention weights of each layer: `encoder` (b, h, s, s),
        `decoder` (b, h, t, t) and `cross` (b, h, t, s).
    """
    model.eval()
    memory, encoder = model.encode(batch.src, batch.encoder_mask)
    output, decoder, cross = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)
    return model.get_predictions(output), {"encoder": encoder, "decoder": decoder, "cross": cross}
