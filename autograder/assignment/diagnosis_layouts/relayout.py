"""Other layouts of the parameters behind the same computation. Becomes a module of the submissions it is applied to.

    fused      one matrix for query, key and value; matrices on the other side of x; parts in reversed order
    per-head   a small matrix for each head and projection; matrices with one more axis; norms before all other parts
    reversed   as they are, in reversed order

A class is changed so that each new object has other parameters in place of those of its layers. For each call they are
put together again, so what the class computes stays the same, its faults included.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import torch
from torch import Tensor, nn

PROJECTIONS = ("project_query", "project_key", "project_value")


@dataclass(frozen=True)
class Moved:
    """A parameter that an object no longer has.

    Attributes:
        owner: the layer that had it, by its name in the object; "" = the object itself.
        name: of the parameter.
        places: of the new parameters, from which `read` makes it.
        read: does so.
    """

    owner: str
    name: str
    places: tuple[int, ...]
    read: Callable[[Sequence[Tensor]], Tensor]


def lay_out(cls: Any, layout: str) -> None:
    """Changes a class of modules."""
    make, forward = cls.__init__, cls.forward
    step = -1 if layout == "reversed" else 1

    @wraps(make)
    def make_otherwise(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self.moved, values = move_parameters(self, layout)
        parts = sorted(self._modules.items(), key=lambda item: type(item[1]).__name__ != "LayerNorm")
        self._modules = dict(parts if layout == "per-head" else parts[::-1])
        self.laid_out = nn.ParameterList(values[::step])

    @wraps(forward)
    def put_together_first(self: Any, *args: Any, **kwargs: Any) -> Any:
        values = [*self.laid_out][::step]
        pairs = [(self._modules[one.owner] if one.owner else self, one) for one in self.moved]
        for owner, one in pairs:
            vars(owner)[one.name] = one.read([values[place] for place in one.places])
        try:
            return forward(self, *args, **kwargs)
        finally:  # a tensor with a graph would keep the module from being copied
            for owner, one in pairs:
                del vars(owner)[one.name]

    cls.__init__, cls.forward = make_otherwise, put_together_first


def move_parameters(module: Any, layout: str) -> tuple[list[Moved], list[Tensor]]:
    """Takes the parameters of a module and of its simple layers away; a layer that it has twice keeps them.

    Returns:
        What was moved, and the values of the new parameters.
    """
    moved: list[Moved] = []
    values: list[Tensor] = []

    def keep(some: Sequence[Tensor]) -> tuple[int, ...]:
        values.extend(some)
        return tuple(range(len(values) - len(some), len(values)))

    layers = {name: layer for name, layer in module._modules.items() if type(layer) in (nn.Linear, nn.Embedding)}
    alike = projections_of(module, layout)
    for part in ("weight", "bias"):
        parts = [getattr(layers[name], part) for name in alike]
        parts = [value.detach() for value in parts if value is not None]
        if not parts:
            continue
        if layout == "fused":
            places = keep([torch.cat(parts)])
            reads = [partial(chunk_of, index, len(parts)) for index in range(len(parts))]
            moved += [Moved(name, part, places, read) for name, read in zip(alike, reads, strict=True)]
        else:
            by_head = zip(*(value.chunk(module.n_heads) for value in parts), strict=True)
            places = keep([chunk.clone() for head in by_head for chunk in head])
            moved += [Moved(name, part, places[index :: len(parts)], joined) for index, name in enumerate(alike)]
    once = [name for name, layer in layers.items() if sum(layer is other for other in layers.values()) == 1]
    others = [("", module), *((name, layers[name]) for name in once if name not in (*alike, "output_projection"))]
    for owner, layer in others:
        for name, parameter in layer._parameters.items():
            if parameter is not None and parameter.requires_grad:
                there, back = ways_of(layer, parameter, layout)
                moved.append(Moved(owner, name, keep([there(parameter.detach()).clone()]), back))
    for one in moved:
        del (layers[one.owner] if one.owner else module)._parameters[one.name]
    return moved, values


def projections_of(module: Any, layout: str) -> list[str]:
    """The layers that are laid out together, by name: none unless they are different linear maps of one shape."""
    layers = {name: module._modules[name] for name in PROJECTIONS if name in module._modules}
    if layout == "reversed" or any(type(layer) is not nn.Linear for layer in layers.values()):
        return []
    kinds = {(layer.weight.shape, layer.bias is None) for layer in layers.values()}
    is_whole = layout == "fused" or all(shape[0] % getattr(module, "n_heads", shape[0] + 1) == 0 for shape, _ in kinds)
    return [*layers] if len(kinds) == 1 and is_whole and len(set(map(id, layers.values()))) == len(layers) else []


def joined(some: Sequence[Tensor]) -> Tensor:
    """All of them, one below the other."""
    return torch.cat([*some])


def chunk_of(index: int, count: int, some: Sequence[Tensor]) -> Tensor:
    """One of `count` parts of the first tensor."""
    return some[0].chunk(count)[index]


def ways_of(
    layer: nn.Module, parameter: Tensor, layout: str
) -> tuple[Callable[[Tensor], Tensor], Callable[[Sequence[Tensor]], Tensor]]:
    """How a parameter becomes another one, and back."""
    is_table = isinstance(layer, nn.Embedding)
    if layout == "reversed" or (is_table and layout == "fused") or (parameter.dim() < 2 and type(layer) is nn.Linear):
        return lambda value: value, lambda some: some[0]
    if parameter.dim() == 1:
        return lambda value: value[None], lambda some: some[0][0]
    if is_table or layout == "fused":
        return lambda value: value.mT, lambda some: some[0].mT
    return lambda value: value[..., None], lambda some: some[0][..., 0]
