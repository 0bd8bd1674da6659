"""Items of a task's rubric that known faults cost, alone and in parts that a component writes out instead of calling.

In the second case a copy of the part, with the fault, stands beside the component that calls it: attention in
multi-headed attention, a LayerNorm or a feed-forward network in an encoder layer. One fault should cost the items that
its own task's rubric and that of the other component have in common.
"""

from __future__ import annotations

from autograder.course.catalogue import Fault, apply, extent_of, read_catalogue
from autograder.intake.sources import Sources, read_sources
from foundation.assignment_file import Task, read_assignment
from foundation.places import REFERENCE

from .console import Every, Jobs, Pages, table, write_page
from .run_tests import results_of

AROUND = {  # component -> the one that writes it out, and the task that judges that
    "attention.scaled_dot_product_attention": ("attention.MultiHeadedAttention", "1.3"),
    "layers.LayerNorm": ("layers.EncoderLayer", "2.1"),
    "layers.FeedForward": ("layers.EncoderLayer", "2.1"),
}


def inside(every: Every = 1, jobs: Jobs = 1, output: Pages = None) -> int:
    """List what faults cost inside other components.

    Put known faults into parts that a component writes out instead of calling them, and list the items of the rubric
    that they cost, alone and inside. Status 1 if an intact part costs any.
    """
    assignment, sources = read_assignment(), read_sources(REFERENCE, REFERENCE)
    tasks = {task.number: task for task in assignment.tasks}
    intact = [
        Fault(part, part, next(n for n in tasks if part in tasks[n].components), "", "", "subtle") for part in AROUND
    ]
    known = [fault for fault in read_catalogue(None, assignment) if fault.component in AROUND]
    faults = [fault for fault in known if all(edit.within == fault.component for edit in fault.edits)][::every]
    versions: dict[str, tuple[Task, Sources]] = {}
    for fault in [*intact, *faults]:
        versions[f"{fault.id} alone"] = tasks[fault.task], apply(fault, sources)
        versions[f"{fault.id} inside"] = tasks[AROUND[fault.component][1]], write_out(fault, sources)
    lost = {
        name: " · ".join(mark.name for mark in result.items if mark.missed) or "none"
        for name, result in results_of(versions, sources, assignment, jobs, "inside").items()
    }
    rows: dict[tuple[str, ...], list[str]] = {}
    for fault in faults:
        key = fault.task, lost[f"{fault.id} alone"], AROUND[fault.component][1], lost[f"{fault.id} inside"]
        rows.setdefault(key, []).append(f"`{fault.id}`")
    cells = [(*key, len(names), ", ".join(names)) for key, names in sorted(rows.items())]
    text = table(("task", "items alone", "around it", "items inside", "faults", "which"), cells)
    print(text)
    if output is not None:
        write_page(output, "inside", table=text)
    rejected = [part.id for part in intact for place in ("alone", "inside") if lost[f"{part.id} {place}"] != "none"]
    for part in rejected:
        print(f"REJECTED an intact copy of {part}")
    return int(bool(rejected))


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
