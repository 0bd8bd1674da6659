"""Judges a student's own tests: which groups of known faults do they find, and do they pass correct code?

The tests run in workers that do not contain what they test: they send tensors to another worker, which has the
implementations, and get tensors back. For each implementation, a new worker runs them until one fails, with two seeds,
and ends then: so no test knows of another implementation, nor of what has become of tests before it. Correct and faulty
implementations come in random order, and the order of the tests does not depend on which of them it is. A worker
answers whether each test has passed, and nothing else.

A test that rejects correct code counts for nothing, whatever it finds. A fault is not tried once half of its group is
found. Where a test has found faults and then turns out to reject correct code, these faults are tried again, among all
correct implementations again. All tests of a class are one request; once a worker ends, or takes too long, each test of
that class becomes a request of its own, which names the culprit.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.texts import counted

from ..intake.sources import Source, Sources
from ..sandbox.errors import SubmissionDiedError, SubmissionError, SubmissionTimeoutError
from ..sandbox.implementations import Implementations
from ..sandbox.submission import Sandbox
from ..sandbox.worker.messages import Answer, Encoder, ProtocolError
from ..sandbox.zygote import Zygote
from ..testing.results import Outcome, State
from .made_code import Implementation

MOST_LAWS = 2
"""That one test may be said to demand."""
PATIENCE = 2.0
"""Times the limit in seconds: so long may the tests take on a busy machine, if they compute for less than the limit."""
Run = Callable[[Sequence[str], list[list[int]]], list[list[bool]]]
"""Runs tests, each with one seed after the other until it passes, up to the first that fails with all its seeds.

Returns the verdicts by test and seed. Raises an error of the sandbox where the process ends."""


@dataclass
class Suite:
    """The tests of one class, and what has become of them."""

    name: str  # of the class, "own_tests.TestAttention"
    component: str  # that it tests
    implementations: Sequence[Implementation]  # that they are tried on, the reference first
    tests: Mapping[str, str]  # their names, in order, each with the TODO that is still in it, or ""
    queue: list[Implementation] = field(default_factory=list)  # that are still to be tried
    found_by: dict[str, str] = field(default_factory=dict)  # by fault: the first test that has rejected it
    passed: dict[str, set[str]] = field(default_factory=dict)  # by fault that no test has rejected: those that counted
    excluded: dict[str, str] = field(default_factory=dict)  # tests that count for nothing; "" = reject correct code
    rejected: dict[str, set[str]] = field(default_factory=dict)  # by correct implementation: of these, which reject it
    one_by_one: bool = False  # whether each test is a request of its own

    @property
    def right(self) -> list[Implementation]:
        """The implementations that no test may reject."""
        return [known for known in self.implementations if not known.group]

    @property
    def counting(self) -> list[str]:
        """The tests that count."""
        return [test for test, todo in self.tests.items() if not todo and test not in self.excluded]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The faults by group."""
        groups: dict[str, list[str]] = {}
        for known in self.implementations:
            if known.group:
                groups.setdefault(known.group, []).append(known.name)
        return groups

    def finds(self, group: str) -> bool:
        """True if tests that count find at least half of the faults of a group."""
        faults, counting = self.groups[group], self.counting
        return 2 * sum(self.found_by.get(fault) in counting for fault in faults) >= len(faults)

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each group."""
        states = {group: State.PASSED if self.finds(group) else State.FAILED for group in self.groups}
        return [Outcome(group, states[group], item=group, nodeid=f"{self.name}::{group}") for group in states]

    def _is_open(self, fault: Implementation) -> bool:
        """True if trying a fault may change what is found."""
        if self.finds(fault.group) or self.found_by.get(fault.name) in self.counting:
            return False
        missed = [name for name in self.groups[fault.group] if {*self.counting} <= self.passed.get(name, set())]
        return fault.name not in missed and 2 * len(missed) <= len(self.groups[fault.group])

    def next(self, draw: random.Random) -> Implementation | None:
        """Return the implementation that is to be tried next, None where nothing is left to be found out."""
        faults = [known for known in self.implementations if known.group and self._is_open(known)]
        if not self.queue and faults:
            self.queue = [*self.right, *faults]
            draw.shuffle(self.queue)
        while self.queue:
            known = self.queue.pop()
            if self.counting and (not known.group or self._is_open(known)):
                return known
        return None

    def try_on(self, known: Implementation, run: Run, draw: random.Random) -> None:
        """Try the tests on an implementation until one fails, those first that have found most so far.

        Raises: SubmissionDiedError, SubmissionTimeoutError where a test has ended its process. It is excluded; where
        nobody knows which test it was, the next time all are run one by one.
        """
        counts = Counter(self.found_by.values())
        tests = sorted(self.counting, key=lambda test: (-counts[test], draw.random()))
        for some in [[test] for test in tests] if self.one_by_one else [tests]:
            try:
                verdicts = run(some, [[draw.getrandbits(32) for _ in range(2)] for _ in some])
            except (SubmissionDiedError, SubmissionTimeoutError) as error:
                if len(some) == 1:
                    is_late = isinstance(error, SubmissionTimeoutError)
                    self.excluded[some[0]] = "it takes too long" if is_late else "it ends its process"
                self.one_by_one = True
                self.queue.append(known)
                raise
            for test, passed in zip(some, verdicts, strict=False):
                # By chance alone a test finds nothing: it must reject a fault twice, and accept correct code each time.
                if passed[-1] if known.group else passed[0]:
                    continue
                if known.group:
                    self.found_by[known.name] = test
                else:
                    self.excluded[test] = ""
                    self.queue.append(known)
                return
        if known.group:
            self.passed[known.name] = {*tests}

    def explain(self, known: Implementation, run: Run, draw: random.Random) -> None:
        """Find out which excluded tests reject a correct implementation."""
        for test in [test for test, why in self.excluded.items() if not why]:
            [[passed, *_]] = run([test], [[draw.getrandbits(32) for _ in range(2)]])
            if not passed:
                self.rejected.setdefault(known.name, set()).add(test)

    def demanded(self, test: str) -> str:
        """Return why a test counts for nothing that rejects some correct implementation."""
        reference, *others = self.right
        rejects = {known.name: test in self.rejected.get(known.name, ()) for known in self.right}
        laws = dict.fromkeys(
            other.law for other in others if other.law and rejects[other.name] != rejects[reference.name]
        )
        if len(laws) > MOST_LAWS:
            return "it rejects some correct code: is its tolerance too small, or does it depend on chance?"
        if laws:
            return f"it demands too much: {'; '.join(laws)}"
        return f"it rejects correct code{'' if rejects[reference.name] else ' that computes the same in another way'}"

    @property
    def report(self) -> str:
        """Lines for the student."""
        counting, outcomes = self.counting, self.outcomes
        missed = [outcome.item.rpartition(": ")[2] for outcome in outcomes if outcome.state is not State.PASSED]
        n_found, n_tests = len(outcomes) - len(missed), counted(len(self.tests), "test")
        name = self.name.partition(".")[2]
        lines = [f"{name}: {len(counting)} of {n_tests} count; {n_found} of {len(outcomes)} groups are found"]
        for test, todo in self.tests.items():
            if test not in counting:
                lines.append(f"  {test} counts for nothing: {todo or self.excluded.get(test) or self.demanded(test)}")
        return "\n".join([*lines, *([f"  not found: {', '.join(missed)}"] if missed else [])])


def try_all(suites: Sequence[Suite], source: Source, assignment: Assignment, zygote: Zygote, seed: int) -> None:
    """Try all tests on all implementations.

    Raises: SubmissionError where the module cannot be imported, or all tests together take too long;
    SandboxUnavailableError where the machine cannot contain the submission.
    """
    with Workers(suites, source, assignment, zygote, seed) as workers:
        workers.check()
        while together := [(suite, known) for suite in suites if (known := suite.next(workers.draw))]:
            workers.run(together, Suite.try_on)
        wrong = [suite for suite in suites if "" in suite.excluded.values()]
        for number in range(max((len(suite.right) for suite in wrong), default=0)):
            workers.run([(suite, suite.right[number]) for suite in wrong if number < len(suite.right)], Suite.explain)


class Workers:
    """Workers with a student's tests, one after the other, and the worker with implementations."""

    def __init__(
        self, suites: Sequence[Suite], source: Source, assignment: Assignment, zygote: Zygote, seed: int
    ) -> None:
        self.draw = random.Random(seed)  # noqa: S311  must be repeatable
        self._suites, self._zygote, self._limits = suites, zygote, assignment.limits
        module = suites[0].name.partition(".")[0]
        self._sources: Sources = {"__init__": ("__init__.py", ""), module: source}
        contract = Contract({module: tuple(suite.name.partition(".")[2] for suite in suites)})
        self._assignment = replace(assignment, contract=contract)
        self._implementations = Implementations(assignment, zygote)
        self._seconds = self._computed = 0.0

    def check(self) -> None:
        """Import the module where no implementation can be called. Raises SubmissionError where that fails."""
        with Sandbox(self._sources, self._assignment, zygote=self._zygote) as sandbox:
            for suite in filter(attrgetter("counting"), self._suites):
                content = {"tests": suite.name}
                sandbox.session(suite.name).request(suite.name, "find", content, Encoder(), lambda answer: None)

    def run(self, together: Sequence[tuple[Suite, Implementation]], use: Callable[..., None]) -> None:
        """Try an implementation of each component in a new worker.

        Raises: SubmissionTimeoutError where all tests together take too long.
        """
        pipes = self._implementations.offer({suite.component: known.text for suite, known in together})
        with Sandbox(self._sources, self._assignment, zygote=self._zygote, is_fair=False, descriptors=pipes) as sandbox:
            waiting = [*together]
            with suppress(SubmissionDiedError, SubmissionTimeoutError):  # the others are tried in a new worker
                while waiting:
                    suite, known = waiting.pop()
                    use(suite, known, partial(self._run, sandbox, suite), self.draw)
            for suite, known in waiting:
                suite.queue.append(known)
            sandbox.budget.check_sandbox()
            sandbox.restart()
            self._seconds += sandbox.budget.seconds
            self._computed += sandbox.budget.cpu_seconds
        if self._computed > self._limits.cpu_seconds or self._seconds > PATIENCE * self._limits.total_seconds:
            raise SubmissionTimeoutError(f"all tests together take longer than {self._limits.total_seconds:g} s")

    def _run(self, sandbox: Sandbox, suite: Suite, tests: Sequence[str], seeds: list[list[int]]) -> list[list[bool]]:
        content = {"tests": suite.name, "names": [*tests], "component": suite.component, "seeds": seeds}
        read = partial(read_verdicts, n_tests=len(tests))
        try:
            verdicts = sandbox.session(suite.name).request(suite.name, "try", content, Encoder(), read)
        except (SubmissionDiedError, SubmissionTimeoutError):
            raise
        except SubmissionError as error:  # whatever it says goes nowhere: it may have called an implementation
            if len(tests) > 1:
                raise SubmissionDiedError("one of these tests has raised something") from error
            return [[False]]
        if self._implementations.has_ended:
            raise SubmissionDiedError("the worker with the implementations has ended")
        return verdicts

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *details: object) -> None:
        self._implementations.close()


def read_verdicts(answer: Answer, n_tests: int) -> list[list[bool]]:
    """Check the reply to tests: of each whether it has passed, by seed, up to the first that has failed with all."""
    match answer.result:
        case [*verdicts] if 0 < len(verdicts) <= n_tests and all(map(is_verdict, verdicts)):
            if len(verdicts) == n_tests or not verdicts[-1][-1]:
                return verdicts
    raise ProtocolError("no verdicts of tests")


def is_verdict(passed: object) -> bool:
    """True for a list of booleans, which is not empty."""
    return isinstance(passed, list) and bool(passed) and all(isinstance(outcome, bool) for outcome in passed)
