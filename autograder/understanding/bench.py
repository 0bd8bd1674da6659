"""Runs a submission, and the submission with a change, in the sandbox, to see what follows.

Submitted code runs in workers alone, changed or not. Whatever it does there is a result: a question is asked only where
the answer is one.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from foundation.texts import printable
from foundation.watchdog import CPU, time_limit

from ..assignment_code import Look, understanding_of
from ..intake import Intake
from ..reports.html import CodeLine, Excerpt, code_line
from ..sandbox.errors import SandboxUnavailableError
from ..sandbox.submission import Sandbox
from ..testing.case import Case, number_of
from ..testing.results import Outcome, State
from .question import Option, Split
from .student_lines import Change, Statement, changes_of, mixed, own_statements

if TYPE_CHECKING:
    from ..grading.judging import Grader

Result = TypeVar("Result")

MOST_TRIED = 8
"""Changes of a component."""
CHANGED_CPU_SECONDS = 4
"""CPU time of the workers of a changed version: one that runs longer, in a loop without end, is no question."""
LOOKING_SECONDS = 5.0
"""CPU time of this process for one look at a version."""
BROKEN = (State.GRADER_ERROR, State.TIMEOUT, State.OUT_OF_MEMORY, State.REFUSED, State.NEEDS_READER)
EQUAL, CLEARLY = 1e-9, 1e-3
"""Differences, relative to 1 + the size of a result: below the first nobody sees one, above the second everybody."""
SEEN = 0.03
"""By how much a number must change for its symptom to be seen."""
AROUND = 12
"""Lines that are shown before and after the one that is asked about."""

Results = Mapping[Any, Sequence[Tensor] | None]
"""By what a call is told by; None for an exception."""


@dataclass(frozen=True)
class Trial:
    """What the tests of a component's task said about one version."""

    outcomes: tuple[Outcome, ...]

    @property
    def missed(self) -> list[str]:
        """Names of the tests that do not pass, without their parameters."""
        return list(dict.fromkeys(function_of(test) for test in self.rows))

    @property
    def rows(self) -> dict[str, bool]:
        """Names of the tests that do not pass, with their parameters; False for those that ended with an exception."""
        return {o.test: o.state is State.FAILED for o in self.outcomes if o.state is not State.PASSED}

    @property
    def share(self) -> float:
        """The share of the tests that do not pass."""
        return len(self.rows) / len(self.outcomes)

    @property
    def is_clear(self) -> bool:
        """Whether each test has passed or failed, for a reason that the code alone gives."""
        return bool(self.outcomes) and not any(outcome.state in BROKEN for outcome in self.outcomes)


def function_of(test: str) -> str:
    """A test's name without its parameters."""
    return test.partition("[")[0]


class Component:
    """A component of a submission: what its author has written of it, and what versions of it do.

    A version is another text of the module, in which a line is changed, left out, or replaced by an exception.

    Attributes:
        name: "layers.LayerNorm"; `module` and `title` are its parts.
        intake: the submission.
        seed: of all random inputs, and of `draw`, for what is left to chance.
        understanding: what the assignment offers for questions.
        text: of the module.
        own: the statements that the author has written.
    """

    def __init__(self, name: str, intake: Intake, grader: Grader, seed: int) -> None:
        self.name, self.intake, self.seed, self._grader = name, intake, seed, grader
        self.module, _, self.title = name.partition(".")
        self.draw = random.Random(number_of(seed, name))  # noqa: S311  the same for the same submission
        self.understanding = understanding_of(grader.assignment)
        self.text = intake.sources[self.module][1] if self.module in intake.sources else ""
        self.own = own_statements(intake, name)
        self._known: dict[tuple[str, str | None], list[Results]] = {}

    @cached_property
    def works(self) -> bool:
        """Whether it passes, as handed in, all tests of its task."""
        trial = self.judge()
        return trial.is_clear and not trial.missed

    @cached_property
    def tried(self) -> list[tuple[Change, Trial]]:
        """Some changes, of many lines and kinds, with what tests say; those without a clear result are left out."""
        several = mixed(changes_of(self.text, self.own), self.draw)[:MOST_TRIED]
        return [(one, trial) for one in several if (trial := self.judge(one.text)).is_clear]

    def judge(self, text: str | None = None, others: int = 0) -> Trial:
        """What the tests of its task say of the code, or of a version; with `others` they get other inputs."""
        task = next(task for task in self._grader.assignment.tasks if self.name in task.components)
        outcomes: list[Outcome] = []
        with self._open(text) as sandbox:
            for found in self._grader.tests.run(sandbox, self.seed + others, only=task.marker):
                outcomes = found.get(task.marker, outcomes)
            sandbox.budget.check_sandbox()
        return Trial(tuple(outcomes))

    def look(self, see: Callable[[Sandbox], Result], text: str | None = None) -> Result | None:
        """What a function sees of the code, or of a version; None where code raises an exception, theirs or ours."""
        found: Result | None
        with self._open(text) as sandbox:
            try:
                with time_limit(LOOKING_SECONDS, CPU):
                    found = see(sandbox)
            except SandboxUnavailableError:
                raise
            except Exception:  # submitted code's, or ours over an answer of an unexpected kind
                found = None
            sandbox.budget.check_sandbox()
        return found

    def _open(self, text: str | None) -> Sandbox:
        """The submission, or a version of it, in the sandbox."""
        sources, assignment = self.intake.sources, self._grader.assignment
        if text is not None:
            sources = {**sources, self.module: (sources[self.module][0], text)}
            limits = replace(assignment.limits, cpu_seconds=CHANGED_CPU_SECONDS, failures_a_component=1)
            assignment = replace(assignment, limits=limits)
        return Sandbox(sources, assignment, zygote=self._grader.zygote, locate=self.intake.locate)

    def _results(self, table: str, text: str | None = None) -> list[Results]:
        """What the calls of a table of the assignment return in the code, or in a version, with two sets of inputs."""
        calls: Look | None = getattr(self.understanding, table).get(self.name)
        if calls is None:
            return [{}, {}]
        if (table, text) not in self._known:  # several questions may ask about a version, and each run starts a worker
            cases = [Case(self.seed + n, f"versions of {self.name}") for n in range(2)]

            def see(sandbox: Sandbox) -> list[Results]:
                return [{told: _tensors_of(call) for told, call in calls(sandbox, case).items()} for case in cases]

            self._known[table, text] = self.look(see, text) or [{}, {}]
        return self._known[table, text]

    @property
    def usual(self) -> list[Results]:
        """What the assignment's calls return in the code as it is; None for an exception."""
        return self._results("CALLS")

    def differing(self, text: str) -> set[str] | None:
        """The calls that return something else in a version.

        None where that is not clear: a matter of rounding, or of the inputs.
        """
        seen: list[set[str]] = []
        for usual, found in zip(self.usual, self._results("CALLS", text), strict=True):
            verdicts = {told: _differ(usual[told], found.get(told)) for told in usual if found}
            if not verdicts or None in verdicts.values():
                return None
            seen.append({told for told, differs in verdicts.items() if differs})
        return seen[0] if seen[0] == seen[1] else None

    def keeps_shapes(self, text: str) -> bool:
        """Whether a version raises no more exceptions, and leaves all shapes as they are."""
        found = self._results("CALLS", text)[0]
        return all(_shapes(found.get(told)) == _shapes(parts) for told, parts in self.usual[0].items())

    def seen(self, text: str) -> Split:
        """What is seen of a version, and what certainly is not; nothing where it raises, or where that is not clear."""
        found = self.symptoms(text)
        if any(len(is_seen) > 1 for is_seen in found.values()):
            return (), ()
        shown, absent = ([Option(told) for told in found if found[told] == {wanted}] for wanted in (True, False))
        return shown, absent

    def symptoms(self, text: str) -> dict[str, set[bool]]:
        """Whether each symptom is seen of a version, as far as one can tell, with two sets of inputs."""
        usual, version = self._results("SYMPTOMS"), self._results("SYMPTOMS", text)
        found: dict[str, set[bool]] = {}
        for told in usual[0]:
            values = [(before.get(told), after.get(told)) for before, after in zip(usual, version, strict=True)]
            pairs = [(float(before[0]), float(after[0])) for before, after in values if before and after]
            if len(pairs) < len(values):
                continue
            if isinstance(told, tuple):
                less, more = told
                found[less] = {before - after >= SEEN for before, after in pairs}
                found[more] = {after - before >= SEEN for before, after in pairs}
            elif not any(before for before, _ in pairs):
                found[told] = {bool(after) for _, after in pairs}
        return found

    def place(self, line: int) -> tuple[str, str]:
        """The file, or the notebook's cell, of a line, and the line's number there."""
        file, _, number = self.intake.locate(self.module, line).rpartition(", line ")
        return printable(file), printable(number)

    def number(self, line: int) -> str:
        """Of a line, where the student finds it."""
        return self.place(line)[1]

    def option(self, line: int, text: str) -> Option:
        """A line as it is, and as it is in a version, as one of several answers."""
        before, after = (code_line(one.split("\n")[line - 1].strip()) for one in (self.text, text))
        file, number = self.place(line)
        return Option(place=f"{file}, line {number}", before=before, after=after)

    def excerpt(self, statement: Statement, meant: Sequence[int] = ()) -> Excerpt:
        """A statement, or the lines that are meant, marked in the function around them, without its docstring."""
        function, meant = statement.function, meant or statement.lines
        texts = [one for one in function.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
        hidden = {number for one in texts for number in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
        head, near = range(function.lineno, function.body[0].lineno), range(meant[0] - AROUND, meant[-1] + AROUND + 1)
        lines = self.text.split("\n")
        numbers = range(function.lineno, (function.end_lineno or function.lineno) + 1)
        return self.lines({n: lines[n - 1] for n in numbers if n in {*head, *near} - hidden}, meant)

    def lines(self, lines: Mapping[int, str], meant: Sequence[int] = ()) -> Excerpt:
        """Lines of the module, by their numbers there, with those that are meant marked."""
        shown = [CodeLine(self.number(n), code_line(text), n in meant) for n, text in lines.items()]
        return Excerpt(self.place(next(iter(lines)))[0], tuple(shown))


def _tensors_of(call: Callable[[], Any]) -> list[Tensor] | None:
    """What a call returns, flattened; None for an exception."""
    try:
        return list(_tensors(call()))
    except Exception:  # the submission's, or of what it returned
        return None


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, (tuple, list)):
        return [one for part in value for one in _tensors(part)]
    return [torch.as_tensor(value).detach()]


def _shapes(parts: Sequence[Tensor] | None) -> list[torch.Size] | None:
    return None if parts is None else [part.shape for part in parts]


def _differ(one: Sequence[Tensor] | None, other: Sequence[Tensor] | None) -> bool | None:
    """Whether two results differ; None where that is a matter of rounding."""
    if _shapes(one) != _shapes(other):
        return True
    pairs = [(a, b) for a, b in zip(one or (), other or (), strict=True) if a.numel()]
    if not all(torch.equal(a.isnan(), b.isnan()) for a, b in pairs):
        return True
    largest = max((float(((a - b).abs() / (1 + a.abs())).nan_to_num(0.0).max()) for a, b in pairs), default=0.0)
    return True if largest > CLEARLY else False if largest < EQUAL else None
