"""What an assignment may have for staff, each an optional module of its folder: what it offers, and how to get it.

diagnosis_layouts/    other layouts of the same computation: for the proof of the diagnosis
understanding/        questions for students about their own code
proof/variants/       correct implementations that look different
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from autograder.sources import Source, Sources
from foundation.assignment_file import Assignment

from .assignment_code import part_of

if TYPE_CHECKING:  # who only looks for an assignment's code need not load PyTorch
    from torch import Tensor


class Scene(Protocol):
    """A call of a component with small arguments, all of whose axes differ in length.

    It is told in words, with code between backquotes; `axes` says what an axis of a length is, 4: "heads".
    """

    told: str
    axes: Mapping[int, str]
    inputs: Sequence[Any]

    def subject(self, submission: Any, /) -> Any:
        """What is called: a function, or a module."""
        ...

    def watch(self, submission: Any, subject: Any, places: Any, /) -> Any:
        """Makes the call, and returns what each place holds and how often it is run: see `testing/own_questions`."""
        ...


class Choice(Protocol):
    """A question of the assignment's own, in paragraphs, with options of which one is what the code did, and why."""

    text: Sequence[str]
    options: Sequence[str]
    right: int
    why: str


class Symptom(Protocol):
    """Something that can be seen of faulty code from outside, and the sentence that says so."""

    text: str

    def shows(self, before: Mapping[str, Any], after: Mapping[str, Any], /) -> bool:
        """Whether it is seen after a change: compares what was observed before and after."""
        ...


class Understanding:
    """What `understanding/` offers; without it, students are only asked which change of their code breaks a test.

    By component: functions that make a scene from a `Case`, functions of a submission and a `Case` that make a question
    or None, and symptoms. CALLS has the components that `results` calls, BY_HAND scenes that one can compute. TESTS has
    what a test checks, so that "the test fails that checks …" is a sentence; only these are asked about.
    """

    SCENES: Mapping[str, Callable[[Any], Scene]] = {}
    BY_HAND: Mapping[str, Callable[[Any], Scene]] = {}
    CALLS: Mapping[str, object] = {}
    CHOICES: Mapping[str, Sequence[Callable[[Any, Any], Choice | None]]] = {}
    SYMPTOMS: Mapping[str, Sequence[Symptom]] = {}
    TESTS: Mapping[str, str] = {}

    def observe(self, component: str, submission: Any, case: Any, /) -> Mapping[str, Any]:
        """What symptoms of a component are told by: some results, and "raised" for an exception."""
        return {}

    def results(self, component: str, submission: Any, case: Any, /) -> Mapping[str, Sequence[Tensor] | None]:
        """What some calls of a component return, each told in a few words; None for an exception."""
        return {}


def layouts_of(assignment: Assignment) -> Mapping[str, Callable[[Sources], dict[str, Source]]]:
    """Functions, by name, that rewrite sources: parameters are laid out differently, and compute the same.

    Without `diagnosis_layouts/` there is the reference as it is.
    """
    return getattr(part_of(assignment, "diagnosis_layouts"), "LAYOUTS", {"reference": dict})


def understanding_of(assignment: Assignment) -> Understanding:
    """What questions about students' own code need from the assignment."""
    return cast("Understanding", part_of(assignment, "understanding") or Understanding())


@dataclass(frozen=True)
class Cell:
    """A variant's part of one module, with what it imports."""

    name: str
    what: str
    module: str
    text: str
    path: Path


def read_cells(path: Path) -> Iterator[Cell]:
    """The variants in a file `MODULE_TOPIC.py`. Each begins with a line `# %% NAME` and a comment on what it is.

    Imports stand at the top of the file. One from the module itself is left out: a cell becomes a part of it.
    """
    module = path.stem.partition("_")[0]
    head, *cells = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    imports = re.sub(rf"^from \.{module} import .*\n", "", head, flags=re.MULTILINE)
    for cell in cells:
        name, comment, _ = cell.split("\n", 2)
        yield Cell(name, comment.removeprefix("# "), module, f"{imports}# {cell}", path)
