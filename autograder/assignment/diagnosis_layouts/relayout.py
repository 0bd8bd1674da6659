"""Other layouts of the parameters behind the same computation. Becomes a module of the submissions it is applied to.

A class is changed so that each new object lays its parameters out in another way: fused into one, one small matrix
for each head, or bare matrices on the other side of x. What the class computes stays the same, its faults included.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PROJECTIONS = ("project_query", "project_key", "project_value")


Reader = Callable[[Any], Tensor | None]
"""Reads a weight or a bias of a module from wherever it is now."""


class View:
    """Replaces a layer of a module: reads its weight and bias from wherever they are now, when it is called.

    A deep copy of the module has views of its own parameters.
    """

    num_embeddings: int
    embedding_dim: int

    def __init__(self, module: nn.Module, function: Callable[..., Tensor], *readers: Reader) -> None:
        self.module, self.function, self.readers = module, function, readers

    @property
    def weight(self) -> Tensor | None:
        """As of a layer."""
        return self.readers[0](self.module)

    @property
    def bias(self) -> Tensor | None:
        """As of a layer."""
        return self.readers[1](self.module)

    def __call__(self, x: Tensor) -> Tensor:
        """What the layer would compute."""
        return self.function(x, *(read(self.module) for read in self.readers))


def lay_out(cls: Any, layout: str) -> None:
    """Changes a class of modules: `layout` is "fused" or "per_head"."""
    make, forward = cls.__init__, cls.forward

    @wraps(make)
    def make_otherwise(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        object.__setattr__(self, "tensor_views", {})
        (fuse_heads if layout == "fused" else split_heads)(self)
        for name in list(self._modules):
            replace_layer(self, name, layout)
        for name in list(self._parameters):
            if self._parameters[name] is not None and not name.startswith("laid_out"):
                reshape(self, name)
        self._modules = dict(sorted(self._modules.items(), key=lambda item: type(item[1]).__name__ != "LayerNorm"))
        if layout == "fused":
            self._modules = dict(reversed(self._modules.items()))

    @wraps(forward)
    def look_first(self: Any, *args: Any, **kwargs: Any) -> Any:
        for name, key in self.tensor_views.items():
            object.__setattr__(self, name, getattr(self, key)[0])
        try:
            return forward(self, *args, **kwargs)
        finally:  # a tensor with a graph would keep the module from being copied
            for name in self.tensor_views:
                object.__delattr__(self, name)

    cls.__init__, cls.forward = make_otherwise, look_first


def distinct(module: nn.Module, names: Iterable[str]) -> list[tuple[nn.Linear, list[str]]]:
    """The layers of these names, each once with all its names; [] unless all are linear maps of one shape."""
    layers: dict[int, tuple[nn.Module, list[str]]] = {}
    for name in names:
        layer = module._modules.get(name)
        if layer is not None:
            layers.setdefault(id(layer), (layer, []))[1].append(name)
    found = [(layer, own) for layer, own in layers.values() if isinstance(layer, nn.Linear)]
    alike = {(layer.weight.shape, layer.bias is None) for layer, _ in found}
    return found if len(alike) == 1 and len(found) == len(layers) else []


def replace(module: nn.Module, names: Iterable[str], view: View) -> None:
    """Replaces a layer by a view."""
    for name in names:
        del module._modules[name]
        object.__setattr__(module, name, view)


def fuse_heads(module: Any) -> None:
    """One weight and one bias for query, key and value."""
    found = distinct(module, PROJECTIONS)
    if not found:
        return
    size = found[0][0].weight.size(0)
    module.laid_out = nn.Parameter(torch.cat([layer.weight.detach() for layer, _ in found]))
    has_bias = found[0][0].bias is not None
    if has_bias:
        module.laid_out_bias = nn.Parameter(torch.cat([layer.bias.detach() for layer, _ in found]))
    for index, (_, names) in enumerate(found):

        def weight(module: Any, rows: slice = slice(index * size, (index + 1) * size)) -> Tensor:
            part: Tensor = module.laid_out[rows]
            return part

        def bias(module: Any, rows: slice = slice(index * size, (index + 1) * size)) -> Tensor | None:
            part: Tensor | None = module.laid_out_bias[rows] if has_bias else None
            return part

        replace(module, names, View(module, F.linear, weight, bias))


def split_heads(module: Any) -> None:
    """One small layer for each head and projection, head by head."""
    n_heads = getattr(module, "n_heads", 0)
    found = distinct(module, PROJECTIONS)
    if not n_heads or not found or found[0][0].weight.size(0) % n_heads:
        return
    has_bias = found[0][0].bias is not None
    module.laid_out = nn.ModuleList(nn.ModuleList() for _ in range(n_heads))
    for index, (layer, names) in enumerate(found):
        biases = layer.bias.detach().chunk(n_heads) if has_bias else [None] * n_heads
        for head, weight, bias in zip(module.laid_out, layer.weight.detach().chunk(n_heads), biases, strict=True):
            small = nn.Linear(weight.size(1), weight.size(0), bias=has_bias)
            small.weight.data = weight.clone()
            if bias is not None:
                small.bias.data = bias.clone()
            head.append(small)

        def joined(module: Any, index: int = index) -> Tensor:
            return torch.cat([head[index].weight for head in module.laid_out])

        def joined_bias(module: Any, index: int = index) -> Tensor | None:
            return torch.cat([head[index].bias for head in module.laid_out]) if has_bias else None

        replace(module, names, View(module, F.linear, joined, joined_bias))


def replace_layer(module: Any, name: str, layout: str) -> None:
    """Makes a layer's weights bare parameters: a linear map's with its axes changed, an embedding's perhaps too."""
    layer = module._modules[name]
    if sum(layer is other for other in module._modules.values()) > 1 or name == "output_projection":
        return
    key = f"laid_out_{name}"
    if type(layer) is nn.Linear and layer.weight.requires_grad:
        weight = layer.weight.detach()
        weight = weight.T.contiguous() if layout == "fused" else weight.unsqueeze(-1).clone()
        setattr(module, key, nn.Parameter(weight))
        if layer.bias is not None:
            setattr(module, key + "_bias", nn.Parameter(layer.bias.detach().clone()))

        def read(module: Any) -> Tensor:
            raw: Tensor = getattr(module, key)
            return raw.T if layout == "fused" else raw.squeeze(-1)

        replace(module, [name], View(module, F.linear, read, lambda module: getattr(module, key + "_bias", None)))
    elif type(layer) is nn.Embedding and layer.weight.requires_grad and layer.padding_idx is None:
        weight = layer.weight.detach()
        setattr(module, key, nn.Parameter((weight if layout == "fused" else weight.T).contiguous().clone()))

        def look_up(tokens: Tensor, table: Tensor) -> Tensor:
            return F.embedding(tokens, table)

        def table(module: Any) -> Tensor:
            raw: Tensor = getattr(module, key)
            return raw if layout == "fused" else raw.T

        view = View(module, look_up, table)
        view.num_embeddings, view.embedding_dim = layer.num_embeddings, layer.embedding_dim
        replace(module, [name], view)


def reshape(module: Any, name: str) -> None:
    """Puts an axis of length one before a vector."""
    parameter = module._parameters[name]
    if parameter.dim() != 1:
        return
    del module._parameters[name]
    key = f"laid_out_{name}"
    module.register_parameter(key, nn.Parameter(parameter.detach().clone()[None], parameter.requires_grad))
    module.tensor_views[name] = key
