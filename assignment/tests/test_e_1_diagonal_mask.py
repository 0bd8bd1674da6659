"""Extension E.1: the band around the diagonal and random cells."""

import math
from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import describe, expect

pytestmark = pytest.mark.task_e_1

INDEPENDENT = "each cell is drawn independently, with probability random_prob"


def is_likely(share: float, count: int, probability: float) -> bool:
    """True if a share of so many independent cells may well be allowed.

    Otherwise a share as far off has a probability below exp(-24) < 4e-11 by the bound of Chernoff (1952).
    """
    pairs = (share, probability), (1 - share, 1 - probability)
    return count * sum(got * math.log(got / wanted) for got, wanted in pairs if got > 0) < 24


def check_share(n_allowed: int, n_cells: int, probability: float, label: str, look_at: str) -> None:
    """Fail unless about that share of the cells is allowed."""
    share = n_allowed / n_cells
    is_right = is_likely(share, n_cells, probability)
    expect(is_right, f"the share of random cells {label}", f"about {probability:.5g}", f"{share:.5g}", look_at)


def check_random_cells(mask: Tensor, width: int, probability: float) -> None:
    """Fail unless the cells outside the band are drawn independently of each other, with this probability."""
    chance = probability**2 + (1 - probability) ** 2  # the probability that two cells agree
    pairs = {
        "(j, i)": mask == mask.T,
        "(i + 1, j)": mask[:-1] == mask[1:],
        "(i, j + 1)": mask[:, :-1] == mask[:, 1:],
    }
    for cell, are_equal in pairs.items():
        agree, n_cells = counts(are_equal, range(width + 1, len(mask) - 1))
        label = f"random cells (i, j) and {cell}"
        expect(agree / n_cells < 1 - (1 - chance) / 2, label, "independent of each other", "mostly equal")
    check_share(*counts(mask, range(width, len(mask))), probability, "outside the band", INDEPENDENT)
    look_at = "True in the band where abs(i - j) < width; beyond it, each cell is random"
    check_share(*counts(mask, [width]), probability, f"(i, j) with abs(i - j) = {width}", look_at)


def counts(mask: Tensor, distances: Sequence[int]) -> tuple[int, int]:
    """How many cells at these distances from the main diagonal are True, and how many cells there are."""

    def count(cells: Tensor) -> int:
        beside = (part for n in distances for part in (cells[n:], cells[:, n:])[: 1 + (n > 0)])
        return sum(int(part.long().trace()) for part in beside)

    return count(mask), count(torch.ones_like(mask))


def draw(submission: SubmissionUnderTest, calls: Sequence[tuple[Any, ...]]) -> list[Tensor]:
    """The masks for some lists of arguments, all of the right type and shape."""
    masks = submission.apply("call_each", "masks.diagonal_mask", calls)
    expect(isinstance(masks, list) and len(masks) == len(calls), "the masks", f"{len(calls)} masks", describe(masks))
    for mask, (length, *_) in zip(masks, calls, strict=True):
        good = isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.shape == (length, length)
        got = f"{describe(mask)}, {mask.dtype}" if isinstance(mask, torch.Tensor) else describe(mask)
        expect(good, "the mask", f"a boolean tensor of shape ({length}, {length})", got)
    checked: list[Tensor] = masks
    return checked


BANDS: dict[str, tuple[int, tuple[int, ...]]] = {  # the length, and the width that is given
    "the default": (9, ()),
    "1": (8, (1,)),
    "2": (9, (2,)),
    "5": (11, (5,)),
    "0": (7, (0,)),
    "as wide as the mask": (6, (6,)),
    "wider": (7, (12,)),
    "one cell": (1, (1,)),
    "a long mask": (70, (3,)),
    "half of a long mask": (70, (35,)),
}


@pytest.mark.item("band")
@pytest.mark.parametrize("name", BANDS)
def test_band(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    length, given = BANDS[name]
    [width] = given or (1,)
    seeded = torch.Generator().manual_seed(case.size(0, 10**6))
    calls = [(length, *given), (length, width, 0.0, seeded), (length, width, 0.0), (length, width, 0.4)]
    *without, among = draw(submission, calls)
    label = f"the band of width {width}" if given else "the mask by default: the diagonal"
    inside, outside = range(min(width, length)), range(width, length)
    for mask in without:
        (allowed, due), (more, _) = counts(mask, inside), counts(mask, outside)
        missing = due - allowed
        seen = f"{missing} cells in it that are False, {more} beside it that are True"
        expect(missing == more == 0, label, "True where abs(i - j) < width", seen)
    allowed, due = counts(among, inside)
    expect(allowed == due, f"{label}, random_prob 0.4", "True within the band", "some False")


@pytest.mark.item("random cells")
@pytest.mark.parametrize("length, width", [(40, 2), (70, 3), (70, 35)])
def test_generator(submission: SubmissionUnderTest, case: Case, length: int, width: int) -> None:
    seed = case.size(0, 10**6)
    generators = [torch.Generator().manual_seed(number) for number in (seed, seed, seed + 1)]
    given = [(length, width, 1.0), *((length, width, 0.4, generator) for generator in (*generators, None, None))]
    short = [(3, 0, 0.5, torch.Generator().manual_seed(seed + n % 30)) for n in range(60)]
    full, first, again, other, unseeded, another, *shorts = draw(submission, [*given, *short])
    label, look_at = f"the mask for length {length}, width {width}, random_prob", "which generator draws the cells?"
    expect(bool(full.all()), f"{label} 1", "every cell", "some False")
    for mask in (first, unseeded) if length == 70 else ():
        check_random_cells(mask, width, 0.4)
    expect(torch.equal(first, again), f"{label} 0.4", "equal masks from equal generators", "different masks", look_at)
    expect(not torch.equal(first, other), f"{label} 0.4", "another mask from another seed", "the same", look_at)
    expect(not torch.equal(unseeded, another), f"{label} 0.4", "other random cells in each call", "the same")
    is_same = torch.equal(torch.stack(shorts[:30]), torch.stack(shorts[30:]))
    expect(is_same, "short masks from equal generators", "equal masks", "different masks", look_at)


@pytest.mark.item("random cells")
def test_probabilities_near_0_and_1(submission: SubmissionUnderTest, case: Case) -> None:
    width, little, some = case.size(1, 3), case.chance.uniform(0.00027, 0.0003), case.chance.uniform(0.002, 0.004)
    given = [(320, 0, little), (320, 0, 1 - little), (150, width, some)]
    *masks, banded = draw(submission, given)
    drawn = [*((int(mask.sum()), mask.numel()) for mask in masks), counts(banded, range(width, 150))]
    for cells, (_, _, probability) in zip(drawn, given, strict=True):
        check_share(*cells, probability, f"outside the band where random_prob = {probability:.5f}", INDEPENDENT)


@pytest.mark.item("random cells")
def test_random_cells_of_short_masks(submission: SubmissionUnderTest, case: Case) -> None:
    numbers, probability = {1: 150, 2: 80, 3: 50, 4: 30}, 0.3
    drawn = iter(
        draw(submission, [(length, 0, probability) for length, count in numbers.items() for _ in range(count)])
    )
    deviations = []
    for length, count in numbers.items():
        masks = torch.stack([*islice(drawn, count)])
        cells = length**2
        squares = (masks.sum(dim=(1, 2)) - cells * probability).square()
        deviations.append(squares / (cells * probability * (1 - probability)))
        n_allowed, label = int(masks.sum()), f"in {count} masks of length {length}, width 0"
        check_share(n_allowed, masks.numel(), probability, label, "each cell is drawn by itself")
        if length > 1:
            i, j = zip(*combinations(range(length), 2), strict=True)
            agree, chance = masks[:, i, j] == masks[:, j, i], probability**2 + (1 - probability) ** 2
            label = f"random cells (i, j) and (j, i) in {count} masks of length {length}"
            is_right = is_likely(agree.double().mean().item(), agree.numel(), chance)
            expect(is_right, label, "independent of each other", "too often equal, or too seldom")
    spread = torch.cat(deviations[1:]).mean().item()  # over 160 masks: 1, give or take 0.1
    label = "the variance of how many random cells a short mask has, divided by that of independent cells"
    expect(0.45 < spread < 1.9, label, "about 1", f"{spread:.2g}", "the number of random cells is not fixed")
