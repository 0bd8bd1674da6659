"""The submission in this very process: a student's own run, where a debugger can follow every step.

Grading uses `autograder.sandbox` instead, which has the same methods and keeps submitted code out of the grader's
process.
"""

import itertools
from collections.abc import Callable, Collection, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import cast

import torch
from torch import nn

from foundation.assignment_file import Assignment
from foundation.sources import Source, Sources

from ..assignment_code import stand_ins_of
from ..intake.grading_python import check_syntax, is_newer
from ..intake.python_source import read_modules
from ..sandbox.proxy.arguments import can_be_changed, spoil
from ..sandbox.proxy.last_call import LastCall
from ..sandbox.worker import settings
from ..sandbox.worker.changes import Kept, has_changed, keep
from ..sandbox.worker.loading import Package

_numbers = itertools.count()

Hook = Callable[[nn.Module, tuple[object, ...], dict[str, object]], None]


class InProcessSubmission:
    """The operations that tests use on a submission.

    Attributes:
        contract: what the submission must offer.
        last_call: what was asked last, for messages.
    """

    def __init__(self, sources: Sources, assignment: Assignment, watched: Collection[str] = ()) -> None:
        """Takes the modules, such as those that `read_sources` reads, and the assignment with their contract.

        Those that are watched tell in `package.reached` which outcomes of their branches were reached.
        """
        self.contract = assignment.contract
        self._stand_ins = stand_ins_of(assignment)
        settings.compile_nothing()
        name = f"submission_{next(_numbers)}"
        check = partial(check_syntax, version=assignment.python) if is_newer(assignment.python) else None
        self.package = Package(
            dict(sources), assignment.contract.modules, self._stand_ins, name, settings.kept, watched, check
        )
        self.last_call: LastCall | None = None

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
        watch(made, self._noting(component))
        return made if dtype is None else made.to(dtype)

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the function "module.name"."""
        self.package.isolate(component if isolated else None)
        function = cast("Callable[..., object]", self.package.get(component))
        self.last_call = LastCall(self.package.sources, component, "", args, kwargs)
        return spoiling(function)(*args, **kwargs)

    def function(self, component: str, *, isolated: bool = True) -> object:
        """The function "module.name" itself."""
        self.package.isolate(component if isolated else None)
        return self.package.get(component)

    def stand_in(self, name: str, *args: object, **kwargs: object) -> object:
        """Makes a stand-in, to be passed as an argument."""
        return getattr(self._stand_ins, name)(*args, **kwargs)

    def apply(self, name: str, subject: object, *args: object) -> object:
        """Calls a stand-in that is a function, with an object or a function of the submission.

        Its own calls of the subject are none that a check could name: as in grading, there is no last call afterwards.
        """
        try:
            return getattr(self._stand_ins, name)(subject, *args)
        finally:
            self.last_call = None

    @property
    def sources(self) -> Sources:
        """The submission's modules."""
        return self.package.sources

    def begin_test(self) -> None:
        """Forgets the last call: what a check says is about its own test."""
        self.last_call = None

    def parameters(self, module: nn.Module) -> list[nn.Parameter]:
        """The parameters with their current values."""
        return list(module.parameters())

    def _noting(self, component: str) -> Hook:
        """A hook that notes a call of a component; a plain function, of which copies of the module make no copy."""

        def note(module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
            self.last_call = LastCall(self.package.sources, component, "forward", args, kwargs)

        return note

    def close(self) -> None:
        """Forgets the submission's modules."""
        self.package.close()


def spoiling(function: Callable[..., object]) -> Callable[..., object]:
    """The function; arguments that it changes are spoilt, as in grading.

    Otherwise a test that computes what it expects after the call would compute it from what the submission has written.
    """

    @wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        before = kept(args, kwargs)
        result = function(*args, **kwargs)
        spoil_changed(before)
        return result

    return call


def watch(made: object, called: Hook) -> None:
    """Has the arguments spoilt that a module's forward pass changes, see `spoiling`; each pass begins with `called`."""
    if not isinstance(made, nn.Module):
        return
    before: list[Kept] = []

    def note(module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        called(module, args, kwargs)
        before.append(kept(args, kwargs))

    def compare(module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object], result: object) -> None:
        spoil_changed(before.pop())

    made.register_forward_pre_hook(note, with_kwargs=True)
    made.register_forward_hook(compare, with_kwargs=True, always_call=True)


def kept(*values: object) -> Kept:
    """The tensors among nested values, with their versions and copies; those of inference mode have no versions."""
    return keep(tensor for tensor in tensors_in(values) if not tensor.is_inference())


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """The tensors in nested containers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def spoil_changed(before: Kept) -> None:
    """Spoils the tensors that are not what they were."""
    spoil(one for one, version, copy in before if can_be_changed(one) and has_changed(one, version, copy))


def read_sources(folder: Path, release: Path) -> dict[str, Source]:
    """The modules of a submission's folder; missing ones, and `__init__` always, are taken from the release.

    Raises:
        IntakeError: where a file cannot be read or is not text.
    """
    released = read_modules(release)
    own = read_modules(folder)
    own.pop("__init__", None)
    return {**released, **own}
