"""Is a misconception recognised in code that is laid out differently?

Faults are put into other layouts of the reference and graded in the sandbox, as submissions are: the diagnosis works on
what the sandbox records.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from statistics import median

from tqdm import tqdm

from autograder.assignment_parts import layouts_of
from autograder.diagnosis.catalogue import CatalogueError, Fault, Misconception, apply, read_catalogue
from autograder.diagnosis.explaining import Explainer, make_diagnostician
from autograder.diagnosis.matching import Diagnostician
from autograder.sandbox.session import Tape
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from autograder.sources import Sources, read_sources
from autograder.testing.collected_tests import CollectedTests
from autograder.testing.results import tests_of
from foundation.assignment_file import Assignment, Task, read_assignment

ENOUGH = 0.9
"""The share of the faults that must be recognised."""


@dataclass(frozen=True)
class Row:
    """One fault in one layout.

    Attributes:
        fault, layout: what was graded.
        is_found: whether the task lost points; otherwise nothing is diagnosed.
        named: the misconception that was named first; "" = none.
        group: how many faults no test tells apart; 0 = none was named.
        is_right: whether the fault is in that group.
        cpu_seconds: CPU time of the diagnosis.
        problems: notes of a diagnosis that broke or was stopped.
    """

    fault: str
    layout: str
    is_found: bool
    named: str
    group: int
    is_right: bool
    cpu_seconds: float
    problems: list[str]


def prove_diagnosis(
    task: str | None,
    fault: str,
    every: int,
    start: int,
    reference: Path,
    assignment: Path,
) -> int:
    """Returns 0 where enough faults are recognised, 1 where not, or where a diagnosis breaks.

    Raises:
        CatalogueError: where there are no such faults.
    """
    whole = read_assignment(assignment)
    faults = [f for f in read_catalogue(assignment=whole) if fault in f.id and task in (None, f.task)]
    faults = faults[start % every :: every]
    if not faults:
        raise CatalogueError("nothing matches --task and --fault")
    layouts = list(layouts_of(whole).LAYOUTS)
    with Zygote(whole) as zygote:
        rows = [*tqdm(recognise(faults, layouts, whole, reference, zygote), total=len(faults) * len(layouts))]
    print(as_text(rows))
    return 0 if share(rows) >= ENOUGH and not any(row.problems for row in rows) else 1


def recognise(
    faults: Sequence[Fault],
    layouts: Sequence[str],
    assignment: Assignment,
    reference: Path,
    zygote: Zygote,
    seed: int = 0,
) -> Iterator[Row]:
    """Grades every fault in every layout by its own task, and yields what the diagnosis makes of it."""
    sources = read_sources(reference, reference)
    tasks = {task.number: task for task in assignment.tasks}
    rewrite = layouts_of(assignment).LAYOUTS
    with closing(make_diagnostician(reference, assignment)) as diagnostician:
        for number, group in groupby(faults, key=lambda fault: fault.task):
            grader = Grader(assignment, tasks[number], zygote, diagnostician, seed)
            tests = CollectedTests(assignment, [tasks[number]])
            for fault, layout in product(group, layouts):
                yield grader.grade(tests, fault, layout, rewrite[layout](apply(fault, sources)))


@dataclass(frozen=True)
class Grader:
    """Grades by the tests of one task."""

    assignment: Assignment
    task: Task
    zygote: Zygote
    diagnostician: Diagnostician
    seed: int

    def grade(self, tests: CollectedTests, fault: Fault, layout: str, sources: Sources) -> Row:
        """Grades one fault, and has it diagnosed."""
        of = self.assignment.limits  # of trusted code: time enough, but no more memory than anywhere
        memory = min(of.memory_mb, of.gradescope_memory_mb)
        limits = replace(of, total_seconds=600.0, cpu_seconds=600, memory_mb=memory)
        unhurried = replace(self.assignment, limits=limits)
        tape = Tape()
        problems: list[str] = []
        with (
            Explainer(tape, self.assignment, problems.append, self.diagnostician) as explainer,
            Sandbox(dict(sources), unhurried, zygote=self.zygote, tape=tape) as submission,
        ):
            [*_, outcomes] = tests.run(submission, self.seed)
            [result] = (r for r in tests_of(self.assignment, outcomes) if r.task == self.task)
            start = time.process_time()
            found = explainer.explain([result])[0].finding
        seconds = round(time.process_time() - start, 3)
        named = [found.fault, *found.others] if isinstance(found, Misconception) else []
        is_found, first = result.state != "passed", named[0] if named else ""
        return Row(fault.id, layout, is_found, first, len(named), fault.id in named, seconds, problems)


def share(rows: Sequence[Row]) -> float:
    """The share of the faults that were recognised."""
    return sum(row.is_right for row in rows) / len(rows)


def share_alone(rows: Sequence[Row]) -> float:
    """The share of the faults that were recognised, and named with no other in their group."""
    return sum(row.is_right and row.group == 1 for row in rows) / len(rows)


def as_text(rows: Sequence[Row]) -> str:
    """The faults that were missed, and the shares by layout."""
    lines = [
        f"{row.layout:<9} {row.fault}: {row.named or ('nothing was named' if row.is_found else 'no test failed')}"
        for row in rows
        if not row.is_right
    ]
    for layout in dict.fromkeys(row.layout for row in rows):
        own = [row for row in rows if row.layout == layout]
        lines.append(f"{layout:<9} {sum(row.is_right for row in own)} of {len(own)} recognised ({share(own):.1%})")
    lines += [f"{row.layout:<9} {row.fault}: {problem}" for row in rows for problem in row.problems]
    seconds = [row.cpu_seconds for row in rows]
    lines.append(f"all       {share(rows):.1%}, {share_alone(rows):.1%} with nothing else in the group")
    lines.append(f"CPU of a diagnosis: median {median(seconds):.2f} s, most {max(seconds):.2f} s")
    return "\n".join(lines)
