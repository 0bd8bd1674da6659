"""Judges a component in many situations: calls it, and compares by value what it returns and its gradients.

All calls of an object travel in one request (`stand_ins.in_turn`). float32 is judged by value, too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from autograder.assignment.stand_ins.calling import Call
from autograder.testing.case import Case
from autograder.testing.comparison import (
    NEGLIGIBLE,
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    Failures,
    copies,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_unchanged,
)
from autograder.testing.errors import CheckFailed
from autograder.testing.under_test import SubmissionUnderTest

from .situation import Situation

DETACHED = "is everything computed from parameters and inputs, without .detach(), .data, .item() or torch.no_grad()?"
CLEARLY_NOT_ZERO = 1e-3
"""A gradient, or a difference, of this size is no rounding error."""
LEAD = 3
"""So many results settle what the parameters are."""

Parts = Sequence[Any]
"""What a call returns: tensors, or lists of tensors."""

Expected = Callable[[Situation, tuple[Any, ...]], Parts]
"""What a call in a situation should return, from its arguments in float64."""


@dataclass
class Judged:
    """What is judged: the names of what it returns, and what it should return.

    Attributes:
        what: "the output of the layer", for messages.
        parts: names.
        expected: what the inputs, in float64, should give.
        parameters: of the submission, paired with those that `expected` computes with.
        look_at: a hint.
        dtype: of results whose arguments have no floats.
    """

    what: str
    parts: Sequence[str]
    expected: Expected
    parameters: Sequence[tuple[Tensor, Tensor]] = ()
    look_at: str = ""
    dtype: torch.dtype = torch.float64


def in_turn(
    submission: SubmissionUnderTest, subject: Any, situations: Sequence[Situation], is_trained: bool = False
) -> list[Any]:
    """What the subject returns in each situation, from one request.

    Args:
        submission: that it is of.
        subject: a module or a function.
        situations: one after the other.
        is_trained: the module had other weights when it was called first.
    """
    if not situations:
        return []
    for situation in situations:
        situation.prepare()
    calm = next((one for one in situations if all(factors is None for factors in one.counted)), situations[0])
    again: Call = calm.method, "no_grad", "nothing", False, copies(calm.before), [], []
    calls = [again, *(situation.call() for situation in situations), again]
    found = submission.apply("in_turn", subject, calls, is_trained)
    expect(isinstance(found, list) and len(found) == len(calls), "all calls", "as many results", "others")
    pairs = [expect_parts(one, ("result", "whether an earlier result changed"), "what comes back") for one in found]
    for situation, (_, changes) in zip(situations, pairs[1:-1], strict=True):
        with told(situation):
            what, look_at = "the result of an earlier call", "each call returns new tensors"
            expect(changes is False, what, "as it was", "changed by a later one", look_at)
    first, *inner, last = [result for result, _ in pairs]
    what = f"the same call again, after {len(situations)} others"
    expect(agree(first, last), what, "the same result", "another one", "no call changes what a later one computes")
    return inner


def is_random_in_training(submission: SubmissionUnderTest, module: Any, *inputs: Tensor) -> bool:
    """Whether the module draws random numbers in train mode, as its own dropout would: then values there are its own.

    The inputs should be large: small ones could come through dropout unharmed. What differs from call to call with
    equal seeds, too, is not random: the module remembers something.
    """
    several = submission.apply("train_with_seeds", module, inputs, (1, 1, 2, 3))
    first, again, *others = several
    return agree(first, again) and not all(agree(first, other) for other in others)


def agree(one: Any, other: Any) -> bool:
    """Whether two results hold the same tensors."""
    first, second = ([x for x in flat([result]) if isinstance(x, Tensor)] for result in (one, other))
    return len(first) == len(second) and all(map(torch.equal, first, second))


def nearest(candidates: Sequence[Expected], situations: Sequence[Situation], results: Sequence[Any]) -> Expected:
    """The reading of the parameters that explains the first part of most results; random values tell readings apart.

    It is found once it has explained `LEAD` results more than any other. Of those that explain as many in the end, it
    is the one that comes nearest to the rest.
    """
    if len(candidates) == 1:
        return candidates[0]
    explained, distances = [0] * len(candidates), [0.0] * len(candidates)
    for situation, result in zip(situations, results, strict=True):
        *_, second, most = sorted(explained)
        if most - second >= LEAD:
            break
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        inputs = tuple(map(in_float64, situation.inputs))
        for number, expected in enumerate(candidates):
            with torch.no_grad():
                error = distance(first, expected(situation, inputs)[0])
            explained[number] += error < CLEARLY_NOT_ZERO
            distances[number] += min(1.0, error)
    return candidates[max(range(len(candidates)), key=lambda number: (explained[number], -distances[number]))]


def distance(one: Any, other: Tensor) -> float:
    """How far something is from a tensor."""
    fits = isinstance(one, Tensor) and one.shape == other.shape
    return difference(one, other) if fits else float("inf")


def judge(case: Case, judged: Judged, situations: Sequence[Situation], results: Sequence[Any]) -> None:
    """Compares what was returned with what is expected, and the gradients of both.

    What a query that may attend to nothing gets is free: there, it is expected to attend to everything, and does not
    count where the situation says so.
    """
    own, of_copies, failures = Ends(), Ends(), Failures()
    for situation, result in zip(situations, results, strict=True):
        leaf_of = {id(tensor): to_compute_with(tensor) for tensor in situation.inputs}  # an object may come twice
        leaves = tuple(leaf_of[id(tensor)] for tensor in situation.inputs)
        with torch.set_grad_enabled(situation.is_differentiated):
            expected = list(judged.expected(situation, leaves))
        first = None
        with failures.noted(), told(situation):
            expect_unchanged(situation.inputs, situation.before, situation.names)
            first = compare(judged, situation, result, expected)
            if situation.is_differentiated:
                kinds = "a result that leads back to them", "one that does not"
                same = situation.is_of_copy or first.requires_grad is expected[0].requires_grad
                expect(same, "parameters and inputs that need a gradient", *kinds, DETACHED)
        if first is None or not situation.is_differentiated:
            continue
        if expected[0].requires_grad and first.requires_grad:
            direction = as_counted(case.normal(*first.shape), situation, 0)
            ends = of_copies if situation.is_of_copy else own
            ends.got.append((first * direction.to(first.dtype)).sum().double())
            ends.wanted.append((expected[0] * direction).sum())
            for name, tensor, leaf in zip(situation.names, situation.inputs, leaves, strict=True):
                if tensor is not None and leaf is not None and tensor.requires_grad:
                    ends.inputs.append((situation, name, tensor, leaf))
    failures.raise_first()
    compare_gradients(judged, own, judged.parameters)
    compare_gradients(judged, of_copies, ())


@dataclass
class Ends:
    """Where backward passes begin, what was returned and what is expected, and the inputs where they end."""

    got: list[Tensor] = field(default_factory=list)
    wanted: list[Tensor] = field(default_factory=list)
    inputs: list[tuple[Situation, str, Tensor, Tensor]] = field(default_factory=list)


@contextmanager
def told(situation: Situation) -> Iterator[None]:
    """A check that fails inside says in which situation."""
    try:
        yield
    except CheckFailed as error:
        what, *rest = str(error).split("\n")
        lines = [f"{what}, called with {situation.describe()}", *rest]
        masks = [tensor for tensor in situation.inputs if tensor is not None and tensor.dtype == torch.bool]
        raise CheckFailed("\n".join(lines), error.compared, masks) from None


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
            if isinstance(one, Tensor) and one.shape == other.shape:
                one, other = (as_counted(tensor, situation, number) for tensor in (one, other))
            expect_close(one, other.to(dtype), what, judged.look_at, tolerance)
    first: Tensor = parts[0]
    return first


def as_counted(tensor: Tensor, situation: Situation, number: int) -> Tensor:
    """A part of the result, or a factor for it, with 0 in place of what does not count."""
    factors = situation.counted[number] if number < len(situation.counted) else None
    return tensor if factors is None else tensor * factors


def compare_gradients(judged: Judged, ends: Ends, parameters: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Gradients of the inputs, situation by situation, and of the parameters over all situations."""
    found = [tensor for _, _, tensor, _ in ends.inputs] + [tensor for tensor, _ in parameters if tensor.requires_grad]
    wanted = [leaf for *_, leaf in ends.inputs] + [leaf for tensor, leaf in parameters if tensor.requires_grad]
    if not ends.got or not found:
        return
    for tensor in (*found, *wanted):
        tensor.grad = None
    torch.stack(ends.got).sum().backward()  # without `inputs=`, which reentrant checkpoints refuse
    torch.autograd.backward(torch.stack(ends.wanted).sum(), inputs=wanted)
    failures = Failures()
    for situation, name, tensor, leaf in ends.inputs:
        if leaf.grad is not None:
            with failures.noted(), told(situation):
                compare_gradient(tensor, leaf.grad, f"the gradient of {name}", [leaf])
    for parameter, leaf in parameters:
        if leaf.grad is not None and parameter.requires_grad:
            with failures.noted():
                compare_gradient(parameter, leaf.grad, "the gradient of a parameter, over several calls", wanted)
    failures.raise_first()


def largest_gradient(leaves: Iterable[Tensor]) -> float:
    """The largest of their gradients; 0 where none has one."""
    return max((float(leaf.grad.abs().max()) for leaf in leaves if leaf.grad is not None), default=0.0)


def compare_gradient(tensor: Tensor, wanted: Tensor, what: str, related: Sequence[Tensor]) -> None:
    """The gradient of a tensor, and what it should be, in float64; rounding shows where large terms cancel.

    Args:
        tensor: with its gradient.
        wanted: the right gradient.
        what: it is the gradient of.
        related: leaves with whose gradients it may share terms: for an input itself, for a parameter all of them.
    """
    found = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
    if difference(found, wanted) < NEGLIGIBLE:
        return
    largest = float(wanted.abs().max())
    is_lost = largest > CLEARLY_NOT_ZERO and not found.any()
    if tensor.dtype == torch.float32 and not is_lost:
        tolerance, scale = 200 * TOLERANCE_OF_FLOAT32, max(0.1, largest)
    else:
        tolerance, scale = TOLERANCE, max(1.0, largest_gradient(related) / 100)
    expect_close(found, wanted.to(found.dtype), what, DETACHED, tolerance, scale)


def flat(parts: Parts) -> Iterator[Tensor]:
    """The tensors among the parts, in order."""
    for part in parts:
        if isinstance(part, (list, tuple)):
            yield from flat(part)
        else:
            yield part


def leaves_of(module: nn.Module | Sequence[Tensor]) -> list[Tensor]:
    """Parameters in float64, to compute with; copies, as a call may write into them."""
    parameters = module.parameters() if isinstance(module, nn.Module) else module
    return [parameter.detach().to(torch.float64, copy=True).requires_grad_() for parameter in parameters]


def to_compute_with(tensor: Tensor | None) -> Tensor | None:
    """A copy in float64; a mask in which each query may attend to something."""
    if tensor is None or tensor.dtype != torch.bool:
        return in_float64(tensor)
    return tensor.logical_or(tensor.logical_not().all(dim=-1, keepdim=True))


def in_float64(tensor: Tensor | None) -> Tensor | None:
    """A copy to compute with; floats as leaves."""
    if tensor is None or not tensor.is_floating_point():
        return tensor
    return tensor.detach().double().requires_grad_(tensor.requires_grad)
