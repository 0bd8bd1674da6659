"""Every row of docs/reference/features.md names a test that exists."""

import ast
import re

import pytest

from foundation.places import ROOT

ROWS = re.findall(
    r"^\| (\d+) \| (.*) \|$", (ROOT / "docs/reference/features.md").read_text(encoding="utf-8"), re.MULTILINE
)
ALL = 63
"""What the four sources describe."""


def test_the_rows_are_numbered_in_order():
    numbers = [int(number) for number, _ in ROWS]
    assert numbers == sorted(set(numbers)) and set(numbers) <= set(range(1, ALL + 1))


@pytest.mark.parametrize("number, text", ROWS, ids=[number for number, _ in ROWS])
def test_a_row_is_complete_and_its_test_exists(number, text):
    cells = [cell.strip() for cell in text.split(" | ")]
    assert len(cells) == 4 and all(cells), "feature, command, what was seen, test"
    tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", cells[-1])
    assert tests
    for path, name in tests:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{path} has no {name}"
