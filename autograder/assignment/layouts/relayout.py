"""Other layouts of the parameters behind the same computation. Becomes a module of the submissions it is applied to.

A class is changed so that each object, once it is made, keeps its parameters otherwise: fused into one, one small
matrix for each head, or raw on the other side of x. What the class computes stays the same, its faults included.
"""

from functools import wraps

import torch
import torch.nn.functional as F
from torch import nn

PROJECTIONS = ("project_query", "project_key", "project_value")


class View:
    """In the place of a layer: reads its numbers from wherever they are now, when it is called."""

    def __init__(self, function, *readers):
        self.function, self.readers = function, readers

    @property
    def weight(self):
        return self.readers[0]()

    @property
    def bias(self):
        return self.readers[1]()

    def __call__(self, x):
        return self.function(x, *(read() for read in self.readers))


def lay_out(cls, layout):
    """Changes a class: `layout` is "fused" or "per_head"."""
    make, forward = cls.__init__, cls.forward

    @wraps(make)
    def __init__(self, *args, **kwargs):
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
    def look_first(self, *args, **kwargs):
        for name, read in self.tensor_views.items():
            object.__setattr__(self, name, read())
        return forward(self, *args, **kwargs)

    cls.__init__, cls.forward = __init__, look_first


def distinct(module, names):
    """The layers of these names, each once, with all its names; nothing where they are not all square and alike."""
    layers = {}
    for name in names:
        layer = module._modules.get(name)
        if layer is not None:
            layers.setdefault(id(layer), (layer, []))[1].append(name)
    found = list(layers.values())
    alike = {(layer.weight.shape, layer.bias is None) for layer, _ in found if isinstance(layer, nn.Linear)}
    return found if len(alike) == 1 and all(isinstance(layer, nn.Linear) for layer, _ in found) else []


def replace(module, names, view):
    """Puts a view in the place of a layer."""
    for name in names:
        del module._modules[name]
        object.__setattr__(module, name, view)


def fuse_heads(module):
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

        def weight(rows=slice(index * size, (index + 1) * size)):
            return module.laid_out[rows]

        def bias(rows=slice(index * size, (index + 1) * size)):
            return module.laid_out_bias[rows] if has_bias else None

        replace(module, names, View(F.linear, weight, bias))


def split_heads(module):
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
            if has_bias:
                small.bias.data = bias.clone()
            head.append(small)

        def joined(index=index):
            return torch.cat([head[index].weight for head in module.laid_out])

        def joined_bias(index=index):
            return torch.cat([head[index].bias for head in module.laid_out]) if has_bias else None

        replace(module, names, View(F.linear, joined, joined_bias))


def replace_layer(module, name, layout):
    """Raw parameters: of a linear map on the right of x or with one more axis, of an embedding lying or standing."""
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

        def read():
            raw = getattr(module, key)
            return raw.T if layout == "fused" else raw.squeeze(-1)

        replace(module, [name], View(F.linear, read, lambda: getattr(module, key + "_bias", None)))
    elif type(layer) is nn.Embedding and layer.weight.requires_grad and layer.padding_idx is None:
        weight = layer.weight.detach()
        setattr(module, key, nn.Parameter((weight if layout == "fused" else weight.T).contiguous().clone()))

        def look_up(tokens, table):
            return F.embedding(tokens, table)

        def table():
            raw = getattr(module, key)
            return raw if layout == "fused" else raw.T

        replace(module, [name], View(look_up, table))


def reshape(module, name):
    """A vector with axes of length one before it."""
    parameter = module._parameters[name]
    if parameter.dim() != 1:
        return
    del module._parameters[name]
    key = f"laid_out_{name}"
    module.register_parameter(key, nn.Parameter(parameter.detach().clone()[None], parameter.requires_grad))
    module.tensor_views[name] = lambda: getattr(module, key)[0]
