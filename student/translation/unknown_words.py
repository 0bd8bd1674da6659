"""Source words in place of `<unk>`: the word that cross-attention looks at is often a name, and right as it is.

The method is that of Jean et al. 2015, "On Using Very Large Target Vocabulary", without a dictionary.
"""

import torch
from torch import Tensor

from ..data import Batch
from ..model import Transformer
from ..vocab import CONTINUES, UNK, UNK_ID, Vocabulary, join_subwords
from .translate import forced_decode


def replace_unknown(
    model: Transformer,
    source: list[str],
    translations: list[list[int]],
    src_vocab: Vocabulary,
    tgt_vocab: Vocabulary,
    diagonal: Tensor | None = None,
) -> list[list[str]]:
    """Puts the source word with the highest cross-attention in the place of each unknown token.

    The weights are averaged over all heads of all layers.

    Args:
        model: that made the translations.
        source: tokens of one sentence.
        translations: of this sentence, as ids without bos and eos.
        src_vocab: the source vocabulary of the model.
        tgt_vocab: the target vocabulary of the model.
        diagonal: the mask that the model was trained with, or None.

    Returns:
        The tokens of each translation.
    """
    all_tokens = [tgt_vocab.decode(ids) for ids in translations]
    if not any(UNK_ID in ids for ids in translations):
        return all_tokens
    batch = Batch.from_ids([src_vocab.encode(source)] * len(translations), translations, diagonal)
    _, weights = forced_decode(model, batch.to(next(model.parameters()).device))
    best = torch.stack(weights["cross"]).mean(dim=(0, 2)).argmax(dim=-1)  # (b, t): a source position for each token
    return [
        [
            word_at(source, position) if token == UNK else token
            for token, position in zip(tokens, positions, strict=False)
        ]
        for tokens, positions in zip(all_tokens, best.tolist(), strict=True)
    ]


def word_at(tokens: list[str], position: int) -> str:
    """Returns the whole word that the token at `position` is a piece of."""
    first, last = position, position
    while first > 0 and tokens[first - 1].endswith(CONTINUES):
        first -= 1
    while last + 1 < len(tokens) and tokens[last].endswith(CONTINUES):
        last += 1
    return join_subwords(tokens[first : last + 1])
