"""The proof of the diagnosis: faults in other layouts, graded as submissions are, and what is said about them."""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from tqdm import tqdm

from autograder.assignment.layouts.rewriting import LAYOUTS, Sources
from autograder.diagnosis.catalogue import CatalogueError, Fault, apply, read_catalogue
from autograder.diagnosis.explaining import Explainer, make_diagnostician
from autograder.diagnosis.findings import Misconception
from autograder.diagnosis.matching import Diagnostician
from autograder.grading.marks import tests_of
from autograder.sandbox import Sandbox, Zygote
from autograder.sandbox.tape import Tape
from autograder.testing.collected_tests import Tests, with_tests
from autograder.testing.in_process import read_sources
from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.limits import Limits
from foundation.whole_files import write_whole

ENOUGH = 0.9
UNHURRIED = Limits(total_seconds=600.0, cpu_seconds=600)


@dataclass(frozen=True)
class Row:
    """One fault in one layout.

    Attributes:
        component, task, fault, layout: what was graded.
        is_found: whether the task lost points, without which nothing is diagnosed.
        named: the misconception that was named first; "" = none.
        group: how many faults no test tells apart; 0 = none was named.
        is_right: whether the fault is the first or in that group.
        cpu_seconds: of the diagnosis.
        problems: where the diagnosis broke or was stopped.
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


def prove(options: argparse.Namespace) -> int:
    """Grades all, prints or writes the table."""
    assignment = read_assignment(options.assignment)
    faults = [f for f in read_catalogue(assignment=assignment) if options.fault in f.id]
    faults = [f for f in faults if not options.task or f.task in options.task][:: options.every]
    if not faults:
        raise CatalogueError("nothing fits --task and --fault")
    layouts = options.layout or list(LAYOUTS)
    rows: list[Row] = []
    with tqdm(total=len(faults) * len(layouts), desc="prove-diagnosis", unit="run", disable=None, leave=False) as bar:

        def keep(row: Row) -> None:
            rows.append(row)
            bar.update()

        with Zygote() as zygote:
            recognise(faults, layouts, options.reference, keep, zygote, options.seed)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print(as_text(rows))
    if options.output:
        write_whole(options.output, as_markdown(rows))
    return 0 if share(rows) >= ENOUGH else 1


def recognise(
    faults: Sequence[Fault],
    layouts: Sequence[str],
    reference: Path,
    on_row: Callable[[Row], None],
    zygote: Zygote,
    seed: int = 0,
) -> None:
    """Grades every fault in every layout by its own task, and calls `on_row` with what the diagnosis says."""
    assignment, sources = read_assignment(), read_sources(reference, reference)
    tasks = {task.number: task for task in assignment.tasks}
    with closing(make_diagnostician(reference)) as diagnostician:
        for number, group in groupby(faults, key=lambda fault: fault.task):
            grader = Grader(tasks[number], assignment, zygote, diagnostician, seed)
            cases = [(fault, layout, LAYOUTS[layout](apply(fault, sources))) for fault in group for layout in layouts]
            with_tests([tasks[number].marker], partial(grader.grade_all, cases, on_row))


@dataclass(frozen=True)
class Grader:
    """Grades by the tests of one task."""

    task: Task
    assignment: Assignment
    zygote: Zygote
    diagnostician: Diagnostician
    seed: int

    def grade_all(
        self, cases: Sequence[tuple[Fault, str, Sources]], on_row: Callable[[Row], None], tests: Tests
    ) -> None:
        """Calls `on_row` with what is said about each fault in its layout."""
        for fault, layout, sources in cases:
            on_row(self.grade(tests, fault, layout, sources))

    def grade(self, tests: Tests, fault: Fault, layout: str, sources: Sources) -> Row:
        """What is said about one fault."""
        tape, problems = Tape(), []
        with (
            Explainer(tests, tape, problems.append, self.diagnostician) as explainer,
            Sandbox(dict(sources), UNHURRIED, zygote=self.zygote, tape=tape) as submission,
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
    """Of the faults, those that were named or are in the group that was."""
    return sum(row.is_right for row in rows) / len(rows)


def as_text(rows: Sequence[Row]) -> str:
    """What was missed, and the shares by layout."""
    lines = [
        f"{row.layout:<9} {row.fault}: {row.named or ('nothing was named' if row.is_found else 'no test failed')}"
        for row in rows
        if not row.is_right
    ]
    for layout in dict.fromkeys(row.layout for row in rows):
        own = [row for row in rows if row.layout == layout]
        lines.append(f"{layout:<9} {sum(row.is_right for row in own)} of {len(own)} recognised ({share(own):.1%})")
    alone = sum(row.group == 1 and row.is_right for row in rows)
    seconds = sorted(row.cpu_seconds for row in rows)
    lines.append(f"all       {share(rows):.1%}, {alone / len(rows):.1%} with nothing else in the group")
    lines.append(f"CPU of a diagnosis: median {seconds[len(seconds) // 2]:.2f} s, most {seconds[-1]:.2f} s")
    return "\n".join(lines)


def as_markdown(rows: Sequence[Row]) -> str:
    """A table by component and layout, and the list of what was missed."""
    layouts = list(dict.fromkeys(row.layout for row in rows))
    lines = [f"| component | faults | {' | '.join(layouts)} |", f"|---|---|{'---|' * len(layouts)}"]
    for component in dict.fromkeys(row.component for row in rows):
        own = [row for row in rows if row.component == component]
        cells = [f"{sum(r.is_right for r in own if r.layout == layout)}" for layout in layouts]
        lines.append(f"| `{component}` | {len(own) // len(layouts)} | {' | '.join(cells)} |")
    totals = [f"{share([r for r in rows if r.layout == layout]):.1%}" for layout in layouts]
    lines += [f"| all | {len(rows) // len(layouts)} | {' | '.join(totals)} |", "", "Not recognised:", ""]
    lines += [f"- `{r.fault}` ({r.layout}): {r.named or 'nothing named'}" for r in rows if not r.is_right]
    return "\n".join(lines) + "\n"
