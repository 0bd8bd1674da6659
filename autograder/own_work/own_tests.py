"""Judges a student's own tests: which groups of known faults do they find, and do they pass correct code?

The tests run in workers that do not contain what they test: they send tensors to another worker, which has the
implementations, and get tensors back. For each implementation, a new worker runs them until one fails, with two seeds,
and ends then: so no test knows of another implementation, nor what has become of tests before it. Correct and faulty
implementations come in random order, and the order of the tests does not depend on which of them it is. A worker says
of a test whether it has passed, and no more.

A test that rejects correct code counts for nothing, whatever it finds. A fault is not tried once half of its group is
found. Where a test has found faults and then turns out to reject correct code, these faults are tried again, among all
correct implementations again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter

from foundation.assignment_file import Assignment, Task
from foundation.assignment_tables import Contract
from foundation.texts import counted

from ..intake.modules import Intake
from ..intake.sources import Sources, tree_of
from ..sandbox.errors import SubmissionDiedError, SubmissionError, SubmissionTimeoutError
from ..sandbox.implementations import Implementations
from ..sandbox.submission import Sandbox
from ..sandbox.worker.messages import Answer, Encoder, ProtocolError
from ..sandbox.zygote import Zygote
from ..testing.results import Outcome, State, TaskResult, judge_task
from .made_code import Implementation
from .test_names import MOST_TESTS, named_tests

MOST_LAWS = 2
"""That one test may be said to demand."""
PATIENCE = 2.0
"""Times the limit in seconds: so long may the tests take on a busy machine, if they compute for less than the limit."""


Try = Callable[[str, list[int]], list[bool]]
"""Tries a test with one seed after the other until it passes. Raises an error of the sandbox where its process ends."""


@dataclass
class Tried:
    """What became of the tests of one class."""

    name: str  # of the class, "own_tests.TestAttention"
    component: str  # that it tests
    implementations: Sequence[Implementation]  # that they are tried on, the reference first
    tests: dict[str, str]  # their names, in order, each with the TODO that is still in it, or ""
    queue: list[Implementation] = field(default_factory=list)  # that are still to be tried
    found_by: dict[str, str] = field(default_factory=dict)  # by fault: the first test that has rejected it
    passed: dict[str, set[str]] = field(default_factory=dict)  # by fault that no test has rejected: those that counted
    excluded: dict[str, str] = field(default_factory=dict)  # tests that count for nothing; "" = reject correct code
    rejected: dict[str, set[str]] = field(default_factory=dict)  # by correct implementation: of these, which reject it

    @property
    def right(self) -> list[Implementation]:
        """The implementations that no test may reject."""
        return [one for one in self.implementations if not one.group]

    @property
    def counting(self) -> list[str]:
        """The tests that count."""
        return [test for test, todo in self.tests.items() if not todo and test not in self.excluded]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The faults by group."""
        groups: dict[str, list[str]] = {}
        for one in self.implementations:
            if one.group:
                groups.setdefault(one.group, []).append(one.name)
        return groups

    def finds(self, group: str) -> bool:
        """Whether tests that count find at least half of the faults of a group."""
        faults, counting = self.groups[group], self.counting
        return 2 * sum(self.found_by.get(fault) in counting for fault in faults) >= len(faults)

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each group."""
        return [
            Outcome(
                group,
                State.PASSED if self.finds(group) else State.FAILED,
                item=group,
                nodeid=f"{self.name}::{group}",
            )
            for group in self.groups
        ]

    def _is_open(self, fault: Implementation) -> bool:
        """Whether trying a fault may change what is found."""
        if self.finds(fault.group) or self.found_by.get(fault.name) in self.counting:
            return False
        missed = [name for name in self.groups[fault.group] if {*self.counting} <= self.passed.get(name, set())]
        return fault.name not in missed and 2 * len(missed) <= len(self.groups[fault.group])

    def next(self, draw: random.Random) -> Implementation | None:
        """The next implementation that is to be tried, None where nothing is left to be found out."""
        faults = [one for one in self.implementations if one.group and self._is_open(one)]
        if not self.queue and faults:
            self.queue = [*self.right, *faults]
            draw.shuffle(self.queue)
        while self.queue:
            one = self.queue.pop()
            if self.counting and (not one.group or self._is_open(one)):
                return one
        return None

    def try_on(self, one: Implementation, try_test: Try, draw: random.Random) -> None:
        """Try the tests on an implementation until one fails, those first that have found most so far.

        Raises: SubmissionDiedError, SubmissionTimeoutError where a test has ended its process; it is excluded.
        """
        counting, found = self.counting, Counter(self.found_by.values())
        for test in sorted(counting, key=lambda test: (-found[test], draw.random())):
            try:
                passed = try_test(test, [draw.getrandbits(32) for _ in range(2)])
            except (SubmissionDiedError, SubmissionTimeoutError) as error:
                is_late = isinstance(error, SubmissionTimeoutError)
                self.excluded[test] = "it takes too long" if is_late else "it ends its process"
                self.queue.append(one)
                raise
            # By chance alone a test finds nothing: it must reject a fault twice, and accept correct code each time.
            if not (passed[-1] if one.group else passed[0]):
                if one.group:
                    self.found_by[one.name] = test
                else:
                    self.excluded[test] = ""
                    self.queue.append(one)
                return
        if one.group:
            self.passed[one.name] = {*counting}

    def explain(self, one: Implementation, try_test: Try, draw: random.Random) -> None:
        """Find out which excluded tests reject a correct implementation."""
        for test in [test for test, why in self.excluded.items() if not why]:
            if not try_test(test, [draw.getrandbits(32) for _ in range(2)])[0]:
                self.rejected.setdefault(one.name, set()).add(test)

    def demanded(self, test: str) -> str:
        """Why a test counts for nothing that rejects some right implementation."""
        reference, *others = self.right
        rejects = {one.name: test in self.rejected.get(one.name, ()) for one in self.right}
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


def judge_own_tests(
    submission: Intake,
    task: Task,
    assignment: Assignment,
    known: Mapping[str, Sequence[Implementation]],
    zygote: Zygote,
    seed: int,
) -> TaskResult:
    """Judge one task with known implementations, by component.

    Raises: SandboxUnavailableError where the machine cannot contain the submission.
    """
    module = task.components[0].partition(".")[0]
    if module not in submission.submitted:
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, f"{module}.py was not handed in")
    text = submission.sources[module][1]
    if isinstance(problem := tree_of(text), SyntaxError):
        where = submission.locate(module, problem.lineno or 1)
        return TaskResult(task, State.ERROR, 0.0, f"{where}: {problem.msg}")
    tests = {name: named_tests(text, name.partition(".")[2]) for name in task.components}
    todos = [todo for own in tests.values() for todo in own.values()]
    if todos and all(todos):
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, todos[0])
    classes = [
        Tried(name, component, own, tests[name])
        for name, (component, own) in zip(task.components, known.items(), strict=True)
    ]
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
    """Try all tests on all implementations.

    Raises: SubmissionError where the module cannot be imported, or all tests together take too long.
    """
    with Trial(classes, source, assignment, zygote, seed) as trial:
        trial.check()
        while together := [(one, known) for one in classes if (known := one.next(trial.draw))]:
            trial.run(together, Tried.try_on)
        wrong = [one for one in classes if "" in one.excluded.values()]
        for number in range(max((len(one.right) for one in wrong), default=0)):
            trial.run([(one, one.right[number]) for one in wrong if number < len(one.right)], Tried.explain)


class Trial:
    """Workers with a student's tests, one after the other, and the worker with implementations."""

    def __init__(
        self, classes: Sequence[Tried], source: tuple[str, str], assignment: Assignment, zygote: Zygote, seed: int
    ) -> None:
        self.draw = random.Random(seed)  # noqa: S311  must be repeatable
        self._classes, self._zygote, self._limits = classes, zygote, assignment.limits
        module = classes[0].name.partition(".")[0]
        self._sources: Sources = {"__init__": ("__init__.py", ""), module: source}
        contract = Contract({module: tuple(one.name.partition(".")[2] for one in classes)})
        self._assignment = replace(assignment, contract=contract)
        self._implementations = Implementations(assignment, zygote)
        self._seconds = self._computed = 0.0

    def check(self) -> None:
        """Import the module where no implementation can be called. Raises SubmissionError where that fails."""
        with Sandbox(self._sources, self._assignment, zygote=self._zygote) as sandbox:
            for one in filter(attrgetter("counting"), self._classes):
                sandbox.session(one.name).request(one.name, "find", {"tests": one.name}, Encoder(), lambda answer: None)

    def run(self, together: Sequence[tuple[Tried, Implementation]], use: Callable[..., None]) -> None:
        """Try an implementation of each component in a new worker.

        Raises: SubmissionTimeoutError where all tests together take too long.
        """
        pipes = self._implementations.offer({one.component: known.text for one, known in together})
        with Sandbox(self._sources, self._assignment, zygote=self._zygote, is_fair=False, descriptors=pipes) as sandbox:
            waiting = [*together]
            with suppress(SubmissionDiedError, SubmissionTimeoutError):  # the others are tried in a new worker
                while waiting:
                    one, known = waiting.pop()
                    use(one, known, partial(self._try, sandbox, one), self.draw)
            for one, known in waiting:
                one.queue.append(known)
            sandbox.budget.check_sandbox()
            sandbox.restart()
            self._seconds += sandbox.budget.seconds
            self._computed += sandbox.budget.cpu_seconds
        if self._computed > self._limits.cpu_seconds or self._seconds > PATIENCE * self._limits.total_seconds:
            raise SubmissionTimeoutError(f"all tests together take longer than {self._limits.total_seconds:g} s")

    def _try(self, sandbox: Sandbox, one: Tried, test: str, seeds: list[int]) -> list[bool]:
        content = {"tests": one.name, "test": test, "component": one.component, "seeds": seeds}
        try:
            passed = sandbox.session(one.name).request(one.name, "try", content, Encoder(), read_verdicts)
        except (SubmissionDiedError, SubmissionTimeoutError):
            raise
        except SubmissionError:  # whatever it says goes nowhere: it may have called an implementation
            return [False]
        if self._implementations.has_ended:
            raise SubmissionDiedError("the worker with the implementations has ended")
        return passed

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *details: object) -> None:
        self._implementations.close()


def read_verdicts(answer: Answer) -> list[bool]:
    """Check the reply to a test: whether it has passed, with one seed after the other."""
    passed = answer.result
    if not isinstance(passed, list) or not passed or not all(isinstance(one, bool) for one in passed):
        raise ProtocolError("no verdict of a test")
    return passed
