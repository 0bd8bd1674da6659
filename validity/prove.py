"""Proof of the component tests: every known fault costs points in its own task alone, every correct variant passes.

Each gets the tests of the tasks that judge its components, with every seed. `--tests all` gives it all tests with the
first seed, so that wrong blame shows anywhere. The pages hold no times or dates: they change only when a result does.

`--inside` puts faults into copies of a part, which the component around has in place of calls: attention in
multi-headed attention, a LayerNorm or a feed-forward network in an encoder layer. A fault should cost the items that
the rubrics of both tasks have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.course.catalogue import Fault, apply, extent_of
from autograder.intake.sources import Sources, read_sources
from autograder.testing.results import State, tests_of
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT_FILE, REFERENCE

from .console import table, write_page
from .run_tests import Run, Version, finds_fault, markers_of_tasks, run_versions
from .variants import Variant, choose_faults, choose_variants

ENOUGH = 0.85
"""Of the faults that show only under a condition, so many must be found; of all others, all."""
AROUND = {  # part -> the component that has a copy of it, and the task that judges that
    "attention.scaled_dot_product_attention": ("attention.MultiHeadedAttention", "1.3"),
    "layers.LayerNorm": ("layers.EncoderLayer", "2.1"),
    "layers.FeedForward": ("layers.EncoderLayer", "2.1"),
}
TESTS = {"own": "the tests of their own components", "all": "all tests with the first seed"}


@dataclass
class Verdict:
    """How the tests judge one fault, over all seeds.

    One in a part that post-norm and pre-norm share may cost points in both; one of pre-norm alone may not.
    """

    fault: Fault
    killers: list[str] = field(default_factory=list)  # tests of its own task that failed, the most frequent first
    lost: dict[str, float] = field(default_factory=dict)  # most points by task number
    wrongly_blamed: list[str] = field(default_factory=list)  # tasks that lost points but do not judge the component
    missed_seeds: list[int] = field(default_factory=list)  # with which its own task lost nothing
    scores: set[float] = field(default_factory=set)  # points of its own task: one, or neighbours get other marks
    items: list[str] = field(default_factory=list)  # of its own task's rubric, that had a failed test
    grader_errors: list[str] = field(default_factory=list)  # messages of tests that broke instead of failing

    @property
    def is_killed(self) -> bool:
        """True if it is found with every seed."""
        return not self.missed_seeds

    @property
    def is_good(self) -> bool:
        """True if it is found with the same mark (unless it shows only under a condition), and nothing else fails."""
        is_found = self.is_killed and len(self.scores) == 1
        is_blameless = not self.wrongly_blamed and not self.grader_errors
        return is_blameless and (is_found or self.fault.severity == "conditional")

    @property
    def flaws(self) -> list[str]:
        """The flaws in capitals, for a table."""
        flaws = [f"SURVIVED with seeds {self.missed_seeds[:5]}"] if self.missed_seeds else []
        if len(self.scores) > 1:
            flaws.append(f"MARKS DIFFER WITH THE SEED: {', '.join(f'{score:g}' for score in sorted(self.scores))}")
        flaws += [f"WRONG BLAME {', '.join(self.wrongly_blamed)}"] if self.wrongly_blamed else []
        return flaws + [f"TEST BROKE {message}" for message in self.grader_errors[:1]]


@dataclass
class Proof:
    """The results: verdicts on faults, and failures of correct code by the name of the variant, or "reference"."""

    assignment: Assignment
    verdicts: list[Verdict]
    variants: list[Variant]
    wrong: dict[str, list[str]] = field(default_factory=dict)
    seeds: int = 1
    variant_seeds: int = 1
    tests: str = "own"
    is_sample: bool = False  # of which the share of conditional faults that are found would be chance

    @property
    def bad(self) -> list[Verdict]:
        """Faults that escape, but not under a condition, and those that cost points elsewhere."""
        return [verdict for verdict in self.verdicts if not verdict.is_good]

    @property
    def conditional_share(self) -> float:
        """The share of the faults under a condition that are found; 1 where there are none."""
        conditional = [verdict.is_killed for verdict in self.verdicts if verdict.fault.severity == "conditional"]
        return sum(conditional) / len(conditional) if conditional else 1.0

    @property
    def holds(self) -> bool:
        """True if every fault is found and blamed rightly, and correct code passes."""
        return (self.is_sample or self.conditional_share >= ENOUGH) and not (self.bad or self.wrong)


def prove(
    component: str | None,
    fault: str,
    only: str | None,
    every: int,
    start: int,
    seeds: int,
    variant_seeds: int | None,
    tests: str,
    jobs: int,
    inside: bool,
    output: Path | None,
    reference: Path | None,
    assignment: Path | None,
) -> int:
    """Prove the component tests.

    Run them on known faults (each must fail, and only the tasks of its component may lose points) and on correct
    variants (each must pass). With --inside, list which items of rubrics faults cost there; intact copies must pass.
    """
    folder = reference or REFERENCE
    whole, sources = read_assignment(assignment or ASSIGNMENT_FILE), read_sources(folder, folder)
    # Answers to questions about the reference's own code are wrong for any other.
    judged = replace(whole, tasks=tuple(task for task in whole.tasks if not task.is_answered))
    faults = choose_faults(judged, component, fault, every, start) if only != "variants" else []
    if inside:
        placed = [*faults_inside(faults, sources)]
        correct = [
            Variant(part, "A copy in place of a call.", write_out(part, sources, sources), (around,))
            for part, (around, _) in AROUND.items()
        ]
    else:
        placed = [(each, apply(each, sources)) for each in faults]
        correct = choose_variants(judged, sources, component, fault, every, start) if only != "faults" else []
    if not placed and (inside or not correct):
        raise UserError("nothing matches --component and --fault")
    proof = Proof(judged, [], correct, {}, seeds, variant_seeds or seeds, tests, every > 1)
    run_proof(proof, sources, placed, jobs)
    if inside:
        print(listed := items_table(proof.verdicts), *as_rejected(proof), sep="\n")
        if output is not None:
            write_page(output, "inside", table=listed)
        return int(bool(proof.wrong))
    if output is not None:
        write_pages(proof, output)
    print(as_text(proof, show_all=bool(component or fault)))
    return 0 if proof.holds else 1


def faults_inside(faults: Iterable[Fault], sources: Sources) -> Iterator[tuple[Fault, Sources]]:
    """Yield faults of parts as faults of the component that has a copy of the part, with their sources."""
    for fault in faults:
        if fault.component in AROUND and all(edit.within == fault.component for edit in fault.edits):
            around, task = AROUND[fault.component]
            written = write_out(fault.component, apply(fault, sources), sources)
            yield replace(fault, component=around, task=task), written


def write_out(part: str, copied: Sources, sources: Sources) -> Sources:
    """Return the sources in which the component around a part has a copy of it from others, beside the part itself."""
    module, name = part.split(".")
    path, text = sources[module]
    start, end = extent_of(copied[module][1], part)
    copy = copied[module][1][start:end].replace(name, f"Own{name}")
    start, end = extent_of(text, AROUND[part][0])
    around = text[start:end].replace(f"{name}(", f"Own{name}(")
    return {**sources, module: (path, f"{text[:start]}{copy}\n\n{around}{text[end:]}")}


def run_proof(proof: Proof, reference: Sources, faults: Sequence[tuple[Fault, Sources]], jobs: int) -> None:
    """Run the tests on faults with their sources, and on the proof's variants, and add the verdicts."""
    assignment = proof.assignment
    versions = [Version("reference", reference, range(proof.variant_seeds))]

    def add(name: str, sources: Sources, components: Iterable[str], seeds: range) -> None:
        if proof.tests == "all":
            versions.append(Version(name, sources, seeds[:1], tuple(task.marker for task in assignment.tasks)))
            seeds = seeds[1:]
        if seeds:
            versions.append(Version(name, sources, seeds, markers_of_tasks(assignment, components)))

    for fault, sources in faults:
        add(f"fault {fault.id}", sources, [fault.component], range(proof.seeds))
    for variant in proof.variants:
        add(f"variant {variant.name}", variant.sources, variant.components, range(proof.variant_seeds))
    runs: dict[str, list[Run]] = {}
    for run in run_versions(versions, reference, assignment, jobs, "prove"):
        runs.setdefault(run.version, []).append(run)
        for outcome in [] if run.version.startswith("fault ") else run.all_outcomes:
            if outcome.state != State.PASSED:
                failure = f"seed {run.seed}, {outcome.test}: {outcome.state}: {outcome.message}"
                proof.wrong.setdefault(run.version.removeprefix("variant "), []).append(failure)
    proof.verdicts = [verdict_of(fault, runs[f"fault {fault.id}"], assignment) for fault, _ in faults]


def verdict_of(fault: Fault, runs: Iterable[Run], assignment: Assignment) -> Verdict:
    """The verdict over all seeds."""
    verdict, killers, missed = Verdict(fault), Counter[str](), set[str]()
    for run in runs:
        results = {result.task.number: result for result in tests_of(assignment, run.outcomes) if result.outcomes}
        own = results[fault.task]
        verdict.scores.add(round(own.score, 2))
        missed |= {mark.name for mark in own.items if mark.missed}
        verdict.items = [mark.name for mark in own.items if mark.name in missed]
        if not finds_fault(own.outcomes):
            verdict.missed_seeds.append(run.seed)
        for number, result in results.items():
            if finds_fault(result.outcomes):
                lost = round(result.task.points - result.score, 2)
                verdict.lost[number] = max(lost, verdict.lost.get(number, 0.0))
            broken = [outcome for outcome in result.outcomes if outcome.state == State.GRADER_ERROR]
            verdict.grader_errors += [f"{outcome.test}: {outcome.message}" for outcome in broken]
        killers.update(o.test for o in own.outcomes if o.state not in (State.PASSED, State.GRADER_ERROR))
    verdict.killers = [test for test, _ in killers.most_common()]
    judging = {task.number for task in assignment.tasks if fault.component in task.components}
    may_blame = {fault.task} if fault.task.startswith("E") else judging
    verdict.wrongly_blamed = [number for number in verdict.lost if number not in may_blame]
    return verdict


def blame_table(proof: Proof) -> str:
    """How many faults of each component and task are found, and what share of them costs each task points."""
    numbers = [task.number for task in proof.assignment.tasks if task.components]
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in sorted(proof.verdicts, key=lambda verdict: numbers.index(verdict.fault.task)):
        groups.setdefault((verdict.fault.task, verdict.fault.component.split(".")[1]), []).append(verdict)
    rows = []
    for (task, name), own in groups.items():
        counts = [sum(number in verdict.lost for verdict in own) for number in numbers]
        shares = [f"{count / len(own):.0%}" if count else "" for count in counts]
        rows.append((task, name, len(own), sum(verdict.is_killed for verdict in own), *shares))
    return table(("task", "fault in", "faults", "found", *numbers), rows)


def faults_table(verdicts: Sequence[Verdict]) -> str:
    """Each fault with what finds it, what it costs, and what is wrong with that."""
    rows = (
        (
            f"`{verdict.fault.id}`",
            verdict.fault.when,
            verdict.fault.severity,
            verdict.killers[0] if verdict.killers else "nothing",
            max(0, len(verdict.killers) - 1) or "",
            ", ".join([*(f"{task} (-{points:g})" for task, points in verdict.lost.items()), *verdict.flaws]),
        )
        for verdict in verdicts
    )
    return table(("fault", "code that …", "severity", "found by", "and others", "costs"), rows)


def items_table(verdicts: Sequence[Verdict]) -> str:
    """Which items of its task's rubric each fault costs; the faults that cost the same ones are in one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.fault.task, *verdict.items), []).append(f"`{verdict.fault.id}`")
    ordered = sorted(rows.items(), key=lambda row: (row[0][0], len(row[0]), -len(row[1])))
    cells = ((task, " · ".join(items) or "none", len(ids), ", ".join(ids)) for (task, *items), ids in ordered)
    return table(("task", "items with a failed test", "faults", "which"), cells)


def as_text(proof: Proof, show_all: bool) -> str:
    """The report for the terminal; `show_all` also lists the faults that were found."""
    shown = proof.verdicts if show_all else proof.bad
    parts = [faults_table(shown)] if shown else []
    if proof.verdicts:
        n_killed = sum(verdict.is_killed for verdict in proof.verdicts)
        parts += [
            blame_table(proof),
            f"{len(proof.verdicts)} faults, {n_killed} found; of those under a condition "
            f"{proof.conditional_share:.1%}; seeds: {proof.seeds}; {TESTS[proof.tests]}",
        ]
    lines = as_rejected(proof)
    if proof.variants:
        counts = f"variants: {len(proof.variants)}, wrongly rejected: {len(proof.wrong)}"
        lines.append(f"{counts}, seeds: {proof.variant_seeds}")
    return "\n\n".join([*parts, "\n".join(lines)])


def as_rejected(proof: Proof) -> list[str]:
    """Return a line for each correct version that fails a test."""
    return [f"REJECTED {name} ({len(failures)} times): {failures[0]}" for name, failures in proof.wrong.items()]


def write_pages(proof: Proof, folder: Path) -> None:
    """Write README.md, and where faults were tried their lists."""
    if proof.verdicts:
        write_page(folder, "faults", n_faults=len(proof.verdicts), table=faults_table(proof.verdicts))
        write_page(folder, "items", table=items_table(proof.verdicts))
    rows = []
    for variant in proof.variants:
        where = ", ".join(f"`{component.split('.')[1]}`" for component in variant.components)
        rows.append((f"`{variant.name}`", variant.difference.rstrip("."), where))
    variants = table(("variant", "what is different", "where"), rows)
    write_page(folder, "README", proof=proof, tests=TESTS[proof.tests], blame=blame_table(proof), variants=variants)
