"""What a known fault costs where a student writes the faulty part into another component instead of calling it.

A copy of the part, with the fault, stands beside the component that calls it: attention in multi-headed attention, a
LayerNorm or a feed-forward network in an encoder layer. One fault should cost the items that its own task's rubric and
that of the other component have in common.
"""

from __future__ import annotations

from pathlib import Path

from autograder.course.catalogue import Fault, apply, extent_of, read_catalogue
from autograder.intake.sources import Sources, read_sources
from autograder.testing.results import judge_task
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE
from foundation.whole_files import write_whole

from .report import table
from .run_tests import Version, run_versions

AROUND = {  # component -> the one that writes it out, and the task that judges that
    "attention.scaled_dot_product_attention": ("attention.MultiHeadedAttention", "1.3"),
    "layers.LayerNorm": ("layers.EncoderLayer", "2.1"),
    "layers.FeedForward": ("layers.EncoderLayer", "2.1"),
}
HEAD = """# Known faults in parts that a component writes out itself

Written by `python -m validity inside`. Items of the task that judges the part, and of the task that judges the
component around it; an item that only needs another one (`requires`) is not named."""


def measure(every: int, jobs: int, output: Path | None) -> int:
    """Prints which items each fault costs in its own task and inside; 1 if an intact copy costs any, otherwise 0."""
    assignment, sources = read_assignment(), read_sources(REFERENCE, REFERENCE)
    tasks = {task.number: task for task in assignment.tasks}
    faults = [
        fault
        for fault in read_catalogue(None, assignment)
        if fault.component in AROUND and all(edit.within == fault.component for edit in fault.edits)
    ][::every]
    versions = []
    for fault in [*(intact(part) for part in AROUND), *faults]:
        versions.append(Version(f"{fault.id} alone", apply(fault, sources), (0,), (tasks[fault.task].marker,)))
        around = tasks[AROUND[fault.component][1]]
        versions.append(Version(f"{fault.id} inside", write_out(fault, sources), (0,), (around.marker,)))
    lost: dict[str, str] = {}
    for run in run_versions(versions, sources, assignment, jobs, "inside"):
        [marker] = run.outcomes
        task = next(task for task in assignment.tasks if task.marker == marker)
        marks = judge_task(task, run.outcomes[marker], assignment.credit).items
        lost[run.version] = " · ".join(mark.name for mark in marks if mark.missed) or "none"
    rows: dict[tuple[str, ...], list[str]] = {}
    for fault in faults:
        key = fault.task, lost[f"{fault.id} alone"], AROUND[fault.component][1], lost[f"{fault.id} inside"]
        rows.setdefault(key, []).append(f"`{fault.id}`")
    cells = [(*key, len(found), ", ".join(found)) for key, found in sorted(rows.items())]
    text = table(("task", "items alone", "around it", "items inside", "faults", "which"), cells)
    print(text)
    if output is not None:
        write_whole(output / "inside.md", f"{HEAD}\n\n{text}\n")
    rejected = [part for part in AROUND for where in ("alone", "inside") if lost[f"{part} {where}"] != "none"]
    for part in rejected:
        print(f"REJECTED an intact copy of {part}")
    return 1 if rejected else 0


def intact(part: str) -> Fault:
    """No fault."""
    task = next(task.number for task in read_assignment().tasks if part in task.components)
    return Fault(part, part, task, "", "", "subtle")


def write_out(fault: Fault, sources: Sources) -> Sources:
    """The sources in which the component around the faulty one has a copy of it, with the fault; the rest is intact."""
    module, name = fault.component.split(".")
    path, text = sources[module]
    _, faulty = apply(fault, sources)[module]
    start, end = extent_of(faulty, fault.component)
    copy = faulty[start:end].replace(name, f"Own{name}")
    start, end = extent_of(text, AROUND[fault.component][0])
    around = text[start:end].replace(f"{name}(", f"Own{name}(")
    return {**sources, module: (path, f"{text[:start]}{copy}\n\n{around}{text[end:]}")}
