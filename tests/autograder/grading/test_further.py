"""Other situations are drawn for code that passes although not all of its branches were reached."""

from types import SimpleNamespace

import pytest

from autograder.grading.marks import Outcome, TaskResult
from autograder.grading.states import State
from autograder.grading.unjudged import FURTHER, judge_further
from autograder.rules import Evaluator, find_judged_code, find_short_cuts
from autograder.rules.forbidden import ForbiddenNames
from autograder.sandbox.containment.zygote import Zygote
from autograder.sandbox.proxy.submission import Sandbox
from autograder.testing.running.collected_tests import CollectedTests
from foundation.assignment_file import read_assignment

ASSIGNMENT = read_assignment()
TASKS = {task.number: task for task in ASSIGNMENT.tasks}
LAYERS = """
class LayerNorm:
    def forward(self, x):
        assert x < 9
        return x if x else 0
"""
CALLED, HOLDS, FAILS, TRUE, FALSE = range(5)
"""The outcomes of the branches in it, by number."""
SEED = 5


def judged_code():
    sources, forbidden = {"layers": ("layers.py", LAYERS)}, ASSIGNMENT.contract.forbidden
    evaluator, code = Evaluator(sources, ForbiddenNames(forbidden)), {}
    find_short_cuts(sources, ["layers.LayerNorm"], forbidden, [], evaluator, code)
    return find_judged_code(code, {}, evaluator)


def draw(reached, *draws, state=State.PASSED):
    """What `judge_further` returns, and the seeds with which it drew.

    Args:
        reached: at first.
        draws: for each time what is reached then, and whether the tests pass.
        state: of the task before.
    """
    sandbox, seeds = SimpleNamespace(reached={"layers": set(reached)}, check=lambda: None), []

    def draw_more(markers, seed):
        assert markers == [TASKS["1.4"].marker]
        seeds.append(seed)
        more, found = draws[len(seeds) - 1] if len(seeds) <= len(draws) else ((), State.PASSED)
        sandbox.reached["layers"].update(more)
        return {markers[0]: [Outcome("first", State.PASSED, "", False), Outcome("drawn", found, "wrong", False)]}

    grader = SimpleNamespace(tests=SimpleNamespace(draw_more=draw_more), assignment=ASSIGNMENT)
    results = [TaskResult(TASKS["1.4"], state, 1.0, "")]
    return judge_further(grader, sandbox, SEED, judged_code(), results), seeds


def test_nothing_is_drawn_where_all_was_reached():
    assert draw({CALLED, HOLDS, TRUE, FALSE}) == ([], []), "what only raises does not count"


def test_a_few_times_at_most():
    assert draw({CALLED, HOLDS, TRUE}) == ([], [SEED + 1 + number for number in range(FURTHER)])


def test_until_all_was_reached():
    assert draw({CALLED, HOLDS, TRUE}, ((), State.PASSED), ({FALSE}, State.PASSED)) == ([], [SEED + 1, SEED + 2])


def test_a_failure_costs_its_points():
    [result], seeds = draw({CALLED, HOLDS, TRUE}, ({FALSE}, State.FAILED))
    assert result.state == State.FAILED
    assert result.score < result.task.points
    assert "wrong" in result.message
    assert seeds == [SEED + 1]


def test_not_for_what_has_failed_already():
    assert draw({CALLED}, state=State.FAILED) == ([], [])


@pytest.mark.slow
def test_only_the_tests_that_draw_run_again(reference):
    """All outcomes come back, and only what fails takes the place of what was."""
    tests = CollectedTests(ASSIGNMENT, [TASKS["1.4"]])
    path, text = reference["layers"]
    broken = {**reference, "layers": (path, text.replace("variance + self.epsilon", "variance"))}
    marker = TASKS["1.4"].marker
    with Zygote(ASSIGNMENT) as zygote:
        with Sandbox(reference, ASSIGNMENT, zygote=zygote) as sandbox:
            [first] = [found[marker] for found in tests.run(sandbox, SEED)]
            again = tests.draw_more([marker], SEED + 1)[marker]
            assert [one.nodeid for one in again] == [one.nodeid for one in first]
            assert {one.state for one in again} == {State.PASSED}
        with Sandbox(broken, ASSIGNMENT, zygote=zygote) as other:
            tests._collection.submission = other
            wrong = [one for one in tests.draw_more([marker], SEED + 1)[marker] if one.state != State.PASSED]
    assert [one.test for one in wrong] == ["test_in_many_situations"]
