"""Says at the end of a student's own run which of their code passes although no test has reached it.

    layers.py, line 41: x.size(1) > 100 was never true

It holds for components whose tests have all run, since any other test may be the one that reaches it.
"""

from collections.abc import Iterable

import pytest

from foundation.assignment_file import Assignment
from foundation.sources import Sources, in_module

from ...grading.marks import passing_components
from ...rules import Binding, Evaluator, ForbiddenNames, JudgedCode, find_judged_code, tell_short_cuts
from ..in_process import InProcessSubmission

ADVICE = (
    "Your code passes, but no test came here. Grading tries further cases: try some of your own, or remove the code."
)


class OwnRun:
    """A pytest plugin: notes which tests pass, and tells at the end what they did not reach.

    Attributes:
        refused: messages about forbidden short-cuts, by the task's marker.
        submission: the code under test.
    """

    def __init__(self, sources: Sources, release: Sources | None, assignment: Assignment) -> None:
        """Reads the modules.

        Args:
            sources: the submission's.
            release: those that were handed out; None where the student has written into them.
            assignment: that they are for.
        """
        self._assignment = assignment
        judged = {task.marker: task.components for task in assignment.tasks}
        forbidden = assignment.contract.forbidden
        code: dict[str, list[Binding]] = {}
        evaluator = Evaluator(sources, ForbiddenNames(forbidden))
        self.refused = tell_short_cuts(sources, judged, forbidden, evaluator=evaluator, code=code)
        self._judged: JudgedCode = find_judged_code(code, release, evaluator)
        self.submission = InProcessSubmission(sources, assignment, self._judged.modules)
        self._passed: dict[str, bool] = {}

    def close(self) -> None:
        """Forgets the submission's modules; what they have reported stays."""
        self.submission.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes whether a test passed in all of its phases."""
        self._passed[report.nodeid] = self._passed.get(report.nodeid, True) and report.passed

    def unreached(self, items: Iterable[tuple[str, set[str]]]) -> list[str]:
        """What no test has reached, one line each.

        Args:
            items: node id and markers of all tests that there are, whether they ran or not.
        """
        states: dict[str, list[bool | None]] = {}
        for nodeid, markers in items:
            for marker in markers:
                states.setdefault(marker, []).append(self._passed.get(nodeid))
        passed = {
            task.number: None if None in (some := states.get(task.marker, [None])) else all(some)
            for task in self._assignment.tasks
        }
        branches = self._judged.branches(
            self.submission.package.reached, passing_components(self._assignment.tasks, passed)
        )
        return [
            f"{in_module(branch.module, branch.outcome.line)}: {branch.what}"
            for branch in branches
            if branch.is_open and not branch.outcome.only_stops
        ]
