"""Is a misconception recognised in code that is laid out differently?

Faults are put into other layouts of the reference and judged in the sandbox, as submissions are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path

from tqdm import tqdm

from autograder.assignment_code import layouts_of
from autograder.catalogue import Fault, apply, read_catalogue
from autograder.grading.explaining import known_faults, name
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from autograder.sources import read_sources
from autograder.testing.collected_tests import CollectedTests
from autograder.testing.hints import SEED, pattern_of
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError

ENOUGH = 0.7
"""The share of the faults that must be recognised: where parameters have another order, numbers differ."""


@dataclass(frozen=True)
class Row:
    """One fault in one layout.

    Attributes:
        fault, layout: what was judged.
        named: the faults that were named, which no test tells apart.
    """

    fault: str
    layout: str
    named: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether the fault is among those that were named."""
        return self.fault in self.named


def prove_diagnosis(
    task: str | None,
    fault: str,
    every: int,
    start: int,
    reference: Path,
    assignment: Path,
) -> int:
    """Returns 0 where enough faults are recognised, 1 where not.

    Raises:
        UserError: where there are no such faults.
    """
    whole = read_assignment(assignment)
    faults = [f for f in read_catalogue(assignment=whole) if fault in f.id and task in (None, f.task)]
    faults = faults[start % every :: every]
    if not faults:
        raise UserError("nothing matches --task and --fault")
    layouts = list(layouts_of(whole))
    with Zygote(whole) as zygote:
        rows = [*tqdm(recognise(faults, layouts, whole, reference, zygote), total=len(faults) * len(layouts))]
    print(as_text(rows))
    return 0 if share(rows) >= ENOUGH else 1


def recognise(
    faults: Sequence[Fault], layouts: Sequence[str], assignment: Assignment, reference: Path, zygote: Zygote
) -> Iterator[Row]:
    """Judges every fault in every layout by its own task, and yields what the diagnosis makes of it."""
    sources = read_sources(reference, reference)
    tasks = {task.number: task for task in assignment.tasks}
    limits = assignment.limits  # of trusted code: time enough, but no more memory than anywhere
    memory = min(limits.memory_mb, limits.gradescope_memory_mb)
    unhurried = replace(assignment, limits=replace(limits, total_seconds=600.0, cpu_seconds=600, memory_mb=memory))
    for number, group in groupby(faults, key=lambda fault: fault.task):
        task, known = tasks[number], known_faults(assignment).get(number, ())
        tests = CollectedTests(assignment, [task])
        for fault, layout in product(group, layouts):
            faulty = layouts_of(assignment)[layout](apply(fault, sources))
            with Sandbox(faulty, unhurried, zygote=zygote) as submission:
                [*_, outcomes] = tests.run(submission, SEED)
            found = name(known, pattern_of(outcomes[task.marker]))
            yield Row(fault.id, layout, (found.fault, *found.others) if found else ())


def share(rows: Sequence[Row]) -> float:
    """The share of the faults that were recognised."""
    return sum(row.is_right for row in rows) / len(rows)


def share_alone(rows: Sequence[Row]) -> float:
    """The share of the faults that were recognised, and named with no other in their group."""
    return sum(row.named == (row.fault,) for row in rows) / len(rows)


def as_text(rows: Sequence[Row]) -> str:
    """The faults that were missed, and the shares by layout."""
    missed = [row for row in rows if not row.is_right]
    lines = [f"{row.layout:<9} {row.fault}: {', '.join(row.named) or 'nothing was named'}" for row in missed]
    for layout in dict.fromkeys(row.layout for row in rows):
        own = [row for row in rows if row.layout == layout]
        lines.append(f"{layout:<9} {sum(row.is_right for row in own)} of {len(own)} recognised ({share(own):.1%})")
    lines.append(f"all       {share(rows):.1%}, {share_alone(rows):.1%} with nothing else in the group")
    return "\n".join(lines)
