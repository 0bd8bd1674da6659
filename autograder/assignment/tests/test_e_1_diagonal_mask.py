"""Extension E.1: the band around the diagonal and random cells."""

import pytest
import torch
from torch import Tensor

from autograder.testing.case import Case
from autograder.testing.comparison import describe, expect
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_e_1

COMPONENT = "masks.diagonal_mask"


def distance(length: int) -> Tensor:
    """(length, length): abs(i - j)."""
    positions = torch.arange(length)
    return (positions[:, None] - positions[None, :]).abs()


def draw(submission: SubmissionUnderTest, length: int, *args: object) -> Tensor:
    """The mask, of the right type and shape."""
    mask: Tensor = submission.call(COMPONENT, length, *args)
    good = isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.shape == (length, length)
    got = f"{describe(mask)}, {getattr(mask, 'dtype', '')}"
    expect(good, "the mask", f"a boolean tensor of shape ({length}, {length})", got)
    return mask


@pytest.mark.core
@pytest.mark.parametrize("width", [1, 2, 5])
def test_band(submission: SubmissionUnderTest, case: Case, width: int) -> None:
    length = case.size(6, 12)
    wrong = int((draw(submission, length, width) != (distance(length) < width)).sum())
    expect(wrong == 0, f"the band of width {width}", "True where abs(i - j) < width", f"{wrong} other cells")


def test_default_is_the_diagonal(submission: SubmissionUnderTest, case: Case) -> None:
    length = case.size(2, 9)
    same = torch.equal(draw(submission, length), torch.eye(length, dtype=torch.bool))
    expect(same, "the mask by default", "the diagonal alone: width 1, no random cells", "another mask")


def test_greatest_sizes(submission: SubmissionUnderTest, case: Case) -> None:
    length = case.size(2, 9)
    expect(bool(draw(submission, length, length).all()), "a band as wide as the mask", "True everywhere", "some False")
    everything = draw(submission, length, 1, 1.0)
    expect(bool(everything.all()), "random_prob = 1", "True everywhere", "some False")
    one = draw(submission, 1)
    expect(bool(one.all()), "the mask of one position", "True", "False")


@pytest.mark.core
def test_random_cells(submission: SubmissionUnderTest, case: Case) -> None:
    length, width, probability = 150, case.size(1, 4), case.number(0.1, 0.9)
    mask = draw(submission, length, width, probability)
    band = distance(length) < width
    expect(bool(mask[band].all()), "the band with random cells", "True within the band", "some False")
    share = mask[~band].double().mean().item()
    spread = (probability * (1 - probability) / int((~band).sum())) ** 0.5
    expect(
        abs(share - probability) < 7 * spread,
        "the share of random cells outside the band",
        f"about {probability:.3f}",
        f"{share:.3f}",
        "each cell is drawn independently, with probability random_prob",
    )
    chance = probability**2 + (1 - probability) ** 2  # the probability that two cells agree
    others = {"(j, i)": mask.T, "(i + 1, j)": mask.roll(-1, 0), "(i, j + 1)": mask.roll(-1, 1)}
    beside = distance(length) >= width
    beside = beside & beside.roll(-1, 0) & beside.roll(-1, 1) & ~torch.eye(length, dtype=torch.bool)
    for cell, other in others.items():
        agree = (mask == other)[beside].double().mean().item()
        what = f"random cells (i, j) and {cell}"
        expect(agree < 1 - (1 - chance) / 2, what, "independent of each other", "mostly equal")


def test_generator(submission: SubmissionUnderTest, case: Case) -> None:
    seed = case.size(0, 10**6)
    masks = [draw(submission, 40, 2, 0.3, torch.Generator().manual_seed(s)) for s in (seed, seed, seed + 1)]
    look_at = "pass the generator to torch.rand"
    expect(torch.equal(masks[0], masks[1]), "masks from equal generators", "equal masks", "different masks", look_at)
    expect(not torch.equal(masks[0], masks[2]), "masks from different seeds", "different masks", "equal masks", look_at)
