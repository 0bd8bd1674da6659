"""A submission in this process, and what pytest keeps of a run of component tests."""

import itertools
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TextIO

import pytest
import torch
from torch import nn

from foundation.assignment_file import Assignment

from ..course.assignment_code import stand_ins_of
from ..intake.sources import Locate, Sources, adapt, check_syntax, in_module
from ..sandbox.worker.loading import Package
from ..sandbox.worker.running import compile_nothing, parameters_of, settings_kept
from ..testing.arguments import quotes
from ..testing.case import Case
from ..testing.submission import SubmissionUnderTest

LONG = 5
"""Seconds after which a student is told which test is running."""

_numbers = itertools.count()


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
        self.package.isolate(component if isolated else None)
        made: nn.Module = self.package.get(component)(*args, **kwargs)
        made = made if dtype is None else made.to(dtype)
        parameters_of(made)  # refuses what grading refuses
        return made

    def call(self, component: str, *args: Any, isolated: bool = True, **kwargs: Any) -> Any:
        """Call a function of the submission."""
        self.package.isolate(component if isolated else None)
        return self.package.get(component)(*args, **kwargs)

    def apply(self, name: str, subject: Any, *args: Any, isolated: bool = True) -> Any:
        """Call a stand-in that is a function, with an object or a function of the submission."""
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
        for path, quote in self._quotes.items():
            if quotes.get(path) is quote:  # no later submission has this file, too
                del quotes[path]


def _quote(module: str, text: str, locate: Locate, number: int) -> str:
    place = locate(module, number)
    return f"{place}: {text.split(chr(10))[number - 1].strip()}" if place else ""


def quoted_lines(error: BaseException) -> list[str]:
    """The submission's own lines on the way to an exception, with their places."""
    return own_lines(traceback.extract_tb(error.__traceback__))


def own_lines(frames: traceback.StackSummary) -> list[str]:
    """The submission's own lines among these, with their places."""
    lines = [quotes[frame.filename](frame.lineno or 1) for frame in frames if frame.filename in quotes]
    return [line for line in lines if line]


@contextmanager
def telling_if_long(test: str, screen: TextIO) -> Iterator[None]:
    """A block in which a test runs: after LONG seconds, a line names it, and where the submission is by then."""
    thread = threading.get_ident()

    def tell() -> None:
        frame = sys._current_frames().get(thread)
        lines = own_lines(traceback.extract_stack(frame)) if frame else []
        at = f"; now at {lines[-1]}" if lines else ""
        print(f"\n{test} has been running for {LONG} seconds{at}", file=screen, flush=True)

    timer = threading.Timer(LONG, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


SUBMISSION = pytest.StashKey[SubmissionUnderTest]()
"""The submission that is judged, in pytest's stash."""

IS_COLLECTED = pytest.StashKey[bool]()
"""In pytest's stash where the tests are only collected, and run later: see `collection`."""

SEED = pytest.StashKey[int]()
"""The seed of all random inputs, in pytest's stash."""


def item_of(item: pytest.Item) -> str:
    """The rubric item that a test names; "" where it names none."""
    marks = [mark for mark in item.own_markers if mark.name == "item" and mark.args]  # a row's come last
    return str(marks[-1].args[0]) if marks else ""


def case_of(item: pytest.Item, seed: int) -> Case:
    """Random inputs, different for each test and seed; tests of the same name in two files share none."""
    return Case(seed, f"{item.path.name}::{item.name}")
