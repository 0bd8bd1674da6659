"""Translation of text with a trained model, and its BLEU."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from tqdm import tqdm

from .config import Config
from .data import Batch, pad_ids, restrict_to_diagonal
from .decode import beam_decode, greedy_decode
from .masks import padding_mask
from .vocab import BOS_ID, EOS_ID, PAD_ID, Vocabulary, join_subwords

BATCH_SIZE = 256  # at most so many sentences are decoded together


def translate(
    model: nn.Module,
    sentences: list[list[str]],
    src_vocab: Vocabulary,
    tgt_vocab: Vocabulary,
    config: Config,
    *,
    diagonal: Tensor | None = None,
    search: Callable[..., list[list[int]]] | None = None,
    subwords: bool = False,
    progress: bool = False,
) -> list[str]:
    """Translates tokenized sentences (subwords) into text without byte-pair marks.

    Args:
        model: offers `encode`, `decode` and `get_predictions`.
        sentences: one list of subwords each; an empty one is translated by an empty line.
        src_vocab, tgt_vocab: those the model was trained with.
        config: `max_length`, `beam_size`, `length_penalty`.
        diagonal: the mask the model was trained with, or None.
        search: None = greedy search, or beam search where `config.beam_size` is above 1.
        subwords: leaves the byte-pair marks in.
        progress: shows a progress bar.

    Returns:
        One line a sentence, in the order given.
    """
    device = next(model.parameters()).device
    if search is None:
        search = greedy_decode
        if config.beam_size > 1:

            def search(*inputs: object, **options: object) -> list[list[int]]:
                penalty = config.length_penalty
                return beam_decode(*inputs, **options, beam_size=config.beam_size, length_penalty=penalty)

    lines = [""] * len(sentences)
    with tqdm(total=len(sentences), unit="sentence", disable=not progress, leave=False) as bar:
        for indices in batches_by_length(sentences):
            src = pad_ids([src_vocab.encode(sentences[index]) for index in indices]).to(device)
            src_mask = padding_mask(src, PAD_ID)
            encoder_mask = restrict_to_diagonal(src_mask, diagonal)
            special = {"bos_id": BOS_ID, "eos_id": EOS_ID, "pad_id": PAD_ID}
            found = search(model, src, src_mask, encoder_mask, **special, max_length=config.max_length)
            for index, ids in zip(indices, found, strict=True):
                tokens = tgt_vocab.decode(ids)
                lines[index] = " ".join(tokens) if subwords else join_subwords(tokens)
            bar.update(len(indices))
    return lines


def batches_by_length(sentences: list[list[str]]) -> Iterator[list[int]]:
    """Indices of the sentences that are not empty, those of like length together."""
    order = sorted((i for i, sentence in enumerate(sentences) if sentence), key=lambda i: len(sentences[i]))
    for start in range(0, len(order), BATCH_SIZE):
        yield order[start : start + BATCH_SIZE]


def bleu(translations: list[str], references: list[str]) -> float:
    """Corpus BLEU between 0 and 1 of lines that are tokenized already (Papineni et al. 2002).

    For the interval and the thresholds see `grade.py`, whose BLEU is the same.
    """
    import sacrebleu  # here: only this needs it, and it takes a while to load

    return sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True).score / 100


@torch.no_grad()
def forced_decode(model: nn.Module, batch: Batch) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """What the model makes of pairs whose translations are given, in eval mode.

    Returns:
        Log-probabilities (b, t, classes), and the attention weights of every layer: of the `encoder` (b, h, s, s), the
        `decoder` (b, h, t, t), and `cross` (b, h, t, s).
    """
    model.eval()
    memory, encoder = model.encode(batch.src, batch.encoder_mask)
    output, decoder, cross = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)
    return model.get_predictions(output), {"encoder": encoder, "decoder": decoder, "cross": cross}
