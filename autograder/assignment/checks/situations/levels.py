"""Factors of the situations in which components are judged, their levels, and rows that each grading has.

A row names one level of each factor. Covering arrays are made of rows, so that any two levels of two factors meet in
each grading; where one level stands for several kinds, each kind occurs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import torch

from autograder.testing.covering import Either

Size = TypeVar("Size")
Sizes = tuple[Any, ...]
Kind = str | Sizes
"""Of an object: a name for its settings, or the settings."""

DTYPES = {"float64": torch.float64, "float32": torch.float32}
GRADIENTS = ("of inputs", "of parameters", Either("no_grad", "inference_mode"))
OF_SEVERAL = ("of inputs", Either("of parameters", "of the other inputs"), Either("no_grad", "inference_mode"))
OF_MODULES = ("nothing", Either("same objects", "same shapes"), Either("deep copy", "state dict"))
OF_FUNCTIONS = ("nothing", "same objects", "same shapes")
CALLED = ("by position", "by name")
"""How all arguments but the first are given; that one comes by position, as a forward hook may rely on it."""
VALUES = ("normal", "some zeros", Either("large", "small", "all equal"))
LAYOUTS = ("contiguous", "transposed", Either("with gaps", "expanded"))
MASKS = (
    "none",
    "(b, h, q, k)",
    Either("(q, k)", "(b, 1, 1, k)", "(b, 1, q, k)", "(1, h, q, k)", "(b, h, 1, k)", "all allowed"),
)
"""Shapes that the contract allows, and one that forbids nothing."""
SHAPES = ("few", Either("one sentence", "one position"), "coinciding")
"""Of a batch: a long sentence alone, many sentences of one position, as many of both as there are features."""
SAME = ("the query itself", "the value itself", "the query as key", "the query as value")
"""Keys, of which one of these is: key and value are the query, the key is the value, …."""
LENGTHS = ("few", Either("one", "many"), Either("t", "x itself"))
"""Of a memory; `t` is as long as the target, and `x itself` is the target's very tensor."""

PLAIN: dict[str, Any] = {"made": ("few", "float64"), "values": "normal", "training": False}
"""Levels at which what differs shows clearly: no rounding, no tiny values, no dropout that silences a part."""
LEARNING = PLAIN | {"gradients": "of inputs", "history": "nothing"}
"""Levels that show what a gradient is."""
NO_MASKS = {"mask": "none", "src_mask": "none"}
OWN_MASKS = {"layout": "contiguous"}
"""Where tensors have gaps, all sentences share a mask."""
PADDED = OWN_MASKS | {"mask": "(b, 1, 1, k)", "src_mask": "(b, 1, 1, k)"}
ROWS_OF_THEIR_OWN = {"mask": "(b, h, q, k)", "src_mask": "(b, h, q, k)"}
FEW = dict.fromkeys(("b", "q", "k", "d", "s", "shape"), "few") | NO_MASKS
"""Ordinary sizes."""
OTHERS: dict[str, Any] = LEARNING | FEW | {"gradients": "of the other inputs"}
"""Levels that show the gradients of all inputs but the first, which needs none."""
FREE: dict[str, Any] = NO_MASKS | {"s": "t"}
"""Levels of a decoder that may look everywhere, with a memory as long as its input."""
ALIKE = LEARNING | FREE | {"shape": "coinciding"}
"""Levels at which all sizes are the same."""

AFTER_MASKS = [
    PLAIN | FEW | {"history": "same shapes", "gradients": gradients} for gradients in ("of inputs", "no_grad")
]
"""Calls without masks, after others with masks."""
AGAIN = AFTER_MASKS + [
    PLAIN | {"history": history, "gradients": gradients, "shape": "few", "s": "few"} | ROWS_OF_THEIR_OWN
    for history in ("same objects", "same shapes")
    for gradients in ("of inputs", "no_grad")
]
"""Calls with masks, after others with tensors of the same shapes."""

WITHOUT_KEYS = PLAIN | FEW | {"mask": "a query without keys", "src_mask": "a sentence without keys"}
"""Levels with masks that leave nothing to a query, or to all queries of a sentence; other sentences must not suffer."""
MANY_KEYS = PLAIN | {"k": "many", "s": "many", "mask": "(q, k)", "src_mask": "(q, k)"}
"""Levels with many keys and a mask for all sentences."""
FROZEN = PLAIN | FEW | {"gradients": "frozen", "history": "nothing"}
"""A call of an object whose parameters are not learned."""
RELOADED = [PLAIN | FEW | {"history": "state dict", "gradients": mode} for mode in ("no_grad", "inference_mode")]
"""Calls in eval mode of an object that had other weights when it was called before."""
AS_TRAINED = [RELOADED[0], FROZEN]
"""Calls of an object whose weights were loaded, or are not learned any more."""
SILENT = [
    PLAIN | {"training": True, "shape": shape, "s": s, "history": "nothing"}
    for shape, s in (("one sentence", "many"), ("one position", "few"), ("coinciding", "t"))
]
"""Levels of an object whose dropout leaves nothing: it must do so whatever the sizes are."""
NOTHING_LEFT = [WITHOUT_KEYS, WITHOUT_KEYS | {"mask": "a sentence without keys", "src_mask": "a query without keys"}]

ALMOST_FREE = [
    PLAIN | FEW | OWN_MASKS | {"mask": f"{one} at the {end}", "src_mask": f"{other} at the {end}"}
    for one, other in (("one query", "one sentence"), ("one sentence", "one query"))
    for end in ("start", "end")
]
"""Levels with masks that forbid something in the first, or in the last, of all rows alone, and never its outer keys:
whatever looks at another sentence, head, query or key takes them for masks that forbid nothing."""
REMARKABLE = [PLAIN | {"values": values} | ROWS_OF_THEIR_OWN for values in ("large", "small", "some zeros")]
"""Levels with values that conditions look for, and masks; float32 has no large values."""

OF_LAYERS: dict[str, Sequence[Any]] = {
    "shape": SHAPES,
    "mask": MASKS,
    "gradients": GRADIENTS,
    "history": OF_MODULES,
    "called": CALLED,
    "layout": LAYOUTS,
    "values": VALUES,
    "training": (False, True),
}
"""Factors of a layer and of a stack of layers."""
OF_MEMORY: dict[str, Sequence[Any]] = {"gradients": OF_SEVERAL, "s": LENGTHS, "src_mask": MASKS}
"""Factors of those that read a memory, beside or in place of the others."""


def size_of(level: str | Size, sizes: Mapping[str, Size]) -> Size:
    """The size, or the sizes, that a level stands for; the level itself if it is no name."""
    return sizes[level] if isinstance(level, str) else level


def learning_with(**factors: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows in which each level of some factors, and each of its alternatives, meets a gradient that shows.

    Args:
        factors: levels by name; a row has one of each.
    """
    every = {
        name: [one for level in levels for one in (level if isinstance(level, Either) else [level])]
        for name, levels in factors.items()
    }
    count = max(map(len, every.values()))
    return [
        LEARNING | {name: several[number % len(several)] for name, several in every.items()} for number in range(count)
    ]


def by_object(
    rows: Sequence[dict[str, Any]], first: tuple[Kind, torch.dtype] | None = None
) -> Iterator[tuple[tuple[Kind, torch.dtype], list[dict[str, Any]]]]:
    """The rows that one object serves for, by the object's kind and dtype: those that agree in `made`.

    Objects in float64 come first: what is wrong in both shows more clearly there.

    Args:
        rows: all of them.
        first: the object to begin with.
    """
    groups: dict[tuple[Kind, torch.dtype], list[dict[str, Any]]] = {}
    for row in rows:
        kind, dtype = row["made"]
        groups.setdefault((kind, DTYPES[dtype]), []).append(row | {"dtype": dtype})
    yield from sorted(groups.items(), key=lambda group: (group[0] != first, group[0][1] == torch.float32))
