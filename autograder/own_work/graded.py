"""Judges the tasks that need more than component tests: a student's own tests (E.4), and bug hunts (E.7).

A component and versions of it run in the sandbox. Whatever submitted code does there is a result: nothing is drawn of
code that does not work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from foundation.assignment_file import Assignment, Task
from foundation.command_line import UserError

from ..intake.sources import tree_of
from ..intake.submission import Intake
from ..running.collected_tests import CollectedTests
from ..running.collection import classify
from ..sandbox.errors import SandboxUnavailableError, SubmissionError
from ..sandbox.submission import Sandbox
from ..sandbox.zygote import Zygote
from ..testing.results import CheckFailed, Outcome, State, TaskResult, judge_task
from .hunts import SEED, Hunt, check_answer, draw_hunt, hunted, student_of
from .own_tests import Implementation, Suite, try_all
from .student_lines import MOST_TESTS, named_tests
from .versions import Versions

CHANGED_CPU_SECONDS = 4
"""CPU time of the workers of a changed version: one that runs longer, in a loop without end, is no question."""

Known = Mapping[str, Sequence[Implementation]]
"""Implementations that own tests are tried on, by component."""


class Bench(Protocol):
    """The means to run submissions; the grader is one."""

    assignment: Assignment
    tests: CollectedTests
    zygote: Zygote


class InSandbox(Versions):
    """A component of a submission in the sandbox, and versions of it."""

    def __init__(self, name: str, intake: Intake, bench: Bench, seed: int) -> None:
        super().__init__(name, intake.sources, seed, bench.assignment)
        self._intake, self._bench = intake, bench
        self._outcomes: dict[str | None, list[Outcome]] = {}

    @property
    def works(self) -> bool:
        """True if it passes, as handed in, all tests of its task."""
        outcomes = self.judge()
        return bool(outcomes) and all(outcome.state is State.PASSED for outcome in outcomes)

    def judge(self, text: str | None = None) -> Sequence[Outcome]:
        """Run the tests of its task on the code, or on a version."""
        if text not in self._outcomes:
            marker, outcomes = self.task.marker, list[Outcome]()
            with self.open(text) as sandbox:
                for ended in self._bench.tests.run(sandbox, self.seed, only=marker):
                    outcomes = ended.get(marker, outcomes)
            self._outcomes[text] = outcomes
        return self._outcomes[text]

    @contextmanager
    def open(self, text: str | None = None) -> Iterator[Sandbox]:
        """Open the submission, or a version of it, in the sandbox."""
        assignment = self.assignment
        if text is not None:
            limits = replace(assignment.limits, cpu_seconds=CHANGED_CPU_SECONDS, failures_a_component=1)
            assignment = replace(assignment, limits=limits)
        # Its time need not be left to other components: else a busy machine would decide what is asked.
        zygote, locate = self._bench.zygote, self._intake.locate
        with Sandbox(self.sources_with(text), assignment, zygote=zygote, locate=locate, is_fair=False) as sandbox:
            yield sandbox
            sandbox.budget.check_sandbox()


def judge_own_work(intake: Intake, task: Task, bench: Bench, known: Known, seed: int) -> TaskResult:
    """Judge a task about own tests, with known implementations, or about hunts.

    Raises: SandboxUnavailableError where the machine cannot contain the submission.
    """
    module = task.components[0].partition(".")[0]
    if module not in intake.submitted:
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, f"{module}.py was not handed in")
    if isinstance(problem := tree_of(intake.sources[module][1]), SyntaxError):
        where = intake.locate(module, problem.lineno or 1)
        return TaskResult(task, State.ERROR, 0.0, f"{where}: {problem.msg}")
    try:
        if task.tests_of:
            return _judge_tests(intake, task, bench, known, seed)
        return judge_task(task, _judge_hunts(intake, task, bench), bench.assignment.credit)
    except SandboxUnavailableError:
        raise
    except Exception as error:  # even ours, over something unexpected in the submission: it costs no other task
        state, message = classify(error, bench.tests.describe)
        where = f"{module}.py: " if isinstance(error, SubmissionError) else ""
        return TaskResult(task, state, 0.0, f"{where}{message}", traceback=getattr(error, "student_traceback", ""))


def _judge_tests(intake: Intake, task: Task, bench: Bench, known: Known, seed: int) -> TaskResult:
    source = intake.sources[task.components[0].partition(".")[0]]
    suites = [
        Suite(name, component, implementations, named_tests(source[1], name.partition(".")[2]))
        for name, (component, implementations) in zip(task.components, known.items(), strict=True)
    ]
    todos = [todo for suite in suites for todo in suite.tests.values()]
    if todos and all(todos):
        raise NotImplementedError(todos[0])
    for suite in suites:
        if len(suite.tests) > MOST_TESTS:
            return TaskResult(task, State.REFUSED, 0.0, f"{suite.name}: more than {MOST_TESTS} tests")
    try_all(suites, source, bench.assignment, bench.zygote, seed)
    result = judge_task(task, [outcome for suite in suites for outcome in suite.outcomes], bench.assignment.credit)
    message = "" if result.state is State.PASSED else "\n\n".join(suite.report for suite in suites)
    return replace(result, message=message)


def _judge_hunts(intake: Intake, task: Task, bench: Bench) -> list[Outcome]:
    student = student_of(task.components[0], intake.sources)
    hunts = {number: _drawn(name, student, intake, bench) for number, name in hunted(bench.assignment).items()}
    contents = [hunt.content for hunt in hunts.values() if isinstance(hunt, Hunt)]
    with Sandbox(intake.sources, bench.assignment, zygote=bench.zygote, locate=intake.locate) as sandbox:
        answers = sandbox.apply("find", task.components[0], contents, isolated=False)
    outcomes = []
    for name in (item.name for item in task.items):
        problem: Exception | None = None
        try:
            check_answer(name, hunts, answers)
        except (CheckFailed, NotImplementedError) as error:
            problem = error
        outcomes.append(Outcome(name, *classify(problem, bench.tests.describe), name, nodeid=f"hunts::{name}"))
    return outcomes


def _drawn(name: str, student: str, intake: Intake, bench: Bench) -> Hunt | str:
    """Return a hunt, or the reason why there is none."""
    if name.partition(".")[0] not in intake.submitted:
        return f"{name.partition('.')[2]} was not handed in"
    try:
        return draw_hunt(InSandbox(name, intake, bench, SEED), student)
    except UserError as error:
        return str(error)
