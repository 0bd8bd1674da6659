"""Situations in which a component is judged: sizes, masks, values, mode, precision, gradients, and what came before.

They are rows of a covering array, so that any two levels of two factors meet in each grading; where one level stands
for several kinds, each kind occurs. `judging` compares what a component does in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from autograder.assignment.stand_ins.runners import Call
from autograder.testing.case import Case
from autograder.testing.comparison import copies
from autograder.testing.covering import Either

Size = TypeVar("Size")
DTYPES = {"float64": torch.float64, "float32": torch.float32}
GRADIENTS = ("of inputs", "of parameters", Either("no_grad", "inference_mode"))
OF_SEVERAL = ("of inputs", Either("of parameters", "of the other inputs"), Either("no_grad", "inference_mode"))
OF_MODULES = ("nothing", Either("same objects", "same shapes"), Either("deep copy", "state dict"))
OF_FUNCTIONS = ("nothing", "same objects", "same shapes")
CALLED = ("by position", "by name")
"""How all arguments but the first are given; that one comes by position, as a forward hook may rely on it."""
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
VALUES = ("normal", "some zeros", Either("large", "small", "all equal"))

GRADIENTS_IN_WORDS = {
    "no_grad": "under torch.no_grad()",
    "inference_mode": "under torch.inference_mode()",
    "frozen": "with parameters that need no gradient",
}
HISTORY_IN_WORDS = {
    "same objects": "after a call with the same tensors, which held other values then",
    "same shapes": "after a call with other tensors of the same shapes",
    "deep copy": "by a deep copy of the object",
    "state dict": "by a copy that had other weights before it loaded the state dict",
}


@dataclass
class Situation:
    """One call, and what matters about it.

    Attributes:
        inputs: the arguments.
        names: of the arguments.
        row: the levels that it was made from.
        counted: for each part of the result what counts of it, as factors 0 and 1; None = all of it.
        method: of the object.
        training: whether in train mode.
        earlier: what a call before had in the place of arguments that are None here; otherwise None.
        before: copies of the arguments.
    """

    inputs: tuple[Tensor | None, ...]
    names: Sequence[str]
    row: dict[str, Any]
    counted: Sequence[Tensor | None] = ()
    method: str = "forward"
    training: bool = False
    earlier: Sequence[Tensor | None] = ()
    before: list[Tensor | None] = field(default_factory=list)

    @property
    def gradients(self) -> str:
        """What is differentiated, or the mode in which nothing is."""
        return str(self.row.get("gradients", "of parameters"))

    @property
    def history(self) -> str:
        """What came before the call."""
        return str(self.row.get("history", "nothing"))

    @property
    def is_differentiated(self) -> bool:
        """Whether its gradients are judged: not of a copy that will load its weights again."""
        return self.gradients.startswith("of") and self.history != "state dict"

    @property
    def is_of_copy(self) -> bool:
        """Whether a copy is called, whose parameters' gradients are out of reach."""
        return self.history == "deep copy"

    def call(self) -> Call:
        """As `stand_ins.in_turn` takes it."""
        gradients = "on" if self.gradients.startswith("of") else self.gradients
        by_name = list(self.names[1:]) if self.row.get("called") == "by name" else []
        inputs, earlier = list(self.inputs), list(self.earlier)
        return self.method, gradients, self.history, self.training, inputs, earlier, by_name

    def prepare(self) -> None:
        """Marks the inputs whose gradients are wanted, and keeps copies."""
        floats = [tensor for tensor in self.inputs if tensor is not None and tensor.is_floating_point()]
        chosen = {"of inputs": floats, "of the other inputs": floats[1:]}
        for tensor in chosen.get(self.gradients, []) if self.history != "same objects" else []:
            tensor.requires_grad_()
        self.before = copies(self.inputs)

    def describe(self) -> str:
        """In words, for a message."""
        parts = []
        for name, tensor in zip(self.names, self.inputs, strict=True):
            if tensor is None:
                parts.append(f"{name} None")
            else:
                kind = "" if tensor.dtype in (torch.bool, torch.float64, torch.int64) else " float32"
                gaps = "" if tensor.is_contiguous() else " not contiguous"
                parts.append(f"{name} {tuple(tensor.shape)}{kind}{gaps}")
        if self.row.get("called") == "by name":
            parts.append("all but the first by name")
        if self.gradients in GRADIENTS_IN_WORDS:
            parts.append(GRADIENTS_IN_WORDS[self.gradients])
        if self.training:
            parts.append("in train mode")
        if self.row.get("values", "normal") != "normal":
            parts.append(f"values: {self.row['values']}")
        if self.history in HISTORY_IN_WORDS:
            parts.append(HISTORY_IN_WORDS[self.history])
        return ", ".join(parts)


def draw_mask(case: Case, kind: str, b: int, h: int, q: int, k: int) -> Tensor | None:
    """A mask of one of the kinds."""
    if kind == "none":
        return None
    if kind == "all allowed":
        return torch.ones(b, 1, q, k, dtype=torch.bool)  # forbids nothing
    if kind == "(q, k), one without keys":
        mask = case.mask(q, k)
        mask[case.size(0, q - 1)] = False
        return mask
    if kind in ("a query without keys", "one without keys, for all"):
        mask = case.mask(1 if kind.endswith("for all") else b, h, q, k)
        mask[0, 0, case.size(0, q - 1)] = False
        return mask
    if kind.endswith(("at the start", "at the end")):
        mask = torch.ones(b, *((h, q) if kind.startswith("one query") else (1, 1)), k, dtype=torch.bool)
        mask.view(-1, k)[0 if kind.endswith("start") else -1, 1 : max(2, k - 1)] = False
        return mask
    if kind == "a sentence without keys":
        mask = case.padding_mask(b, k)
        mask[0] = False
        return mask
    if kind == "(b, 1, 1, k)":
        return case.padding_mask(b, k)
    sizes = {"b": b, "h": h, "q": q, "k": k, "1": 1}
    return case.mask(*(sizes[letter] for letter in kind.strip("()").split(", ")))


def served(*masks: Tensor | None) -> Tensor | None:
    """Which sentences count, (b, 1, 1): all but those in which a query may attend to nothing, where values are free.

    None = all of them.
    """
    rows = [mask.any(dim=-1).flatten(1).all(dim=-1) for mask in masks if mask is not None and mask.dim() == 4]
    rows = [row for row in rows if not row.all()]
    return torch.stack(rows).all(dim=0)[:, None, None] if rows else None


def counted_of(inputs: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """What counts of the result of a layer or a stack: x, and weights of one or two attentions; see `served`."""
    counts = served(*(tensor for tensor in inputs if tensor is not None and tensor.dtype == torch.bool))
    return (None, None, None) if counts is None else (counts, counts[..., None], counts[..., None])


def draw_shape(case: Case, kind: str | tuple[int, int], d: int) -> tuple[int, int]:
    """Sentences and positions of one of the SHAPES, or as given."""
    if isinstance(kind, tuple):
        return kind
    if kind == "coinciding":
        return (d, d) if d <= 12 else (2, d)
    if kind == "one sentence":
        return 1, case.size(13, 14)
    if kind == "one position":
        return 9, 1
    b, s = case.sizes(2, 2, 6)
    return b, s


def mask_before(case: Case, row: Mapping[str, Any], b: int, q: int, k: int) -> Tensor:
    """A mask for a call before, in the place of none: of padding where nothing is differentiated."""
    is_differentiated = str(row["gradients"]).startswith("of")
    return case.mask(q, k) if is_differentiated else case.padding_mask(b, k)


def masks_before(case: Case, row: Mapping[str, Any], inputs: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Masks for a call before, in the place of those that are None: of a layer, a stack or the model, x (b, t) first.

    The last of the masks is for x itself, the one before it for x and the memory.
    """
    tensors = [tensor for tensor in inputs if tensor is not None and tensor.dtype != torch.bool]
    (b, t), s = tensors[0].shape[:2], tensors[-1].size(1)
    keys = [t if number == len(inputs) - 1 else s for number in range(len(inputs))]
    return [mask_before(case, row, b, t, k) if tensor is None else None for tensor, k in zip(inputs, keys, strict=True)]


def lay_out_mask(mask: Tensor | None, layout: str) -> Tensor | None:
    """The mask, as it may lie in memory beside tensors of this layout.

    Where these have gaps, the mask of the first sentence serves for all of them, if it leaves something to each query.
    Where they repeat a sentence, the masks differ, and so must the results.
    """
    if mask is None or layout in ("contiguous", "expanded"):
        return mask
    if layout == "transposed":
        return mask.mT.contiguous().mT
    is_for_all = mask.dim() == 4 and bool(mask.any(dim=-1).all())
    return lay_out(mask, "expanded" if is_for_all and mask.size(0) > 1 else layout)


def lay_out(tensor: Tensor, layout: str) -> Tensor:
    """The tensor, as it may lie in memory; `expanded` repeats its first sentence."""
    if layout == "transposed" and tensor.dim() > 1:
        return tensor.transpose(0, 1).contiguous().transpose(0, 1)
    if layout == "with gaps":
        return torch.stack([tensor, tensor], dim=-1)[..., 0]
    if layout == "expanded" and tensor.dim() > 1 and tensor.size(0) > 1:
        return tensor[:1].expand_as(tensor)
    return tensor


def draw_values(case: Case, kind: str, dtype: torch.dtype, *shape: int) -> Tensor:
    """Floats of a kind; what rounding in float32 would drown is drawn in float64 alone."""
    if dtype == torch.float32 and kind in ("large", "all equal"):
        kind = "some zeros"
    x = case.normal(*shape, scale={"large": 3000.0, "small": 1e-3}.get(kind, 1.0))
    if kind == "one outlier":
        x[..., case.size(0, shape[-1] - 1)] = 1000.0
    if kind == "all equal":
        x = x[..., :1].mul(8).round().div(8).expand_as(x).clone()
    if kind == "some zeros":
        is_kept = case.normal(*shape[:-1], 1) > -0.5
        is_kept[tuple(case.size(0, size - 1) for size in shape[:-1])] = False  # one vector at least is all zeros
        x = x * (case.normal(*shape) > 0) * is_kept
    return x.to(dtype)


def made_the_same(kind: str, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value, of which some are one object if `kind` is one of SAME."""
    if kind in ("the query itself", "the query as value"):
        value = query
    if kind in ("the query itself", "the query as key"):
        key = query
    return query, value if kind == "the value itself" else key, value


def draw_layer_inputs(
    case: Case, row: Mapping[str, Any], d_model: int, n_heads: int, is_decoder: bool
) -> tuple[Tensor | None, ...]:
    """Arguments of a layer or a stack as a row of the covering array says: (x, mask), or those of a decoder."""
    b, t = draw_shape(case, row["shape"], d_model)
    dtype = DTYPES[row["dtype"]]
    x = lay_out(draw_values(case, row["values"], dtype, b, t, d_model), row["layout"])
    mask = lay_out_mask(draw_mask(case, row["mask"], b, n_heads, t, t), row["layout"])
    if not is_decoder:
        return x, mask
    s = draw_length(case, row["s"], t)
    memory = lay_out(draw_values(case, row["values"], dtype, b, s, d_model), row["layout"])
    memory = x if row["s"] == "x itself" else memory
    src_mask = lay_out_mask(draw_mask(case, row["src_mask"], b, n_heads, t, s), row["layout"])
    return x, memory, src_mask, mask


def size_of(level: str | Size, sizes: Mapping[str, Size]) -> Size:
    """The size, or the sizes, that a level stands for; the level itself if it is no name."""
    return sizes[level] if isinstance(level, str) else level


def draw_length(case: Case, kind: str | int, t: int) -> int:
    """Positions of a memory, one of the LENGTHS or as given; `t` is the length of the target."""
    return size_of(kind, {"one": 1, "few": case.size(2, 6), "many": case.size(65, 66), "t": t, "x itself": t})


Sizes = tuple[Any, ...]
Kind = str | Sizes
"""Of an object: a name for its settings, or the settings."""


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
