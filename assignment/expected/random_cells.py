"""Checks random cells of a mask: how many are allowed, and whether they are independent of each other."""

import math

import torch
from torch import Tensor

from autograder.testing.comparison import expect

INDEPENDENT = "each cell is drawn independently, with probability random_prob"


def is_likely(share: float, count: int, probability: float) -> bool:
    """Whether a share of so many independent cells may well be allowed.

    Where not, a share as far off has a probability below exp(-24) < 4e-11 by the bound of Chernoff (1952).
    """
    pairs = (share, probability), (1 - share, 1 - probability)
    return count * sum(found * math.log(found / wanted) for found, wanted in pairs if found > 0) < 24


def check_share(cells: Tensor, probability: float, what: str, look_at: str) -> None:
    """Fails unless about that share of the cells is allowed."""
    share = int(cells.sum()) / cells.numel()
    is_right = is_likely(share, cells.numel(), probability)
    expect(is_right, f"the share of random cells {what}", f"about {probability:.5g}", f"{share:.5g}", look_at)


def check_random_cells(mask: Tensor, band: Tensor, probability: float) -> None:
    """Outside the band the cells are drawn independently of each other, with this probability."""
    edge = int(band[0].sum())  # the width
    check_share(mask[~band], probability, "outside the band", INDEPENDENT)
    beside_band = torch.cat([mask.diagonal(edge), mask.diagonal(-edge)])
    look_at = "True in the band where abs(i - j) < width; beyond it, each cell is random"
    check_share(beside_band, probability, f"(i, j) with abs(i - j) = {edge}", look_at)
    chance = probability**2 + (1 - probability) ** 2  # the probability that two cells agree
    others = {"(j, i)": mask.T, "(i + 1, j)": mask.roll(-1, 0), "(i, j + 1)": mask.roll(-1, 1)}
    beside = ~band
    beside = beside & beside.roll(-1, 0) & beside.roll(-1, 1) & ~torch.eye(len(mask), dtype=torch.bool)
    for cell, other in others.items():
        agree = (mask == other)[beside].double().mean().item()
        what = f"random cells (i, j) and {cell}"
        expect(agree < 1 - (1 - chance) / 2, what, "independent of each other", "mostly equal")
