"""Reads a question as a student reads it, and runs each of its options: which are right?

All submissions here are code of ours, so it is run in this process, where a trace sees what lines and names hold. The
inputs are of another seed than those with which the questions were drawn.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder.assignment_parts import understanding_of
from autograder.intake import Intake
from autograder.sources import Sources
from autograder.testing.case import Case
from autograder.testing.under_test import InProcessSubmission
from autograder.understanding.bench import Bench
from autograder.understanding.question import Option, Question
from autograder.understanding.student_lines import own_statements
from foundation.assignment_file import Assignment

if TYPE_CHECKING:
    from autograder.grading.judging import Grader

SEED = 77
"""Of the inputs."""


class Reader:
    """Runs what a question says of a submission."""

    def __init__(self, intake: Intake, grader: Grader, assignment: Assignment) -> None:
        self.intake, self.assignment, self.grader = intake, assignment, grader
        self.understanding = understanding_of(assignment)

    def right(self, question: Question, seed: int) -> tuple[bool, ...] | None:
        """Which options are right.

        Args:
            question: one of this submission's.
            seed: with which it was drawn: it fixes the calls of questions about a shape or numbers.
        """
        if question.kind == "choice":
            return None  # the options are numbers that differ, and the code returned one of them
        runs = getattr(self, question.kind)
        found: tuple[bool, ...] = runs(question, seed) if question.kind in ("shape", "value") else runs(question)
        return found

    def equal(self, question: Question) -> tuple[bool, ...]:
        """Changes that leave all results as they are."""
        usual = self._results(question.component)
        return tuple(
            not self._differing(usual, self._results(question.component, self._changed(question, one)))
            for one in question.options
        )

    def input(self, question: Question) -> tuple[bool, ...]:
        """Calls that differ, or do not, after a change."""
        usual, changed = self._results(question.component), self._changed(question, question.change)
        differing = self._differing(usual, self._results(question.component, changed))
        wants = "something else" in question.text[0]
        return tuple((one.text in differing) == wants for one in question.options)

    def branch(self, question: Question) -> tuple[bool, ...]:
        """Calls that run a line."""
        runs, line = re.search(r"(runs|does not run) line (\d+)", question.text[0]).groups()  # type: ignore[union-attr]
        calls = self.understanding.CALLS[question.component]
        found = {}
        with self._opened(self.intake.sources) as submission:
            for told, call in calls(submission, Case(SEED, "calls")).items():  # type: ignore[operator]
                found[told] = bool(self._seen_at(range(int(line), int(line) + 1), question, call))
        return tuple(found[one.text] == (runs == "runs") for one in question.options)

    def order(self, question: Question) -> tuple[bool, ...]:
        """Pairs of lines that may be swapped, or must not."""
        usual = self._results(question.component)
        wants = "changes a result" in question.text[0]
        found = []
        for one in question.options:
            a, b = (int(number) - 1 for number in re.findall(r"\d+", one.text))
            module = question.component.partition(".")[0]
            path, text = self.intake.sources[module]
            lines = text.split("\n")
            lines[a], lines[b] = lines[b], lines[a]
            other = self._results(question.component, {**self.intake.sources, module: (path, "\n".join(lines))})
            found.append(bool(self._differing(usual, other)) == wants)
        return tuple(found)

    def breaking(self, question: Question) -> tuple[bool, ...]:
        """Changes that break a test."""
        bench = Bench(self.intake, self.grader, SEED)
        words = re.search(
            r"breaks (?:the test that checks (.+?)|`(\w+)`)(?:, in its case `(.+)`)?\. Which", question.text[0]
        )
        told, name, row = words.groups()  # type: ignore[union-attr]
        tests = {test for test, one in self.understanding.TESTS.items() if one == told} | {name}
        found = []
        for one in question.options:
            rows = bench.judge(question.component, self._changed(question, one)).rows
            found.append(any(test.partition("[")[0] in tests and (row or "") in test for test in rows))
        return tuple(found)

    def symptom(self, question: Question) -> tuple[bool, ...]:
        """What one sees of a change."""
        return self._seen(question, self._changed(question, question.change))

    purpose = symptom  # without a line, or a step of it

    def shape(self, question: Question, seed: int) -> tuple[bool, ...]:
        """The shape that a debugger sees at a line."""
        make = self.understanding.SCENES[question.component]
        shown = {
            str(tuple(value.shape))
            for value in self._values(question, make(Case(seed, f"a scene with {question.component}")))
        }
        return tuple(one.text in shown for one in question.options)

    def value(self, question: Question, seed: int) -> tuple[bool, ...]:
        """The numbers that a debugger sees at a line."""
        make = self.understanding.BY_HAND[question.component]
        [value] = self._values(question, make(Case(seed, f"a call of {question.component} by hand")))
        numbers = value.flatten().tolist() if isinstance(value, Tensor) else [value]
        options = [[float(one) for one in option.text.split(", ")] for option in question.options]
        return tuple(all(abs(a - b) < 0.0051 for a, b in zip(numbers, option, strict=True)) for option in options)

    def _values(self, question: Question, scene: Any) -> list[Any]:
        """What the code that is asked about evaluates to, where its line is run for the first time."""
        code = re.search(r"`([^`]+)`", question.text[1]).group(1)  # type: ignore[union-attr]
        number = int(re.search(r"line (\d+)", question.text[1]).group(1))  # type: ignore[union-attr]
        [meant] = [s for s in own_statements(self.intake, question.component) if s.node.lineno == number]
        is_named = re.search(r"once line \d+ has run", question.text[1]) is not None
        with self._opened(self.intake.sources) as submission:
            return self._seen_at(meant.lines, question, lambda: scene.run(submission), code, is_named)[:1]

    def _seen_at(
        self, lines: range, question: Question, call: Callable[[], object], code: str = "1", after: bool = False
    ) -> list[Any]:
        """What an expression is, each time that a statement is going to be run, or has been run."""
        path = self.intake.sources[question.component.partition(".")[0]][0]
        found: list[Any] = []
        waiting: set[int] = set()

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            if not frame.f_code.co_filename.endswith(path):
                return None
            is_inside = event == "line" and frame.f_lineno in lines
            if not is_inside and id(frame) in waiting and event in ("line", "return"):
                waiting.discard(id(frame))
                found.append(eval(code, frame.f_globals, dict(frame.f_locals)))  # noqa: S307  code of ours
            elif event == "line" and frame.f_lineno == lines[0]:
                if after:
                    waiting.add(id(frame))
                else:
                    found.append(eval(code, frame.f_globals, dict(frame.f_locals)))  # noqa: S307
            return trace

        sys.settrace(trace)
        try:
            call()
        except Exception:  # noqa: S110  some calls are refused
            pass
        finally:
            sys.settrace(None)
        return found

    def _seen(self, question: Question, changed: Sources) -> tuple[bool, ...]:
        by_text = {one.text: one for one in self.understanding.SYMPTOMS[question.component]}
        before, after = (self._observed(question.component, sources) for sources in (self.intake.sources, changed))
        return tuple(by_text[one.text].shows(before, after) for one in question.options)

    def _observed(self, component: str, sources: Sources) -> Mapping[str, Any]:
        with self._opened(sources) as submission:
            return self.understanding.observe(component, submission, Case(SEED, "symptoms"))

    def _results(self, component: str, sources: Sources | None = None) -> Mapping[str, Sequence[Tensor] | None]:
        with self._opened(self.intake.sources if sources is None else sources) as submission:
            return self.understanding.results(component, submission, Case(SEED, "calls"))

    def _differing(
        self, one: Mapping[str, Sequence[Tensor] | None], other: Mapping[str, Sequence[Tensor] | None]
    ) -> set[str]:
        return {told for told in one if not _same(one[told], other[told])}

    def _changed(self, question: Question, option: Option | None) -> dict[str, tuple[str, str]]:
        """The sources with the line of an option.

        Raises:
            ValueError: where the line is not what the option says.
        """
        module = question.component.partition(".")[0]
        path, text = self.intake.sources[module]
        lines, number = text.split("\n"), int(option.place.rpartition(" ")[2]) if option is not None else 0
        whole = lines[number - 1]
        if option is None or whole.strip() != option.before:
            raise ValueError(f"{option} is not line {number}: {whole}")
        lines[number - 1] = whole[: len(whole) - len(whole.lstrip())] + option.after
        return {**self.intake.sources, module: (path, "\n".join(lines))}

    def _opened(self, sources: Sources) -> Any:
        return closing(InProcessSubmission(sources, self.assignment))


def _same(one: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool:
    if one is None or other is None:
        return one is other
    if [part.shape for part in one] != [part.shape for part in other]:
        return False
    return all(torch.allclose(a, b, 1e-6, 1e-6, equal_nan=True) for a, b in zip(one, other, strict=True))
