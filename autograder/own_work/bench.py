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
from ..intake.modules import Intake
from ..reports.html import CodeLine, Excerpt, code_line
from ..running.collected_tests import CollectedTests
from ..sandbox.submission import Sandbox
from ..sandbox.zygote import Zygote
from ..testing.case import number_of
from ..testing.results import Outcome
from .question import Option, Split
from .student_lines import Change, Statement, changes_of, mixed, own_statements
from .versions import EQUAL, Trial, Versions

MOST_TRIED = 8
"""Changes of a component."""
CHANGED_CPU_SECONDS = 4
"""CPU time of the workers of a changed version: one that runs longer, in a loop without end, is no question."""
SEEN = 0.03
"""By how much numbers must change on average for their symptom to be seen."""
AROUND = 12
"""Lines that are shown before and after the one that is asked about."""


class Bench(Protocol):
    """The means to run submissions; the grader is one."""

    assignment: Assignment
    tests: CollectedTests
    zygote: Zygote


class Component(Versions):
    """A component of a submission, in the sandbox: the part that its author has written, and versions of it.

    Attributes:
        intake: the submission.
        draw: for what is left to chance, from the seed.
        own: the statements that the author has written.
    """

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

    @cached_property
    def tried(self) -> list[tuple[Change, Trial]]:
        """The changes with how tests ended; those without a clear result are left out."""
        return [(change, trial) for change in self.changes if (trial := self.judge(change.text)).is_clear]

    def judge(self, text: str | None = None, others: int = 0) -> Trial:
        """Run the tests of its task on the code, or on a version; with `others` on other inputs."""
        if others == 0 and text in self._trials:
            return self._trials[text]
        task = next(task for task in self._bench.assignment.tasks if self.name in task.components)
        outcomes: list[Outcome] = []
        with self.open(text) as sandbox:
            for ended in self._bench.tests.run(sandbox, self.seed + others, only=task.marker):
                outcomes = ended.get(task.marker, outcomes)
        trial = Trial(tuple(outcomes))
        if others == 0:
            self._trials[text] = trial
        return trial

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
        """Return the symptoms of a version, and others that it lacks; none where that is not clear, or it raises."""
        symptoms = self.symptoms(text)
        if any(len(is_seen) > 1 for is_seen in symptoms.values()):
            return (), ()
        shown, absent = (
            [Option(symptom) for symptom in symptoms if symptoms[symptom] == {wanted}] for wanted in (True, False)
        )
        return shown, absent

    def symptoms(self, text: str) -> dict[str, set[bool]]:
        """Return whether symptoms are seen of a version, with two sets of inputs; not those that nobody can tell."""
        usual, version = self.results("SYMPTOMS"), self.results("SYMPTOMS", text)
        symptoms: dict[str, set[bool | None]] = {}
        for symptom in usual[0]:
            values = [(before.get(symptom), after.get(symptom)) for before, after in zip(usual, version, strict=True)]
            pairs = [(before[0].double(), after[0].double()) for before, after in values if before and after]
            is_known = [a.shape == b.shape and not bool((a - b).isnan().any()) for a, b in pairs]
            if len(pairs) < len(values) or not all(is_known):
                continue
            if isinstance(symptom, tuple):
                symptoms[symptom[0]] = {_grows(after, before) for before, after in pairs}
                symptoms[symptom[1]] = {_grows(before, after) for before, after in pairs}
            elif not any(before for before, _ in pairs):
                symptoms[symptom] = {bool(after) for _, after in pairs}
        return {symptom: {*map(bool, seen)} for symptom, seen in symptoms.items() if None not in seen}

    def place(self, line: int) -> tuple[str, str]:
        """The file, or the notebook's cell, of a line, and the line's number there."""
        file, _, number = self.intake.locate(self.module, line).rpartition(", line ")
        return printable(file), printable(number)

    def number(self, line: int) -> str:
        """Return the number of a line where the student finds it."""
        return self.place(line)[1]

    def option(self, line: int, text: str) -> Option:
        """A line as it is, and as it is in a version, as one of several answers."""
        before, after = (code_line(version.split("\n")[line - 1].strip()) for version in (self.text, text))
        file, number = self.place(line)
        return Option(place=f"{file}, line {number}", before=before, after=after)

    def excerpt(self, statement: Statement, meant: Sequence[int] = ()) -> Excerpt:
        """A statement, or the lines that are meant, marked in the function around them, without its docstring."""
        function, meant = statement.function, meant or statement.lines
        texts = [node for node in function.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
        hidden = {number for node in texts for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        head, near = range(function.lineno, function.body[0].lineno), range(meant[0] - AROUND, meant[-1] + AROUND + 1)
        lines = self.text.split("\n")
        numbers = range(function.lineno, (function.end_lineno or function.lineno) + 1)
        return self.lines({n: lines[n - 1] for n in numbers if n in {*head, *near} - hidden}, meant)

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
