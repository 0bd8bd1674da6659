"""The average of the weights over time, which usually translates better than the weights of any one step.

After each step: average <- decay * average + (1 - decay) * weights, as Morales-Brotons et al. 2024 ("Exponential Moving
Average of Weights in Deep Learning") use it. Averaging goes back to Polyak and Juditsky 1992, who take the plain mean.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """The average of a model's parameters, kept beside the model.

    Attributes:
        n_updates: steps that are in the average.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        """Begins with the weights as they are; they are forgotten within the first steps."""
        self.model, self.decay, self.n_updates = model, decay, 0
        self.tensors = [parameter.detach().clone() for parameter in model.parameters()]

    @torch.no_grad()
    def update(self) -> None:
        """Takes the model's weights into the average.

        The decay rises from 0.18 to its value, so that the first, random weights do not count for long.
        """
        self.n_updates += 1
        decay = min(self.decay, (1 + self.n_updates) / (10 + self.n_updates))
        for average, parameter in zip(self.tensors, self.model.parameters(), strict=True):
            average.lerp_(parameter, 1 - decay)

    @contextmanager
    def in_model(self) -> Iterator[None]:
        """Lets the model have the average for the length of a with-block, and then its own weights again."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for index, parameter in enumerate(self.model.parameters()):
            parameter.data, self.tensors[index] = self.tensors[index], parameter.data

    def state(self) -> dict[str, Tensor]:
        """Returns the average under the names of the model's weights."""
        with self.in_model():
            return {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def load(self, state: dict[str, Tensor], n_updates: int) -> None:
        """Takes up an average that `state` returned."""
        with self.in_model():
            self.model.load_state_dict(state)
        self.n_updates = n_updates
