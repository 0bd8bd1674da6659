"""Asks what a version of a student's code does otherwise: for which call, in which branch, and what one sees of it.

A version is the submission with a line changed, left out, or replaced by an exception. It is run on the same calls as
the code itself, so that what is right, and what is wrong, are results of running.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..testing.case import Case
from .bench import Bench, mixed, try_changes
from .choosing import Split, drawn
from .question import Option, Question, excerpt_of, multiple_choice, place_of
from .student_lines import Statement, Versioned, changes_of, own_statements, slips, with_code, without

if TYPE_CHECKING:
    from ..assignment_code import Understanding

MOST_SEEN = 12
"""Versions of a component of which it is observed what one sees."""
EQUAL, CLEARLY = 1e-9, 1e-3
"""Differences, relative to 1 + the size of a result: below the first nobody sees one, above the second everybody."""

Results = Mapping[str, Sequence[Tensor] | None]


class Versions:
    """What calls of a component return in versions of it, and what one sees of them; with two sets of inputs."""

    def __init__(self, bench: Bench, component: str, understanding: Understanding) -> None:
        self.bench, self.component, self.module = bench, component, component.partition(".")[0]
        self.text = bench.intake.sources[self.module][1]
        self.understanding = understanding

    @cached_property
    def usual(self) -> list[Results]:
        """What the calls return in the code as it is."""
        return self._run(self.understanding.results) or [{}, {}]

    @cached_property
    def _observed(self) -> list[Mapping[str, Any]] | None:
        return self._run(self.understanding.observe)

    def _run(self, function: Callable[..., Any], text: str | None = None) -> list[Any] | None:
        """What a function of the assignment says of a version, with each set of inputs; None where it raises."""
        cases = [Case(self.bench.seed + n, f"versions of {self.component}") for n in range(2)]
        sources = None if text is None else self.bench.changed(self.module, text)
        return self.bench.look(lambda sandbox: [function(self.component, sandbox, case) for case in cases], sources)

    def differing(self, text: str) -> set[str] | None:
        """The calls that return something else in a version with this text.

        None where that is not clear: a matter of rounding, or of the inputs.
        """
        seen: list[set[str]] = []
        for usual, found in zip(self.usual, self._run(self.understanding.results, text) or (), strict=False):
            verdicts = {told: _differ(usual[told], found.get(told)) for told in usual}
            if not verdicts or None in verdicts.values():
                return None
            seen.append({told for told, differs in verdicts.items() if differs})
        return seen[0] if seen and seen[0] == seen[-1] else None

    def is_silent(self, text: str) -> bool:
        """Whether a version with this text raises no more exceptions, and leaves all shapes as they are."""
        found = self._run(self.understanding.results, text)
        return found is not None and all(
            _shapes(found[0].get(told)) == _shapes(one) for told, one in self.usual[0].items()
        )

    def seen(self, text: str) -> Split:
        """What is seen of a version with this text, and what certainly is not; nothing where it raises."""
        after = self._run(self.understanding.observe, text)
        if self._observed is None or after is None or any(one["raised"] for one in after):
            return (), ()
        shown: list[Option] = []
        absent: list[Option] = []
        for symptom in self.understanding.SYMPTOMS.get(self.component, ()):
            try:
                is_seen = {symptom.shows(*pair) for pair in zip(self._observed, after, strict=True)}
            except Exception:  # noqa: S112  what cannot be told of such answers is no option
                continue
            if len(is_seen) > 1:
                return (), ()
            (shown if True in is_seen else absent).append(Option(symptom.text))
        return shown, absent

    def number(self, line: int) -> str:
        """Of a line, where the student finds it: in a file that is named elsewhere."""
        return place_of(self.bench.intake, self.module, line)[1]


def _shapes(parts: Sequence[Tensor] | None) -> list[tuple[int, ...]] | None:
    return None if parts is None else [tuple(part.shape) for part in parts]


def _differ(one: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool | None:
    """Whether two results differ; None where that is a matter of rounding."""
    if one is None or other is None:
        return (one is None) != (other is None)
    if [part.shape for part in one] != [part.shape for part in other]:
        return True
    largest = 0.0
    for a, b in zip(one, other, strict=True):
        if not torch.equal(a.isnan(), b.isnan()):
            return True
        error = (a - b).abs() / (1 + a.abs())
        largest = max(largest, float(error.nan_to_num(0.0).max())) if error.numel() else largest
    return True if largest > CLEARLY else False if largest < EQUAL else None


def input_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A call on which two versions differ, or the only one on which they agree."""
    versions = Versions(bench, component, understanding)
    changes = [change for change, _ in try_changes(bench, component, draw)]
    for index, differs, right, options in _calls(versions, [one.text for one in changes], draw):
        asked = "return something else" if differs else "still return the same"
        text = (f"This line of your `{component.partition('.')[2]}` is changed. Which of these calls would {asked}?",)
        return multiple_choice("input", component, text, right, options, change=bench.option(changes[index]))
    return None


def branch_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """The call that runs a branch, or the only one that does not."""
    versions = Versions(bench, component, understanding)
    branches = [one for one in own_statements(bench.intake, component) if _is_conditional(one)]
    texts = [with_code(versions.text, one.node, "raise RuntimeError") for one in branches]
    for index, runs, right, options in _calls(versions, texts, draw):
        number, name = versions.number(branches[index].node.lineno), component.partition(".")[2]
        text = (f"Which of these calls of your `{name}` {'runs' if runs else 'does not run'} line {number}?",)
        excerpts = (excerpt_of(bench.intake, branches[index]),)
        return multiple_choice("branch", component, text, right, options, excerpts)
    return None


def _calls(
    versions: Versions, texts: Sequence[str | None], draw: random.Random
) -> Iterator[tuple[int, bool, Option, list[Option]]]:
    """Versions, each with the only one of four calls on which it differs from the code, or on which it does not."""
    returning = [told for told, result in versions.usual[0].items() if result is not None]
    differing = [versions.differing(text) if text else None for text in texts]
    for differs in draw.sample((True, False), 2):
        splits: list[Split] = []
        for some in differing:
            right = [Option(told) for told in returning if some is not None and (told in some) is differs]
            wrong = [Option(told) for told in returning if some is not None and (told in some) is not differs]
            splits.append((right, wrong))
        for index, one, options in drawn(splits, draw):
            yield index, differs, one, options


def _is_conditional(statement: Statement) -> bool:
    """Whether a statement is the first of a branch."""
    branching = [node for node in ast.walk(statement.function) if isinstance(node, ast.If)]
    return any(block[:1] == [statement.node] for node in branching for block in (node.body, node.orelse))


def symptom_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random
) -> Question | None:
    """What is seen of a slip in one line."""
    asked = "Somebody changes one line of your `{name}`. Only one of these can then be observed. Which one, and why?"
    return _seen_question("symptom", slips, asked, Versions(bench, component, understanding), draw)


def purpose_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random
) -> Question | None:
    """What a line, or a step of it, is for: what is seen without it."""
    asked = "{what} of your `{name}` is left out. What was it for: what is seen without it?"
    return _seen_question("purpose", without, asked, Versions(bench, component, understanding), draw)


def _seen_question(
    kind: str, changing: Versioned, asked: str, versions: Versions, draw: random.Random
) -> Question | None:
    bench, component, name = versions.bench, versions.component, versions.component.partition(".")[2]
    changes = mixed(changes_of(versions.text, own_statements(bench.intake, component), changing), draw)[:MOST_SEEN]
    for index, right, options in drawn([versions.seen(change.text) for change in changes], draw):
        shown, line = bench.option(changes[index]), versions.number(changes[index].line)
        what = f"Line {line}" if shown.after == "pass" else f"A step of line {line}"
        return multiple_choice(kind, component, (asked.format(name=name, what=what),), right, options, change=shown)
    return None
