"""Cuts fused or split parameters of multi-headed attention into one matrix and vector per role, as the reference has.

Shapes: h heads · d = d_model. A piece is a matrix (d_out, d_in) or a vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Size, Tensor

ROLES = 4
"""Query, key, value and output."""

Reading = Callable[[Sequence[Tensor]], list[Tensor]]


def readings(component: str, ours: object, places: tuple[Size, ...], shapes: tuple[Size, ...]) -> tuple[Reading, ...]:
    """Ways to cut a submission's parameters into pieces; equal arguments give the same objects.

    Args:
        component: the class, "module.Name".
        ours: an object of the reference's class, made with the same arguments as the submission's.
        places: shapes of its parameters.
        shapes: shapes of the submission's parameters.
    """
    n_heads = getattr(ours, "n_heads", 0)
    if component != "attention.MultiHeadedAttention" or not n_heads or not places:
        return (list,)
    return _cuts(shapes, places[0][-1], n_heads)


@dataclass(frozen=True)
class Cut:
    """A way to cut.

    Attributes:
        kind: "in a row" or "interleaved", of fused parameters; "heads" or "roles", of one for each head and role.
    """

    kind: str
    d_model: int
    n_heads: int

    def __call__(self, parameters: Sequence[Tensor]) -> list[Tensor]:
        """The pieces."""
        if self.kind in ("heads", "roles"):
            return _join_heads(parameters, self.d_model, self.n_heads, by_head=self.kind == "heads")
        return _cut_all(parameters, self.d_model, self.n_heads, mixed=self.kind == "interleaved")


@lru_cache(maxsize=256)
def _cuts(shapes: tuple[Size, ...], d_model: int, n_heads: int) -> tuple[Reading, ...]:
    """Ways to cut the parameters of multi-headed attention into matrices (d, d) and vectors (d,)."""
    parameters = [torch.empty(shape) for shape in shapes]
    small = [p for p in parameters if _is_small(p, d_model, n_heads)]
    ways = ["heads", "roles"] if n_heads > 1 and len(small) >= n_heads else []
    if not ways or n_heads == d_model:  # where a head has one feature, its matrix may be a vector with one more axis
        ways += ["in a row", "interleaved"] if any(p.numel() > d_model**2 for p in parameters) else ["in a row"]
    return tuple(Cut(kind, d_model, n_heads) for kind in ways)


def _is_small(parameter: Tensor, d_model: int, n_heads: int) -> bool:
    """Whether this may be the matrix of one head in one role."""
    n_axes = parameter.dim() if n_heads == d_model else parameter.squeeze().dim()
    return n_axes >= 2 and parameter.numel() * n_heads == d_model**2


def _cut_all(parameters: Sequence[Tensor], d_model: int, n_heads: int, mixed: bool) -> list[Tensor]:
    """Cuts fused parameters: one role after another, or (mixed) all roles of each head together."""
    pieces: list[Tensor] = []
    for parameter in parameters:
        is_vector = parameter.squeeze().dim() <= 1 and parameter.numel() <= ROLES * d_model
        size = d_model if is_vector or parameter.numel() < d_model**2 else d_model**2
        if parameter.numel() % size:
            return []
        for part in _cut(parameter, parameter.numel() // size, n_heads, mixed):
            pieces.append(_as_matrix(part, d_model) if size > d_model else part.reshape(-1))
    return pieces


def _cut(parameter: Tensor, count: int, n_heads: int, is_interleaved: bool) -> list[Tensor]:
    """Cuts a fused parameter along its longest axis that can be cut: in a row, or head by head."""
    parameter = parameter.squeeze()
    if count == 1:
        return [parameter]
    axes = sorted(range(parameter.dim()), key=lambda axis: (parameter.shape[axis] != count, -parameter.shape[axis]))
    axis = next((axis for axis in axes if parameter.size(axis) % count == 0), None)
    if axis is None:
        return []
    if is_interleaved and parameter.size(axis) % (count * n_heads) == 0:
        by_head = torch.unflatten(parameter, axis, (n_heads, count, parameter.size(axis) // count // n_heads))
        return [by_head.select(axis + 1, index).flatten(axis, axis + 1) for index in range(count)]
    return list(parameter.chunk(count, dim=axis))


def _as_matrix(block: Tensor, d_model: int) -> Tensor:
    """(h, d, d_head) and (h, d_head, d) for projections: features of the result first."""
    block = block.squeeze()
    if block.dim() == 3 and block.size(1) == d_model:
        block = block.transpose(1, 2)
    return block.reshape(d_model, d_model)


def _join_heads(parameters: Sequence[Tensor], d_model: int, n_heads: int, by_head: bool) -> list[Tensor]:
    """One small matrix (and vector) for each head and role: all roles of a head together, or role by role."""
    small = [p for p in parameters if _is_small(p, d_model, n_heads)]
    small = [p.squeeze() if n_heads < d_model else p.reshape(1, -1) for p in small]
    short = [p.flatten() for p in parameters if p.squeeze().dim() <= 1 and p.numel() * n_heads == d_model]
    rest = [p for p in parameters if not _is_small(p, d_model, n_heads) and p.numel() * n_heads != d_model]
    roles = len(small) // n_heads
    if len(small) % n_heads or len(short) not in (0, len(small)):
        return []
    matrices = [p if p.size(-1) == d_model else p.T for p in small]
    pieces = []
    for role in range(roles):
        for items in filter(None, (matrices, short)):
            pieces.append(torch.cat(items[role::roles] if by_head else items[role * n_heads : (role + 1) * n_heads]))
    return [*pieces, *rest]
