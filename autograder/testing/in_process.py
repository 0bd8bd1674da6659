"""The submission in this very process: a student's own run, where a debugger can follow every step.

Grading uses `autograder.sandbox` instead, which offers the same methods and keeps submitted code out of the
grader's process.
"""

import itertools
from pathlib import Path

import torch
from torch import nn

from ..intake.errors import RefusedError
from ..intake.python_source import decode
from ..sandbox.worker import stand_ins
from ..sandbox.worker.loading import Package
from .errors import UnreadableSourceError

_numbers = itertools.count()


class InProcessSubmission:
    """What tests may ask of a submission."""

    def __init__(self, sources: dict[str, tuple[str, str]]) -> None:
        """Takes the modules: name -> path, source text; `read_sources` reads a folder's."""
        self.package = Package(sources, f"submission_{next(_numbers)}")

    def build(
        self, component: str, *args: object, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: object
    ) -> nn.Module:
        """Makes an object of the class "module.Name".

        Args:
            component: a class of the contract.
            dtype: of its parameters and buffers; None = as made.
            isolated: every other component is replaced by its stand-in, now and in later calls.
            args, kwargs: for its constructor.
        """
        self.package.isolate(component if isolated else None)
        made = self.package.get(component)(*args, **kwargs)
        return made if dtype is None else made.to(dtype)

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the function "module.name"."""
        self.package.isolate(component if isolated else None)
        return self.package.get(component)(*args, **kwargs)

    def stand_in(self, name: str, *args: object, **kwargs: object) -> object:
        """Makes one of the stand-ins, to be passed as an argument."""
        return getattr(stand_ins, name)(*args, **kwargs)

    def parameters(self, module: nn.Module) -> list[nn.Parameter]:
        """The parameters with their present values."""
        return list(module.parameters())

    def close(self) -> None:
        """Forgets the submission's modules."""
        self.package.close()


def read_sources(folder: Path, release: Path) -> dict[str, tuple[str, str]]:
    """The modules of a submission's folder; missing ones, and `__init__`, are taken from the release.

    Bytes become text as in grading: a byte order mark and Windows' line ends are no matter.

    Raises:
        UnreadableSourceError: where a file cannot be read or is no text.
    """
    sources = {}
    for origin in (release, folder):
        for path in sorted(origin.glob("*.py")):
            if path.stem == "__init__" and origin is not release:
                continue
            try:
                sources[path.stem] = (str(path), decode(path.read_bytes()))
            except (RefusedError, OSError) as error:
                raise UnreadableSourceError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return sources
