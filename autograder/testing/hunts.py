"""Bug hunts: a box is a component with one mistake; it answers calls, and shows no code.

    from autograder.testing.hunts import box, right
    box(7)([[[1, 0]]], …)      what the faulty component of hunt 7 returns
    right(7)([[[1, 0]]], …)    what right code returns in the same call

Three hunts are a student's own, one of each level: they follow from the term and the student's name. What students get
is locked by the results of a right component, so nobody reads there what is still to be written; the kinds of mistake
are only where hunts are graded.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from torch import Tensor

from foundation.assignment_file import Assignment, read_assignment, released_folder
from foundation.command_line import UserError

from ..assignment_code import part_of
from ..sources import Sources, read_sources
from .under_test import InProcessSubmission, SubmissionUnderTest

PACKED = "hunts.packed"
LEVELS = ("easy", "medium", "hard")
LONGEST = 8
LARGEST = {"int": 7, "bool": 1, "float": 10**6}
DTYPES = {"int": torch.int64, "bool": torch.bool, "float": torch.float32}
FINENESS = 128
"""Of the results that are a key: so fine that none lies near where rounding turns."""


@dataclass(frozen=True)
class Hunt:
    """One box."""

    number: int  # the same for all students
    component: str  # that has the mistake
    symptom: str  # what a user of the model sees
    level: str  # one of LEVELS
    code: str  # Python that defines the component; under lock, this and `right`
    right: str = ""  # likewise, without the mistake; "" = under lock
    kinds: Sequence[str] = ()  # of the mistake, as far as known; more than one may be right
    shown: Sequence[Mapping[str, Any]] = ()  # measured of a trained model with the mistake, and of one without it

    @property
    def name(self) -> str:
        """The component's, without its module's."""
        return self.component.partition(".")[2]


@dataclass(frozen=True)
class Hunts:
    """All hunts, the kinds of mistake with what they mean, and a word that differs from term to term."""

    term: str
    kinds: Mapping[str, str]
    hunts: Sequence[Hunt]

    def of(self, name: str) -> list[Hunt]:
        """The hunts of a student, one of each level, about different components."""
        word = f"{self.term} {''.join(name.lower().split())}"
        order = sorted(self.hunts, key=lambda one: hashlib.sha256(f"{word} {one.number}".encode()).digest())
        chosen: list[Hunt] = []
        for level in LEVELS:
            others = {one.component for one in chosen}
            chosen += [one for one in order if one.level == level and one.component not in others][:1]
        return chosen


@lru_cache(maxsize=2)
def read_hunts(folder: Path) -> Hunts:
    """The hunts of an assignment's folder: those that a release has packed, or else made of the catalogue."""
    if not (folder / PACKED).is_file():  # found by name, since students' archives hold what is imported
        made: Hunts = importlib.import_module("autograder.grading.made_code").make_hunts(read_assignment(folder))
        return made
    content = json.loads(zlib.decompress(base64.b85decode((folder / PACKED).read_bytes())))
    return Hunts(content["term"], content["kinds"], [Hunt(**one) for one in content["hunts"]])


def call_of(component: str, assignment: Assignment) -> Any:
    """How hunts call a component: see `hunt_calls.py` of the assignment."""
    return part_of(assignment, "hunt_calls").CALLS[component]  # type: ignore[union-attr]  # whoever has hunts has it


def key_to(component: str, implementation: Any, assignment: Assignment) -> bytes:
    """What opens the boxes of a component: the results of a right one, whose matrices all hold one number."""
    call = call_of(component, assignment)
    with torch.no_grad():
        found = call.run(implementation, *read_input(call, call.example), fill=0.5)
    return f"{component} {[round(FINENESS * one) for one in flat(found)]}".encode()


def lock(text: bytes, key: bytes) -> bytes:
    """A text under a key; the same again opens it."""
    return bytes(one ^ other for one, other in zip(text, hashlib.shake_256(key).digest(len(text)), strict=True))


def read_input(call: Any, given: object) -> list[Tensor | None]:
    """The arguments of a call as tensors. Raises: ValueError with what is expected."""
    n_least = sum(not name.endswith("?") for name in call.takes)
    if not isinstance(given, (list, tuple)) or not n_least <= len(given) <= len(call.takes):
        raise ValueError(f"expected a list of the arguments: {describe(call)}")
    found: list[Tensor | None] = []
    for (name, wanted), value in zip_longest(call.takes.items(), given):  # what is left out at the end is None
        kind, *axes = wanted.split()
        if value is None and name.endswith("?"):
            found.append(None)
            continue
        try:
            tensor = torch.as_tensor(value).detach().float()
        except Exception:  # whatever a value that is no number raises
            raise ValueError(f"{name}: expected numbers in lists that are equally long") from None
        shape = [str(size if axis.isdigit() else axis) for size, axis in zip(tensor.shape, axes, strict=False)]
        if shape != axes or not all(0 < size <= LONGEST for size in tensor.shape) or tensor.dim() != len(axes):
            got = ", ".join(map(str, tensor.shape))
            raise ValueError(f"{name}: expected the shape ({', '.join(axes)}), axes of 1 to {LONGEST}, got ({got})")
        is_whole = kind == "float" or torch.equal(tensor, tensor.abs().round())
        if not (is_whole and bool((tensor.abs() <= LARGEST[kind]).all())):
            what = "numbers up to" if kind == "float" else "whole numbers from 0 to"
            raise ValueError(f"{name}: expected {what} {LARGEST[kind]}")
        found.append(tensor.to(DTYPES[kind]))
    return found


def describe(call: Any) -> str:
    """The arguments of a call in words."""
    shown = {name: wanted.split() for name, wanted in call.takes.items()}
    return ", ".join(f"{name} {kind} ({', '.join(axes)})".replace(" ()", "") for name, (kind, *axes) in shown.items())


def flat(value: Any) -> list[float]:
    """The numbers of nested lists, each list with its length before it. Raises: TypeError, ValueError for others."""
    value = value.tolist() if isinstance(value, Tensor) else value
    if isinstance(value, (list, tuple)):
        return [float(len(value)), *(number for one in value for number in flat(one))]
    return [float(value)]


@lru_cache(maxsize=64)
def defined(text: str, name: str) -> Any:
    """What a text of ours defines under a name."""
    names: dict[str, Any] = {}
    exec(compile(text, "", "exec", dont_inherit=True), names)  # noqa: S102
    return names[name]


def opened(hunt: Hunt, submission: SubmissionUnderTest, assignment: Assignment) -> Hunt:
    """A hunt whose code is known. Raises: UserError where a right component is needed first."""
    if hunt.right:
        return hunt
    use = submission.build if hunt.name[0].isupper() else submission.call
    try:
        key = key_to(hunt.component, partial(use, hunt.component, isolated=False), assignment)
        code, right = json.loads(zlib.decompress(lock(base64.b85decode(hunt.code), key)))
    except Exception:  # of the student's code, or of what a wrong key leaves
        number = next((task.number for task in assignment.tasks if hunt.component in task.components), "")
        what = f"hunt {hunt.number} opens once your {hunt.name} is right: pass the tests of {number} first"
        raise UserError(what) from None
    return replace(hunt, code=code, right=right)


def results(hunt: Hunt, code: str, given: object, assignment: Assignment) -> Any:
    """What a hunt's call returns, as lists, of its code or of what is right.

    Raises: ValueError for a wrong input, and whatever the code raises.
    """
    call = call_of(hunt.component, assignment)
    inputs = read_input(call, given)
    with torch.no_grad():
        return _as_lists(call.run(defined(code, hunt.name), *inputs))


def _as_lists(value: Any) -> Any:
    value = value.tolist() if isinstance(value, Tensor) else value
    if isinstance(value, (list, tuple)):
        return [_as_lists(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


def open_box(number: int, sources: Sources, assignment: Assignment, is_right: bool) -> Callable[..., Any]:
    """A hunt's call of the faulty component, or of a right one. Raises: UserError where it cannot be had."""
    hunt = next((one for one in read_hunts(assignment.folder).hunts if one.number == number), None)
    if hunt is None:
        raise UserError(f"there is no hunt {number!r}")
    hunt = opened(hunt, InProcessSubmission(sources, assignment), assignment)
    return lambda *given: results(hunt, hunt.right if is_right else hunt.code, given, assignment)


def box(number: int, is_right: bool = False) -> Callable[..., Any]:
    """The faulty component of a hunt; it takes lists of numbers."""
    return open_box(number, read_sources(released_folder(), released_folder()), read_assignment(), is_right)


right = partial(box, is_right=True)
"""A right component, in the same call."""


def tell(name: str, assignment: Assignment) -> str:
    """A student's hunts in words. Raises: UserError without a name."""
    if not name.strip():
        raise UserError("whose hunts? expected your name or number, as the course knows you")
    known = read_hunts(assignment.folder)
    shown = [
        f"The hunts of {name}. A box opens once your own component is right, its weights in matrices, its biases in "
        "vectors. All matrices in the box are the identity, all biases 0. Arguments with ? may be None, or left out at "
        "the end."
    ]
    entries = [f'    "name": "{name}",']
    for one in known.of(name):
        call = call_of(one.component, assignment)
        example = f"example: box({one.number})({', '.join(map(repr, call.example))})"
        lines = [f"hunt {one.number} ({one.level}): {one.name}", one.symptom, *seen(one), f"takes {describe(call)}"]
        shown.append("\n  ".join([*lines, f"gives {call.told}", example]))
        arguments = ", ".join(call.takes).replace("?", "")
        entries.append(f'    {one.number}: {{"input": [{arguments}], "right": …, "kind": "…"}},')
    kinds = [f"  {kind:<7} {told}" for kind, told in known.kinds.items()]
    shown += ["\n".join(["Kinds of mistake:", *kinds]), "\n".join(["What your `hunts.findings` returns:", *entries])]
    return "\n\n".join(shown)


def seen(hunt: Hunt) -> list[str]:
    """What was measured of a trained model with the mistake, beside one without it."""
    if not hunt.shown:
        return []
    wrong, due = hunt.shown
    settings = "".join(f", {name} = {value}" for name, value in due["settings"].items())
    loss, loss_due = (one["loss"][-1] or math.nan for one in hunt.shown)
    lines = [
        f"a model with this mistake, trained with the preset quick{settings}; in brackets, one without it:",
        f"  loss at the end {loss:.2f} ({loss_due:.2f}), dev BLEU {wrong['bleu']:.2f} ({due['bleu']:.2f}), "
        f"translations that change in a batch of four {wrong['batch']:.0%} ({due['batch']:.0%})",
    ]
    for (source, _, got), (_, _, good) in zip(wrong["samples"], due["samples"], strict=True):
        lines.append(f"  {source} → {_cut(got)} ({good})")
    for source, alone, together in wrong["example"]:
        lines.append(f"  {source} → {_cut(alone)} In a batch: {_cut(together)}")
    return lines


def _cut(translation: str) -> str:
    return shorten(translation, 80, placeholder=" …") or "nothing"
