"""Extension E.3: beam search, on tables of probabilities whose best translation is known."""

from typing import Any

import pytest
import torch

from assignment.expected.search_tables import (
    BOS,
    EOS,
    FOURTH_AND_FIFTH_BEST,
    PAD,
    Tables,
    eight_sentences,
    garden_path,
    read_lines,
    short_or_long,
    translations_of,
)
from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import describe, expect

pytestmark = pytest.mark.task_e_3


@pytest.mark.item("keeps several hypotheses")
@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_a_garden_path(submission: SubmissionUnderTest, case: Case, beam_size: int) -> None:
    tables = Tables(1)
    tables.say(0, *garden_path(case.chance.uniform(0.55, 0.75)))
    [returned] = tables.search(submission, [0], beam_size=beam_size)
    look_at = "what becomes of a beginning that is less probable now, and better later?"
    wanted, returned = (tables.ids(0), returned[:1]) if beam_size == 1 else (tables.ids(1, 2), returned)
    tables.compare([returned], [wanted], f"a garden path, beam_size = {beam_size}", look_at)


@pytest.mark.item("a batch")
def test_rows_of_a_batch_do_not_mix(submission: SubmissionUnderTest, case: Case) -> None:
    tables = eight_sentences((PAD, BOS, EOS))
    sentences = [2, 0, 1, 0]
    returned = tables.search(submission, sentences, masks=case.padding_mask(8, 3), beam_size=2)
    wanted = translations_of(tables, sentences, 2, 7)
    look_at = "each row has its own memory, source mask, hypotheses and end"
    tables.compare(returned, wanted, "four sentences of different lengths", look_at)


@pytest.mark.item("length penalty")
@pytest.mark.parametrize(
    "penalty, step, is_long",
    [(0.0, 0.98, False), (1.0, 0.95, True), (1.0, 0.605, False), (1.0, 0.75, True), (0.5, 0.93, True)],
)
def test_length_penalty(
    submission: SubmissionUnderTest, case: Case, penalty: float, step: float, is_long: bool
) -> None:
    tables = Tables(1)
    tables.say(0, *short_or_long(step))
    returned = tables.search(submission, [0], beam_size=6, length_penalty=penalty)
    wanted = [tables.ids(1, 2, 3, 4) if is_long else tables.ids(0)]
    look_at = "which tokens count in the length? (the docstring has the score)"
    tables.compare(returned, wanted, f"length_penalty={penalty}", look_at)


@pytest.mark.item("length penalty")
def test_default_penalty_and_beam(submission: SubmissionUnderTest, case: Case) -> None:
    tables = Tables(3)
    for sentence, penalty in enumerate((0.55, 0.65)):  # with this one both translations have the same score
        tables.say(sentence, *short_or_long(0.5 ** ((2.5**penalty - 1) / 3)))
    tables.say(2, *FOURTH_AND_FIFTH_BEST)
    returned = tables.search(submission, [0, 1, 2])
    wanted = [tables.ids(1, 2, 3, 4), tables.ids(0), tables.ids(3, 2)]
    look_at = "the signature says what beam_size and length_penalty are where they are not given"
    tables.compare(returned, wanted, "the default beam_size and length_penalty", look_at)


@pytest.mark.item("ends")
@pytest.mark.parametrize("penalty", [0.0, 0.6])
def test_open_hypotheses_count_at_max_length(submission: SubmissionUnderTest, case: Case, penalty: float) -> None:
    tables, limit, p = Tables(2), case.size(3, 5), case.chance.uniform(0.35, 0.45)
    for sentence, times in enumerate((0.95, 1.05)):  # the score of what is open is so many times that of what has ended
        step = (p ** (times * limit**penalty) / (1 - p)) ** (1 / (limit - 1))
        tables.say(sentence, f"0 bos: eos {p}, w0 {1 - p}")
        for position in range(1, limit):
            tables.say(sentence, f"{position} w0: w0 {step}, w1-w2 {(1 - step) / 2}")  # less than step
    beam_size = case.size(2, 3)
    returned = tables.search(submission, [1, 0], max_length=limit, beam_size=beam_size, length_penalty=penalty)
    wanted = [[], tables.ids(*[0] * limit)]
    label = f"ended hypotheses and open ones at max_length={limit}, length_penalty={penalty}"
    look_at = "what becomes of the hypotheses that are still open at max_length?"
    tables.compare(returned, wanted, label, look_at)


@pytest.mark.item("ends")
@pytest.mark.parametrize("later", [0, 1])
def test_ends_with_the_last_place_of_the_beam(submission: SubmissionUnderTest, case: Case, later: int) -> None:
    tables = Tables(1, n_positions=9)
    likely = case.chance.uniform(0.55, 0.8)
    first = ["0 bos: w9 1", "1 w9: eos 0.5, w0 0.5"] if later else ["0 bos: eos 0.5, w0 0.5"]
    chain = [f"{later + n} w{n - 1}: w{n} 1" for n in (2, 3, 4, 5)]  # scores higher than what has ended, but too late
    tables.say(0, *first, f"{later + 1} w0: eos {likely}, w1 {1 - likely}", *chain, f"{later + 6} w5: eos 1")
    returned = tables.search(submission, [0], beam_size=2, length_penalty=2.0, max_length=8)
    wanted = [tables.ids(*[9] * later, 0)]
    look_at = "when does the search for a sentence end? (the docstring says)"
    tables.compare(returned, wanted, "a beam of two, both ended", look_at)


SPECIAL = {"usual": (PAD, BOS, EOS), "other": (0, 9, 2)}
SETTINGS: dict[str, tuple[list[int], int, float, int, dict[str, Any]]] = {
    # numbers of sentences, beam_size, length_penalty, max_length, and what is unusual
    "a short source": ([2, 0, 1], 3, 0.6, 7, {"length": 1}),
    "one mask for all sentences": ([4, 0, 1], 3, 0.0, 7, {"mask": "(s, s)"}),
    "one mask of four axes for all, other ids": ([2, 0], 3, 0.6, 7, {"mask": "(1, 1, s, s)", "special": "other"}),
    "a mask for each sentence": ([1, 2, 1], 3, 1.0, 12, {"mask": "(b, 1, s, s)", "is_training": False}),
    "a padding mask for the encoder": ([2, 1], 20, 0.6, 7, {"mask": "(b, 1, 1, s)", "is_mixed": True}),
    "a wide beam": ([3, 2, 6, 7], 20, 0.6, 7, {}),
    "a beam of one": ([2, 1, 5], 1, 0.6, 12, {"is_training": False, "is_mixed": True}),
    "one token of one sentence": ([2], 3, 0.6, 1, {"is_training": False}),
    "other ids as small as an index": ([4, 1, 0], 3, 0.0, 13, {"special": "other", "mask": "(s, s)"}),
    "other ids as small as an index, 14 tokens": ([4, 1, 0], 3, 0.0, 14, {"special": "other"}),
}


@pytest.mark.item("settings and masks")
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_together(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    sentences, beam_size, penalty, max_length, more = SETTINGS[name]
    tables, length = eight_sentences(SPECIAL[more.get("special", "usual")]), more.get("length", 3)
    shared = torch.eye(length, dtype=torch.bool)  # no two rows of it are equal
    encoder_masks = {
        "(b, 1, s, s)": case.mask(8, 1, length, length),
        "(b, 1, 1, s)": case.mask(8, 1, 1, length),
        "(1, 1, s, s)": shared[None, None],
        "(s, s)": shared,
    }.get(more.get("mask", ""))
    is_training = more.get("is_training", True)
    options: dict[str, Any] = {"beam_size": beam_size, "length_penalty": penalty, "max_length": max_length}
    how = {**options, "length": length, "is_mixed": more.get("is_mixed", False)}
    search = tables.described(sentences, is_training, case.padding_mask(8, length), encoder_masks, **how)
    lines, mode = tables.run(submission, search)
    wanted = translations_of(tables, sentences, beam_size, max_length)
    returned = read_lines(lines, len(wanted))
    label = f"{len(wanted)} sentences with " + ", ".join(f"{key} = {value}" for key, value in options.items())
    tables.compare(returned, wanted, label, "each setting acts as the other tests say")
    modes = {True: "train", False: "eval"}
    now = modes[mode] if isinstance(mode, bool) else describe(mode)
    look_at = "in which mode was the model before the search?"
    expect(now == modes[is_training], f"the mode of the model after {label}", modes[is_training], now, look_at)
