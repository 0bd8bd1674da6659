"""What a worker keeps between requests: objects that were built, and graphs that wait for a backward pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import torch
from torch import nn

MAX_PARAMETERS, MAX_PARAMETER_BYTES = 1_000, 8 << 20
"""Limits of one object: tests build small ones, and both sides hold several copies."""

LEARNED = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@dataclass
class Held:
    """An object that the trusted side knows by its number.

    `isolated` is the component that its later calls run in isolation of, None = with the submission's own others;
    it says nothing where the object is a stand-in.
    """

    value: Any
    is_submitted: bool = False
    isolated: str | None = None
    parameters: list[nn.Parameter] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def list_parameters(self) -> None:
        """Reads the module's parameters (again), in the module's order.

        Leaves out what cannot be learned, whole numbers and empty tensors: no test has a use for them.

        Raises:
            ValueError: for more, or larger ones, than an object of a test may have; some that share memory, or have no
                size yet.
        """
        if not isinstance(self.value, nn.Module):
            return
        for name, parameter in self.value.named_parameters():
            if nn.parameter.is_lazy(parameter):
                raise ValueError(f"{name} has no size before the first call: give all sizes, without nn.Lazy modules")
        named = [(str(n)[:200], p) for n, p in self.value.named_parameters() if p.numel() and p.dtype in LEARNED]
        size = sum(parameter.numel() * parameter.element_size() for _, parameter in named)
        if len(named) > MAX_PARAMETERS or size > MAX_PARAMETER_BYTES:
            what = f"{len(named):,} parameters of {size / (1 << 20):,.1f} MiB in all"
            raise ValueError(f"{what}: at most {MAX_PARAMETERS:,} of {MAX_PARAMETER_BYTES >> 20} MiB can be judged")
        for name, parameter in named:
            if any(step == 0 and n > 1 for step, n in zip(parameter.stride(), parameter.shape, strict=True)):
                raise ValueError(f"the parameter {name} was expanded, its values share memory: make it with .clone()")
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]


@dataclass
class Graph:
    """The ends of one recorded forward pass: outputs by their index in the reply, inputs in the request's order."""

    outputs: dict[int, torch.Tensor]
    inputs: list[torch.Tensor]

    def gradients(self, seeds: dict[int, torch.Tensor]) -> list[torch.Tensor | None]:
        """Gradients of the inputs for the given gradients of the outputs; the graph stays usable.

        A sum of products in place of `grad_outputs=`: the gradients are the same, and `grad_outputs` imports sympy.
        `backward` in place of `grad`, which PyTorch's reentrant checkpoints refuse.
        """
        total = sum((self.outputs[index] * seed).sum() for index, seed in seeds.items())
        total = cast("torch.Tensor", total)  # there is at least one seed
        kept = [tensor.grad for tensor in self.inputs]
        for tensor in self.inputs:
            tensor.grad = None
        try:
            total.backward(retain_graph=True)
            return [tensor.grad if tensor.grad is None else tensor.grad.to_dense() for tensor in self.inputs]
        finally:
            for tensor, grad in zip(self.inputs, kept, strict=True):
                tensor.grad = grad


Thing = TypeVar("Thing")


class Table(Generic[Thing]):
    """Things by number; no number is used twice."""

    def __init__(self) -> None:
        self._things: dict[int, Thing] = {}
        self._last = 0

    def add(self, thing: Thing) -> int:
        """Keeps a thing and returns its number."""
        self._last += 1
        self._things[self._last] = thing
        return self._last

    def expect(self, number: int) -> None:
        """The next thing gets this number: for replaying what another process has numbered."""
        self._last = number - 1

    def __contains__(self, number: int) -> bool:
        return number in self._things

    def __getitem__(self, number: int) -> Thing:
        return self._things[number]

    def drop(self, numbers: list[int]) -> None:
        """Forgets things; unknown numbers are no error."""
        for number in numbers:
            self._things.pop(number, None)
