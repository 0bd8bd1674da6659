"""The submission in this very process: a student's own run, where a debugger can follow every step.

Grading uses `autograder.sandbox` instead, which has the same methods and keeps submitted code out of the grader's
process. What the Python that grades cannot read is refused here, too, where a newer one runs.
"""

import ast
import io
import itertools
import sys
import tokenize
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from foundation.assignment_file import Assignment

from ..adapters import adapt
from ..assignment_code import stand_ins_of
from ..sandbox.worker import settings
from ..sandbox.worker.inspection import call_again, parameters_of
from ..sandbox.worker.loading import Package
from ..sources import Locate, Source, Sources, in_module, read_modules

_numbers = itertools.count()
_quotes: dict[str, Callable[[int], str]] = {}
"""For the files of submissions in this process: from a line's number to its place and the line."""
Version = tuple[int, int]
Token = tuple[str, str, int]
"""Kind as in `tokenize.tok_name`, text, line."""
FREE_F_STRINGS = (3, 12)
"""The first Python whose f-strings may hold any expression; `feature_version` does not tell (PEP 701)."""


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
        made = made if dtype is None else made.to(dtype)
        parameters_of(made)  # refuses what grading refuses
        return made

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the function "module.name"."""
        self.package.isolate(component if isolated else None)
        function = cast("Callable[..., object]", self.package.get(component))
        return function(*args, **kwargs)

    def stand_in(self, name: str, *args: object, **kwargs: object) -> object:
        """Makes a stand-in, to be passed as an argument."""
        return getattr(self._stand_ins, name)(*args, **kwargs)

    def apply(self, name: str, subject: object, *args: object, isolated: bool = True) -> object:
        """Calls a stand-in that is a function, with an object or a component "module.name" of the submission."""
        if isinstance(subject, str):
            self.package.isolate(subject if isolated else None)
            subject = self.package.get(subject)
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


def check_syntax(path: str, text: str, version: Version) -> None:
    """Checks a module against the Python that grades.

    Args:
        path: for the message.
        text: of a module that this process's Python can read; other ones are left to it.
        version: of the Python that grades.

    Raises:
        SyntaxError: with the line, what is newer, and the version.
    """
    try:
        ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    try:
        ast.parse(text, path, feature_version=version)
        what, line = "", 0
    except SyntaxError as error:
        what, line = error.msg, error.lineno or 1
    if not what and version < FREE_F_STRINGS:
        what, line = newer_f_string(tokens_of(text))
    if what:
        shown = ".".join(map(str, version))
        source = text.split("\n")[line - 1]
        raise SyntaxError(f"{what}; you are graded by Python {shown}", (path, line, None, source))


def tokens_of(text: str) -> Iterable[Token]:
    """The tokens of a module."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        yield tokenize.tok_name[token.type], token.string, token.start[0]


def newer_f_string(tokens: Iterable[Token]) -> tuple[str, int]:
    """The first thing in an f-string that Python 3.11 cannot read, and its line; ("", 0) if there is none.

    Up to 3.11 an f-string ends at the first quotes like its own, and what is in braces holds no backslash, no comment
    and, between single quotes, no end of a line.

    Args:
        tokens: as Python 3.12 and later give them, which split f-strings into their parts.
    """
    around: list[tuple[str, int, int]] = []  # of each f-string: its quotes, its line, the number of open braces
    for kind, text, line in tokens:
        if kind == "FSTRING_END":
            around.pop()
        within = around[:-1] if kind == "FSTRING_MIDDLE" else [one for one in around if one[2]]
        for quotes, first, _ in within:
            if quotes in text:
                return f"an f-string in {quotes} cannot hold {quotes} in its braces", line
            if "\\" in text:
                return "the braces of an f-string cannot hold a backslash", line
            if kind == "COMMENT":
                return "the braces of an f-string cannot hold a comment", line
            if len(quotes) == 1 and line != first:
                return f"an f-string in {quotes} cannot go on in the next line", line
        if kind == "FSTRING_START":
            around.append((text.lstrip("fFrRbBuU"), line, 0))
        elif kind == "OP" and text in "{}" and around:
            quotes, first, depth = around[-1]
            around[-1] = (quotes, first, depth + (1 if text == "{" else -1))
    return "", 0


def is_newer(version: Version) -> bool:
    """Whether this Python is newer than the one that grades, so that there is something to check."""
    return sys.version_info[:2] > version
