"""Reads the roles of parameters from what a component computes, for layouts that no list knows.

With random parameters no two numbers are equal: each number of the component's maps is found among them by its value,
or by the gradient that it gets. So any arrangement can be read: views of one flat parameter, tables side by side,
hidden units in blocks, biases as a further row. What is not an arrangement of the parameters (a scaled map, the sum
of two) is not read.

Places are indices into all parameters, laid out one after the other.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from autograder.assignment.stand_ins.formulas import distinct, look_up
from autograder.testing.under_test import SubmissionUnderTest

from .usual_layouts import FoundAttention, Network, Projection

EXACT = {torch.float64: 1e-9, torch.float32: 1e-5}
"""How far a number may be from the parameter that it is."""


def learned(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes."""
    return [p for p in module.parameters() if p.requires_grad and p.numel()]


def in_a_row(tensors: Sequence[Tensor]) -> Tensor:
    """All numbers of several tensors, (n,)."""
    return torch.cat([tensor.ravel() for tensor in tensors])


def places_of(values: Tensor, among: Tensor) -> Tensor | None:
    """Where each value stands among some numbers, in the shape of the values; None unless each is one of them."""
    order = among.argsort()
    numbers = among[order]
    values = values.to(among.dtype).contiguous()
    right = torch.searchsorted(numbers, values).clamp(1, len(numbers) - 1)
    left = right - 1
    nearest = torch.where((values - numbers[left]).abs() <= (numbers[right] - values).abs(), left, right)
    error = (numbers[nearest] - values).abs()
    is_found = bool((error <= EXACT[among.dtype] * (1 + values.abs())).all())
    return order[nearest] if is_found and order[nearest].unique().numel() == values.numel() else None


def find_table(module: nn.Module, vocab_size: int, d_model: int) -> Tensor | None:
    """Places of an embedding's table, (vocab_size, d_model), where it returns its parameters times sqrt(d_model)."""
    parameters = learned(module)
    with _values(parameters, _far_apart(sum(p.numel() for p in parameters))):
        numbers = in_a_row(parameters).detach()
        vectors = module(torch.arange(vocab_size)[None]).detach()
    if vectors.shape != (1, vocab_size, d_model) or len(numbers) < 2:
        return None
    return places_of(vectors[0] / d_model**0.5, numbers)


@dataclass(frozen=True)
class NetworkPlaces:
    """Where the parts of a feed-forward network stand: (d_ff, d), (d_ff,), (d, d_ff) and (d,)."""

    parts: tuple[Tensor, ...]

    def of(self, parameters: Sequence[Tensor]) -> Network:
        """The network with these parameters."""
        numbers = in_a_row(parameters)
        return Network(tuple(numbers[places] for places in self.parts))


def find_network(module: nn.Module, d_model: int, d_ff: int) -> NetworkPlaces | None:
    """The places of W_1, b_1, W_2 and b_2, by the gradients that they get while all numbers are positive.

    Then every hidden unit is active, and a feature f of the output has the gradients 1 (its outer bias), h_j (its
    weight of the hidden unit j), W_2[f, j] (the inner bias of j) and W_2[f, j] x_i (its weight of x_i).
    """
    parameters = learned(module)
    if sum(p.numel() for p in parameters) != 2 * d_model * d_ff + d_model + d_ff or d_model < 2:
        return None
    if any(p.dtype != torch.float64 for p in parameters):
        return None
    with _values(parameters, 1.5 + distinct(sum(p.numel() for p in parameters))):
        x = 1.5 + distinct(1, 1, d_model)
        rows = [_gradients(module(x)[0, 0, feature], parameters) for feature in range(d_model)]
        return _sort_gradients(torch.stack(rows), in_a_row(parameters).detach(), x[0, 0], d_ff)


def _sort_gradients(gradients: Tensor, numbers: Tensor, x: Tensor, d_ff: int) -> NetworkPlaces | None:
    """Sorts the numbers of a network by the gradients (d_model, n) that they get."""
    d_model = len(x)
    outer, second = torch.full((d_model,), -1), torch.full((d_model, d_ff), -1)
    inner, first = torch.full((d_ff,), -1), torch.full((d_ff, d_model), -1)
    counts = (gradients.abs() > EXACT[numbers.dtype]).sum(dim=0)
    single = (counts == 1).nonzero().flatten()
    features = gradients[:, single].abs().argmax(dim=0)
    sizes = gradients[features, single]
    is_bias = (sizes - 1).abs() < EXACT[numbers.dtype]
    outer[features[is_bias]] = single[is_bias]
    activations = _distinct(sizes[~is_bias])
    if len(activations) != d_ff:
        return None
    units = (sizes[~is_bias, None] - activations).abs().argmin(dim=1)
    second[features[~is_bias], units] = single[~is_bias]
    if bool((second < 0).any()):
        return None
    for place in (counts == d_model).nonzero().flatten().tolist():
        ratios = gradients[:, place, None] / numbers[second]  # (d_model, d_ff): the same for all features of its unit
        unit = int((ratios.amax(dim=0) - ratios.amin(dim=0)).argmin())
        factor = ratios[:, unit].mean()
        column = int((x - factor).abs().argmin())
        if (factor - 1).abs() < (x[column] - factor).abs():
            inner[unit] = place
        else:
            first[unit, column] = place
    parts = first, inner, second, outer
    return None if any(bool((part < 0).any()) for part in parts) else NetworkPlaces(parts)


def _distinct(values: Tensor) -> Tensor:
    """The values, those once that are equal but for rounding."""
    ordered = values.sort().values
    is_new = torch.ones_like(ordered, dtype=torch.bool)
    is_new[1:] = ordered.diff() > EXACT[values.dtype] * (1 + ordered[1:].abs())
    return ordered[is_new]


@dataclass(frozen=True)
class AttentionPlaces:
    """Where query, key, value and output projection stand: a matrix (d, d), and biases (n, d) that are added up."""

    projections: list[tuple[Tensor, Tensor]]

    def of(self, parameters: Sequence[Tensor], n_heads: int) -> FoundAttention:
        """Multi-headed attention with these parameters, around the stand-in for attention."""
        numbers = in_a_row(parameters)
        query, key, value, output = (
            Projection(numbers[matrix], numbers[biases].sum(dim=0), block)
            for block, (matrix, biases) in enumerate(self.projections)
        )
        return FoundAttention(query, key, value, output, look_up, n_heads)


def find_projections(
    submission: SubmissionUnderTest, module: nn.Module, d_model: int, n_heads: int
) -> AttentionPlaces | None:
    """The places of the projections, by what the attention inside is handed for 0 and the unit vectors.

    It may be called for all heads at once, or for one after another; else None.
    """
    parameters = learned(module)
    with _values(parameters, d_model**-0.5 * _far_apart(sum(p.numel() for p in parameters))):
        numbers = in_a_row(parameters).detach()
        x = torch.cat([torch.eye(d_model), torch.zeros(1, d_model), 3 * _far_apart(3 * d_model**2).view(-1, d_model)])
        x = x[None].to(numbers.dtype)
        found = submission.apply("attention_inputs", module, x, x, x)
    of_heads = n_heads, x.size(1), d_model // n_heads
    if not (isinstance(found, (list, tuple)) and len(found) == 4 and all(isinstance(one, Tensor) for one in found)):
        return None
    *handed, output = (one.detach().double() for one in found)
    if output.shape != x.shape or any(one.numel() != x.numel() or one.shape[-2:] != of_heads[1:] for one in handed):
        return None
    query, key, value = (one.reshape(1, *of_heads) for one in handed)
    context, _ = look_up(query, key, value, None)
    maps = []
    for one in (query, key, value):
        rows = one[0].transpose(0, 1).flatten(1)  # (positions, d)
        maps.append((rows[:d_model] - rows[d_model], rows[d_model]))
    rows = torch.cat([context[0].transpose(0, 1).flatten(1), output.new_ones(x.size(1), 1)], dim=1)
    solved = torch.linalg.lstsq(rows, output[0]).solution
    maps.append((solved[:-1], solved[-1]))
    places: list[tuple[Tensor, Tensor]] = []
    for matrix, bias in maps:
        place = places_of(matrix, numbers)
        if place is None:
            return None
        biases = _places_of_biases(bias, numbers, in_a_row([place, *(one for pair in places for one in pair)]))
        if biases is None:
            return None
        places.append((place, biases))
    used = in_a_row([place for pair in places for place in pair])
    return AttentionPlaces(places) if used.unique().numel() == used.numel() else None  # each role has its own


def _places_of_biases(bias: Tensor, numbers: Tensor, used: Tensor) -> Tensor | None:
    """(n, d): none for 0; one; or all that are not used, where each head's output has its own and they are added up."""
    if bool((bias.abs() < 10 * EXACT[numbers.dtype]).all()):
        return used.new_empty(0, len(bias))
    if (place := places_of(bias, numbers)) is not None:
        return place[None]
    is_free = torch.ones_like(numbers, dtype=torch.bool).index_fill(0, used, False)
    rest = is_free.nonzero().flatten()
    if len(rest) % len(bias):
        return None
    error = (numbers[rest].view(-1, len(bias)).sum(dim=0) - bias).abs()
    return rest.view(-1, len(bias)) if bool((error < 10 * EXACT[numbers.dtype]).all()) else None


def _far_apart(count: int) -> Tensor:
    """So many numbers between -1 and 1, far enough apart for float32, in no order."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(0))
    return torch.linspace(-1, 1, count, dtype=torch.float64)[order]


def _gradients(end: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """The gradients of all parameters, in a row."""
    if not end.requires_grad:
        return torch.zeros(sum(p.numel() for p in parameters), dtype=end.dtype)
    found = torch.autograd.grad(end, list(parameters), allow_unused=True)
    return in_a_row([torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)])


@contextmanager
def _values(parameters: Sequence[Tensor], values: Tensor) -> Iterator[None]:
    """Other values in the place of the parameters', for the length of a with-block."""
    before = [parameter.detach().clone() for parameter in parameters]
    others = values.split([p.numel() for p in parameters])
    try:
        with torch.no_grad():
            for parameter, other in zip(parameters, others, strict=True):
                parameter.copy_(other.view_as(parameter))
        yield
    finally:
        with torch.no_grad():
            for parameter, value in zip(parameters, before, strict=True):
                parameter.copy_(value)
