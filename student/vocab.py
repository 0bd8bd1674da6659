"""The vocabulary of one language: tokens to ids and back.

A vocabulary is built from the training split alone. Any token that does not occur there is `<unk>`.
"""

from collections.abc import Iterable, Mapping

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIAL_TOKENS = (PAD, BOS, EOS, UNK)
PAD_ID, BOS_ID, EOS_ID, UNK_ID = range(len(SPECIAL_TOKENS))

SEPARATOR = "|||"  # between source and target in a line of a corpus
CONTINUES = "@@"  # marks a subword that the next one continues: `trans@@ la@@ tion`


class Vocabulary:
    """A fixed list of tokens; the special ones come first and have the ids given above."""

    def __init__(self, tokens: Iterable[str]) -> None:
        """Takes the ordinary tokens, in the order of their ids."""
        self.tokens = [*SPECIAL_TOKENS, *tokens]
        self.ids = {token: index for index, token in enumerate(self.tokens)}

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], min_count: int = 1) -> "Vocabulary":
        """Collects the tokens that occur at least `min_count` times, the most frequent first.

        A special token in the text has no special meaning there: it becomes UNK_ID.
        """
        frequent = [token for token, count in counts.items() if count >= min_count and token not in SPECIAL_TOKENS]
        return cls(sorted(frequent, key=lambda token: (-counts[token], token)))

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, sentence: list[str]) -> list[int]:
        """Converts tokens to ids; an unknown token becomes UNK_ID."""
        ids = (self.ids.get(token, UNK_ID) for token in sentence)
        return [index if index >= len(SPECIAL_TOKENS) else UNK_ID for index in ids]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Converts ids to tokens, special ones included."""
        return [self.tokens[index] for index in ids]


def join_subwords(tokens: Iterable[str]) -> str:
    """Undoes the byte-pair encoding (Sennrich et al. 2016): ["trans@@", "lation", "."] -> "translation ."."""
    text = "".join(token.removesuffix(CONTINUES) if token.endswith(CONTINUES) else token + " " for token in tokens)
    return text.strip()
