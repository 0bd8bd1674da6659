"""The submission in this very process: a student's own run, where a debugger can follow every step.

Grading uses `autograder.sandbox` instead, which has the same methods and keeps submitted code out of the grader's
process.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from autograder.sources import Locate, Source, Sources, in_module
from foundation.assignment_file import Assignment

from ..adapters import adapt
from ..assignment_code import stand_ins_of
from ..sandbox.worker import settings
from ..sandbox.worker.changes import call_again
from ..sandbox.worker.loading import Package
from ..sources import read_modules
from .grading_python import check_syntax, is_newer

_numbers = itertools.count()
_quotes: dict[str, Callable[[int], str]] = {}
"""For the files of submissions in this process: from a line's number to its place and the line."""


class InProcessSubmission:
    """The operations that tests use on a submission.

    Attributes:
        contract: what the submission must offer.
    """

    def __init__(self, sources: Sources, assignment: Assignment, locate: Locate = in_module) -> None:
        """Takes what is to be tested.

        Args:
            sources: the modules, such as those that `read_sources` reads.
            assignment: with their contract.
            locate: where the student finds a line.
        """
        self.contract = assignment.contract
        self._stand_ins = stand_ins_of(assignment)
        settings.compile_nothing()
        name = f"submission_{next(_numbers)}"
        check = partial(check_syntax, version=assignment.python) if is_newer(assignment.python) else None
        self.package = Package(
            adapt(sources, assignment.contract),
            assignment.contract.modules,
            self._stand_ins,
            name,
            settings.kept,
            check=check,
        )
        _quotes.update({path: partial(_quote, module, text, locate) for module, (path, text) in sources.items()})

    def build(
        self, component: str, *args: object, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: object
    ) -> nn.Module:
        """Makes an object of the class "module.Name".

        Args:
            component: a class of the contract.
            *args: for its constructor.
            dtype: of its parameters and buffers; None = as made.
            isolated: replaces every other component by its stand-in, now and in later calls.
            **kwargs: for its constructor.
        """
        self.package.isolate(component if isolated else None)
        make = cast("Callable[..., nn.Module]", self.package.get(component))
        made = make(*args, **kwargs)
        return made if dtype is None else made.to(dtype)

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the function "module.name"."""
        self.package.isolate(component if isolated else None)
        function = cast("Callable[..., object]", self.package.get(component))
        return function(*args, **kwargs)

    def function(self, component: str, *, isolated: bool = True) -> object:
        """The function "module.name" itself."""
        self.package.isolate(component if isolated else None)
        return self.package.get(component)

    def stand_in(self, name: str, *args: object, **kwargs: object) -> object:
        """Makes a stand-in, to be passed as an argument."""
        return getattr(self._stand_ins, name)(*args, **kwargs)

    def apply(self, name: str, subject: object, *args: object) -> object:
        """Calls a stand-in that is a function, with an object or a function of the submission."""
        return getattr(self._stand_ins, name)(subject, *args)

    @property
    def sources(self) -> Sources:
        """The submission's modules."""
        return self.package.sources

    def parameters(self, module: nn.Module) -> list[nn.Parameter]:
        """The parameters with their current values."""
        return list(module.parameters())

    def close(self) -> None:
        """Forgets the submission's modules."""
        self.package.close()


def call_undisturbed(call: Callable[[], Any], tensors: Sequence[Tensor]) -> tuple[Any, str]:
    """Makes a call that writes into its arguments as if it had left them alone: see `call_again`.

    Returns:
        What it returns, and the line that writes, with its place; "" where no submission in this process has it.
    """
    value, place = call_again(call, tensors, _quotes)
    return value, _quotes[place[0]](place[1]) if place else ""


def _quote(module: str, text: str, locate: Locate, number: int) -> str:
    return f"{locate(module, number) or in_module(module, number)}: {text.split(chr(10))[number - 1].strip()}"


def read_sources(folder: Path, release: Path) -> dict[str, Source]:
    """The modules of a submission's folder; missing ones, and `__init__` always, are taken from the release.

    Raises:
        IntakeError: where a file cannot be read or is not text.
    """
    released = read_modules(release)
    own = read_modules(folder)
    own.pop("__init__", None)
    return {**released, **own}
