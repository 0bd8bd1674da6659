"""Cuts fused or split parameters of multi-headed attention into one matrix and vector per role, as the reference has.

Shapes: h heads · d = d_model. A piece is a matrix (d_out, d_in) or a vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Size, Tensor

from ..expected.usual_layouts import ROLES, pieces_of

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
    """A way to cut: fused parameters "in a row"; or one for each head and role, by "heads" or by "roles"."""

    kind: str
    d_model: int
    n_heads: int

    def __call__(self, parameters: Sequence[Tensor]) -> list[Tensor]:
        """The pieces."""
        if self.kind == "in a row":
            return [piece for parameter in parameters for piece in _in_a_row(parameter.squeeze(), self.d_model)]
        return _join_heads(parameters, self.d_model, self.n_heads, by_head=self.kind == "heads")


@lru_cache(maxsize=256)
def _cuts(shapes: tuple[Size, ...], d_model: int, n_heads: int) -> tuple[Reading, ...]:
    """Ways to cut the parameters of multi-headed attention into matrices (d, d) and vectors (d,)."""
    small = [shape for shape in shapes if _is_small(torch.empty(shape), d_model, n_heads)]
    ways = ["heads", "roles"] if n_heads > 1 and len(small) >= n_heads else []
    if not ways or n_heads == d_model:  # where a head has one feature, its matrix may be a vector with one more axis
        ways.append("in a row")
    return tuple(Cut(kind, d_model, n_heads) for kind in ways)


def _is_small(parameter: Tensor, d_model: int, n_heads: int) -> bool:
    """Whether this may be the matrix of one head in one role."""
    n_axes = parameter.dim() if n_heads == d_model else parameter.squeeze().dim()
    return n_axes >= 2 and parameter.numel() * n_heads == d_model**2


def _in_a_row(parameter: Tensor, d_model: int) -> Sequence[Tensor]:
    """The pieces of a parameter, which has one role or several, one after another."""
    if parameter.dim() <= 1 and parameter.numel() <= ROLES * d_model:
        return parameter.split(d_model) if parameter.numel() % d_model == 0 else [parameter]
    return [_as_matrix(piece, d_model) for piece in pieces_of(parameter, d_model)] or [parameter]


def _as_matrix(piece: Tensor, d_model: int) -> Tensor:
    """(h, d, d_head) and (h, d_head, d) for projections: features of the result first."""
    if piece.dim() == 3 and piece.size(1) == d_model:
        piece = piece.transpose(1, 2)
    return piece.reshape(d_model, d_model)


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
