"""Reads the roles of multi-headed attention's parameters from what it computes, for layouts that no list knows.

With random parameters no two numbers are equal: each number of the projections is found among them by its value. So any
arrangement can be read: views of one flat parameter, one map for each head, biases as a further row. What is not an
arrangement of the parameters (a scaled map, the sum of two) is not read.

Places are indices into all parameters, laid out one after the other.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from autograder.assignment.stand_ins.formulas import look_up
from autograder.testing.under_test import SubmissionUnderTest

from .usual_layouts import FoundAttention, Projection

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


def find_projections(
    submission: SubmissionUnderTest, module: nn.Module, leaves: Sequence[Tensor], d_model: int, n_heads: int
) -> FoundAttention | None:
    """Multi-headed attention with these leaves, by what the attention inside is handed for 0 and the unit vectors.

    It may be called for all heads at once, or for one after another; else None. The module's own parameters change.
    """
    parameters = learned(module)
    sizes = [p.numel() for p in parameters]
    with torch.no_grad():
        for parameter, values in zip(parameters, _far_apart(sum(sizes)).split(sizes), strict=True):
            parameter.copy_(d_model**-0.5 * values.view_as(parameter))
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
    if used.unique().numel() < used.numel():  # each role has its own
        return None
    leaf = in_a_row(leaves)
    query, key, value, end = (
        Projection(leaf[matrix], leaf[biases].sum(dim=0), block) for block, (matrix, biases) in enumerate(places)
    )
    return FoundAttention(query, key, value, end, look_up, n_heads)


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
