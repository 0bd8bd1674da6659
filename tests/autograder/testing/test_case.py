"""What the random inputs of a test depend on: the seed, the test's file and its name, and nothing else."""

import shutil

import pytest
import torch

from autograder.testing.collection import Collection, run_items
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

SAME_TEST = """
import pytest

@pytest.mark.task_1_1
@pytest.mark.parametrize("size", [1, 2])
def test_values(case, request, size):
    request.config.drawn[request.node.nodeid.rpartition("/")[2]] = case.normal(3).tolist()
"""


class Drawing(Collection):
    """Runs the tests of an assignment without a submission, and keeps what they draw."""

    def draw(self, seed: int, items: list[pytest.Item]) -> dict[str, list[float]]:
        self.hand_over(None, seed)
        items[0].config.drawn = {}
        run_items(items)
        assert {outcome.state for outcome in self.outcomes.values()} == {State.PASSED}, self.outcomes
        return items[0].config.drawn


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Drawing:
    """An assignment with the same test in two files."""
    folder = tmp_path_factory.mktemp("twice") / "assignment"
    shutil.copytree(ROOT / "tests" / "example" / "autograder" / "assignment", folder)
    for path in (folder / "tests").glob("test_*.py"):
        path.write_text("")
    for name in ("test_one.py", "test_two.py"):
        (folder / "tests" / name).write_text(SAME_TEST)
    return Drawing(read_assignment(folder))


def test_tests_of_one_name_in_two_files_share_no_inputs(collected: Drawing) -> None:
    drawn = collected.draw(7, collected.items)
    assert set(drawn) == {f"test_{file}.py::test_values[{size}]" for file in ("one", "two") for size in (1, 2)}
    assert len({tuple(values) for values in drawn.values()}) == 4


def test_the_inputs_do_not_depend_on_what_ran_before(collected: Drawing) -> None:
    drawn = collected.draw(7, collected.items)
    torch.rand(3)
    assert collected.draw(7, collected.items[::-1]) == drawn
    other = collected.draw(8, collected.items)
    assert other.keys() == drawn.keys() and all(other[name] != drawn[name] for name in drawn)
