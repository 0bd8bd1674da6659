"""The submission in this very process: a student's own run, where a debugger can follow every step.

Grading uses `autograder.sandbox` instead, which has the same methods and keeps submitted code out of the grader's
process.
"""

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import torch
from torch import nn

from autograder.sources import Source, Sources
from foundation.assignment_file import Assignment

from ..assignment_code import stand_ins_of
from ..sandbox.worker import settings
from ..sandbox.worker.loading import Package
from ..sources import read_modules
from .grading_python import check_syntax, is_newer

_numbers = itertools.count()


class InProcessSubmission:
    """The operations that tests use on a submission.

    Attributes:
        contract: what the submission must offer.
    """

    def __init__(self, sources: Sources, assignment: Assignment) -> None:
        """Takes the modules, such as those that `read_sources` reads, and the assignment with their contract."""
        self.contract = assignment.contract
        self._stand_ins = stand_ins_of(assignment)
        settings.compile_nothing()
        name = f"submission_{next(_numbers)}"
        check = partial(check_syntax, version=assignment.python) if is_newer(assignment.python) else None
        self.package = Package(
            dict(sources), assignment.contract.modules, self._stand_ins, name, settings.kept, check=check
        )

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


def read_sources(folder: Path, release: Path) -> dict[str, Source]:
    """The modules of a submission's folder; missing ones, and `__init__` always, are taken from the release.

    Raises:
        IntakeError: where a file cannot be read or is not text.
    """
    released = read_modules(release)
    own = read_modules(folder)
    own.pop("__init__", None)
    return {**released, **own}
