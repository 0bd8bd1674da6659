"""Extension E.3: beam search, on tables of probabilities whose best translation is known."""

import math
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.assignment.checks.sizes_in_code import numbers_tried
from autograder.testing.case import Case
from autograder.testing.comparison import describe, expect, expect_parts, fail
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_e_3

COMPONENT = "decode.beam_decode"
MOST_TOKENS = 60
"""Of translations whose length a number in the code may be about."""
TOGETHER = 8
"""So many searches share the time that one call may take: a right search may be slow."""
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
        [(lines, _)] = search_in_turn(submission, [self.described(sentences, **settings)])
        return read_lines(lines, len(sentences))

    def described(
        self,
        sentences: list[int],
        is_training: bool = True,
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


def search_in_turn(submission: SubmissionUnderTest, searches: list[dict[str, Any]]) -> list[list[Any]]:
    """What each search returns, and the mode that it leaves the model in; `TOGETHER` of them from one request."""
    function, results = submission.function(COMPONENT), []
    for first in range(0, len(searches), TOGETHER):
        some = searches[first : first + TOGETHER]
        found = submission.apply("search_in_turn", function, some)
        several = expect_parts(found, [f"search {number + 1}" for number in range(len(some))], "what comes back")
        results += [expect_parts(one, ("translations", "mode"), "what comes back") for one in several]
    return results


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


@pytest.mark.core
def test_finds_what_greedy_search_misses(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(1)
    garden_path(tables, 0, case.number(0.55, 0.75))
    found = tables.search(submission, [0], beam_size=case.size(2, 4))
    look_at = "a hypothesis of lower probability must stay in the beam, with its probability so far"
    expect(found == [tables.ids(1, 2)], "a sentence on a garden path", f"{[tables.ids(1, 2)]}", f"{found}", look_at)


@pytest.mark.core
def test_beam_of_one_is_greedy(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(2)
    garden_path(tables, 0)
    tables.say(1, 0, BOS, w3=0.9, w4=0.1)
    tables.say(1, 1, tables.words[3], eos=1.0)
    found = tables.search(submission, [1, 1], beam_size=1)
    expect(found == [tables.ids(3)] * 2, "beam_size=1", f"{[tables.ids(3)] * 2}", f"{found}")
    found = tables.search(submission, [0], beam_size=1)
    first = found[0][:1]
    expect(first == tables.ids(0), "beam_size=1 on a garden path", f"begins with {tables.ids(0)}", f"{first}")


def test_rows_of_a_batch_do_not_mix(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(3)
    garden_path(tables, 0)
    tables.say(1, 0, BOS, eos=1.0)
    tables.say(2, 0, BOS, w5=1.0)
    for position, (before, after) in enumerate(((5, 6), (6, 7), (7, 8)), start=1):
        tables.say(2, position, tables.words[before], **{f"w{after}": 1.0})
    tables.say(2, 4, tables.words[8], eos=1.0)
    masks = torch.tensor([[True, True, True], [True, False, False], [True, True, False]])[:, None, None]
    found = tables.search(submission, [2, 0, 1, 0], masks=masks, beam_size=2)
    wanted = [tables.ids(5, 6, 7, 8), tables.ids(1, 2), [], tables.ids(1, 2)]
    look_at = "each row has its own memory, source mask, hypotheses and end"
    expect(found == wanted, "four sentences of different lengths", f"{wanted}", f"{found}", look_at)


@pytest.mark.parametrize(
    "penalty, step, is_long",
    [(0.0, 0.98, False), (1.0, 0.9, True), (1.0, 0.605, False), (1.0, 0.75, True), (0.5, 0.9, True)],
)
def test_length_penalty(
    submission: SubmissionUnderTest, case: Case, penalty: float, step: float, is_long: bool
) -> None:
    tables = Tables(1)
    short_or_long(tables, 0, step)
    found = tables.search(submission, [0], beam_size=6, length_penalty=penalty)
    wanted = [tables.ids(1, 2, 3, 4) if is_long else tables.ids(0)]
    look_at = "score = log p / length ** length_penalty; eos counts as a token, bos does not"
    expect(found == wanted, f"length_penalty={penalty}", f"{wanted}", f"{found}", look_at)


def test_default_penalty_and_beam(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(3)
    for sentence, penalty in enumerate((0.55, 0.65)):  # with this one both translations have the same score
        short_or_long(tables, sentence, 0.5 ** ((2.5**penalty - 1) / 3))
    # The fourth word leads to a good translation, the fifth to a better one; each of the first three has many endings.
    tables.say(2, 0, BOS, w0=0.24, w1=0.23, w2=0.22, w3=0.17, w4=0.14)
    for word in range(3):
        tables.say(2, 1, tables.words[word], **{f"w{i}": 0.1 for i in range(2, 12)})
    for position, (before, after) in enumerate(((4, 5), (5, 6), (6, 7)), start=1):
        tables.say(2, position, tables.words[before], **{f"w{after}": 1.0})
    tables.say(2, 1, tables.words[3], w2=1.0)
    for position, words in ((2, (2, 3, 4, *range(6, 12))), (4, (7,))):
        for word in words:
            tables.say(2, position, tables.words[word], eos=1.0)
    found = tables.search(submission, [0, 1, 2])
    wanted = [tables.ids(1, 2, 3, 4), tables.ids(0), tables.ids(3, 2)]
    look_at = "the signature says what beam_size and length_penalty are where they are not given"
    expect(found == wanted, "the default beam_size and length_penalty", f"{wanted}", f"{found}", look_at)


def test_stops_at_max_length(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(1)
    for position in range(8):
        for word in (BOS, tables.words[0]):
            tables.say(0, position, word, w0=0.9, w1=0.1)
        tables.say(0, position, tables.words[1], w0=0.9, w1=0.1)
    limit = case.size(2, 5)
    found = tables.search(submission, [0], beam_size=2, max_length=limit)
    wanted = [tables.ids(*[0] * limit)]
    expect(found == wanted, f"a sentence without an end, max_length={limit}", f"{wanted}", f"{found}")


@pytest.mark.parametrize("penalty", [0.0, 0.6])
def test_open_hypotheses_count_at_max_length(submission: SubmissionUnderTest, case: Case, penalty: float) -> None:
    tables, limit, p = Tables(2), case.size(3, 5), case.number(0.35, 0.45)
    for sentence, times in enumerate((0.95, 1.05)):  # the score of what is open is so many times that of what has ended
        step = (p ** (times * limit**penalty) / (1 - p)) ** (1 / (limit - 1))
        tables.say(sentence, 0, BOS, eos=p, w0=1 - p)
        for position in range(1, limit):
            other = (1 - step) / 2  # less than step
            tables.say(sentence, position, tables.words[0], w0=step, w1=other, w2=other)
    beam_size = case.size(2, 3)
    found = tables.search(submission, [1, 0], max_length=limit, beam_size=beam_size, length_penalty=penalty)
    wanted = [[], tables.ids(*[0] * limit)]
    what = f"ended hypotheses and open ones at max_length={limit}, length_penalty={penalty}"
    look_at = "at max_length all remaining hypotheses count as ended, with score log p / length ** length_penalty"
    expect(found == wanted, what, f"{wanted}", f"{found}", look_at)


def test_ends_with_the_last_place_of_the_beam(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(1)
    likely = case.number(0.55, 0.8)
    tables.say(0, 0, BOS, eos=0.5, w0=0.5)
    tables.say(0, 1, tables.words[0], eos=likely, w1=1 - likely)
    for position in (2, 3, 4, 5):  # scores higher than what has ended by then, but comes too late
        tables.say(0, position, tables.words[position - 1], **{f"w{position}": 1.0})
    tables.say(0, 6, tables.words[5], eos=1.0)
    found = tables.search(submission, [0], beam_size=2, length_penalty=2.0)
    look_at = "the search for a sentence ends when beam_size hypotheses have ended, even if others are still open"
    expect(found == [tables.ids(0)], "a beam of two, both ended", f"{[tables.ids(0)]}", f"{found}", look_at)


def test_encoder_mask_is_handed_on(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(2)
    garden_path(tables, 0)
    garden_path(tables, 1)
    masks = torch.tensor([[True, True, True], [True, True, False]])[:, None, None]
    encoder_masks = masks & torch.eye(3, dtype=torch.bool)
    wanted = [tables.ids(1, 2)] * 2
    look_at = "encode gets encoder_mask, or src_mask if that is None; decode gets src_mask"
    for given in (encoder_masks, None):
        found = tables.search(submission, [1, 0], masks=masks, encoder_masks=given, beam_size=2)
        what = "a search with" + ("out a mask for the encoder" if given is None else " a diagonal mask for the encoder")
        expect(found == wanted, what, f"{wanted}", f"{found}", look_at)


@pytest.mark.parametrize("is_training", [True, False])
def test_mode_is_restored(submission: SubmissionUnderTest, case: Case, is_training: bool) -> None:
    tables = Tables(1)
    garden_path(tables, 0)
    [(_, mode)] = search_in_turn(submission, [tables.described([0], is_training, beam_size=2)])
    expect_mode(mode, is_training, "the mode of the model after the search")


def expect_mode(is_training: object, was_training: bool, what: str) -> None:
    """Fails unless the model is in the mode in which the search got it."""
    modes = {True: "train", False: "eval"}
    now = modes[is_training] if isinstance(is_training, bool) else describe(is_training)
    expect(now == modes[was_training], what, f"{modes[was_training]}, as it was", now, "model.training, before eval()")


SPECIAL = (PAD, BOS, EOS), (0, 9, 2)
USUAL = {"beam_size": 3, "sentences": [2, 0, 1], "max_length": 7}
SITUATIONS = Covering(
    {
        "beam_size": (1, 3, 20),
        "length_penalty": (0.0, 0.6, 1.0),
        "sentences": ([2], [1, 2, 1], [2, 0, 1], [3, 2], [4, 1, 0]),
        "max_length": (1, 7, 12),
        "length": (1, 3),
        "is_training": (True, False),
        "is_mixed": (False, True),
        "encoder_mask": (None, "(b, 1, s, s)", Either("(b, 1, 1, s)", "(1, 1, s, s)", "(s, s)")),
        "special": SPECIAL,
    },
    [
        USUAL | {"length": 1},
        USUAL | {"length": 3, "encoder_mask": "(s, s)", "length_penalty": 0.0},
        USUAL | {"length": 3, "encoder_mask": "(1, 1, s, s)", "special": SPECIAL[1]},
        USUAL | {"beam_size": 20},
        USUAL | {"sentences": [3, 2], "beam_size": 20},
        USUAL | {"sentences": [6, 7, 2], "beam_size": 20},
        *(USUAL | {"sentences": [0, 5, 4], "max_length": m, "special": SPECIAL[0]} for m in (10, 11, 12)),
    ],
)


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


def search_of(case: Case, tables: Tables, row: dict[str, Any], sentences: list[int]) -> dict[str, Any]:
    """A search as a row of the covering array says."""
    length = row["length"]
    shared = torch.eye(length, dtype=torch.bool)  # no two rows of it are equal
    encoder_masks = {
        "(b, 1, s, s)": case.mask(8, 1, length, length),
        "(b, 1, 1, s)": case.mask(8, 1, 1, length),
        "(1, 1, s, s)": shared[None, None],
        "(s, s)": shared,
    }.get(row["encoder_mask"])
    options = {name: row[name] for name in ("beam_size", "length_penalty", "max_length", "length", "is_mixed")}
    return tables.described(sentences, row["is_training"], case.padding_mask(8, length), encoder_masks, **options)


def translations_of(tables: Tables, sentences: list[int], beam_size: int, max_length: int) -> list[list[int]]:
    """What a right search finds for sentences of `eight_sentences`."""
    whole = {0: tables.ids(1, 2) if max_length > 1 else tables.ids(0), 1: [], 2: tables.ids(*range(5, 11))}
    whole[3] = tables.ids(11, 0) if max_length > 1 and beam_size > 11 else tables.ids(0, 1)
    whole |= {6: tables.ids(2, 2), 7: tables.ids(0, 5)}
    whole |= {sentence: refrain * max_length for sentence, refrain in refrains(tables).items()}
    return [whole[sentence][:max_length] for sentence in sentences]


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    longest = numbers_tried(submission, case, COMPONENT, most=MOST_TOKENS)
    led = [USUAL | {"sentences": [0, 4, 2], "max_length": number + 2} for number in longest]
    tables_of = {special: eight_sentences(special) for special in SPECIAL}
    rows, searches, expected = SITUATIONS.rows(case, led), [], []
    for row in rows:
        tables = tables_of[row["special"]]
        sentences = [sentence for sentence in row["sentences"] if row["beam_size"] > 1 or sentence not in (0, 3)]
        searches.append(search_of(case, tables, row, sentences))
        expected.append(translations_of(tables, sentences, row["beam_size"], row["max_length"]))
    for row, wanted, (lines, mode) in zip(rows, expected, search_in_turn(submission, searches), strict=True):
        named = {name: value for name, value in row.items() if name not in ("special", "sentences")}
        what = f"{len(wanted)} sentences with " + ", ".join(f"{name} = {value}" for name, value in named.items())
        found = read_lines(lines, len(wanted))
        expect(found == wanted, what, f"{wanted}", f"{found}", "each setting acts as the other tests say")
        expect_mode(mode, row["is_training"], f"the mode of the model after {what}")
