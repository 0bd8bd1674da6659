"""Translation of tokens with a trained model, and its BLEU."""

from collections.abc import Iterator
from typing import TypeVar

import torch
from torch import Tensor
from tqdm import tqdm

from ..data import Batch, pad_ids, restrict_to_diagonal
from ..masks import padding_mask
from ..model import Transformer
from ..running.config import Config
from ..vocab import BOS_ID, EOS_ID, PAD_ID, Vocabulary, join_subwords
from .choosing import Search, choose_search

MOST_SENTENCES = 256  # that are decoded together; more do not fit the processor's cache
MOST_ROWS = 512  # hypotheses of theirs, likewise
MOST_TOKENS = 8192  # tokens of their sources, with padding; memory for attention grows with their length, too

Found = TypeVar("Found")


def translate(
    model: Transformer,
    sentences: list[list[str]],
    src_vocab: Vocabulary,
    tgt_vocab: Vocabulary,
    config: Config,
    *,
    diagonal: Tensor | None = None,
    search: Search[list[int]] | None = None,
    subwords: bool = False,
    progress: bool = False,
) -> list[str]:
    """Translates tokenized sentences (subwords) into text without byte-pair marks.

    Args:
        model: offers `encode`, `decode` and `get_predictions`.
        sentences: lists of subwords; the translation of an empty one is an empty line.
        src_vocab: the source vocabulary that the model was trained with.
        tgt_vocab: the target vocabulary that the model was trained with.
        config: its `max_length`, `beam_size`, `length_penalty` and `cached` are used.
        diagonal: the mask that the model was trained with, or None.
        search: None = what the settings say.
        subwords: keep the byte-pair marks.
        progress: show a progress bar.

    Returns:
        One line per sentence, in the given order.
    """
    if search is None:
        search = choose_search(model, config.beam_size, config.length_penalty, config.cached)
    lines = []
    for ids in decode_all(model, sentences, src_vocab, config, search, diagonal=diagonal, progress=progress):
        tokens = tgt_vocab.decode(ids or [])
        lines.append(" ".join(tokens) if subwords else join_subwords(tokens))
    return lines


def decode_all(
    model: Transformer,
    sentences: list[list[str]],
    src_vocab: Vocabulary,
    config: Config,
    search: Search[Found],
    *,
    diagonal: Tensor | None = None,
    progress: bool = False,
) -> list[Found | None]:
    """Decodes sentences in batches; arguments as in `translate`.

    Returns:
        What the search finds for each sentence, in the given order; None for an empty one.
    """
    device = next(model.parameters()).device
    special = {"bos_id": BOS_ID, "eos_id": EOS_ID, "pad_id": PAD_ID}
    found: list[Found | None] = [None] * len(sentences)
    with tqdm(total=len(sentences), unit="sentence", disable=None if progress else True, leave=False, delay=1) as bar:
        for indices in batches_by_length(sentences, config.beam_size):
            src = pad_ids([src_vocab.encode(sentences[index]) for index in indices]).to(device)
            src_mask = padding_mask(src, PAD_ID)
            encoder_mask = restrict_to_diagonal(src_mask, diagonal)
            results = search(model, src, src_mask, encoder_mask=encoder_mask, **special, max_length=config.max_length)
            for index, result in zip(indices, results, strict=True):
                found[index] = result
            bar.update(len(indices))
    return found


def batches_by_length(sentences: list[list[str]], beam_size: int = 1) -> Iterator[list[int]]:
    """Yields the indices of all sentences that are not empty; sentences of similar length share a batch."""
    order = sorted((i for i, sentence in enumerate(sentences) if sentence), key=lambda i: len(sentences[i]))
    most = min(MOST_SENTENCES, max(1, MOST_ROWS // beam_size))
    batch: list[int] = []
    for index in order:  # shorter ones come first
        if batch and (len(batch) == most or (len(batch) + 1) * len(sentences[index]) * beam_size > MOST_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


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
