"""Attention through training time: the weights of one sentence pair, before the first step and at each report."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor

from ..data import Batch, Pair, check_length
from ..model import Transformer
from ..translation.translate import forced_decode
from ..vocab import Vocabulary
from .config import ConfigError


@dataclass
class Watched:
    """A sentence pair, and what the model attended to in it so far.

    The target is fixed, so that the pictures of different times show the same tokens.
    """

    source: list[str]
    target: list[str]
    epochs: list[float] = field(default_factory=list)  # when: 0 = before the first step
    weights: list[dict[str, Tensor]] = field(default_factory=list)  # then: (n_layers, h, q, k) by kind of attention

    def look(
        self,
        model: Transformer,
        src_vocab: Vocabulary,
        tgt_vocab: Vocabulary,
        diagonal: Tensor | None,
        epoch: float,
    ) -> None:
        """Records the weights of the model as it is now, in eval mode; draws no random numbers."""
        batch = Batch.from_ids([src_vocab.encode(self.source)], [tgt_vocab.encode(self.target)], diagonal)
        _, weights = forced_decode(model, batch.to(next(model.parameters()).device))
        self.epochs.append(epoch)
        self.weights.append({kind: torch.cat(layers).cpu() for kind, layers in weights.items()})


def find_pair(sentence: str, pairs: Iterable[Pair]) -> Watched:
    """Makes the pair to watch from `source|||target`, or from the source of one of `pairs`.

    Raises:
        ConfigError: if there is no target, or more than one.
        DataError: if a side is too long.
    """
    source, *targets = (side.split() for side in sentence.split("|||"))
    if not targets:
        targets = list(islice((target for other, target in pairs if other == source), 1))
        if not targets:
            raise ConfigError(
                f"{sentence!r} is not a source of the training or dev pairs: add its translation, as `source|||target`"
            )
    if len(targets) > 1 or not source or not targets[0]:
        raise ConfigError(f"{sentence!r}: expected `source|||target`")
    for side, tokens in (("source", source), ("target", targets[0])):
        check_length(repr(sentence), side, tokens)
    return Watched(source, targets[0])
