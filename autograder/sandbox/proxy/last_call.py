"""What a submission was asked last: a failed check tells the inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from foundation.sources import Sources


@dataclass(frozen=True)
class LastCall:
    """A call of a component.

    Attributes:
        sources: the submission's modules.
        component: "layers.LayerNorm".
        method: "forward", or "" for a function.
        args: the arguments by position.
        kwargs: those by name.
    """

    sources: Sources
    component: str
    method: str
    args: Sequence[object]
    kwargs: Mapping[str, object] = field(default_factory=dict)

    @property
    def masks(self) -> list[Tensor]:
        """The boolean tensors among the arguments."""
        values = [*self.args, *self.kwargs.values()]
        return [value for value in values if isinstance(value, Tensor) and value.dtype == torch.bool]
