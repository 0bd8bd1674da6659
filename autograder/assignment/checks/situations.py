"""Judges a component in many situations: sizes, masks, values, mode, precision, gradients, and what came before.

Situations are rows of a covering array, so that any two levels of two factors meet in each grading; where one level
stands for several kinds, each kind occurs. All calls of an object travel in one request (`stand_ins.in_turn`). What
they return is compared by value, in float32 too, and so are the gradients.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    copies,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_unchanged,
)
from autograder.testing.covering import Either
from autograder.testing.errors import CheckFailed
from autograder.testing.under_test import SubmissionUnderTest

DTYPES = {"float64": torch.float64, "float32": torch.float32}
GRADIENTS = ("of inputs", "of parameters", Either("no_grad", "inference_mode"))
OF_SEVERAL = ("of inputs", Either("of parameters", "of the other inputs"), Either("no_grad", "inference_mode"))
OF_MODULES = ("nothing", Either("same objects", "same shapes"), Either("deep copy", "state dict"))
OF_FUNCTIONS = ("nothing", "same objects", "same shapes")
LAYOUTS = ("contiguous", "transposed", Either("with gaps", "expanded"))
MASKS = ("none", "(b, h, q, k)", Either("(q, k)", "(b, 1, 1, k)", "(1, h, q, k)"))
"""Shapes that the contract allows."""
SHAPES = ("few", Either("one sentence", "one position"), "coinciding")
"""Of a batch: a long sentence alone, many sentences of one position, as many of both as there are features."""
LENGTHS = ("few", Either("one", "many"), "t")
"""Of a memory; `t` is as long as the target."""
LEARNING: dict[str, Any] = {"gradients": "of inputs", "history": "nothing", "values": "normal"}
"""Levels that show what a gradient is."""
FREE: dict[str, Any] = {"mask": "none", "src_mask": "none", "s": "t"}
"""Levels of a decoder that may look everywhere, with a memory as long as its input."""
VALUES = ("normal", "some zeros", Either("large", "small", "all equal"))

HISTORY_IN_WORDS = {
    "same objects": "after a call with the same tensors, which held other values then",
    "same shapes": "after a call with other tensors of the same shapes",
    "deep copy": "by a deep copy of the object",
    "state dict": "by a copy that had other weights before it loaded the state dict",
}

Parts = Sequence[Any]
"""What a call returns: tensors, or lists of tensors."""


@dataclass
class Situation:
    """One call, and what matters about it.

    Attributes:
        inputs: the arguments.
        row: the levels that it was made from.
        counted: for each part of the result what counts of it, as factors 0 and 1; None = all of it.
        method: of the object.
        training: whether in train mode.
        earlier: what a call before had in the place of arguments that are None here; otherwise None.
        before: copies of the arguments.
    """

    inputs: tuple[Tensor | None, ...]
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

    def call(self) -> tuple[Any, ...]:
        """As `stand_ins.in_turn` takes it."""
        gradients = "on" if self.gradients.startswith("of") else self.gradients
        return self.method, gradients, self.history, self.training, list(self.inputs), list(self.earlier)

    def prepare(self) -> None:
        """Marks the inputs whose gradients are wanted, and keeps copies."""
        floats = [tensor for tensor in self.inputs if tensor is not None and tensor.is_floating_point()]
        chosen = {"of inputs": floats, "of the other inputs": floats[1:]}
        for tensor in chosen.get(self.gradients, []) if self.history != "same objects" else []:
            tensor.requires_grad_()
        self.before = copies(self.inputs)

    def describe(self, names: Sequence[str]) -> str:
        """In words, for a message."""
        parts = []
        for name, tensor in zip(names, self.inputs, strict=True):
            if tensor is None:
                parts.append(f"{name} None")
            else:
                kind = "" if tensor.dtype in (torch.bool, torch.float64, torch.int64) else " float32"
                gaps = "" if tensor.is_contiguous() else " not contiguous"
                parts.append(f"{name} {tuple(tensor.shape)}{kind}{gaps}")
        if not self.gradients.startswith("of"):
            parts.append(f"under torch.{self.gradients}()")
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
    if kind == "a query without keys":
        mask = case.mask(b, h, q, k)
        mask[0, 0, case.size(0, q - 1)] = False
        return mask
    if kind == "(b, 1, 1, k)":
        return case.padding_mask(b, k)
    sizes = {"b": b, "h": h, "q": q, "k": k, "1": 1}
    return case.mask(*(sizes[letter] for letter in kind.strip("()").split(", ")))


def draw_shape(case: Case, kind: str, d: int) -> tuple[int, int]:
    """Sentences and positions of one of the SHAPES."""
    if kind == "coinciding":
        return (d, d) if d <= 12 else (2, d)
    if kind == "one sentence":
        return 1, case.size(13, 14)
    if kind == "one position":
        return 9, 1
    b, s = case.sizes(2, 2, 6)
    return b, s


def masks_before(case: Case, inputs: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Masks for a call before, in the place of those that are None: of a layer, a stack or the model, x (b, t) first.

    The last of the masks is for x itself, the one before it for x and the memory.
    """
    floats = [tensor.size(1) for tensor in inputs if tensor is not None and tensor.dtype != torch.bool]
    t, s = floats[0], floats[-1]
    keys = [t if number == len(inputs) - 1 else s for number in range(len(inputs))]
    return [case.mask(t, k) if tensor is None else None for tensor, k in zip(inputs, keys, strict=True)]


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
    if kind == "all equal":
        x = x[..., :1].mul(8).round().div(8).expand_as(x).clone()
    if kind == "some zeros":
        x = x * (case.normal(*shape) > 0) * (case.normal(*shape[:-1], 1) > -0.5)
    return x.to(dtype)


def draw_layer_inputs(
    case: Case, row: Mapping[str, Any], d_model: int, n_heads: int, is_decoder: bool
) -> tuple[Tensor | None, ...]:
    """Arguments of a layer or a stack as a row of the covering array says: (x, mask), or those of a decoder."""
    b, t = draw_shape(case, row["shape"], d_model)
    dtype = DTYPES[row["dtype"]]
    x = lay_out(draw_values(case, row["values"], dtype, b, t, d_model), row["layout"])
    mask = draw_mask(case, row["mask"], b, n_heads, t, t)
    if not is_decoder:
        return x, mask
    s = draw_length(case, row["s"], t)
    memory = lay_out(draw_values(case, row["values"], dtype, b, s, d_model), row["layout"])
    return x, memory, draw_mask(case, row["src_mask"], b, n_heads, t, s), mask


def draw_length(case: Case, kind: str, t: int) -> int:
    """Positions of a memory, one of the LENGTHS; `t` is the length of the target."""
    return {"one": 1, "few": case.size(2, 6), "many": case.size(65, 66), "t": t}[kind]


def in_float64(tensor: Tensor | None) -> Tensor | None:
    """A copy to compute with; floats as leaves."""
    if tensor is None or not tensor.is_floating_point():
        return tensor
    return tensor.detach().double().requires_grad_(tensor.requires_grad)


def is_random_in_training(submission: SubmissionUnderTest, module: Any, *inputs: Tensor) -> bool:
    """Whether the module draws random numbers in train mode, as its own dropout would: then values there are its own.

    The inputs should be large: small ones could come through dropout unharmed.
    """
    several = submission.apply("in_turn", module, [("forward", "no_grad", "nothing", True, list(inputs), [])] * 3)
    first, *others = (list(flat(result if isinstance(result, (tuple, list)) else [result])) for result in several)
    pairs = [(one, two) for other in others for one, two in zip(first, other, strict=False)]
    return not all(isinstance(one, Tensor) and isinstance(two, Tensor) and torch.equal(one, two) for one, two in pairs)


def in_turn(submission: SubmissionUnderTest, subject: Any, situations: Sequence[Situation]) -> list[Any]:
    """What the subject returns in each situation, from one request."""
    for situation in situations:
        situation.prepare()
    results = submission.apply("in_turn", subject, [situation.call() for situation in situations])
    expect(isinstance(results, list) and len(results) == len(situations), "all calls", "as many results", "others")
    return list(results)


def flat(parts: Parts) -> Iterator[Tensor]:
    """The tensors among the parts, in order."""
    for part in parts:
        if isinstance(part, (list, tuple)):
            yield from flat(part)
        else:
            yield part


@dataclass
class Judged:
    """What is judged: the names of its arguments and of what it returns, and what it should return.

    Attributes:
        what: "the output of the layer", for messages.
        arguments, parts: names.
        expected: what the inputs, in float64, should give.
        parameters: of the submission, paired with those that `expected` computes with.
        look_at: a hint.
        dtype: of results whose arguments have no floats.
    """

    what: str
    arguments: Sequence[str]
    parts: Sequence[str]
    expected: Callable[[Situation, tuple[Any, ...]], Parts]
    parameters: Sequence[tuple[Tensor, Tensor]] = ()
    look_at: str = ""
    dtype: torch.dtype = torch.float64


Expected = Callable[[Situation, tuple[Any, ...]], Parts]
"""What a call in a situation should return, from its arguments in float64."""


def by_object(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[tuple[str, torch.dtype], list[dict[str, Any]]]]:
    """The rows that one object serves for, by the object's kind and dtype: those that agree in `made`."""
    groups: dict[tuple[str, torch.dtype], list[dict[str, Any]]] = {}
    for row in rows:
        kind, dtype = row["made"]
        groups.setdefault((kind, DTYPES[dtype]), []).append(row | {"dtype": dtype})
    yield from groups.items()


def nearest(candidates: Sequence[Expected], situations: Sequence[Situation], results: Sequence[Any]) -> Expected:
    """The reading of the parameters that comes nearest to what was returned; random values tell readings apart."""
    if len(candidates) == 1:
        return candidates[0]

    def distance(expected: Expected) -> float:
        total = 0.0
        for situation, result in list(zip(situations, results, strict=True))[:5]:
            parts = result if isinstance(result, (tuple, list)) else [result]
            with torch.no_grad():
                wanted = expected(situation, tuple(map(in_float64, situation.inputs)))
            for one, other in zip(flat(parts), flat(wanted), strict=False):
                if not isinstance(one, Tensor) or one.shape != other.shape:
                    return float("inf")
                total += min(1.0, difference(one, other))
        return total

    return min(candidates, key=distance)


def judge(case: Case, judged: Judged, situations: Sequence[Situation], results: Sequence[Any]) -> None:
    """Compares what was returned with what is expected, and the gradients of both."""
    own, of_copies = Ends(), Ends()
    for situation, result in zip(situations, results, strict=True):
        leaf_of = {id(tensor): in_float64(tensor) for tensor in situation.inputs}  # the same object may come twice
        leaves = tuple(leaf_of[id(tensor)] for tensor in situation.inputs)
        with torch.set_grad_enabled(situation.is_differentiated):
            expected = list(judged.expected(situation, leaves))
        with told(judged, situation):
            expect_unchanged(situation.inputs, situation.before, judged.arguments)
            first = compare(judged, situation, result, expected)
            if situation.is_differentiated:
                kinds = "a result that leads back to them", "one that does not"
                same = situation.is_of_copy or first.requires_grad is expected[0].requires_grad
                expect(same, "parameters and inputs that need a gradient", *kinds, DETACHED)
        if situation.is_differentiated and expected[0].requires_grad and first.requires_grad:
            direction = case.normal(*first.shape) * counted(situation, 0)
            ends = of_copies if situation.is_of_copy else own
            ends.got.append((first * direction.to(first.dtype)).sum().double())
            ends.wanted.append((expected[0] * direction).sum())
            for name, tensor, leaf in zip(judged.arguments, situation.inputs, leaves, strict=True):
                if tensor is not None and leaf is not None and tensor.requires_grad:
                    ends.inputs.append((situation, name, tensor, leaf))
    compare_gradients(judged, own, judged.parameters)
    compare_gradients(judged, of_copies, ())


@dataclass
class Ends:
    """Where backward passes begin, what was returned and what is expected, and the inputs where they end."""

    got: list[Tensor] = field(default_factory=list)
    wanted: list[Tensor] = field(default_factory=list)
    inputs: list[tuple[Situation, str, Tensor, Tensor]] = field(default_factory=list)


DETACHED = "is everything computed from parameters and inputs, without .detach(), .data, .item() or torch.no_grad()?"


@contextmanager
def told(judged: Judged, situation: Situation) -> Iterator[None]:
    """A check that fails inside says in which situation."""
    try:
        yield
    except CheckFailed as error:
        what, *rest = str(error).split("\n")
        lines = [f"{what}, called with {situation.describe(judged.arguments)}", *rest]
        raise CheckFailed("\n".join(lines)) from None


def compare(judged: Judged, situation: Situation, result: Any, expected: Parts) -> Tensor:
    """Compares by value; returns the first part."""
    is_single = len(judged.parts) == 1
    parts = [result] if is_single else expect_parts(result, judged.parts, "what comes back")
    kinds = (tensor.dtype for tensor in situation.inputs if tensor is not None and tensor.is_floating_point())
    dtype = next(kinds, judged.dtype)
    tolerance = TOLERANCE_OF_FLOAT32 if dtype == torch.float32 else TOLERANCE
    for number, (name, part, wanted) in enumerate(zip(judged.parts, parts, expected, strict=True)):
        what = judged.what if number == 0 else name
        pairs = [(part, wanted)]
        if isinstance(wanted, (list, tuple)):
            layers = [f"{name} of layer {layer + 1}" for layer in range(len(wanted))]
            pairs = list(zip(expect_parts(part, layers, what), wanted, strict=True))
        for one, other in pairs:
            other = other.detach()
            if number < len(situation.counted) and isinstance(one, Tensor) and one.shape == other.shape:
                factors = counted(situation, number)
                one, other = one * factors.to(one.dtype), other * factors
            expect_close(one, other.to(dtype), what, judged.look_at, tolerance)
    first: Tensor = parts[0]
    return first


def counted(situation: Situation, number: int) -> Tensor:
    """What counts of a part, as factors."""
    factors = situation.counted[number] if number < len(situation.counted) else None
    return torch.ones((), dtype=torch.float64) if factors is None else factors.double()


def compare_gradients(judged: Judged, ends: Ends, parameters: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Gradients of the inputs, situation by situation, and of the parameters over all situations."""
    found = [tensor for _, _, tensor, _ in ends.inputs] + [tensor for tensor, _ in parameters if tensor.requires_grad]
    wanted = [leaf for *_, leaf in ends.inputs] + [leaf for tensor, leaf in parameters if tensor.requires_grad]
    if not ends.got or not found:
        return
    for tensor in (*found, *wanted):
        tensor.grad = None
    torch.autograd.backward(torch.stack(ends.got).sum(), inputs=found)
    torch.autograd.backward(torch.stack(ends.wanted).sum(), inputs=wanted)
    for situation, name, tensor, leaf in ends.inputs:
        if leaf.grad is not None:
            with told(judged, situation):
                compare_gradient(tensor, leaf.grad, f"the gradient of {name}")
    for parameter, leaf in parameters:
        if leaf.grad is not None and parameter.requires_grad:
            compare_gradient(parameter, leaf.grad, "the gradient of a parameter, over several calls")


def compare_gradient(tensor: Tensor, wanted: Tensor, what: str) -> None:
    """The gradient of a tensor, and what it should be, in float64."""
    found = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
    if tensor.dtype == torch.float32:  # rounding shows where large terms cancel
        size = max(1.0, float(wanted.abs().max()))
        expect_close(found / size, (wanted / size).float(), what, DETACHED, 5 * TOLERANCE_OF_FLOAT32)
        return
    expect_close(found, wanted, what, DETACHED)
