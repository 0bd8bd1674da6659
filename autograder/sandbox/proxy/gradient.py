"""A call into the worker as a node of this process's autograd graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class RemoteGraph:
    """A recorded forward pass in the worker, kept as long as something here may ask for its backward pass.

    Args:
        outputs: the index in the reply of each output.
        ask: asks the worker: gradients of outputs, by index -> gradients of the inputs, in order.
        release: tells the worker that the graph is not needed any more.
    """

    def __init__(
        self,
        outputs: list[int],
        ask: Callable[[dict[int, Tensor]], list[Tensor | None]],
        release: Callable[[], None],
    ) -> None:
        self.outputs = outputs
        self._ask = ask
        weakref.finalize(self, release).atexit = False

    def gradients(self, seeds: tuple[Tensor | None, ...]) -> list[Tensor | None]:
        """Gradients of the inputs for the given gradients of the outputs."""
        given = {index: seed for index, seed in zip(self.outputs, seeds, strict=True) if seed is not None}
        return self._ask(given)


class RemoteCall(torch.autograd.Function):
    """Forward: the outputs that the worker sent. Backward: the worker is asked."""

    @staticmethod
    def forward(ctx: Any, graph: RemoteGraph, outputs: tuple[Tensor, ...], *inputs: Tensor) -> tuple[Tensor, ...]:
        """Connects `outputs`, which the worker has computed, with the `inputs` they depend on."""
        ctx.graph = graph
        ctx.count = len(inputs)
        ctx.set_materialize_grads(False)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *seeds: Tensor | None) -> tuple[Tensor | None, ...]:
        """Asks the worker; there are no second derivatives."""
        if all(seed is None for seed in seeds):
            return (None, None, *[None] * ctx.count)
        return (None, None, *ctx.graph.gradients(seeds))
