"""A submission in this very process."""

import itertools
import traceback
from functools import partial
from typing import Any

import torch
from torch import nn

from foundation.assignment_file import Assignment

from ..course.assignment_code import stand_ins_of
from ..intake.sources import Locate, Sources, adapt, in_module
from ..sandbox.worker.loading import Package
from ..sandbox.worker.running import compile_nothing, parameters_of, settings_kept
from ..testing.arguments import quotes

_numbers = itertools.count()


class InProcessSubmission:
    """The submission in this very process, where a debugger can follow every step."""

    def __init__(self, sources: Sources, assignment: Assignment, locate: Locate = in_module) -> None:
        """Takes the modules to be tested, the assignment with their contract, and where a student finds a line."""
        self.contract, self.locate = assignment.contract, locate
        self._stand_ins = stand_ins_of(assignment)
        compile_nothing()
        name = f"submission_{next(_numbers)}"
        adapted, modules = adapt(sources, assignment.contract), assignment.contract.modules
        self.package = Package(adapted, modules, self._stand_ins, name, settings_kept)
        self._quotes = {
            path: partial(_quote, module, text, locate)
            for module, (path, text) in sources.items()
            if module != "__main__"  # from which a command is run, which is no news
        }
        quotes.update(self._quotes)

    def build(
        self, component: str, *args: Any, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: Any
    ) -> nn.Module:
        """Make an object of a class of the submission; see `SubmissionUnderTest`."""
        made: nn.Module = self._find(component, isolated)(*args, **kwargs)
        made = made if dtype is None else made.to(dtype)
        parameters_of(made)  # refuses what grading refuses
        return made

    def call(self, component: str, *args: Any, isolated: bool = True, **kwargs: Any) -> Any:
        """Call a function of the submission."""
        return self._find(component, isolated)(*args, **kwargs)

    def apply(self, name: str, subject: Any, *args: Any, isolated: bool = True) -> Any:
        """Call a stand-in that is a function, with an object or a function of the submission."""
        if isinstance(subject, str):
            subject = self._find(subject, isolated)
        return getattr(self._stand_ins, name)(subject, *args)

    def _find(self, component: str, isolated: bool) -> Any:
        self.package.isolate(component if isolated else None)
        return self.package.get(component)

    @property
    def sources(self) -> Sources:
        """The submission's modules."""
        return self.package.sources

    def close(self) -> None:
        """Forgets the submission's modules."""
        self.package.close()
        for path, quote in self._quotes.items():
            if quotes.get(path) is quote:  # no later submission has this file, too
                del quotes[path]


def _quote(module: str, text: str, locate: Locate, number: int) -> str:
    place = locate(module, number)
    return f"{place}: {text.split(chr(10))[number - 1].strip()}" if place else ""


def own_lines(frames: traceback.StackSummary) -> list[str]:
    """The submission's own lines among these, with their places."""
    lines = [quotes[frame.filename](frame.lineno or 1) for frame in frames if frame.filename in quotes]
    return [line for line in lines if line]
