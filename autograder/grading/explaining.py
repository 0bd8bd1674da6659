"""Names the misconception behind a failed task, by comparing the view of its tests with their view of known faults.

The task's tests run once more, with the seed of the stored patterns. Nothing here changes marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from foundation.assignment_file import Assignment

from ..at_home.hints import ENOUGH, SEED, Pattern, closest, fitting, pattern_of, read_hints
from ..course.catalogue import Fault, faults_of, read_patterns
from ..running.collected_tests import CollectedTests
from ..sandbox.submission import Sandbox
from ..testing.results import Finding, Outcome, State, TaskResult, explain, most_telling, with_contrast

EXPLAINED = (State.FAILED, State.ERROR)


def find_misconceptions(
    results: Iterable[TaskResult], tests: CollectedTests, sandbox: Sandbox, assignment: Assignment
) -> Iterator[TaskResult]:
    """The failed tasks whose failures look like a known fault's, each with its finding.

    Where there is no catalogue, on Gradescope, the finding is the hint that students see at home.
    """
    failed = [result for result in results if result.state in EXPLAINED]
    sandbox.budget.renew_time()  # so that the diagnosis does not depend on what else the machine does
    faults, hints = (known_faults(assignment), read_hints(assignment.folder)) if failed else ({}, {})
    for result in failed:
        if tests.exhausted_by:  # answers that keep the grader busy
            return
        number = result.task.number
        if number in faults or number in hints:
            *_, outcomes = tests.run(sandbox, SEED, only=result.task.marker)
            seen = pattern_of(outcomes.get(result.task.marker, ()))
            finding, explains_all = name(faults.get(number, ()), seen)
            if finding is None and (fits := fitting(hints.get(number, ()), seen)):
                finding = Finding(fault="", others=(), text="\n".join(f"Hint: {hint}" for hint in fits))
            if finding:
                missed = [outcome for outcome in result.outcomes if outcome.state is not State.PASSED]
                message = explain_by_one(missed, result.outcomes) if explains_all else result.message
                yield replace(result, finding=finding, message=message)


def known_faults(assignment: Assignment) -> Mapping[str, Sequence[tuple[Fault, Pattern]]]:
    """The faults that have a pattern, with it, by the number of their task."""
    patterns = read_patterns(assignment)
    known: dict[str, list[tuple[Fault, Pattern]]] = {}
    for fault in faults_of(assignment):
        if fault.id in patterns:
            known.setdefault(fault.task, []).append((fault, patterns[fault.id]))
    return known


def name(known: Sequence[tuple[Fault, Pattern]], seen: Pattern) -> tuple[Finding | None, bool]:
    """The known faults of which the tests see the same, or nearly, if there are any; and True if it is all the same."""
    share, faults = closest(known, seen)
    if share < ENOUGH:
        return None, False
    first, *others = faults
    likeness = "Your code behaves exactly like" if share == 1 else "In nearly all tests your code behaves like"
    text = f"{likeness} code that {first.when}."
    if others:
        alike = "; ".join(f"code that {fault.when}" for fault in others[:3])
        more = f"; {len(others) - 3} more" if len(others) > 3 else ""
        text += f"\nThe tests cannot tell this from {alike}{more}."
    ids = tuple(fault.id for fault in others)
    return Finding(fault=first.id, others=ids, text=f"{text}\nHint: {first.hint}"), share == 1


def explain_by_one(missed: Sequence[Outcome], outcomes: Sequence[Outcome]) -> str:
    """The message of tests that fail for a single known reason: that of the most telling failure."""
    first, total = most_telling(missed, outcomes), len(outcomes)
    if len(missed) == 1:
        return explain(missed, total, outcomes)
    which = "All" if len(missed) == total else f"{len(missed)} of"
    message = with_contrast(first, outcomes)
    return f"{which} {total} tests fail for this reason, {first.test} among them:\n{message}"
