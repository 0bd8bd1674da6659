"""What a worker keeps between requests: objects that were built, and graphs that wait for a backward pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Held:
    """An object the trusted side knows by number.

    `isolated` is the component that its later calls run in isolation of, None = with the submission's own others;
    it says nothing where the object is a stand-in.
    """

    value: object
    is_submitted: bool = False
    isolated: str | None = None
    parameters: list[nn.Parameter] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def list_parameters(self) -> None:
        """(Re)read the module's parameters, in the module's order."""
        if isinstance(self.value, nn.Module):
            named = list(self.value.named_parameters())
            self.names = [str(name)[:200] for name, _ in named]
            self.parameters = [parameter for _, parameter in named]


@dataclass
class Graph:
    """The ends of one recorded forward pass: outputs by their index in the reply, inputs in the request's order."""

    outputs: dict[int, torch.Tensor]
    inputs: list[torch.Tensor]

    def gradients(self, seeds: dict[int, torch.Tensor]) -> list[torch.Tensor | None]:
        """Gradients of the inputs for the given gradients of the outputs; the graph stays usable.

        A sum of products in place of `grad_outputs=`: the gradients are the same, and `grad_outputs` imports sympy.
        """
        total = sum((self.outputs[index] * seed).sum() for index, seed in seeds.items())
        return list(torch.autograd.grad(total, self.inputs, allow_unused=True, retain_graph=True))


class Table:
    """Numbered things; a number is never used twice."""

    def __init__(self) -> None:
        self._things: dict[int, object] = {}
        self._last = 0

    def add(self, thing: object) -> int:
        """Keep a thing and return its number."""
        self._last += 1
        self._things[self._last] = thing
        return self._last

    def __getitem__(self, number: int) -> object:
        return self._things[number]

    def drop(self, numbers: list[int]) -> None:
        """Forget things; unknown numbers are no error."""
        for number in numbers:
            self._things.pop(number, None)
