"""Judges a student's own tests: which groups of known faults do they find, and do they pass correct code?

The tests run in workers that do not contain what they test, a new one for each implementation, so that no test knows of
another one; why, and what counts, is in `docs/explanation/understanding.md`. A faulty implementation is tried until a
test that counts has failed with two seeds, and not once half of its group is found; if the test that has found it then
turns out to count for nothing, the fault is tried in another round, among all correct implementations again.

What decides about points is repeated in new workers, at other times and with other numbers of processes. A test whose
verdict changes counts for nothing, and then all is repeated again: who guesses by the clock must guess often.

Implementations are made of the reference and the catalogue, as `own_tests.toml` names them. A grading server, which has
neither, gets them in a file:

    python -m autograder.own_work.own_tests FILE         prints what a server tries own tests on
"""

from __future__ import annotations

import ast
import base64
import itertools
import json
import random
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path

from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.assignment_tables import Contract
from foundation.command_line import UserError
from foundation.texts import counted

from ..course.assignment_code import read_cells
from ..course.catalogue import apply, faults_of
from ..intake.sources import Source, Sources, read_modules
from ..sandbox.errors import SubmissionDiedError, SubmissionError, SubmissionTimeoutError
from ..sandbox.submission import Implementations, Sandbox
from ..sandbox.worker.messages import Answer, Encoder, ProtocolError
from ..sandbox.zygote import Zygote
from ..testing.results import Outcome, State

OWN_TESTS, PACKED = "own_tests.toml", "own_tests.packed"
REFERENCE = "reference"
MOST_LAWS = 2
"""That one test may be said to demand."""
N_REPEATED = 3
"""Correct implementations among those that are repeated."""
CHANGES = "its verdict on the same code changes: does it depend on chance, or on the clock?"
PATIENCE = 2.0
"""Times the limit in seconds: so long may the tests take on a busy machine, if they compute for less than the limit."""


@dataclass(frozen=True)
class Implementation:
    """One implementation of a component."""

    name: str  # "reference", or of a correct variant; the id of a fault
    text: str  # Python that sets the name `implementation`
    group: str = ""  # the item of the rubric that a faulty one belongs to; "" = it is right
    law: str = ""  # of a right one: what a test has demanded that accepts either this one or the reference


def implementations_of(task: Task, assignment: Assignment) -> dict[str, list[Implementation]]:
    """All implementations, by component, the reference first. Raises: UserError where the file names an unknown one."""
    packed = assignment.folder / PACKED
    if packed.is_file():
        content = json.loads(zlib.decompress(base64.b85decode(packed.read_bytes())))
        return {component: [Implementation(**row) for row in content[component]] for component in task.tests_of}
    return {component: list(_made(component, task, assignment)) for component in task.tests_of}


def _made(component: str, task: Task, assignment: Assignment) -> Iterator[Implementation]:
    table = tomllib.loads((assignment.folder / OWN_TESTS).read_text(encoding="utf-8"))[component]
    module = component.partition(".")[0]
    sources = read_modules(assignment.reference)
    if module not in sources:
        raise UserError(f"{assignment.reference}: no {module}.py in it; expected the solution, beside the assignment")
    paths = sorted((assignment.folder / "proof" / "variants").glob("*.py"))
    variants = (cell for path in paths for cell in read_cells(path) if cell.module == module)
    right = {REFERENCE: sources[module][1]} | {cell.name: cell.text for cell in variants}
    faults = {fault.id: fault for fault in faults_of(assignment)}
    groups: Mapping[str, Sequence[str]] = table["groups"]
    for kind, names, known in (
        ("correct variant", table["right"], right),
        (f"item of task {task.number}", groups, [item.name for item in task.items]),
        ("fault", [*itertools.chain(*groups.values())], faults),
    ):
        if unknown := [name for name in names if name not in known]:
            raise UserError(f"{OWN_TESTS}: {component}: there is no {kind} {unknown[0]!r}")
    for variant in table["right"]:
        yield Implementation(variant, _alone(component, right[variant]), law=table["laws"].get(variant, ""))
    for group, names in groups.items():
        for name in names:
            yield Implementation(name, _alone(component, apply(faults[name], sources)[module][1]), group)


@cache
def _alone(component: str, text: str) -> str:
    """A module with this text as an implementation of a component: without its own package, and without comments."""
    module = ast.parse(text)
    module.body = [node for node in module.body if not (isinstance(node, ast.ImportFrom) and node.level)]
    return f"{ast.unparse(module)}\n\nimplementation = {component.partition('.')[2]}\n"


def pack(assignment: Assignment) -> bytes:
    """All implementations in one file."""
    tasks = [task for task in assignment.tasks if task.tests_of]
    made = [component for task in tasks for component in implementations_of(task, assignment).items()]
    content = {name: [*map(asdict, implementations)] for name, implementations in made}
    return base64.b85encode(zlib.compress(json.dumps(content, ensure_ascii=False).encode(), 9))


@dataclass
class Suite:
    """The tests of one class, and what has become of them."""

    name: str  # of the class, "own_tests.TestAttention"
    component: str  # that it tests
    implementations: Sequence[Implementation]  # that they are tried on, the reference first
    tests: Mapping[str, str]  # their names, in order, each with the TODO that is still in it, or ""
    verdicts: dict[str, dict[str, bool]] = field(default_factory=dict)  # by implementation: by test whether it passed
    excluded: dict[str, str] = field(default_factory=dict)  # tests that count for nothing whatever they say, with why

    @cached_property
    def right(self) -> list[Implementation]:
        """The implementations that no test may reject."""
        return [known for known in self.implementations if not known.group]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The faults by group."""
        faults = [known for known in self.implementations if known.group]
        return {
            name: [fault.name for fault in faults if fault.group == name] for name in map(attrgetter("group"), faults)
        }

    @property
    def counting(self) -> list[str]:
        """The tests that have rejected no correct implementation so far."""
        return [test for test in self.written if not any(self.rejects(test, known.name) for known in self.right)]

    @property
    def written(self) -> list[str]:
        """The tests without a TODO that leave their process alone, and say the same each time."""
        return [test for test, todo in self.tests.items() if not todo and test not in self.excluded]

    def rejects(self, test: str, implementation: str) -> bool:
        """True if a test was tried on an implementation and did not pass."""
        return not self.verdicts.get(implementation, {}).get(test, True)

    def found(self, group: str) -> set[str]:
        """Return the faults of a group that tests find which count."""
        counting = self.counting
        return {fault for fault in self.groups[group] if any(self.rejects(test, fault) for test in counting)}

    def finds(self, group: str) -> bool:
        """True if at least half of the faults of a group are found."""
        return 2 * len(self.found(group)) >= len(self.groups[group])

    @property
    def open_faults(self) -> list[Implementation]:
        """Those that may change what is found."""
        groups, counting = [group for group in self.groups if not self.finds(group)], {*self.counting}
        missed = {fault for group in groups for fault in {*self.groups[group]} - self.found(group)}
        untried = [known for known in self.implementations if counting - self.verdicts.get(known.name, {}).keys()]
        return [known for known in untried if known.name in missed]

    @property
    def deciding(self) -> tuple[list[Implementation], list[str]]:
        """The faults that groups are found by, and the tests that find these."""
        names = set[str]().union(*map(self.found, filter(self.finds, self.groups)))
        tests = [test for test in self.counting if any(self.rejects(test, name) for name in names)]
        return [known for known in self.implementations if known.name in names], tests

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each group."""
        states = {group: State.PASSED if self.finds(group) else State.FAILED for group in self.groups}
        return [Outcome(group, states[group], item=group, nodeid=f"{self.name}::{group}") for group in states]

    def demanded(self, test: str) -> str:
        """Return why a test counts for nothing that rejects some correct implementation."""
        reference, *others = self.right
        is_strict = self.rejects(test, reference.name)
        laws = dict.fromkeys(known.law for known in others if known.law and self.rejects(test, known.name) != is_strict)
        if len(laws) > MOST_LAWS:
            return "it rejects some correct code: is its tolerance too small, or does it depend on chance?"
        if laws:
            return f"it demands too much: {'; '.join(laws)}"
        which = "; your own run shows where" if is_strict else " that computes the same in another way"
        return f"it rejects correct code{which}"

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
    workers = Workers(suites, source, assignment, zygote, seed)
    with closing(workers.implementations):
        workers.check(suites)
        for suite in suites:
            n_excluded = -1
            while n_excluded < len(suite.excluded):
                workers.try_faults(suite)
                n_excluded = len(suite.excluded)
                workers.repeat(suite)


class Workers:
    """Workers with a student's tests, one after the other, and the worker with implementations."""

    def __init__(
        self, suites: Sequence[Suite], source: Source, assignment: Assignment, zygote: Zygote, seed: int
    ) -> None:
        self._secret = f"{seed} {source[1]}"  # with the text: no attempt shows the order of another one
        self._draw = random.Random(self._secret)  # noqa: S311  must be repeatable
        self.implementations = Implementations(assignment, zygote)
        module = suites[0].name.partition(".")[0]
        sources: Sources = {"__init__": ("__init__.py", ""), module: source}
        contract = Contract({module: tuple(suite.name.partition(".")[2] for suite in suites)})
        self._open = partial(Sandbox, sources, replace(assignment, contract=contract), zygote=zygote)
        self._limits = assignment.limits
        self._seconds = self._computed = 0.0

    def check(self, suites: Sequence[Suite]) -> None:
        """Import the module where no implementation can be called. Raises SubmissionError where that fails."""
        with self._open() as sandbox:
            for suite in filter(attrgetter("counting"), suites):
                content = {"tests": suite.name}
                sandbox.session(suite.name).request(suite.name, "find", content, Encoder(), lambda answer: None)

    def try_faults(self, suite: Suite) -> None:
        """Try all tests on correct code and on faults, until no fault is left whose verdict could count."""
        while faults := suite.open_faults:
            several = [*suite.right, *faults]
            for known in self._draw.sample(several, len(several)):
                if not known.group or suite.counting and not suite.finds(known.group):
                    self.try_on(suite, known, suite.written)

    def repeat(self, suite: Suite) -> None:
        """Try what decides about points again."""
        faults, tests = suite.deciding
        several = [*self._draw.sample(suite.right, N_REPEATED), *faults] if faults else []
        for known in self._draw.sample(several, len(several)):
            self.try_on(suite, known, tests)

    def try_on(self, suite: Suite, known: Implementation, tests: Sequence[str]) -> None:
        """Try tests on an implementation in a new worker, and again without one that ends it.

        Raises: SubmissionTimeoutError where all tests together take too long.
        """
        tests = [test for test in tests if test not in suite.excluded]
        if not tests:  # nobody would close the pipes
            return
        pipes, has_ended = self.implementations.offer({suite.component: known.text}), False
        with self._open(is_fair=False, descriptors=pipes) as sandbox:
            for test in tests:
                try:
                    passed = self._run(sandbox, suite, test)
                except (SubmissionDiedError, SubmissionTimeoutError) as error:
                    is_late = isinstance(error, SubmissionTimeoutError)
                    suite.excluded[test] = "it takes too long" if is_late else "it ends its process"
                    has_ended = True
                    break
                # By chance alone a test finds nothing: it must reject a fault twice, and accept correct code each time.
                is_accepted = passed[-1] if known.group else passed[0]
                if suite.verdicts.setdefault(known.name, {}).setdefault(test, is_accepted) != is_accepted:
                    suite.excluded[test] = CHANGES
                if known.group and not is_accepted and test in suite.counting:
                    break
            sandbox.budget.check_sandbox()
            sandbox.restart()
            self._seconds += sandbox.budget.seconds
            self._computed += sandbox.budget.cpu_seconds
        if self._computed > self._limits.cpu_seconds or self._seconds > PATIENCE * self._limits.total_seconds:
            raise SubmissionTimeoutError(f"all tests together take longer than {self._limits.total_seconds:g} s")
        if has_ended:
            self.try_on(suite, known, tests)

    def _run(self, sandbox: Sandbox, suite: Suite, test: str) -> list[bool]:
        # The same with each implementation: else a test could guess by them, and its verdict would not change.
        of_test = random.Random(f"{suite.name} {test} {self._secret}")  # noqa: S311
        seeds = [of_test.getrandbits(32) for _ in range(2)]
        content = {"tests": suite.name, "test": test, "component": suite.component, "seeds": seeds}
        try:
            passed = sandbox.session(suite.name).request(suite.name, "try", content, Encoder(), read_verdicts)
        except (SubmissionDiedError, SubmissionTimeoutError):
            raise
        except SubmissionError:  # whatever it says goes nowhere: it may have called an implementation
            return [False]
        if self.implementations.has_ended:
            raise SubmissionDiedError("the worker with the implementations has ended")
        return passed


def read_verdicts(answer: Answer) -> list[bool]:
    """Check the reply to a test: whether it has passed, by seed."""
    match answer.result:
        case [bool(), *others] if all(isinstance(passed, bool) for passed in others):
            return [*answer.result]
    raise ProtocolError("no verdicts of a test")


if __name__ == "__main__":
    sys.stdout.buffer.write(pack(read_assignment(Path(sys.argv[1]))))
