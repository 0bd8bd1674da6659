"""Reads a question as a student reads it, and runs each of its options: which are right?

All submissions here are code of ours, so it is run in this process, where a trace sees what lines and names hold. The
inputs are of another seed than those with which the questions were drawn.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder.assignment_code import understanding_of
from autograder.intake import Intake
from autograder.sources import Sources
from autograder.testing.case import Case
from autograder.testing.under_test import InProcessSubmission
from autograder.understanding.bench import Bench, function_of
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
        """Which options are right; None for kinds that cannot be run again.

        Args:
            question: one of this submission's.
            seed: with which it was drawn: it fixes the calls of questions about a shape or numbers.
        """
        if question.kind == "choice":
            return None  # the options are numbers that differ, and the code returned one of them
        is_right = getattr(self, question.kind)(question, seed)
        return tuple(is_right(option) for option in question.options)

    def equal(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """Changes that leave all results as they are."""
        return lambda option: not self._differing(question, self._changed(question, option))

    def input(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """Calls that differ, or do not, after a change."""
        differing = self._differing(question, self._changed(question, question.change))
        wants = "something else" in question.text[0]
        return lambda option: (option.text in differing) == wants

    def branch(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """Calls that run a line."""
        runs, line = _found(r"(runs|does not run) line (\d+)", question.text[0])
        found = {}
        with self._opened(self.intake.sources) as submission:
            calls: Any = self.understanding.CALLS[question.component]
            for told, call in calls(submission, Case(SEED, "calls")).items():
                found[told] = bool(self._seen_at(range(int(line), int(line) + 1), question, call))
        return lambda option: found[option.text] == (runs == "runs")

    def order(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """Pairs of lines that may be swapped, or must not."""
        wants = "changes a result" in question.text[0]

        def is_right(option: Option) -> bool:
            lines = self._lines(question)
            a, b = (int(number) - 1 for number in re.findall(r"\d+", option.text))
            lines[a], lines[b] = lines[b], lines[a]
            return bool(self._differing(question, self._with(question, lines))) == wants

        return is_right

    def breaking(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """Changes that break a test."""
        bench = Bench(self.intake, self.grader, SEED)
        named = r"breaks (?:the test that checks (.+?)|`(\w+)`)(?:, in its case `(.+)`)?\. Which"
        told, name, row = _found(named, question.text[0])
        tests = {test for test, one in self.understanding.TESTS.items() if one == told} | {name}

        def is_right(option: Option) -> bool:
            rows = bench.judge(question.component, self._changed(question, option)).rows
            return any(function_of(test) in tests and (row or "") in test for test in rows)

        return is_right

    def symptom(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """What one sees of a change."""
        by_text = {one.text: one for one in self.understanding.SYMPTOMS[question.component]}
        changed = self._changed(question, question.change)
        before, after = (self._run(self.understanding.observe, question, one) for one in (self.intake.sources, changed))
        return lambda option: by_text[option.text].shows(before, after)

    purpose = symptom  # without a line, or a step of it

    def shape(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """The shape that a debugger sees at a line."""
        make = self.understanding.SCENES[question.component]
        value = self._value(question, make(Case(seed, f"a scene with {question.component}")))
        return lambda option: option.text == str(tuple(value.shape))

    def value(self, question: Question, seed: int) -> Callable[[Option], bool]:
        """The numbers that a debugger sees at a line."""
        make = self.understanding.BY_HAND[question.component]
        value = self._value(question, make(Case(seed, f"a call of {question.component} by hand")))
        numbers = value.flatten().tolist() if isinstance(value, Tensor) else [value]

        def is_right(option: Option) -> bool:
            said = map(float, option.text.split(", "))
            return all(abs(a - b) < 0.0051 for a, b in zip(numbers, said, strict=True))

        return is_right

    def _value(self, question: Question, scene: Any) -> Any:
        """What the code that is asked about evaluates to, where its line is run for the first time."""
        code, line = _found(r"`([^`]+)`.* line (\d+)", question.text[1])
        [meant] = [s for s in own_statements(self.intake, question.component) if s.node.lineno == int(line)]
        is_after = f"once line {line} has run" in question.text[1]
        with self._opened(self.intake.sources) as submission:
            subject = scene.subject(submission)
            call = partial(submission.call, subject) if isinstance(subject, str) else subject
            return self._seen_at(meant.lines, question, lambda: call(*scene.inputs), code, is_after)[0]

    def _seen_at(
        self, lines: range, question: Question, call: Callable[[], object], code: str = "1", is_after: bool = False
    ) -> list[Any]:
        """What an expression is, each time that a statement is going to be run, or has been run."""
        path = self.intake.sources[question.component.partition(".")[0]][0]
        found: list[Any] = []
        waiting: set[int] = set()

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            if not frame.f_code.co_filename.endswith(path) or frame.f_code.co_name.startswith("<"):
                return None  # a lambda or a comprehension has names of its own
            is_inside = event == "line" and frame.f_lineno in lines
            is_over = not is_inside and id(frame) in waiting and event in ("line", "return")
            is_first = event == "line" and frame.f_lineno == lines[0]
            if is_over or (is_first and not is_after):
                found.append(eval(code, frame.f_globals, dict(frame.f_locals)))  # noqa: S307  code of ours
                waiting.discard(id(frame))
            elif is_first:
                waiting.add(id(frame))
            return trace

        sys.settrace(trace)
        try:
            with suppress(Exception):  # some calls are refused
                call()
        finally:
            sys.settrace(None)
        return found

    def _differing(self, question: Question, changed: Sources) -> set[str]:
        """The calls that return something else."""
        usual, other = (self._run(self.understanding.results, question, one) for one in (self.intake.sources, changed))
        return {told for told in usual if not _same(usual[told], other[told])}

    def _run(self, function: Callable[..., Any], question: Question, sources: Sources) -> Any:
        with self._opened(sources) as submission:
            return function(question.component, submission, Case(SEED, "versions"))

    def _changed(self, question: Question, option: Option | None) -> Sources:
        """The sources with the line of an option.

        Raises:
            ValueError: where the line is not what the option says.
        """
        lines, number = self._lines(question), int(option.place.rpartition(" ")[2]) if option is not None else 0
        whole = lines[number - 1]
        if option is None or whole.strip() != option.before:
            raise ValueError(f"{option} is not line {number}: {whole}")
        lines[number - 1] = whole[: len(whole) - len(whole.lstrip())] + option.after
        return self._with(question, lines)

    def _lines(self, question: Question) -> list[str]:
        return self.intake.sources[question.component.partition(".")[0]][1].split("\n")

    def _with(self, question: Question, lines: list[str]) -> Sources:
        module = question.component.partition(".")[0]
        return {**self.intake.sources, module: (self.intake.sources[module][0], "\n".join(lines))}

    def _opened(self, sources: Sources) -> Any:
        return closing(InProcessSubmission(dict(sources), self.assignment))


def _found(wanted: str, text: str) -> tuple[str, ...]:
    """The groups of a pattern that the text must have."""
    return re.search(wanted, text).groups()  # type: ignore[union-attr]


def _same(one: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool:
    if one is None or other is None:
        return one is other
    if [part.shape for part in one] != [part.shape for part in other]:
        return False
    return all(torch.allclose(a, b, 1e-6, 1e-6, equal_nan=True) for a, b in zip(one, other, strict=True))
