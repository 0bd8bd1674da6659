"""The one search for what a component's numbers mean: which of them plays which part in a known formula?

The formula has parts of known shapes (matrices, biases). Each number of a part is one of the component's parameters,
which may stand anywhere: in views of one flat parameter, in a map for each head, in a further row. The numbers of both
sides are sorted into classes, at first one class for all. All members of a class get the same random value. Then the
component's gradients are those of the formula in another order, and a class splits into classes of equal gradients,
until each has one member of either side. Numbers that no gradient tells apart, as the features of one head, may change
places. So any arrangement is found within a dozen calls. What is no arrangement of the parameters (a scaled matrix, the
sum of two), or a component that computes something else, is not found.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from autograder.testing.comparison import TOLERANCE, difference
from autograder.testing.fitting import Computation, tensors_in

Draw = Callable[[torch.Generator], Sequence[Tensor | None]]
"""A function that draws the arguments of a call, in float64."""

MOST_ROUNDS, IDLE_ROUNDS = 60, 3
"""How often gradients are compared; and after how many rounds that split nothing numbers may change places.

With some values a hidden feature is below 0 everywhere, and its numbers have no gradient.
"""
EQUAL, EQUAL_TO_THE_LARGEST = 1e-6, 1e-7
"""How far equal gradients may be apart, relative to themselves and to the largest of all."""
ROUNDED = 30.0
"""So many times as far where a step rounds to float32."""

_found: WeakKeyDictionary[object, dict[object, tuple[int, Tensor] | None]] = WeakKeyDictionary()
"""For each submission, by component and sizes: the number of the formula that fits, and the places of its numbers."""


@dataclass(frozen=True)
class Formula:
    """A computation with parts of known shapes.

    Attributes:
        shapes: of the parts.
        make: from the parts to the computation.
        exchangeable: parts whose first row decides an order that is free, such as that of hidden features.
    """

    shapes: Sequence[tuple[int, ...]]
    make: Callable[[Sequence[Tensor]], Computation]
    exchangeable: Sequence[int] = ()

    @cached_property
    def counts(self) -> list[int]:
        """The numbers of each part."""
        return [torch.Size(shape).numel() for shape in self.shapes]

    @cached_property
    def is_exchangeable(self) -> Tensor:
        """For each number whether its place decides a free order."""
        marks = [torch.zeros(shape, dtype=torch.bool) for shape in self.shapes]
        for part in self.exchangeable:
            marks[part][0] = True
        return in_a_row(marks)

    def of(self, numbers: Tensor) -> Computation:
        """The computation with these numbers, part after part."""
        pieces = zip(numbers.split(self.counts), self.shapes, strict=True)
        return self.make([piece.view(shape) for piece, shape in pieces])


def learned(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes."""
    return [p for p in module.parameters() if p.requires_grad and p.numel()]


def in_a_row(tensors: Sequence[Tensor]) -> Tensor:
    """All numbers of several tensors, (n,)."""
    return torch.cat([tensor.ravel() for tensor in tensors])


def find_formula(
    submission: object,
    key: object,
    component: Callable[[], "Component"],
    leaves: Sequence[Tensor],
    formulas: Iterable[Formula],
) -> Computation | None:
    """Return the computation with these leaves that the component makes of its parameters; None where nobody can tell.

    In each component of one key, its name and sizes, the places and the formulas are the same. The leaves are in the
    order of the parameters of `component()`, which may be changed.
    """
    known = _found.setdefault(submission, {})
    formulas = iter(formulas)
    if key not in known:
        formulas = iter(several := [*formulas])
        try:
            known[key] = component().find(several)
        except TimeoutError:
            raise
        except Exception:  # it works as usual, but not with these numbers: a person decides
            known[key] = None
    if (place := known[key]) is None:
        return None
    number, places = place
    formula = next(islice(formulas, number, None))
    return formula.of(torch.cat([in_a_row(leaves), leaves[0].new_zeros(1)])[places])


def normal(*shapes: tuple[int, ...] | None) -> Draw:
    """Arguments of these shapes, normally distributed; None stays None."""
    return lambda chance: [
        None if shape is None else torch.randn(shape, generator=chance, dtype=torch.float64) for shape in shapes
    ]


@dataclass(frozen=True)
class Component:
    """A component in float64 whose parameters may be changed, how its arguments are drawn, and how rough it is."""

    call: Computation
    parameters: Sequence[Tensor]
    draw: Draw
    roughness: float = 1.0
    _at_first: list[Tensor] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many numbers its parameters have."""
        return sum(p.numel() for p in self.parameters)

    def find(self, formulas: Sequence[Formula]) -> tuple[int, Tensor] | None:
        """The number of the first formula that computes the same with some of the parameters, and their places.

        What is returned beside the first result, such as weights, helps; if it is wrong, it costs an item of its own.
        """
        for are_all_judged in (True, False):
            for number, formula in enumerate(formulas):
                places = self._places_for(formula, are_all_judged) if sum(formula.counts) <= self.size else None
                if places is not None:
                    return number, places
            if len(self._at_first) == 1:  # nothing is returned beside it: the same would come out again
                break
        return None

    def _places_for(self, formula: Formula, are_all_judged: bool) -> Tensor | None:
        """For each number of the formula the parameter that it is; -1 where it has no effect."""
        n = self.size
        chance = torch.Generator().manual_seed(0)
        classes, n_idle = torch.zeros(n + sum(formula.counts), dtype=torch.long), 0
        for _ in range(MOST_ROUNDS):
            gradients = self._compare(formula, classes, chance, are_all_judged)
            finer = None if gradients is None else _split(classes, gradients, n, self.roughness)
            if finer is None:
                return None
            n_idle, classes = 0 if finer.max() > classes.max() else n_idle + 1, finer
            if n_idle == IDLE_ROUNDS:
                n_idle = 0
                ours, theirs = (side.bincount(minlength=int(classes.max()) + 1) for side in (classes[:n], classes[n:]))
                several = (ours > 1) & (ours == theirs)
                if not several.any():
                    places = torch.full_like(ours, -1).scatter(0, classes[:n], torch.arange(n))
                    return places.masked_fill(ours != 1, -1)[classes[n:]]
                exchangeable = torch.zeros_like(several)
                exchangeable[classes[n:][formula.is_exchangeable]] = True
                exchangeable &= several
                chosen = exchangeable if exchangeable.any() else several & (several.cumsum(0) == 1)
                classes = _number_members(classes, chosen, n)
        return None

    def _compare(
        self, formula: Formula, classes: Tensor, chance: torch.Generator, are_all_judged: bool
    ) -> Tensor | None:
        """The gradients of the component's numbers, then of the formula's; None where they compute something else."""
        is_first = not classes.any()
        values = torch.randn(int(classes.max()) + 1, generator=chance, dtype=torch.float64)
        scale = min(self.size, max(max(p.shape, default=1) for p in self.parameters)) ** -0.5
        numbers = scale * (torch.ones_like(values) if is_first else values)[classes]
        inputs = self.draw(chance)
        parts = numbers[self.size :].requires_grad_()
        wanted = [result.double() for result in tensors_in(formula.of(parts)(*inputs))]
        judged = self._at_first if are_all_judged else self._at_first[:1]
        if is_first and judged and not _are_equal(judged, wanted[: len(judged)]):
            return None  # as most formulas, which all begin with the same call
        sizes = [p.numel() for p in self.parameters]
        with torch.no_grad():
            for parameter, own in zip(self.parameters, numbers[: self.size].split(sizes), strict=True):
                parameter.copy_(own.view_as(parameter))
        returned = [result.double() for result in tensors_in(self.call(*inputs))]
        if not are_all_judged or [result.shape for result in returned] != [result.shape for result in wanted]:
            returned, wanted = returned[:1], wanted[:1]
        if is_first:
            self._at_first[:] = [result.detach() for result in returned]
        if not _are_equal(returned, wanted):
            return None
        if any(result.requires_grad for result in returned):  # weights may be detached
            wanted = [due for result, due in zip(returned, wanted, strict=True) if result.requires_grad]
            returned = [result for result in returned if result.requires_grad]
        ways = [torch.randn(result.shape, generator=chance, dtype=torch.float64) for result in returned]
        return torch.cat([_gradients(returned, ways, self.parameters), _gradients(wanted, ways, [parts])])


def _are_equal(returned: Sequence[Tensor], wanted: Sequence[Tensor]) -> bool:
    """True if these are the same results, but for rounding."""
    pairs = [*zip(returned, wanted, strict=False)]
    return len(returned) == len(wanted) and all(a.shape == b.shape and difference(a, b) <= TOLERANCE for a, b in pairs)


def _split(classes: Tensor, gradients: Tensor, n: int, roughness: float) -> Tensor | None:
    """Finer classes, each of equal gradients; None where one has not as many of the first n numbers as of the others.

    Numbers without an effect are an exception: such a parameter has no part in the formula.
    """
    order = gradients.argsort()
    order = order[classes[order].argsort(stable=True)]
    least = roughness * EQUAL_TO_THE_LARGEST * gradients.abs().max()
    near = roughness * EQUAL * gradients[order][1:].abs() + least
    is_new = (gradients[order].diff() > near) | (classes[order].diff() > 0)
    numbers = torch.cat([torch.zeros(1, dtype=torch.long), is_new.long().cumsum(0)])
    finer = torch.empty_like(classes).scatter_(0, order, numbers)
    ours, theirs = (side.bincount(minlength=int(finer.max()) + 1) for side in (finer[:n], finer[n:]))
    strongest = gradients.new_zeros(len(ours)).scatter_reduce_(0, finer, gradients.abs(), "amax")
    is_uneven = (ours != theirs) & (strongest > least)
    return None if is_uneven.any() else finer


def _number_members(classes: Tensor, chosen: Tensor, n: int) -> Tensor:
    """Make pairs of the members of each chosen class, which may change places: classes of their own."""
    numbered, count = classes.clone(), len(chosen)
    for which in chosen.nonzero().flatten().tolist():
        for side in (numbered[:n], numbered[n:]):
            members = (side == which).nonzero().flatten()[1:]
            side[members] = count + torch.arange(len(members))
        count = int(numbered.max()) + 1
    return numbered


def _gradients(results: Sequence[Tensor], ways: Sequence[Tensor], tensors: Sequence[Tensor]) -> Tensor:
    """The gradients of a sum over results for all numbers of some tensors, (n,); 0 where nothing leads back."""
    total = sum((result * way).sum() for result, way in zip(results, ways, strict=True))
    if not (isinstance(total, Tensor) and total.requires_grad):
        return torch.zeros(sum(t.numel() for t in tensors), dtype=torch.float64)
    gradients = torch.autograd.grad(total, tensors, allow_unused=True)
    dense = [torch.zeros_like(t) if g is None else g.to_dense() for t, g in zip(tensors, gradients, strict=True)]
    return in_a_row(dense).double()
