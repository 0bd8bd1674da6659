"""What component tests may ask of a submission, in this process or in the sandbox: the tests cannot tell which."""

from typing import Any, Protocol

import pytest
import torch
from torch import nn

from autograder.sources import Sources
from foundation.assignment_tables import Contract


class SubmissionUnderTest(Protocol):
    """A submission; components are named as in the contract, such as "layers.LayerNorm"."""

    @property
    def sources(self) -> Sources:
        """Its modules."""
        ...

    @property
    def contract(self) -> Contract:
        """What it must offer."""
        ...

    def build(
        self, component: str, *args: Any, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: Any
    ) -> nn.Module:
        """Makes an object of a class of the submission.

        Args:
            component: the class, "module.Name".
            dtype: of its parameters and buffers; None = as made.
            isolated: whether a stand-in replaces every other component, now and in later calls.
            args: for the constructor.
            kwargs: for the constructor.
        """
        ...

    def call(self, component: str, *args: Any, isolated: bool = True, **kwargs: Any) -> Any:
        """Calls a function of the submission, "module.name"; whatever it returns is to be checked."""
        ...

    def stand_in(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Makes one of the stand-ins, to be passed as an argument."""
        ...

    def apply(self, name: str, subject: Any, *args: Any, isolated: bool = True) -> Any:
        """Calls a stand-in that is a function, with an object or a function of the submission and other arguments.

        The component of `subject` answers for what happens. Many calls of a component in one cost least that way.
        """
        ...

    def parameters(self, module: nn.Module) -> list[nn.Parameter]:
        """The parameters of a module with their present values."""
        ...


SUBMISSION = pytest.StashKey[SubmissionUnderTest]()
"""The submission that is judged, in pytest's stash."""

SEED = pytest.StashKey[int]()
"""The seed of all random inputs, in pytest's stash."""


SIDE_EFFECTS = "no side effects"
"""The rubric item of components that leave their arguments alone and keep no state."""


def item_of(item: pytest.Item) -> str:
    """The rubric item that a test names; "" where it names none."""
    mark = item.get_closest_marker("item")
    return str(mark.args[0]) if mark is not None and mark.args else ""
