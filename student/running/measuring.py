"""How good a model is on dev: its translations, its loss, and a few sentences to read."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..data import BatchLoader, Pair
from ..model import Transformer
from ..translation.translate import forced_decode, translate
from ..vocab import Vocabulary, join_subwords
from .config import Config

BATCH_SIZE = 128  # for the loss
MOST_SCORES = 2**19  # of a batch for each position: sentences times tokens of the vocabulary; it limits memory


class Development:
    """The dev pairs, and what is measured on them."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        vocabularies: tuple[Vocabulary, Vocabulary],
        config: Config,
        diagonal: Tensor | None,
    ) -> None:
        """Takes the pairs, the run's source and target vocabularies, its settings and its diagonal mask."""
        self.pairs, self.vocabularies, self.config, self.diagonal = pairs, vocabularies, config, diagonal
        size = min(BATCH_SIZE, MOST_SCORES // len(vocabularies[1]) or 1)
        self.loader = BatchLoader(pairs, *vocabularies, size, bucketing=True, diagonal=diagonal)
        self.references = [join_subwords(target) for _, target in pairs]

    def translate(self, model: Transformer, count: int | None = None) -> list[str]:
        """Translates the sources, or the first `count` of them, into subwords separated by spaces."""
        sources, diagonal = [source for source, _ in self.pairs[:count]], self.diagonal
        return translate(model, sources, *self.vocabularies, self.config, diagonal=diagonal, subwords=True)

    @torch.no_grad()
    def loss(self, model: Transformer, criterion: nn.Module) -> float:
        """Computes the mean loss of the batches, in eval mode."""
        device = next(model.parameters()).device
        losses = []
        for batch in self.loader.epoch(0):
            batch = batch.to(device)
            log_probs, _ = forced_decode(model, batch)
            losses.append(criterion(log_probs.transpose(1, 2), batch.labels))
        return torch.stack(losses).mean().item()

    def samples(self, translations: list[str], count: int, seed: str, marks: bool = False) -> list[str]:
        """Picks sentences at random and shows what became of them.

        Args:
            translations: of all sources, in subwords.
            count: how many to show.
            seed: decides which.
            marks: keep the byte-pair marks.

        Returns:
            Three lines a sentence: source, translation, reference.
        """
        generator = random.Random(seed)  # noqa: S311  # draws samples
        lines = []
        for index in sorted(generator.sample(range(len(self.pairs)), min(count, len(self.pairs)))):
            source, reference = self.pairs[index]
            shown = (source, translations[index].split(), reference)
            texts = (" ".join(tokens) if marks else join_subwords(tokens) for tokens in shown)
            lines += [f"    {sign}{text}" for sign, text in zip(("", "-> ", "== "), texts, strict=True)]
        return lines
