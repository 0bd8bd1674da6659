"""Runs a submission, and the submission with a change, in the sandbox, to see what follows.

Submitted code runs in workers alone, changed or not. Whatever it does there is a result: a question is asked only where
the answer is one.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from torch import Tensor

from foundation.assignment_file import Assignment
from foundation.texts import printable

from ..course.assignment_code import OwnWork
from ..intake.submission import Intake
from ..reports.html import CodeLine, Excerpt, code_line
from ..running.collected_tests import CollectedTests
from ..sandbox.submission import Sandbox
from ..sandbox.zygote import Zygote
from ..testing.case import number_of
from ..testing.results import Outcome
from .question import ChangedLine, Split
from .student_lines import Change, Statement, changes_of, mixed, own_statements
from .versions import EQUAL, Trial, Versions

MOST_TRIED = 8
"""Changes of a component."""
CHANGED_CPU_SECONDS = 4
"""CPU time of the workers of a changed version: one that runs longer, in a loop without end, is no question."""
SEEN = 0.03
"""By how much numbers must change on average for their symptom to be seen."""


class Bench(Protocol):
    """The means to run submissions; the grader is one."""

    assignment: Assignment
    tests: CollectedTests
    zygote: Zygote


class Component(Versions):
    """A component of a submission, in the sandbox: the statements that its author has written, and versions of it."""

    def __init__(self, name: str, intake: Intake, bench: Bench, seed: int) -> None:
        module = name.partition(".")[0]
        text = intake.sources[module][1] if module in intake.sources else ""
        super().__init__(name, text, seed, OwnWork(bench.assignment))
        self.intake, self._bench = intake, bench
        self.draw = random.Random(number_of(seed, name))  # noqa: S311  the same for the same submission
        self.own = own_statements(intake, name)
        self._trials: dict[str | None, Trial] = {}

    @cached_property
    def works(self) -> bool:
        """True if it passes, as handed in, all tests of its task."""
        trial = self.judge()
        return trial.is_clear and not trial.missed

    @cached_property
    def changes(self) -> list[Change]:
        """Some changes, of many lines and kinds."""
        return mixed(changes_of(self.text, self.own), self.draw)[:MOST_TRIED]

    def judge(self, text: str | None = None) -> Trial:
        """Run the tests of its task on the code, or on a version."""
        if text in self._trials:
            return self._trials[text]
        task = next(task for task in self._bench.assignment.tasks if self.name in task.components)
        outcomes: list[Outcome] = []
        with self.open(text) as sandbox:
            for ended in self._bench.tests.run(sandbox, self.seed, only=task.marker):
                outcomes = ended.get(task.marker, outcomes)
        self._trials[text] = Trial(tuple(outcomes))
        return self._trials[text]

    @contextmanager
    def open(self, text: str | None = None) -> Iterator[Sandbox]:
        """Open the submission, or a version of it, in the sandbox."""
        sources, assignment = self.intake.sources, self._bench.assignment
        if text is not None:
            sources = {**sources, self.module: (sources[self.module][0], text)}
            limits = replace(assignment.limits, cpu_seconds=CHANGED_CPU_SECONDS, failures_a_component=1)
            assignment = replace(assignment, limits=limits)
        # Its time need not be left to other components: else a busy machine would decide what is asked.
        zygote, locate = self._bench.zygote, self.intake.locate
        with Sandbox(sources, assignment, zygote=zygote, locate=locate, is_fair=False) as sandbox:
            yield sandbox
            sandbox.budget.check_sandbox()

    def seen(self, text: str) -> Split:
        """Return the symptoms of a version, and those that it lacks, with two sets of inputs; not what is unclear."""
        usual, version = self.results("SYMPTOMS"), self.results("SYMPTOMS", text)
        seen: dict[str, set[bool | None]] = {}
        for symptom in usual[0]:
            values = [(before.get(symptom), after.get(symptom)) for before, after in zip(usual, version, strict=True)]
            pairs = [(before[0].double(), after[0].double()) for before, after in values if before and after]
            is_known = [a.shape == b.shape and not bool((a - b).isnan().any()) for a, b in pairs]
            if len(pairs) < len(values) or not all(is_known):
                continue
            if isinstance(symptom, tuple):
                seen[symptom[0]] = {_grows(after, before) for before, after in pairs}
                seen[symptom[1]] = {_grows(before, after) for before, after in pairs}
            elif not any(before for before, _ in pairs):
                seen[symptom] = {bool(after) for _, after in pairs}
        return [text for text in seen if seen[text] == {True}], [text for text in seen if seen[text] == {False}]

    def place(self, line: int) -> tuple[str, str]:
        """The file, or the notebook's cell, of a line, and the line's number there."""
        file, _, number = self.intake.locate(self.module, line).rpartition(", line ")
        return printable(file), printable(number)

    def number(self, line: int) -> str:
        """Return the number of a line where the student finds it."""
        return self.place(line)[1]

    def changed_line(self, change: Change) -> ChangedLine:
        """A change as the page shows it."""
        file, number = self.place(change.line)
        return ChangedLine(f"{file}, line {number}", code_line(change.before), code_line(change.after))

    def excerpt(self, statement: Statement) -> Excerpt:
        """A statement, marked in the function around it, without its docstring."""
        function, lines = statement.function, self.text.split("\n")
        texts = [node for node in function.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
        hidden = {number for node in texts for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        numbers = range(function.lineno, (function.end_lineno or function.lineno) + 1)
        return self.lines({n: lines[n - 1] for n in numbers if n not in hidden}, statement.lines)

    def lines(self, lines: Mapping[int, str], meant: Sequence[int] = ()) -> Excerpt:
        """Lines of the module, by their numbers there, with those that are meant marked."""
        shown = [CodeLine(self.number(n), code_line(text), n in meant) for n, text in lines.items()]
        return Excerpt(self.place(next(iter(lines)))[0], tuple(shown))


def _grows(less: Tensor, more: Tensor) -> bool | None:
    """Return whether numbers become larger; None where some do and others do not, or too little to be seen."""
    growth = more - less
    if bool((growth <= EQUAL).all()):
        return False
    return True if bool((growth >= -EQUAL).all()) and float(growth.mean()) >= SEEN else None
