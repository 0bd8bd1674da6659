"""Judges a student's own tests: which groups of known faults do they find, and do they pass correct code?

Each implementation is tried in a worker of its own, in random order, and has no name there. A worker says of each test
whether it has passed, twice, with two seeds. A test that rejects correct code counts for nothing, whatever it finds.
What tests say in words is not shown: it could tell what they have seen of implementations that students do not have.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from foundation.assignment_file import Assignment, Task
from foundation.assignment_tables import Contract
from foundation.texts import counted

from ..intake import Intake
from ..sandbox.errors import SubmissionDiedError, SubmissionError, SubmissionTimeoutError
from ..sandbox.submission import Sandbox
from ..sandbox.zygote import Zygote
from ..sources import Sources, parse
from ..testing.own_tests import MOST_TESTS, looks_inside, named_tests
from ..testing.results import Outcome, State, TaskResult, judge_task
from .made_code import Implementation, implementations_of

MOST_LAWS = 2
"""That one test may be said to demand."""
PATIENCE = 2.0
"""Times the limit in seconds: so long may the tests take on a busy machine, if they compute for less than the limit."""


@dataclass
class Tried:
    """What became of the tests of one class."""

    name: str  # of the class, "own_tests.TestAttention"
    implementations: Sequence[Implementation]  # that they are tried on, the reference first
    tests: dict[str, str]  # their names, in order, each with the TODO that is still in it, or ""
    rejected: dict[str, set[str]] = field(default_factory=dict)  # by implementation: the tests that have not passed
    excluded: dict[str, str] = field(default_factory=dict)  # tests that count for nothing, with the reason

    @property
    def right(self) -> list[Implementation]:
        """The implementations that no test may reject."""
        return [one for one in self.implementations if not one.group]

    @property
    def to_try(self) -> list[str]:
        """The tests that may still count."""
        return [test for test, todo in self.tests.items() if not todo and test not in self.excluded]

    @property
    def counting(self) -> list[str]:
        """The tests that count."""
        wrong = set[str]().union(*(self.rejected[one.name] for one in self.right))
        return [test for test in self.to_try if test not in wrong]

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each group: whether tests that count find at least half of its faults."""
        counting = set(self.counting)
        groups: dict[str, list[bool]] = {}
        for one in self.implementations:
            if one.group:
                groups.setdefault(one.group, []).append(bool(counting & self.rejected[one.name]))
        return [
            Outcome(
                group,
                State.PASSED if 2 * sum(found) >= len(found) else State.FAILED,
                item=group,
                nodeid=f"{self.name}::{group}",
            )
            for group, found in groups.items()
        ]

    def try_on(self, implementation: Implementation, sandbox: Sandbox, draw: random.Random) -> None:
        """Tries the tests on one implementation; a fault is found by a test that fails with both seeds.

        Raises: SubmissionError, which says why the class cannot be had.
        """
        rejecting = self.rejected[implementation.name] = set()
        if self.to_try:
            sandbox.apply("try_test", self.name, "", "", [])  # why it cannot be had, before it has seen anything
        for test in self.to_try:
            seeds = [draw.getrandbits(32) for _ in range(2)]
            try:
                said = sandbox.apply("try_test", self.name, test, implementation.code, seeds)
            except (SubmissionDiedError, SubmissionTimeoutError) as error:
                is_late = isinstance(error, SubmissionTimeoutError)
                self.excluded[test] = "it takes too long" if is_late else "it ends its process"
                continue
            except SubmissionError:
                said = None
            if not isinstance(said, list) or not said or not all(isinstance(one, str) for one in said):
                self.excluded[test] = "it changes what tries it"
            elif all(said) if implementation.group else said[0]:
                rejecting.add(test)

    def demanded(self, test: str) -> str:
        """Why a test counts for nothing that rejects some right implementation."""
        reference, *others = self.right
        rejects = {one.name: test in self.rejected[one.name] for one in self.right}
        laws = dict.fromkeys(one.law for one in others if one.law and rejects[one.name] != rejects[reference.name])
        if len(laws) > MOST_LAWS:
            return "it rejects some correct code: is its tolerance too small, or does it depend on chance?"
        if laws:
            return f"it demands too much: {'; '.join(laws)}"
        return f"it rejects correct code{'' if rejects[reference.name] else ' that computes the same in another way'}"

    @property
    def report(self) -> str:
        """What the student reads."""
        counting, outcomes = self.counting, self.outcomes
        missed = [one.item.rpartition(": ")[2] for one in outcomes if one.state is not State.PASSED]
        n_found, n_tests = len(outcomes) - len(missed), counted(len(self.tests), "test")
        name = self.name.partition(".")[2]
        lines = [f"{name}: {len(counting)} of {n_tests} count; {n_found} of {len(outcomes)} groups are found"]
        for test, todo in self.tests.items():
            if test not in counting:
                lines.append(f"  {test} counts for nothing: {todo or self.excluded.get(test) or self.demanded(test)}")
        return "\n".join([*lines, *([f"  not found: {', '.join(missed)}"] if missed else [])])


def judge_own_tests(submission: Intake, task: Task, assignment: Assignment, zygote: Zygote, seed: int) -> TaskResult:
    """Judges one task. Raises: SandboxUnavailableError where the machine cannot contain the submission."""
    module = task.components[0].partition(".")[0]
    if module not in submission.submitted:
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, f"{module}.py was not handed in")
    text = submission.sources[module][1]
    if isinstance(problem := parse(text), SyntaxError):
        where = submission.locate(module, problem.lineno or 1)
        return TaskResult(task, State.ERROR, 0.0, f"{where}: {problem.msg}")
    if seen := looks_inside(text):
        where = submission.locate(module, seen[0])
        what = f"{where}: a test must not look inside what it tests, nor import more than it needs: {seen[1]}"
        return TaskResult(task, State.REFUSED, 0.0, what)
    tests = {name: named_tests(text, name.partition(".")[2]) for name in task.components}
    todos = [todo for own in tests.values() for todo in own.values()]
    if todos and all(todos):
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, todos[0])
    known = implementations_of(task, assignment).values()
    classes = [Tried(name, own, tests[name]) for name, own in zip(task.components, known, strict=True)]
    if too_many := [one.name for one in classes if len(one.tests) > MOST_TESTS]:
        return TaskResult(task, State.REFUSED, 0.0, f"{too_many[0]}: more than {MOST_TESTS} tests")
    try:
        try_all(classes, submission.sources[module], assignment, zygote, seed)
    except SubmissionError as error:
        state = State.TIMEOUT if isinstance(error, SubmissionTimeoutError) else State.ERROR
        return TaskResult(task, state, 0.0, f"{module}.py: {error}", traceback=error.student_traceback)
    result = judge_task(task, [outcome for one in classes for outcome in one.outcomes], assignment.credit)
    return replace(result, message="" if result.state is State.PASSED else "\n\n".join(one.report for one in classes))


def try_all(
    classes: Sequence[Tried], source: tuple[str, str], assignment: Assignment, zygote: Zygote, seed: int
) -> None:
    """Tries all tests on all implementations: in each worker those of each class on one.

    Raises: SubmissionError where the module cannot be imported, or all tests together take too long.
    """
    draw = random.Random(seed)  # noqa: S311  must be repeatable
    module = classes[0].name.partition(".")[0]
    sources: Sources = {"__init__": ("__init__.py", ""), module: source}
    contract = Contract({module: tuple(one.name.partition(".")[2] for one in classes)})
    limits = replace(assignment.limits, failures_a_component=MOST_TESTS + 1)
    alone = replace(assignment, contract=contract, limits=limits)
    seconds = computed = 0.0
    orders = [draw.sample(list(one.implementations), len(one.implementations)) for one in classes]
    for together in itertools.zip_longest(*orders):
        with Sandbox(sources, alone, zygote=zygote, is_fair=False) as sandbox:
            for one, implementation in zip(classes, together, strict=True):
                if implementation is not None:
                    one.try_on(implementation, sandbox, draw)
            sandbox.budget.check_sandbox()
            sandbox.restart()
            seconds, computed = seconds + sandbox.budget.seconds, computed + sandbox.budget.cpu_seconds
        if computed > limits.cpu_seconds or seconds > PATIENCE * limits.total_seconds:
            n_all = sum(map(len, orders))
            what = f"all tests on {n_all} implementations take longer than {limits.total_seconds:g} s"
            raise SubmissionTimeoutError(what)
