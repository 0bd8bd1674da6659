"""Task 1.6: which keys are padding, and which come later."""

from functools import partial

import pytest
import torch

from autograder.testing.case import Case, SubmissionUnderTest, earlier_keys, row_of
from autograder.testing.comparison import expect, expect_same
from autograder.testing.observation import about_mask
from autograder.testing.results import observing
from autograder.testing.side_effects import expect_unchanged

pytestmark = pytest.mark.task_1_6

TOKENS = {  # rows of ids, the id of padding, and for each row which keys are words
    "padding at the end": ([[4, 7, 2, 0, 0], [5, 2, 0, 0, 0], [3, 3, 8, 6, 2]], 0, "11100 11000 11111"),
    "padding with another id": ([[4, 0, 2, 9], [0, 2, 9, 9], [9, 9, 9, 9]], 9, "1110 1100 0000"),
    "no padding": ([[1, 2, 3], [4, 5, 6]], 0, "111 111"),
    "padding at the beginning": ([[3, 3, 1], [3, 1, 1]], 3, "001 011"),
    "one token": ([[5]], 1, "1"),
    "one sentence": ([[1, 4, 1, 1]], 1, "0100"),
    "equal sizes": ([[6, 1, 1], [1, 6, 1], [6, 6, 1]], 1, "100 010 110"),
    "large ids": ([[256, 512, 65536, 0], [1024, 32768, 0, 0]], 0, "1110 1100"),
}

SPECIAL = {"special cases": ["padding at the beginning", "one token", "one sentence", "equal sizes", "large ids"]}


@pytest.mark.item("padding")
@pytest.mark.parametrize("name", [row_of([name], SPECIAL) for name in TOKENS])
def test_padding(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    rows, pad, words = TOKENS[name]
    shift = case.size(0, 40)
    tokens = torch.tensor(rows) + shift
    expected = torch.tensor([[[[*map(int, row)]]] for row in words.split()]) > 0
    before = {"tokens": tokens.clone()}

    def mask(given: torch.Tensor) -> object:  # after that of another batch of the same shape
        earlier, now = ([ids, pad + shift] for ids in (given.flip(-1), given))
        return submission.apply("call_after", "masks.padding_mask", earlier, now)

    label, rule = f"padding_mask of {tokens.tolist()}, pad_id {pad + shift}", "True where a key is a word"
    returned = mask(tokens)
    with observing(lambda: about_mask(returned, expected) or about_ids(returned, expected, tokens, pad + shift)):
        expect_same(returned, expected, label, rule)
    expect_unchanged({"tokens": tokens}, before)


def about_ids(returned: object, expected: torch.Tensor, tokens: torch.Tensor, pad_id: int) -> str:
    if not isinstance(returned, torch.Tensor) or returned.shape != expected.shape:
        return ""
    wrong = tokens[(returned != expected)[:, 0, 0]].unique().tolist()
    right = tokens[(returned == expected)[:, 0, 0]].unique().tolist()
    sides = {
        "padding": wrong == [pad_id],
        "ids above pad_id": min(wrong) > pad_id,
        "ids below pad_id": max(wrong) < pad_id,
    }
    which = next((text for text, is_so in sides.items() if is_so and not {*wrong} & {*right}), "")
    return f"the mask is wrong for {which} alone" if which else ""


def about_kept_mask(mask: object, expected: torch.Tensor) -> str:
    """Notice the mask of the earlier call of `call_after`, which that call's caller has changed."""
    if isinstance(mask, torch.Tensor) and not mask.any():
        return "an earlier call returned this very tensor, which its caller has set to False: make each mask anew"
    return about_mask(mask, expected)


@pytest.mark.item("later positions")
@pytest.mark.parametrize("length", [row_of([length], {"special cases": [1, 351]}) for length in (7, 1, 2, 351)])
def test_later_positions(submission: SubmissionUnderTest, length: int) -> None:
    expected = earlier_keys(length)
    rule = "row by row, True for the keys that a query may see"
    for arguments in ([length], [length, "cpu"])[: 1 if length > 100 else 2]:
        mask = submission.apply("call_after", "masks.causal_mask", [length], arguments)
        with observing(partial(about_kept_mask, mask, expected)):
            expect_same(mask, expected, f"causal_mask({length})", rule)


@pytest.mark.item("special cases")
def test_device(submission: SubmissionUnderTest) -> None:
    device = submission.apply("device_of", "masks.causal_mask", [3, "meta"])
    expect(device == "meta", 'the device of causal_mask(3, "meta")', "meta", f"{device}", "where is the mask made?")
