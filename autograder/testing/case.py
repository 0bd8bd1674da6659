"""The arguments of tests, a submission and a source of random inputs; and tests that run once per row of a table.

All inputs are drawn from one seed and the test's name. A student's run prints its seed; grading keeps it secret.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pytest
import torch
from torch import Tensor, nn

from ..intake.sources import Sources

Inputs = Mapping[str, Tensor | None]
"""Arguments of a call by name, in order."""

DTYPES = torch.float64, torch.float32
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
"""A test runs in both; float32 is what models are trained in."""
in_float32 = pytest.mark.parametrize("dtype", [torch.float32], ids=["float32"])

Items = Mapping[str, Collection[object]]
"""Items of the rubric, and the names of rows that are theirs."""
NO_ITEMS: Items = {}

ALMOST_ALL = 1 - 1e-9
"""A dropout rate at which nothing survives, and at which a hand-written 1 / (1 - rate) is still finite."""


def number_of(*parts: object) -> int:
    """A number for a generator, as different as its parts are."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:7])


class Case:
    """A source of random inputs; `chance` draws what is no tensor."""

    def __init__(self, seed: int, name: str) -> None:
        """Starts from `seed`; each `name` gets a sequence of its own. Seeds PyTorch's global generator too."""
        self._number, self._rounds = (number := number_of(seed, name)), 0
        self.chance = random.Random(number)  # noqa: S311  inputs must be repeatable; the seed is what is secret
        self._generator = torch.Generator().manual_seed(number)
        torch.default_generator.manual_seed(number)  # of the CPU alone: torch.manual_seed is slow

    def size(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.chance.randint(low, high)

    def sizes(self, count: int, low: int, high: int) -> list[int]:
        """Different whole numbers, so that no axis can be taken for another."""
        return self.chance.sample(range(low, high + 1), count)

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float64) -> Tensor:
        """Normally distributed values."""
        return torch.randn(shape, generator=self._generator, dtype=torch.float64).mul(scale).to(dtype)

    def tokens(self, vocab_size: int, *shape: int, low: int = 0) -> Tensor:
        """Ids from `low` to vocab_size - 1, int64."""
        return torch.randint(low, vocab_size, shape, generator=self._generator)

    def mask(self, *shape: int) -> Tensor:
        """A boolean mask in which each row (last axis) forbids a key and allows two, as far as there are keys.

        The first two rows along each axis differ, so that no axis can be taken for another.
        """
        keep = torch.rand(shape, generator=self._generator).round() == 0
        keys = shape[-1]
        first = torch.randint(0, keys, (*shape[:-1], 1), generator=self._generator)
        keep.scatter_(-1, (first + 2) % keys, True)
        keep.scatter_(-1, first, True)
        if keys > 1:
            keep.scatter_(-1, (first + 1) % keys, False)
        for axis in range(len(shape) - 1):
            if shape[axis] > 1:
                keep.select(axis, 1).copy_(keep.select(axis, 0).roll(1, -1))
        return keep

    def padding_mask(self, batch: int, length: int) -> Tensor:
        """A mask (b, 1, 1, s) of sentences of different length; one fills the whole length."""
        shortest = min(2, length)
        lengths = torch.randint(shortest, max(length, shortest + 1), (batch, 1, 1, 1), generator=self._generator)
        lengths[self.size(0, batch - 1)] = length
        return filled(lengths.flatten(), length)[:, None, None]

    def randomise(self, parameters: Iterable[Tensor], scale: float = 0.5) -> None:
        """Writes random values into parameters, so that nothing depends on how they were initialised.

        They depend on a parameter's shape and place among those of its shape: not on what else there is.
        """
        self._rounds += 1
        seen: Counter[tuple[int, ...]] = Counter()
        with torch.no_grad():
            for parameter in parameters:
                shape = tuple(parameter.shape)
                generator = torch.Generator().manual_seed(number_of(self._number, self._rounds, shape, seen[shape]))
                values = torch.randn(shape, generator=generator, dtype=torch.float64)
                parameter.copy_(values.mul_(scale).to(parameter.dtype))
                seen[shape] += 1


def filled(counts: Tensor, length: int) -> Tensor:
    """A row for each count, (n, length), of so many True, which come first."""
    parts = torch.stack([counts, length - counts], dim=-1).flatten()
    return torch.tensor([True, False]).repeat(len(counts)).repeat_interleave(parts).view(-1, length)


def earlier_keys(n_queries: int, n_keys: int | None = None) -> Tensor:
    """The mask of a decoder, (q, k), as PyTorch's own Transformer has it; students write one of their own."""
    mask = nn.Transformer.generate_square_subsequent_mask(max(n_queries, n_keys or 0))
    return mask[:n_queries, :n_keys] == 0


def each_row(names: Iterable[str], in_float32: Sequence[str] = (), items: Items = NO_ITEMS) -> pytest.MarkDecorator:
    """A test runs with each named row of a table, in float64 or, with some, in float32.

    What fails in rows of another item of the rubric than the test's costs that item alone.
    """
    rows = in_dtypes(names, in_float32)
    return pytest.mark.parametrize("name, dtype", [row_of(row, items) for row in rows])


def in_dtypes(names: Iterable[str], in_float32: Sequence[str]) -> list[tuple[str, torch.dtype]]:
    """The rows of a table, each with the dtype of its inputs."""
    return [(name, torch.float32 if name in in_float32 else torch.float64) for name in names]


def rows_of(
    kinds: Sequence[Any], rows: Sequence[Any], of_extensions: Sequence[Any], items: Items = NO_ITEMS
) -> list[Any]:
    """Parameters of a test that runs with each kind in several ways, the rows; with kinds of extensions in few.

    Kinds are parameters with a task's mark; their last value is whether they are of an extension, whose rows are all of
    the test's item. See `each_row` for other items.
    """
    return [
        row_of(row, NO_ITEMS if kind.values[-1] else items, kind)
        for kind in kinds
        for row in (of_extensions if kind.values[-1] else rows)
    ]


def row_of(row: Sequence[Any], items: Items, kind: Any = None) -> Any:
    """Parameters of a test: those of a kind, if there is one, and of a row, which its first value names."""
    of_item = [pytest.mark.item(item) for item, names in items.items() if row[0] in names]
    label = "-".join(str(value).removeprefix("torch.") for value in row)
    if kind is None:
        return pytest.param(*row, marks=of_item, id=label)
    return pytest.param(*kind.values, *row, marks=[*kind.marks, *of_item], id=f"{kind.id}-{label}")


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """A block in which tensors of floats that are made without `dtype=` have this one, in a submission's code too.

    While a test runs it is that of the test's inputs; so code that names no dtype fails where the two differ, and only
    there.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class SubmissionUnderTest(Protocol):
    """A submission as component tests use it: in a process of its own when graded, in this one at home.

    Tests run alike with both.
    """

    @property
    def sources(self) -> Sources:
        """The submission's modules."""

    def locate(self, module: str, line: int) -> str:
        """Where a student finds a line of a module, such as "work.ipynb, cell 7, line 3"; "" for given code."""

    def build(
        self, component: str, *args: Any, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: Any
    ) -> nn.Module:
        """Make an object of a class of the submission, "module.Name", with arguments for its constructor.

        `dtype` is that of its parameters and buffers, None = as made; with `isolated`, a stand-in replaces every other
        component, now and in later calls.
        """

    def call(self, component: str, *args: Any, isolated: bool = True, **kwargs: Any) -> Any:
        """Call a function of the submission, "module.name"; whatever it returns is to be checked."""

    def apply(self, name: str, subject: Any, *args: Any, isolated: bool = True) -> Any:
        """Call a stand-in that is a function, with an object or a function of the submission and other arguments.

        The component of `subject` answers for what happens. Many calls of a component in one cost least that way.
        """
