"""What component tests may ask of a submission, in this process or in the sandbox: the tests cannot tell which."""

import itertools
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from foundation.assignment_file import Assignment

from ..course.assignment_code import stand_ins_of
from ..intake.sources import Locate, Sources, adapt, check_syntax, in_module
from ..sandbox.worker.loading import Package
from ..sandbox.worker.running import call_again, compile_nothing, parameters_of, settings_kept
from ..testing.case import Case

_numbers = itertools.count()
_quotes: dict[str, Callable[[int], str]] = {}
"""For the files of submissions in this process: from a line's number to its place and the line, "" for others' code."""


class InProcessSubmission:
    """The submission in this very process, where a debugger can follow every step.

    What the Python that grades cannot read is refused, too, where a newer one runs.
    """

    def __init__(self, sources: Sources, assignment: Assignment, locate: Locate = in_module) -> None:
        """Takes the modules to be tested, the assignment with their contract, and where a student finds a line."""
        self.contract = assignment.contract
        self._stand_ins = stand_ins_of(assignment)
        compile_nothing()
        name = f"submission_{next(_numbers)}"
        check = partial(check_syntax, version=assignment.python)
        adapted, modules = adapt(sources, assignment.contract), assignment.contract.modules
        self.package = Package(adapted, modules, self._stand_ins, name, settings_kept, check=check)
        _quotes.update({path: partial(_quote, module, text, locate) for module, (path, text) in sources.items()})

    def build(
        self, component: str, *args: Any, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: Any
    ) -> nn.Module:
        """Makes an object of a class of the submission, "module.Name", with arguments for its constructor.

        `dtype` is that of its parameters and buffers, None = as made; with `isolated`, a stand-in replaces every other
        component, now and in later calls.
        """
        self.package.isolate(component if isolated else None)
        made: nn.Module = self.package.get(component)(*args, **kwargs)
        made = made if dtype is None else made.to(dtype)
        parameters_of(made)  # refuses what grading refuses
        return made

    def call(self, component: str, *args: Any, isolated: bool = True, **kwargs: Any) -> Any:
        """Calls a function of the submission, "module.name"; whatever it returns is to be checked."""
        self.package.isolate(component if isolated else None)
        return self.package.get(component)(*args, **kwargs)

    def apply(self, name: str, subject: Any, *args: Any, isolated: bool = True) -> Any:
        """Calls a stand-in that is a function, with an object or a function of the submission and other arguments.

        The component of `subject` answers for what happens. Many calls of a component in one cost least that way.
        """
        if isinstance(subject, str):
            self.package.isolate(subject if isolated else None)
            subject = self.package.get(subject)
        return getattr(self._stand_ins, name)(subject, *args)

    @property
    def sources(self) -> Sources:
        """The submission's modules."""
        return self.package.sources

    def close(self) -> None:
        """Forgets the submission's modules."""
        self.package.close()


SubmissionUnderTest = InProcessSubmission
"""What tests are handed. Grading hands them a `sandbox.submission.Sandbox` instead, which has the same methods."""


def call_undisturbed(function: Callable[..., Any], arguments: Sequence[Tensor | None]) -> tuple[Any, str]:
    """Calls a function that writes into its arguments as if it had left them alone: see `call_again`.

    Returns what it returns, and the line that writes, with its place; "" where no submission in this process has it.
    """
    tensors = [one for one in arguments if one is not None]
    value, place = call_again(partial(function, *arguments), tensors, _quotes)
    return value, _quotes[place[0]](place[1]) if place else ""


def _quote(module: str, text: str, locate: Locate, number: int) -> str:
    place = locate(module, number)
    return f"{place}: {text.split(chr(10))[number - 1].strip()}" if place else ""


def quoted_lines(error: BaseException) -> list[str]:
    """The submission's own lines on the way to an exception, with their places."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [_quotes[frame.filename](frame.lineno or 1) for frame in frames if frame.filename in _quotes]
    return [line for line in lines if line]


SUBMISSION = pytest.StashKey[SubmissionUnderTest]()
"""The submission that is judged, in pytest's stash."""

SEED = pytest.StashKey[int]()
"""The seed of all random inputs, in pytest's stash."""


def item_of(item: pytest.Item) -> str:
    """The rubric item that a test names; "" where it names none."""
    mark = item.get_closest_marker("item")
    return str(mark.args[0]) if mark is not None and mark.args else ""


def case_of(item: pytest.Item, seed: int) -> Case:
    """Random inputs, different for each test and seed; tests of the same name in two files share none."""
    return Case(seed, f"{item.path.name}::{item.name}")
