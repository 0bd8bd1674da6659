"""Tables of probabilities whose best translation is known, and searches in them."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.testing.case import SubmissionUnderTest
from autograder.testing.comparison import describe, expect_parts, fail
from autograder.testing.results import observing
from foundation.texts import printable

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
        self._noticed, self._searched = "", dict[str, Any]()  # by the last search: what it did wrong, and its arguments

    def say(self, sentence: int, *rows: str) -> None:
        """Sets probabilities of next tokens, as in "1 w0: w1 0.7, eos 0.3": at position 1, after w0.

        A range "w2-w4" stands for w2, w3 and w4, each with that probability. What is not named almost never comes.
        """
        for row in rows:
            place, _, probabilities = row.partition(": ")
            position, before = place.split()
            pairs = [pair.split() for pair in probabilities.split(", ")]
            for token in self.tokens(before):
                self._rows[sentence, int(position), token].fill(ALMOST_NEVER)
                for names, probability in pairs:
                    self._rows[sentence, int(position), token, self.tokens(names)] = math.log(float(probability))

    def tokens(self, names: str) -> list[int]:
        """The ids of "bos", of "eos", of the word "w3", or of a range of words."""
        if names in ("bos", "eos"):
            return [self.bos if names == "bos" else self.eos]
        first, _, last = names.replace("w", "").partition("-")
        return self.words[int(first) : int(last or first) + 1]

    def search(self, submission: SubmissionUnderTest, sentences: list[int], **settings: Any) -> list[list[int]]:
        """The ids that the submission's search finds for these sentences, as one batch; see `described`."""
        lines, _ = self.run(submission, self.described(sentences, **settings))
        return read_lines(lines, len(sentences))

    def run(self, submission: SubmissionUnderTest, how: dict[str, Any]) -> tuple[Any, Any]:
        """Run a search as described: what it returns, and the mode that it leaves the model in."""
        returned = submission.apply("search", COMPONENT, how)
        lines, mode, noticed = expect_parts(returned, ("translations", "mode", "notes"), "what comes back")
        self._searched, self._noticed = how, printable(str(noticed))
        return lines, mode

    def compare(self, returned: list[list[int]], wanted: list[list[int]], label: str, look_at: str) -> None:
        """Fail unless these ids were found by the last search."""
        for number, (ids, due) in enumerate(zip(returned, wanted, strict=True)):
            if ids != due:
                with observing(partial(self._observe, returned, wanted, number)):
                    fail(f"sentence {number + 1} of {len(wanted)}: {label}", f"{due}", f"{ids}"[:500], look_at)

    def _observe(self, all_returned: list[list[int]], all_wanted: list[list[int]], number: int) -> str:
        """Name what is to be seen in ids that were found in place of others."""
        returned, wanted = all_returned[number], all_wanted[number]
        if self._noticed:
            return self._noticed
        for name, special in (("bos", self.bos), ("eos", self.eos), ("padding", self.pad)):
            if special in returned:
                return f"{name}, {special}, is in what was returned"
        parts = [self._log_p_and_length(number, ids) for ids in (returned, wanted)]
        if math.isfinite(sum(log_p for log_p, _ in parts)):
            scores = [log_p / length**self._penalty for log_p, length in parts]
            of_returned, of_wanted = (
                f"{log_p:.4g} / {length} ** {self._penalty:g} = {score:.4g}"
                for (log_p, length), score in zip(parts, scores, strict=True)
            )
            out_of_reach = "; it is better, but the search should not get there" * (scores[0] > scores[1])
            how = "log p / length ** length_penalty, with eos"
            return f"its score ({how}) is {of_returned}; that of the expected ids is {of_wanted}{out_of_reach}"
        if returned in all_wanted:
            return f"this is the translation of sentence {all_wanted.index(returned) + 1}"
        if returned == wanted[: len(returned)]:
            return f"the last {len(wanted) - len(returned)} ids are missing: does the search end too early?"
        return f"there are {len(returned) - len(wanted)} ids too many" * bool(
            wanted and wanted == returned[: len(wanted)]
        )

    @property
    def _penalty(self) -> float:
        """The length penalty of the last search."""
        return float(self._searched["options"].get("length_penalty", 0.6))

    def _log_p_and_length(self, number: int, ids: list[int]) -> tuple[float, int]:
        """Of ids as the translation of a sentence of the last search, with eos; -inf for what almost never comes."""
        tokens = [*ids, self.eos][: self._searched["options"]["max_length"]]
        rows = self.table[self._searched["given"][0][number, 0]]
        steps = zip([self.bos, *tokens[:-1]], tokens, strict=True)
        total = sum(float(rows[min(n, len(rows) - 1), before, token]) for n, (before, token) in enumerate(steps))
        return total if total > ALMOST_NEVER else -math.inf, len(tokens)

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
        """A search of sentences, by their numbers, as `stand_ins.search` takes it.

        Source masks are (sentences, 1, 1, s), None = all may be attended to; those of the encoder (sentences, 1, s, s),
        or one for all, None = not passed. `length` is that of the sources; with `is_mixed`, a part of the model is in
        the other mode. The options are further arguments for the search.
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


def read_lines(returned: object, count: int) -> list[list[int]]:
    """The lists of ids; fails where the search returns something else."""
    label, wanted = "what the search returns", f"a list of {count} lists of ids"
    if not isinstance(returned, (list, tuple)) or len(returned) != count:
        fail(label, wanted, describe(returned))
    for line in returned:
        if not isinstance(line, (list, tuple)) or not all(type(token) is int for token in line):
            fail(label, wanted, f"{describe(line)} in the list", "ids are whole numbers: .tolist()")
    return [list(line) for line in returned]


def garden_path(p: float = 0.6) -> list[str]:
    """The most probable first word leads to ten equally likely endings; the other one to a single certain ending."""
    return [f"0 bos: w0 {p}, w1 {1 - p}", "1 w0: w2-w11 0.1", "1 w1: w2 1", "2 w2-w11: eos 1"]


WIDE_PATH = [
    "0 bos: " + ", ".join(f"w{i} {0.09 - i / 1000}" for i in range(12)),
    "1 w0-w10: w1 0.11, w2-w9 0.1",
    "1 w11: w0 1",
    "2 w0-w9: eos 1",
]
"""Eleven first words are more probable than the one with the best ending; each of them has many endings."""

WIDER_PATH = [
    "0 bos: w0 0.48, w1 0.46, w2 0.04",
    "1 w0-w1: w3-w11 0.11",
    "1 w2: w2 1",
    "2 w3-w11: w0-w10 0.09",
    "3 w0-w10: eos 1",
    "2 w2: eos 1",
]
"""Eighteen beginnings of two words, more than there are words, are more probable than the one that ends best."""

CROWDED_PATH = [
    "0 bos: w0 0.9, w1 0.05",
    "1 w0: w2 0.3, w3 0.25, w4 0.2, w5 0.13, w6 0.1",
    "1 w1: w7 1",
    *(f"2 {words}: w0-w10 0.09" for words in ("w2-w4", "w6-w7")),
    "3 w0-w10: eos 1",
    "2 w5: eos 1",
]
"""The first word is almost certain, and the fourth of its five continuations ends best."""

FOURTH_AND_FIFTH_BEST = [
    "0 bos: w0 0.24, w1 0.23, w2 0.22, w3 0.17, w4 0.14",
    *("1 w0-w2: w2-w11 0.1", "1 w3: w2 1", "1 w4: w5 1", "2 w5: w6 1", "3 w6: w7 1"),
    *("2 w2-w4: eos 1", "2 w6-w11: eos 1", "4 w7: eos 1"),
]
"""The fourth word leads to a good translation, the fifth to a better one; the first three have many endings."""


def short_or_long(step: float) -> list[str]:
    """Two translations, of 2 tokens (log p = log 0.5) and of 5 (log p = log(0.5 * step ** 3)), eos counted."""
    steps = [f"{n} w{n}: w{n + 1} {step}, w9 {1 - step}" for n in (1, 2, 3)]
    return ["0 bos: w0 0.5, w1 0.5", "1 w0: eos 1", *steps, *(f"{n} w9: eos 1" for n in (2, 3, 4)), "4 w4: eos 1"]


def endless(tables: Tables, refrain: list[int]) -> list[str]:
    """The words of a refrain, by their ids, follow each other for ever."""
    names = [f"w{tables.words.index(token)}" for token in refrain]
    pairs = [*zip(names, [*names[1:], names[0]], strict=True)]
    positions = range(1, tables.table.size(1))  # the last of them counts for all later ones
    return [f"0 bos: {names[0]} 1", *(f"{n} {before}: {after} 1" for n in positions for before, after in pairs)]


def eight_sentences(special: tuple[int, int, int]) -> Tables:
    """Tables of all kinds."""
    tables = Tables(8, special=special)
    one_way = ["0 bos: w5 1", *(f"{n} w{n + 4}: w{n + 5} 1" for n in range(1, 6)), "6 w10: eos 1"]
    kinds = {0: garden_path(), 1: ["0 bos: eos 1"], 2: one_way, 3: WIDE_PATH, 6: WIDER_PATH, 7: CROWDED_PATH}
    kinds |= {sentence: endless(tables, refrain) for sentence, refrain in refrains(tables).items()}
    for sentence, rows in kinds.items():
        tables.say(sentence, *rows)
    return tables


def refrains(tables: Tables) -> dict[int, list[int]]:
    """Of endless sentences: some last words have an id as small as an index, or as large as max_length."""
    return {4: sorted(tables.words)[:3], 5: [10, 11, 12]}


def translations_of(tables: Tables, sentences: list[int], beam_size: int, max_length: int) -> list[list[int]]:
    """The right translations of sentences of `eight_sentences`."""
    whole = {0: tables.ids(1, 2) if max_length > 1 else tables.ids(0), 1: [], 2: tables.ids(*range(5, 11))}
    whole[3] = tables.ids(11, 0) if max_length > 1 and beam_size > 11 else tables.ids(0, 1)
    whole |= {6: tables.ids(2, 2), 7: tables.ids(0, 5)}
    whole |= {sentence: refrain * max_length for sentence, refrain in refrains(tables).items()}
    return [whole[sentence][:max_length] for sentence in sentences]
