"""Situations take little memory, whatever is drawn: in Gradescope's container there is none to spare."""

from math import prod
from types import ModuleType

import pytest

from autograder.testing.case import Case
from autograder.testing.running.collection import Collection
from foundation.assignment_file import read_assignment

MOST = 4_000_000
"""Numbers of the largest tensor of a correct solution that multiplies each query with each key, feature by feature."""
SEEDS = 40


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleType]:
    """The files of component tests, by name."""
    return {item.path.stem: item.module for item in Collection(read_assignment()).items}


@pytest.mark.parametrize(
    ("file", "sizes"), [("test_1_2_attention", ()), ("test_1_3_multi_head", (35, 5))], ids=["attention", "multi-head"]
)
def test_products_of_all_sizes_stay_small(modules, file: str, sizes: tuple[int, ...]) -> None:
    module, found = modules[file], []
    for seed in range(SEEDS):
        case = Case(seed, "memory")
        for row in module.SITUATIONS.rows(case):
            query, key, *_ = module.situation_of(case, {"dtype": "float64"} | row, *sizes).inputs
            found.append(prod(query.shape) * key.size(-2))
    assert MOST / 20 < max(found) < MOST
