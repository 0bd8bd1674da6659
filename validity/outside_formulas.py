"""Formulas in float64 for the components of a public implementation, and how their results differ.

Nothing here is shared with the component tests, whose verdicts it examines: neither inputs nor formulas nor the way to
tell parameters apart. A component is taken as its authors wrote it, with its own parts inside. A difference is put into
words, "" where there is none.

Shapes: b batch, q queries, k keys, h heads, d features.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product, starmap
from typing import Any, NamedTuple

import torch
from torch import Tensor

from autograder.sandbox.submission import Sandbox

Formula = Callable[..., Any]
Verdicts = dict[str, Callable[[], str]]
"""By item: "" where it is right, or what differs."""
STEP = 1e-5
"""Of the differences that gradients are compared with."""


def apart(got: Any, wanted: Tensor, tolerance: float = 1e-7) -> str:
    """How a result differs from the right one, relative to the largest value; constants may be float32 in places."""
    if not isinstance(got, Tensor):
        return f"{type(got).__name__} instead of a tensor"
    if got.shape != wanted.shape:
        return f"shape {tuple(got.shape)} instead of {tuple(wanted.shape)}"
    got, wanted = got.detach().double(), wanted.detach().double()
    if not torch.isfinite(got).all():
        return "not finite"
    difference = float((got - wanted).abs().max() / wanted.abs().max().clamp_min(1e-300))
    return "" if difference <= tolerance else f"values differ by {difference:.1g} of the largest"


def kind_of(error: BaseException) -> str:
    """The built-in kind of an error, whatever class the sandbox has given it."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def message_of(error: Exception) -> str:
    """The kind of an error, and the first line of what it says."""
    return f"{kind_of(error)}: {str(error).partition(chr(10))[0]}"


def first(problems: Iterable[str]) -> str:
    """The first problem of several cases, "" where there is none."""
    return next(filter(None, problems), "")


def first_of(several: Sequence[Verdicts], item: str) -> str:
    """The first problem with an item."""
    return first(verdicts[item]() for verdicts in several)


def tensors_in(result: Any) -> list[Tensor]:
    """The tensors that a component returns, also those in lists."""
    if torch.is_tensor(result):
        return [result]
    return [tensor for part in result for tensor in tensors_in(part)] if isinstance(result, (tuple, list)) else []


def part(result: Any, index: int) -> Any:
    """One of the tensors that a component returns."""
    return next(iter(tensors_in(result)[index:]), None)


def clones(given: Sequence[Any]) -> list[Any]:
    """Copies of tensors, through which gradients flow; what is one tensor stays one."""
    copies = {id(value): value.clone() if torch.is_tensor(value) else value for value in given}
    return [copies[id(value)] for value in given]


def called(call: Formula, *given: Any, index: int = 0) -> Any:
    """One of the tensors that a component returns for copies of the arguments: to change these costs another item."""
    return part(call(*clones(given)), index)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Softmax(Q K^T / sqrt(d)) V over the allowed keys; a query without any gets zeros."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    allowed = torch.ones_like(scores) if mask is None else mask.to(scores.dtype).expand_as(scores)
    largest = torch.where(allowed > 0, scores, -math.inf).amax(-1, keepdim=True).nan_to_num(neginf=0)
    powers = allowed * torch.exp(torch.where(allowed > 0, scores - largest, 0.0))
    weights = powers / powers.sum(-1, keepdim=True).clamp_min(1e-300)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights


def gradients_apart(call: Formula, inputs: Sequence[Any], learned: Sequence[Tensor] = ()) -> str:
    """How gradients differ from the slopes of the component's own values, in a random direction of each tensor."""
    given = [tensor.clone().requires_grad_() if is_float(tensor) else tensor for tensor in inputs]
    varied: list[Tensor] = [*filter(is_float, given), *learned]
    for tensor in learned:
        tensor.grad = None
    result = called(call, *given)
    seed = torch.randn_like(result)
    if not result.requires_grad:
        return "the result has no gradient"
    (result * seed).sum().backward()
    for tensor in varied:
        direction, values = torch.randn_like(tensor), list[float]()
        for step in (STEP, -STEP, -STEP, STEP):  # back to where it was
            with torch.no_grad():
                tensor.add_(step * direction)
                values.append(float((called(call, *given) * seed).sum()))
        slope = (values[0] - values[2]) / (2 * STEP)
        computed = 0.0 if tensor.grad is None else float((tensor.grad * direction).sum())
        if abs(computed - slope) > 1e-4 * max(1.0, abs(slope)):
            return "a tensor gets no gradient" if tensor.grad is None else "a gradient is not the slope of the values"
    return ""


def is_float(value: Any) -> bool:
    """True if a value has gradients."""
    return torch.is_tensor(value) and value.is_floating_point()


def side_effects(call: Formula, inputs: Sequence[Any], others: Sequence[Any]) -> str:
    """How a call changes its arguments, the results of an earlier call, or those of a later one."""
    copies = clones(inputs)
    with torch.no_grad():
        before = tensors_in(call(*copies))
        kept = [tensor.clone() for tensor in before]
        if any(torch.is_tensor(a) and not torch.equal(a, b) for a, b in zip(inputs, copies, strict=True)):
            return "changes an argument"
        call(*others)
        again = tensors_in(call(*clones(inputs)))
    same = partial(torch.allclose, rtol=0, atol=0, equal_nan=True)
    if not all(map(same, before, kept)):
        return "changes what it has returned"
    return "" if all(map(same, kept, again)) else "a call depends on earlier ones or on chance"


def usual(call: Formula, given: Sequence[Any], others: Sequence[Any], learned: Sequence[Tensor] = ()) -> Verdicts:
    """The items that all components have."""
    return {
        "gradients": lambda: gradients_apart(call, given, learned),
        "no side effects": lambda: side_effects(call, given, others),
    }


class Comparison(NamedTuple):
    """A component beside its formula, which returns what the component does."""

    call: Formula
    formula: Formula
    problem: str = ""  # no reading of the parameters was found: nothing can be compared
    tolerance: float = 1e-7

    def __call__(self, *given: Any, index: int = 0) -> str:
        """How one of the results differs."""
        if self.problem:
            return self.problem
        try:
            got = called(self.call, *given, index=index)
        except Exception as error:  # whatever it raises
            return message_of(error)
        return apart(got, self.formula(*given)[index], self.tolerance)


def normal(*shape: int) -> Tensor:
    """Normally distributed numbers."""
    return torch.randn(shape, dtype=torch.float64)


def mask_of(*shape: int) -> Tensor:
    """A mask in which every row allows a key and forbids one."""
    mask = torch.rand(shape) < 0.6
    mask[..., 0], mask[..., -1] = False, True
    return mask.flip(-1) if torch.rand(()) < 0.5 else mask


# Modules: which parameter plays which part is tried out. The values are random, so only the right reading fits.

Map = tuple[Tensor, Tensor | None]
"""A matrix (out, in) and a bias."""


@dataclass
class Parts:
    """Parameters in the order in which they are registered: maps of attention and of the network, gains and shifts."""

    maps: list[Map]
    hidden: list[Map]
    norms: list[tuple[Tensor, Tensor]]


class Reading(NamedTuple):
    """Which parameter plays which part."""

    side_by_side: tuple[bool, bool]  # whether the features of a head stand together, but of keys; and of keys
    less: int  # what is subtracted from d in the variance: a norm is judged in a task of its own
    turned: bool  # whether matrices are (in, out)
    attentions: tuple[int, ...]  # places of self-attention and cross-attention
    norms: tuple[int, ...]
    order: tuple[int, ...]  # places of the query's, key's, value's and output's map


def readings(n_attentions: int = 1, n_norms: int = 0) -> Iterator[Reading]:
    """All readings, the usual first."""
    sides = (True, True), (False, False), (True, False)
    places = permutations(range(n_attentions)), permutations(range(n_norms))
    orders = *permutations(range(4)), *permutations(range(3, 7))  # of lists of heads, in two ways
    return starmap(Reading, product(sides, (0, 1), (False, True), *places, orders))


class Tested:
    """A module of the submission in eval mode with random parameters, in float64."""

    def __init__(self, submission: Sandbox, component: str, *sizes: int, **options: Any) -> None:
        self.call: Any = submission.build(component, *sizes, dtype=torch.float64, isolated=False, **options).eval()
        with torch.no_grad():
            for parameter in self.call.parameters():
                parameter.copy_(0.4 * normal(*parameter.shape) + 0.2)
        self.learned = [parameter for parameter in self.call.parameters() if parameter.requires_grad]
        names = getattr(self.call, "parameter_names", None) or [name for name, _ in self.call.named_parameters()]
        self.named = dict(zip(names, map(Tensor.detach, self.call.parameters()), strict=True))

    def parts(self, d: int, h: int, d_ff: int = -1, where: Callable[[str], bool] = bool) -> Parts:
        """Sorts the parameters with such names."""
        named = {name: parameter for name, parameter in self.named.items() if where(name)}
        parts, others, per_head, used = Parts([], [], []), list[Map](), list[Map](), set[str]()
        for name, parameter in named.items():
            bias_name = f"{name.removesuffix('weight')}bias" if name.endswith("weight") else ""
            bias = named.get(bias_name)
            if parameter.dim() > 2:  # a convolution of width 1, or an axis for the batch
                parameter = parameter.squeeze()
            if parameter.dim() == 1:
                continue
            used |= {name, bias_name}
            if parameter.dim() == 3:  # heads in an axis of their own
                whole = parameter.movedim(parameter.shape.index(h), 0)
                matrix = (whole if whole.shape[2] == d else whole.mT).reshape(d, d)
                parts.maps.append((matrix, None))
                others.append((matrix.T, None))  # beside others on the right of x
            elif {*parameter.shape} == {d, d_ff}:
                parts.hidden.append((parameter, bias))
            elif (n := parameter.numel() // (d * d)) in (1, 2, 3) and parameter.numel() == n * d * (
                d if bias is None else len(bias) // n
            ):  # joined ones, too
                whole = parameter if parameter.shape[1] == d else parameter.T
                for to, axes in ((parts.maps, (1, n, -1)), (others, (h, n, -1)))[: 1 + (n > 1)]:
                    kinds = whole.view(*axes, d).transpose(0, 1).reshape(n, d, d)  # thirds, or thirds of each head
                    shifts = [None] * n if bias is None else bias.view(axes).transpose(0, 1).reshape(n, d)
                    to += zip(kinds, shifts, strict=True)
            else:
                per_head.append((parameter if parameter.shape[1] == d else parameter.T, bias))
        n = len(per_head) // 3
        parts.maps = [*(join(per_head[i * n : i * n + n]) for i in range(3 * bool(n))), *parts.maps]
        parts.maps += others + [join(per_head[i::3]) for i in range(3 * bool(n))]
        vectors = {name: p for name, p in named.items() if p.dim() == 1 and name not in used and len(p) in (1, d)}
        gains, offsets = [*vectors.values()][::2], [*vectors.values()][1::2]
        if all(name.endswith("weight") for name in vectors):  # no norm has a shift
            gains = [*vectors.values()] or [torch.ones(d)] * 3
            offsets = [torch.zeros(d)] * len(gains)
        parts.norms = list(zip(gains, offsets, strict=False))
        return parts


def join(of_heads: Sequence[Map]) -> Map:
    """One map of those of single heads."""
    biases = [bias for _, bias in of_heads if bias is not None]
    return torch.cat([matrix for matrix, _ in of_heads]), torch.cat(biases) if biases else None


def affine(x: Tensor, of: Map, turned: bool) -> Tensor:
    """W x + b; the sizes of a matrix that is no square show which side of x it is on."""
    n_rows, n_columns = of[0].shape
    is_turned = turned if n_rows == n_columns else n_rows == x.shape[-1]
    y = x @ (of[0] if is_turned else of[0].mT)
    return y if of[1] is None else y + of[1]


def heads(given: Sequence[Any], maps: Sequence[Map], h: int, by: Reading) -> tuple[Tensor, Tensor]:
    """Multi-headed attention of query, key, value and a mask."""
    mask = given[3] if len(given) > 3 else None
    maps = [maps[i] for i in by.order]
    others, of_keys = by.side_by_side
    query, key, value = (
        (y.unflatten(-1, (h, -1)) if is_together else y.unflatten(-1, (-1, h)).mT).transpose(1, 2)
        for x, of, is_together in zip(given[:3], maps, (others, of_keys, others), strict=False)
        for y in [affine(x.double(), of, by.turned)]
    )
    context, weights = attend(query, key, value, mask)
    context = context.transpose(1, 2)
    return affine((context if others else context.mT).flatten(2), maps[3], by.turned), weights


def norm(
    x: Tensor,
    gain: Tensor | float = 1.0,
    shift: Tensor | float = 0.0,
    epsilon: float = 1e-6,
    less: int = 0,
    is_outside: bool = False,
) -> Tensor:
    """LayerNorm over the last axis; epsilon may stand outside the root."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().sum(-1, keepdim=True) / (x.shape[-1] - less)
    return gain * centred / ((variance + epsilon * (not is_outside)).sqrt() + epsilon * is_outside) + shift


def network(x: Tensor, hidden: Sequence[Map], activation: Formula, turned: bool) -> Tensor:
    """The feed-forward network."""
    return affine(activation(affine(x, hidden[0], turned)), hidden[1], turned)


def stack(
    x: Tensor, memory: Tensor | None, masks: Sequence[Any], layers: Sequence[Parts], h: int, by: Reading, kept: float
) -> list[Tensor]:
    """Post-norm layers, with a memory of the decoder: x, then the weights. The masks are of x and of the memory."""
    all_weights: list[list[Tensor]] = [[] for _ in masks]
    for parts in layers:
        norms = [parts.norms[i] for i in by.norms]
        for i, (read, mask) in enumerate(zip((None, memory), masks, strict=False)):
            others, j = x if read is None else read, 4 * by.attentions[i]
            maps = parts.maps if len(masks) == 1 else parts.maps[j : j + 4]
            y, weights = heads([x, others, others, mask], maps, h, by)
            x = norm(x + kept * y, *norms[i], less=by.less)
            all_weights[i].append(weights)
        x = norm(x + kept * network(x, parts.hidden, torch.relu, by.turned), *norms[len(masks)], less=by.less)
    return [x, *(weights for of_one in all_weights for weights in of_one)]


def search(result: Any, choices: Iterable[Any], formula: Formula, tolerance: float = 1e-7) -> tuple[Any, str]:
    """The first reading with which the formula gives what a module returned; otherwise what differs with the usual."""
    problem = "" if torch.is_tensor(result) else apart(result, torch.zeros(()))
    for choice in [] if problem else choices:
        with suppress(IndexError, RuntimeError):  # parts are missing, or of other sizes
            this = apart(result, formula(choice), tolerance)
            if not this:
                return choice, ""
            problem = problem or this
    return None, problem or "its parameters cannot be told apart"
