"""How good a model is on dev (translations, loss, sentences to read), and where it attends as training goes on."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor, nn

from . import package
from .config import Config, ConfigError
from .decoding import forced_decode, translate

BATCH_SIZE = 128  # for the loss
MOST_SCORES = 2**19  # of a batch for each position: sentences times tokens of the vocabulary; it limits memory


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
