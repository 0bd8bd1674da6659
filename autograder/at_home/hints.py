"""A hint after some failed attempts: the tests run with one fixed seed, and what fails is compared with known mistakes.

Of a mistake there is only its pattern here: for each test that fails, a short hash of the test, the reason and the
numbers in its message. `python -m validity hints` computes the patterns from the catalogue of misconceptions, and a
release puts them beside the catalogue's hints into HINTS: without names and without faulty code.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from foundation.assignment_file import Assignment, Task, read_assignment, released_folder
from foundation.command_line import UserError
from foundation.whole_files import write_whole

from ..intake.sources import Sources, read_sources, tree_of
from ..running.collection import Collection, run_in_process
from ..running.in_process import InProcessSubmission
from ..testing.results import Outcome, State

HINTS, ATTEMPTS = "hints.json", ".attempts.json"
SEED = 7
"""The seed of the inputs with which patterns were computed."""
ENOUGH = 0.8
"""The share of the hashes in two patterns together that must be in both."""
MOST = 2
"""The most hints that are given where mistakes cannot be distinguished."""
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
SHOWN = "  expected:", "  got:"
VALUE = re.compile(r"^  (?:expected|got): +(-?\d+\.?\d*(?:e[-+]?\d+)?)(?= at \[|;)", re.MULTILINE)
ROUNDING = 1e-4
"""Relative difference of two values up to which one may be the other, rounded."""

Pattern = frozenset[str]
Mistake = TypeVar("Mistake")
Known = Sequence[tuple[str, Pattern]]
"""The hints of one task with the patterns of their mistakes."""


def pattern_of(outcomes: Iterable[Outcome]) -> Pattern:
    """Return the pattern of tests that failed with SEED."""
    return frozenset(_hash(outcome) for outcome in outcomes if outcome.state is not State.PASSED)


def _hash(outcome: Outcome) -> str:
    """Hash the values expected and got; numbers count with three digits, but not in float32, where rounding shows.

    What was observed, and where to look, may be worded anew without a change of what is seen.
    """
    lines = outcome.message.split("\n")
    shown = lines[:1] if outcome.state is State.ERROR else [line for line in lines if line.startswith(SHOWN)]
    digits = 0 if "float32" in outcome.test else 3
    rounded = NUMBER.sub(lambda match: f"{float(match[0]):.{digits}g}" if digits else "", "\n".join(shown))
    text = "\n".join([outcome.test, outcome.state, rounded])
    return hashlib.blake2b(text.encode(), digest_size=3).hexdigest()


def closest(known: Iterable[tuple[Mistake, Pattern]], seen: Pattern) -> tuple[float, list[Mistake]]:
    """Return the share of two patterns together that is in both, at its largest, and the mistakes that have it."""
    shares = [(len(pattern & seen) / len(pattern | seen), mistake) for mistake, pattern in known if pattern | seen]
    best = max((share for share, _ in shares), default=0.0)
    return best, [mistake for share, mistake in shares if share == best]


def fitting(known: Known, seen: Pattern) -> list[str]:
    """The hints whose mistakes look like this, at most MOST; [] where none does, or too many."""
    share, likely = closest(known, seen)
    hints = list(dict.fromkeys(likely))
    return hints if share >= ENOUGH and len(hints) <= MOST else []


@lru_cache(maxsize=2)
def read_hints(folder: Path) -> dict[str, Known]:
    """The hints of each task; none where the assignment's folder has no HINTS, which a release puts there."""
    try:
        content = json.loads((folder / HINTS).read_bytes())
    except FileNotFoundError:
        return {}
    return {task: [(hint, frozenset(seen.split())) for hint, seen in known] for task, known in content.items()}


def hints_for(task: Task, sources: Sources, assignment: Assignment) -> tuple[list[str], list[Outcome]]:
    """Runs a task's tests with SEED; the hints that fit, and what became of the tests."""
    tests = Collection(assignment)
    run_in_process(tests, InProcessSubmission(sources, assignment), task, SEED)
    outcomes = list(tests.outcomes.values())
    known = () if is_rounding(outcomes) else read_hints(assignment.folder).get(task.number, ())
    return fitting(known, pattern_of(outcomes)), outcomes


def is_rounding(outcomes: Iterable[Outcome]) -> bool:
    """Return True if all that failed came within rounding of what was expected: no hint at a mistake is due."""
    lines = [outcome.message for outcome in outcomes if outcome.state is not State.PASSED]
    pairs = [[float(value) for value in VALUE.findall(message)] for message in lines]
    return bool(pairs) and all(
        len(pair) == 2 and abs(pair[0] - pair[1]) <= ROUNDING * max(map(abs, pair)) for pair in pairs
    )


def count_attempt(path: Path, task: Task, sources: Sources) -> int:
    """Count the different versions of the answer to a task that have failed, this one included.

    A small file has them; a missing or damaged file counts nothing.
    """
    counted: dict[str, list[str]] = {}
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        content = json.loads(path.read_text(encoding="utf-8"))
        counted = {str(number): [str(version) for version in versions] for number, versions in content.items()}
    text = json.dumps([sources[module][1] for module in modules_of(task) if module in sources])
    version, versions = hashlib.blake2b(text.encode(), digest_size=6).hexdigest(), counted.setdefault(task.number, [])
    if version not in versions:
        versions.append(version)
        write_whole(path, json.dumps(counted))
    return len(versions)


def modules_of(task: Task) -> list[str]:
    """Return the modules of a task's components."""
    return sorted({component.partition(".")[0] for component in task.components})


def not_tried(task: Task, sources: Sources) -> str:
    """Name a missing file, or the place where a module is no Python: it is no attempt then. "" if it was tried."""
    for module in modules_of(task):
        if module not in sources:
            return f"{module}.py is missing"
    for module, (_, text) in sources.items():
        if isinstance(error := tree_of(text), SyntaxError):
            return f"{module.replace('.', '/')}.py, line {error.lineno or 1}: this is not Python: {error.msg}"
    return ""


def give(number: str) -> int:
    """Prints a hint for a task of a student's folder, or what is missing for one; returns 1 unless its tests pass."""
    assignment, folder = read_assignment(), released_folder()
    tasks = {task.number: task for task in assignment.tasks if task.components and not task.understanding}
    if (task := tasks.get(number)) is None:
        raise UserError(f"there are no hints for {number!r}: expected one of {', '.join(tasks)}")
    sources = read_sources(folder, folder)
    problem = not_tried(task, sources)
    hints, outcomes = ([], []) if problem else hints_for(task, sources, assignment)
    if not outcomes:
        print(problem or f"the tests of {number} are handed out later, and the hints with them")
        return 1
    missed = [outcome for outcome in outcomes if outcome.state is not State.PASSED]
    print(f"{task.number} {task.title}: {len(outcomes) - len(missed)} of {len(outcomes)} tests pass")
    if any(outcome.state is State.NOT_ATTEMPTED for outcome in missed):
        print("something is still to be written; a hint needs a whole answer")
    elif missed:
        attempts = count_attempt(folder.parent / ATTEMPTS, task, sources)
        errors = [outcome.message.split("\n")[0] for outcome in missed if outcome.state is State.ERROR]
        print("\n".join(tell(hints, attempts, assignment.hint_after, *errors[:1])))
    return int(bool(missed))


def tell(hints: Sequence[str], attempts: int, needed: int, error: str = "") -> list[str]:
    """Return what a student reads after so many failed attempts, as lines; `error` is what stopped the code, if any."""
    if attempts < needed:
        how = "each version of your code that has failed its tests counts once"
        return [f"failed attempts: {attempts}; after {needed} there may be a hint ({how})"]
    seen = f", which is an error in your code: {error}" if error else ""
    return [f"Hint: {hint}" for hint in hints] or [f"no known mistake fits what the tests see{seen}"]
