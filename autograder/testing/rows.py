"""Tests that run once for each row of a table, in float64 or in float32."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
import torch

DTYPES = torch.float64, torch.float32
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
"""A test runs in both; float32 is what models are trained in."""


def each_row(names: Iterable[str], in_float32: Sequence[str] = ()) -> pytest.MarkDecorator:
    """A test runs with each named row of a table, in float64 or, with some, in float32."""
    rows = in_dtypes(names, in_float32)
    return pytest.mark.parametrize("name, dtype", rows, ids=map(label_of, rows))


def in_dtypes(names: Iterable[str], in_float32: Sequence[str]) -> list[tuple[str, torch.dtype]]:
    """The rows of a table, each with the dtype of its inputs."""
    return [(name, torch.float32 if name in in_float32 else torch.float64) for name in names]


def rows_of(kinds: Sequence[Any], rows: Sequence[Any], of_extensions: Sequence[Any]) -> list[Any]:
    """Parameters of a test that runs with each kind in several ways, the rows; with kinds of extensions in few.

    Kinds are parameters with a task's mark; their last value is whether they are of an extension.
    """
    return [
        pytest.param(*kind.values, *row, marks=kind.marks, id=f"{kind.id}-{label_of(row)}")
        for kind in kinds
        for row in (of_extensions if kind.values[-1] else rows)
    ]


def label_of(row: Sequence[object]) -> str:
    """A row's part of a test's id."""
    return "-".join(str(value).removeprefix("torch.") for value in row)
