"""Tables of probabilities whose best translation is known, and searches in them."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.testing.comparison import describe, expect_parts, fail
from autograder.testing.results import observing
from autograder.testing.submission import SubmissionUnderTest

COMPONENT = "decode.beam_decode"
VOCAB, PAD, BOS, EOS = 16, 4, 1, 3  # other ids than the assignment's, which a search might have hard-coded
ALMOST_NEVER = -30.0  # the log-probability of all that a table does not name


class Tables:
    """Next-token probabilities of several sentences, named by their first source token."""

    def __init__(self, n_sentences: int, n_positions: int = 8, special: tuple[int, int, int] = (PAD, BOS, EOS)) -> None:
        self.table = torch.full((n_sentences, n_positions, VOCAB, VOCAB), ALMOST_NEVER, dtype=torch.float64)
        self.pad, self.bos, self.eos = special
        self.table[..., self.eos] = 2 * ALMOST_NEVER  # a sentence that strays from the tables does not end
        self._rows = self.table.numpy()  # the same memory: single numbers are written faster this way
        self.words = [token for token in torch.randperm(VOCAB).tolist() if token not in special]

    def say(self, sentence: int, position: int, after: int, **probabilities: float) -> None:
        """Sets the probabilities of what follows the token `after` at a position, by name: `eos` or `w0`, `w1`, …."""
        row = self._rows[sentence, position, after]
        row.fill(ALMOST_NEVER)
        for name, probability in probabilities.items():
            row[self.eos if name == "eos" else self.words[int(name[1:])]] = math.log(probability)

    def search(self, submission: SubmissionUnderTest, sentences: list[int], **settings: Any) -> list[list[int]]:
        """Runs the submission's search for these sentences as one batch; see `described`.

        Returns:
            A list of ids for each sentence.
        """
        lines, _ = run_search(submission, self.described(sentences, **settings))
        return read_lines(lines, len(sentences))

    def compare(self, found: list[list[int]], wanted: list[list[int]], what: str, look_at: str) -> None:
        """Fails unless these ids were found."""
        for number, (one, other) in enumerate(zip(found, wanted, strict=True), start=1):
            if one != other:
                with observing(partial(self._observe, one, other)):
                    fail(f"sentence {number} of {len(wanted)}: {what}", f"{other}", f"{one}"[:500], look_at)

    def _observe(self, found: list[int], wanted: list[int]) -> str:
        """Says what is to be seen in ids that were found in place of others."""
        for name, special in (("bos", self.bos), ("eos", self.eos), ("padding", self.pad)):
            if special in found:
                return f"{name}, {special}, is in what was returned"
        if found == wanted[: len(found)]:
            return f"the last {len(wanted) - len(found)} ids are missing"
        return f"there are {len(found) - len(wanted)} ids too many" * bool(wanted and wanted == found[: len(wanted)])

    def described(
        self,
        sentences: list[int],
        is_training: bool = False,
        masks: Tensor | None = None,
        encoder_masks: Tensor | None = None,
        max_length: int = 7,
        length: int = 3,
        is_mixed: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """A search as `stand_ins.search` takes it.

        Args:
            sentences: their numbers.
            is_training: the mode in which the search gets the model.
            masks: (sentences, 1, 1, 3), the source mask of each; None = every position may be attended to.
            encoder_masks: (sentences, 1, 3, 3), passed as encoder_mask; or one for all, (3, 3) or (1, 1, 3, 3); None =
                not passed.
            max_length: for the search.
            length: of the sources.
            is_mixed: whether a part of the model is in the other mode.
            options: further arguments for the search.
        """
        if masks is None:
            masks = torch.ones(self.table.size(0), 1, 1, length, dtype=torch.bool)
        expected_masks = masks
        if encoder_masks is not None:
            expected_masks = encoder_masks.expand(self.table.size(0), 1, length, length)
            is_shared = encoder_masks.dim() == 2 or len(encoder_masks) == 1
            options["encoder_mask"] = encoder_masks if is_shared else encoder_masks[sentences]
        ids: dict[str, Any] = {"bos_id": self.bos, "eos_id": self.eos, "pad_id": self.pad}
        src = torch.tensor([[sentence, 3, 4][:length] for sentence in sentences])
        return {
            "oracle": (self.table, self.words[-1], expected_masks, masks),
            "is_training": is_training,
            "given": (src, masks[sentences]),
            "options": {**ids, "max_length": max_length, **options},
            "is_mixed": is_mixed,
        }

    def ids(self, *numbers: int) -> list[int]:
        """The ids of the words w0, w1, … with these numbers."""
        return [self.words[number] for number in numbers]


def run_search(submission: SubmissionUnderTest, how: dict[str, Any]) -> tuple[Any, Any]:
    """What a search returns, and the mode that it leaves the model in."""
    found = submission.apply("search", COMPONENT, how)
    lines, mode = expect_parts(found, ("translations", "mode"), "what comes back")
    return lines, mode


def read_lines(found: object, count: int) -> list[list[int]]:
    """The lists of ids; fails where the search returns something else."""
    what, wanted = "what the search returns", f"a list of {count} lists of ids"
    if not isinstance(found, (list, tuple)) or len(found) != count:
        fail(what, wanted, describe(found))
    for line in found:
        if not isinstance(line, (list, tuple)) or not all(type(token) is int for token in line):
            fail(what, wanted, f"{describe(line)} in the list", "ids are whole numbers: .tolist()")
    return [list(line) for line in found]


def garden_path(tables: Tables, sentence: int, p: float = 0.6) -> None:
    """The most probable first word leads to ten equally likely endings; the other one to a single certain ending."""
    tables.say(sentence, 0, tables.bos, w0=p, w1=1 - p)
    tables.say(sentence, 1, tables.words[0], **{f"w{i}": 0.1 for i in range(2, 12)})
    tables.say(sentence, 1, tables.words[1], w2=1.0)
    for word in range(2, 12):
        tables.say(sentence, 2, tables.words[word], eos=1.0)


def wide_path(tables: Tables, sentence: int) -> None:
    """Eleven first words are more probable than the one with the best ending; each of them has many endings."""
    tables.say(sentence, 0, tables.bos, **{f"w{i}": 0.09 - i / 1000 for i in range(12)})
    for word in range(11):
        tables.say(sentence, 1, tables.words[word], w1=0.11, **{f"w{i}": 0.1 for i in range(2, 10)})
    tables.say(sentence, 1, tables.words[11], w0=1.0)
    for word in range(10):
        tables.say(sentence, 2, tables.words[word], eos=1.0)


def many_endings(tables: Tables, sentence: int, words: Iterable[int]) -> None:
    """Each of these second words leads to eleven third ones, which end the sentence."""
    for word in words:
        tables.say(sentence, 2, tables.words[word], **{f"w{i}": 0.09 for i in range(11)})
    for word in range(11):
        tables.say(sentence, 3, tables.words[word], eos=1.0)


def wider_path(tables: Tables, sentence: int) -> None:
    """Eighteen beginnings of two words, more than there are words, are more probable than the one that ends best."""
    tables.say(sentence, 0, tables.bos, w0=0.48, w1=0.46, w2=0.04)
    for word in range(2):
        tables.say(sentence, 1, tables.words[word], **{f"w{i}": 0.11 for i in range(3, 12)})
    tables.say(sentence, 1, tables.words[2], w2=1.0)
    many_endings(tables, sentence, range(3, 12))
    tables.say(sentence, 2, tables.words[2], eos=1.0)


def crowded_path(tables: Tables, sentence: int) -> None:
    """The first word is almost certain, and the fourth of its five continuations ends best."""
    tables.say(sentence, 0, tables.bos, w0=0.9, w1=0.05)
    tables.say(sentence, 1, tables.words[0], w2=0.3, w3=0.25, w4=0.2, w5=0.13, w6=0.1)
    tables.say(sentence, 1, tables.words[1], w7=1.0)
    many_endings(tables, sentence, (2, 3, 4, 6, 7))
    tables.say(sentence, 2, tables.words[5], eos=1.0)


def fourth_and_fifth_best(tables: Tables, sentence: int) -> None:
    """The fourth word leads to a good translation, the fifth to a better one; the first three have many endings."""
    tables.say(sentence, 0, BOS, w0=0.24, w1=0.23, w2=0.22, w3=0.17, w4=0.14)
    for word in range(3):
        tables.say(sentence, 1, tables.words[word], **{f"w{i}": 0.1 for i in range(2, 12)})
    for position, (before, after) in enumerate(((4, 5), (5, 6), (6, 7)), start=1):
        tables.say(sentence, position, tables.words[before], **{f"w{after}": 1.0})
    tables.say(sentence, 1, tables.words[3], w2=1.0)
    for position, words in ((2, (2, 3, 4, *range(6, 12))), (4, (7,))):
        for word in words:
            tables.say(sentence, position, tables.words[word], eos=1.0)


def short_or_long(tables: Tables, sentence: int, step: float) -> None:
    """Two translations, of 2 tokens (log p = log 0.5) and of 5 (log p = log(0.5 * step ** 3)), eos counted."""
    tables.say(sentence, 0, tables.bos, w0=0.5, w1=0.5)
    tables.say(sentence, 1, tables.words[0], eos=1.0)
    for position, (before, after) in enumerate(((1, 2), (2, 3), (3, 4)), start=1):
        tables.say(sentence, position, tables.words[before], **{f"w{after}": step, "w9": 1 - step})
        tables.say(sentence, position + 1, tables.words[9], eos=1.0)
    tables.say(sentence, 4, tables.words[4], eos=1.0)


def endless(tables: Tables, sentence: int, refrain: list[int]) -> None:
    """The words of a refrain, by their ids, follow each other for ever."""
    names = [f"w{tables.words.index(token)}" for token in refrain]
    tables.say(sentence, 0, tables.bos, **{names[0]: 1.0})
    for position in range(1, tables.table.size(1)):  # the last of them counts for all later ones
        for number, token in enumerate(refrain):
            tables.say(sentence, position, token, **{names[(number + 1) % len(names)]: 1.0})


def eight_sentences(special: tuple[int, int, int]) -> Tables:
    """Tables of all kinds."""
    tables = Tables(8, special=special)
    garden_path(tables, 0)
    tables.say(1, 0, tables.bos, eos=1.0)
    tables.say(2, 0, tables.bos, w5=1.0)
    for position, before in enumerate(range(5, 10), start=1):
        tables.say(2, position, tables.words[before], **{f"w{before + 1}": 1.0})
    tables.say(2, 6, tables.words[10], eos=1.0)
    wide_path(tables, 3)
    for sentence, refrain in refrains(tables).items():
        endless(tables, sentence, refrain)
    wider_path(tables, 6)
    crowded_path(tables, 7)
    return tables


def refrains(tables: Tables) -> dict[int, list[int]]:
    """Of endless sentences: some last words have an id as small as an index, or as large as max_length."""
    return {4: sorted(tables.words)[:3], 5: [10, 11, 12]}


def translations_of(tables: Tables, sentences: list[int], beam_size: int, max_length: int) -> list[list[int]]:
    """What a right search finds for sentences of `eight_sentences`."""
    whole = {0: tables.ids(1, 2) if max_length > 1 else tables.ids(0), 1: [], 2: tables.ids(*range(5, 11))}
    whole[3] = tables.ids(11, 0) if max_length > 1 and beam_size > 11 else tables.ids(0, 1)
    whole |= {6: tables.ids(2, 2), 7: tables.ids(0, 5)}
    whole |= {sentence: refrain * max_length for sentence, refrain in refrains(tables).items()}
    return [whole[sentence][:max_length] for sentence in sentences]
