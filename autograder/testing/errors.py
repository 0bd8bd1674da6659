"""Exceptions of test runs; those of submitted code are in `sandbox.errors`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # before PyTorch is imported, the grader's first process is on its way
    from torch import Tensor


class CheckFailed(AssertionError):  # noqa: N818  pytest shows the name above each message, and nothing went wrong
    """A submission does something else than the contract says.

    Attributes:
        compared: what was returned and what was expected, where two tensors of one shape differ.
        masks: of the call that was checked.
    """

    def __init__(
        self, message: str, compared: tuple[Tensor, Tensor] | None = None, masks: Sequence[Tensor] = ()
    ) -> None:
        super().__init__(message)
        self.compared, self.masks = compared, masks


class UnreadableError(CheckFailed):
    """What a submission does looks right, but nothing tells whether it is: a person has to read it."""


class CollectionError(RuntimeError):
    """pytest could not collect the component tests: a fault of the installation, never of a submission."""


class UnreadableNotebookError(ValueError):
    """A notebook beside this one cannot be read; the message says which and why."""
