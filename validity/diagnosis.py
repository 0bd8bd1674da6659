"""Is a misconception recognised in code that is laid out differently?

Faults are put into other layouts of the reference and graded in the sandbox, as submissions are: the diagnosis works on
what the sandbox records.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

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
from foundation.assignment_file import Assignment, Task

from .markdown import table
from .run_tests import unhurried

ENOUGH = 0.9
"""The share of the faults that must be recognised."""


@dataclass(frozen=True)
class Row:
    """One fault in one layout.

    Attributes:
        component, task, fault, layout: what was graded.
        is_found: whether the task lost points; otherwise nothing is diagnosed.
        named: the misconception that was named first; "" = none.
        group: how many faults no test tells apart; 0 = none was named.
        is_right: whether the fault is in that group.
        cpu_seconds: CPU time of the diagnosis.
        problems: notes of a diagnosis that broke or was stopped.
    """

    component: str
    task: str
    fault: str
    layout: str
    is_found: bool
    named: str
    group: int
    is_right: bool
    cpu_seconds: float
    problems: list[str]


def choose_faults(options: argparse.Namespace, assignment: Assignment) -> list[Fault]:
    """The faults that the options ask for.

    Raises:
        CatalogueError: where there are none.
    """
    faults = [f for f in read_catalogue(assignment=assignment) if options.fault in f.id]
    faults = [f for f in faults if not options.task or f.task in options.task][
        options.start % options.every :: options.every
    ]
    if not faults:
        raise CatalogueError("nothing matches --task and --fault")
    return faults


def choose_layouts(options: argparse.Namespace, assignment: Assignment) -> list[str]:
    """The layouts that the options ask for.

    Raises:
        CatalogueError: for one that the assignment does not have.
    """
    known = list(layouts_of(assignment).LAYOUTS)
    for name in options.layout or ():
        if name not in known:
            raise CatalogueError(f"--layout {name}: expected {' or '.join(known)}")
    return options.layout or known


def recognise(
    faults: Sequence[Fault],
    layouts: Sequence[str],
    assignment: Assignment,
    reference: Path,
    on_row: Callable[[Row], None],
    zygote: Zygote,
    seed: int = 0,
) -> None:
    """Grades every fault in every layout by its own task, and calls `on_row` with what the diagnosis makes of it."""
    sources = read_sources(reference, reference)
    tasks = {task.number: task for task in assignment.tasks}
    rewrite = layouts_of(assignment).LAYOUTS
    with closing(make_diagnostician(reference, assignment)) as diagnostician:
        for number, group in groupby(faults, key=lambda fault: fault.task):
            grader = Grader(tasks[number], assignment, zygote, diagnostician, seed)
            tests = CollectedTests(assignment, [tasks[number]])
            for fault in group:
                for layout in layouts:
                    on_row(grader.grade(tests, fault, layout, rewrite[layout](apply(fault, sources))))


@dataclass(frozen=True)
class Grader:
    """Grades by the tests of one task."""

    task: Task
    assignment: Assignment
    zygote: Zygote
    diagnostician: Diagnostician
    seed: int

    def grade(self, tests: CollectedTests, fault: Fault, layout: str, sources: Sources) -> Row:
        """Grades one fault, and has it diagnosed."""
        tape = Tape()
        problems: list[str] = []
        with (
            Explainer(tape, self.assignment, problems.append, self.diagnostician) as explainer,
            Sandbox(dict(sources), unhurried(self.assignment), zygote=self.zygote, tape=tape) as submission,
        ):
            [*_, outcomes] = tests.run(submission, self.seed)
            [result] = (r for r in tests_of(self.assignment, outcomes) if r.task == self.task)
            start = time.process_time()
            found = explainer.explain([result])[0].finding
        seconds = round(time.process_time() - start, 3)
        named = [found.fault, *found.others] if isinstance(found, Misconception) else []
        is_found, first = result.state != "passed", named[0] if named else ""
        what = fault.component, self.task.number, fault.id, layout
        return Row(*what, is_found, first, len(named), fault.id in named, seconds, problems)


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
    seconds = sorted(row.cpu_seconds for row in rows)
    lines.append(f"all       {share(rows):.1%}, {share_alone(rows):.1%} with nothing else in the group")
    lines.append(f"CPU of a diagnosis: median {seconds[len(seconds) // 2]:.2f} s, most {seconds[-1]:.2f} s")
    return "\n".join(lines)


def as_markdown(rows: Sequence[Row]) -> str:
    """A table by component and layout, and the faults that were missed."""
    layouts = list(dict.fromkeys(row.layout for row in rows))
    lines: list[tuple[object, ...]] = []
    for component in dict.fromkeys(row.component for row in rows):
        own = [row for row in rows if row.component == component]
        cells = [sum(r.is_right for r in own if r.layout == layout) for layout in layouts]
        lines.append((f"`{component}`", len(own) // len(layouts), *cells))
    totals = [f"{share([r for r in rows if r.layout == layout]):.1%}" for layout in layouts]
    lines.append(("all", len(rows) // len(layouts), *totals))
    missed = [f"- `{r.fault}` ({r.layout}): {r.named or 'nothing named'}" for r in rows if not r.is_right]
    return "\n".join([table(("component", "faults", *layouts), lines), "", "Not recognised:", "", *missed]) + "\n"
