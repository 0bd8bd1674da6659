"""Translation of tokens with a trained model, and how good it is on dev: BLEU, loss, samples, where it attends.

The key/value cache of `extras/` makes decoding many times as fast; it is used wherever it gives the same result.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm

from . import package
from .building import build_model
from .config import Config, ConfigError
from .run_folder import Checkpoint

MOST_SENTENCES = 256  # that are decoded together; more do not fit the processor's cache
MOST_ROWS = 512  # hypotheses of theirs, likewise
MOST_TOKENS = 8192  # tokens of their sources, with padding; memory for attention grows with their length, too
MOST_UNKNOWN = 0.3  # share of the tokens; more are worth a note
Search = Callable[..., list[list[int]]]
"""A way to decode: `greedy_decode`, or any function with its arguments and a result for each sentence."""
BATCH_SIZE = 128  # for the loss
MOST_SCORES = 2**19  # of a batch for each position: sentences times tokens of the vocabulary; it limits memory


def choose_search(
    model: package.model.Transformer, beam_size: int = 1, length_penalty: float = 0.6, is_cached: bool = True
) -> Search:
    """Chooses a search for the model as it is now; its result is that of `greedy_decode` (size 1) or `beam_decode`.

    With `is_cached`, the key/value cache is used if there is one and the model's layers are the reference's.
    """
    if is_cached and (cached := find_cached_search(model, beam_size, length_penalty)) is not None:
        return cached
    if beam_size == 1:
        return package.decode.greedy_decode
    return partial(package.decode.beam_decode, beam_size=beam_size, length_penalty=length_penalty)


def has_cache() -> bool:
    """Whether there is a key/value cache; students have none."""
    return find_spec("given.extras") is not None


def find_cached_search(model: package.model.Transformer, beam_size: int, length_penalty: float) -> Search | None:
    """Returns the search with the cache; None if there is none, or the layers are not the reference's."""
    if not has_cache():
        return None
    from .extras.cached_model import find_fused
    from .extras.cached_search import cached_beam_decode, cached_greedy_decode

    fused = find_fused(model)
    if fused is None:
        return None
    if beam_size == 1:
        return partial(cached_greedy_decode, fused=fused)
    return partial(cached_beam_decode, fused=fused, beam_size=beam_size, length_penalty=length_penalty)


def translate(
    model: package.model.Transformer,
    sentences: list[list[str]],
    src_vocab: package.vocab.Vocabulary,
    tgt_vocab: package.vocab.Vocabulary,
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
        config: its `max_length`, `beam_size`, `length_penalty` and `cached` are used.
        diagonal: the mask that the model was trained with, or None.
        search: None = what the settings say.
        subwords: keep the byte-pair marks.
        progress: show a progress bar.
    """
    if search is None:
        search = choose_search(model, config.beam_size, config.length_penalty, config.cached)
    all_ids = decode_all(model, sentences, src_vocab, config, search, diagonal=diagonal, progress=progress)
    all_tokens = [tgt_vocab.decode(ids or []) for ids in all_ids]
    return [" ".join(tokens) if subwords else package.vocab.join_subwords(tokens) for tokens in all_tokens]


def decode_all(
    model: package.model.Transformer,
    sentences: list[list[str]],
    src_vocab: package.vocab.Vocabulary,
    config: Config,
    search: Search,
    *,
    diagonal: Tensor | None = None,
    progress: bool = False,
) -> list[list[int] | None]:
    """Decodes sentences in batches: what the search finds for each, None for an empty one; arguments of `translate`."""
    device, vocab = next(model.parameters()).device, package.vocab
    special = {"bos_id": vocab.BOS_ID, "eos_id": vocab.EOS_ID, "pad_id": vocab.PAD_ID}
    found: list[list[int] | None] = [None] * len(sentences)
    with tqdm(total=len(sentences), unit="sentence", disable=None if progress else True, leave=False, delay=1) as bar:
        for indices in batches_by_length(sentences, config.beam_size):
            src = package.data.pad_ids([src_vocab.encode(sentences[index]) for index in indices]).to(device)
            src_mask = package.masks.padding_mask(src, vocab.PAD_ID)
            encoder_mask = package.data.restrict_to_diagonal(src_mask, diagonal)
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


@torch.no_grad()
def forced_decode(
    model: package.model.Transformer, batch: package.data.Batch
) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """Runs the model, in eval mode, on pairs whose translations are given.

    Returns:
        Log-probabilities (b, t, classes), and the attention weights of each layer: `encoder` (b, h, s, s),
        `decoder` (b, h, t, t) and `cross` (b, h, t, s).
    """
    model.eval()
    memory, encoder = model.encode(batch.src, batch.encoder_mask)
    output, decoder, cross = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)
    return model.get_predictions(output), {"encoder": encoder, "decoder": decoder, "cross": cross}


def bleu(translations: list[str], references: list[str]) -> float:
    """Computes corpus BLEU, between 0 and 1, of lines that are already tokenized (Papineni et al. 2002).

    `grade.py` computes the same BLEU and adds its interval and the thresholds.
    """
    import sacrebleu  # here, because only this function needs it and it is slow to load

    return sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True).score / 100


def add_checkpoint_flag(parser: argparse.ArgumentParser) -> None:
    """Adds `--checkpoint`."""
    default = Path("runs/latest/best.pt")
    parser.add_argument("--checkpoint", type=Path, default=default, help="a file that `train` saved")


def load_model(options: argparse.Namespace) -> tuple[Checkpoint, package.model.Transformer]:
    """Loads the checkpoint and its model, ready to translate.

    Raises: CheckpointError if the file is missing, or does not fit the model.
    """
    saved = Checkpoint.load(options.checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).to(options.device)
    saved.load_weights(model, options.checkpoint)
    return saved, model.eval()


def note_unknown(place: Path | str, sentences: list[list[str]], vocabulary: package.vocab.Vocabulary) -> None:
    """Prints a note if many tokens are unknown: their translation will be nonsense."""
    ids = [index for sentence in sentences for index in vocabulary.encode(sentence)]
    n_unknown = ids.count(package.vocab.UNK_ID)
    if n_unknown > MOST_UNKNOWN * len(ids):
        why = "is the text from another corpus, or not split into the subwords of this one?"
        share = f"{n_unknown / len(ids):.0%} of the tokens are not in the checkpoint's vocabulary"
        note(f"{place}: {share}; {why}")


def note(text: str) -> None:
    """Prints a note for the user."""
    print(f"{package.name()}: note: {text}", file=sys.stderr)


class Development:
    """The dev pairs, and what is measured on them."""

    def __init__(
        self,
        pairs: Sequence[package.data.Pair],
        vocabularies: tuple[package.vocab.Vocabulary, package.vocab.Vocabulary],
        config: Config,
        diagonal: Tensor | None,
    ) -> None:
        """Takes the pairs, the run's source and target vocabularies, its settings and its diagonal mask."""
        self.pairs, self.vocabularies, self.config, self.diagonal = pairs, vocabularies, config, diagonal
        size = min(BATCH_SIZE, MOST_SCORES // len(vocabularies[1]) or 1)
        self.loader = package.data.BatchLoader(pairs, *vocabularies, size, bucketing=True, diagonal=diagonal)
        self.references = [package.vocab.join_subwords(target) for _, target in pairs]

    def translate(self, model: package.model.Transformer, count: int | None = None) -> list[str]:
        """Translates the sources, or the first `count` of them, into subwords separated by spaces."""
        sources, diagonal = [source for source, _ in self.pairs[:count]], self.diagonal
        return translate(model, sources, *self.vocabularies, self.config, diagonal=diagonal, subwords=True)

    @torch.no_grad()
    def loss(self, model: package.model.Transformer, criterion: nn.Module) -> float:
        """Computes the mean loss of the batches, in eval mode."""
        device = next(model.parameters()).device
        losses = []
        for batch in self.loader.epoch(0):
            batch = batch.to(device)
            log_probs, _ = forced_decode(model, batch)
            losses.append(criterion(log_probs.transpose(1, 2), batch.labels))
        return torch.stack(losses).mean().item()

    def samples(self, translations: list[str], count: int, seed: str, marks: bool = False) -> list[str]:
        """Picks sentences at random, by the seed, and shows what became of them: source, translation, reference.

        With `marks`, they are shown in subwords.
        """
        generator = random.Random(seed)  # noqa: S311  # draws samples
        lines = []
        for index in sorted(generator.sample(range(len(self.pairs)), min(count, len(self.pairs)))):
            source, reference = self.pairs[index]
            shown = (source, translations[index].split(), reference)
            texts = (" ".join(tokens) if marks else package.vocab.join_subwords(tokens) for tokens in shown)
            lines += [f"    {sign}{text}" for sign, text in zip(("", "-> ", "== "), texts, strict=True)]
        return lines


@dataclass
class Watched:
    """A sentence pair, and what the model attended to in it so far.

    The target is fixed, so that the pictures of different times show the same tokens.
    """

    source: list[str]
    target: list[str]
    epochs: list[float] = field(default_factory=list)  # when: 0 = before the first step
    weights: list[dict[str, Tensor]] = field(default_factory=list)  # then: (n_layers, h, q, k) by kind of attention

    def look(self, model: package.model.Transformer, batch: package.data.Batch, epoch: float) -> None:
        """Records the weights for the pair, as a batch, in the model as it is now; draws no random numbers."""
        self.epochs.append(epoch)
        self.weights.append({kind: torch.cat(layers).cpu() for kind, layers in forced_decode(model, batch)[1].items()})


def find_pair(sentence: str, pairs: Iterable[package.data.Pair]) -> Watched:
    """Makes the pair to watch from `source|||target`, or from the source of one of `pairs`.

    Raises: ConfigError if there is no target, or more than one; DataError if a side is too long.
    """
    source, *targets = (side.split() for side in sentence.split(package.data.SEPARATOR))
    if not targets:
        targets = list(islice((target for other, target in pairs if other == source), 1))
        if not targets:
            raise ConfigError(
                f"{sentence!r} is not a source of the training or dev pairs: add its translation, as `source|||target`"
            )
    if len(targets) > 1 or not source or not targets[0]:
        raise ConfigError(f"{sentence!r}: expected `source|||target`")
    for side, tokens in (("source", source), ("target", targets[0])):
        package.data.check_length(repr(sentence), side, tokens)
    return Watched(source, targets[0])
