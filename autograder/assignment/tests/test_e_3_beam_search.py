"""Extension E.3: beam search, on tables of probabilities whose best translation is known."""

from typing import Any

import pytest
import torch

from autograder.assignment.checks.search_tables import (
    BOS,
    COMPONENT,
    EOS,
    MOST_TOKENS,
    PAD,
    Tables,
    crowded_path,
    endless,
    garden_path,
    read_lines,
    search_in_turn,
    short_or_long,
    wide_path,
    wider_path,
)
from autograder.assignment.checks.situations.sizes_in_code import numbers_tried
from autograder.testing.case import Case
from autograder.testing.comparison import describe, expect
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_e_3


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
