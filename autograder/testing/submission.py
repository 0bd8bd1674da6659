"""The submission that component tests are handed: in a process of its own when it is graded, in this one at home.

Tests cannot tell the two apart. `autograder.running.collection` and `autograder.sandbox.submission` implement it.
"""

from typing import Any, Protocol

import torch
from torch import nn

from ..intake.sources import Sources


class SubmissionUnderTest(Protocol):
    """A submission as component tests use it."""

    @property
    def sources(self) -> Sources:
        """The submission's modules."""

    def build(
        self, component: str, *args: Any, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: Any
    ) -> nn.Module:
        """Make an object of a class of the submission, "module.Name", with arguments for its constructor.

        `dtype` is that of its parameters and buffers, None = as made; with `isolated`, a stand-in replaces every other
        component, now and in later calls.
        """

    def call(self, component: str, *args: Any, isolated: bool = True, **kwargs: Any) -> Any:
        """Call a function of the submission, "module.name"; whatever it returns is to be checked."""

    def apply(self, name: str, subject: Any, *args: Any, isolated: bool = True) -> Any:
        """Call a stand-in that is a function, with an object or a function of the submission and other arguments.

        The component of `subject` answers for what happens. Many calls of a component in one cost least that way.
        """
