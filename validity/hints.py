"""The patterns by which a hint is found for a student's mistake, and how often the right hint is.

Each fault of the catalogue is put into the reference, and the tests of its task run with the seed of hints. What fails
is its pattern; PATTERNS has them by the fault's id, for a release to put beside the hints.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.assignment_parts import layouts_of
from autograder.diagnosis.catalogue import PATTERNS, Fault, apply, read_patterns
from autograder.sources import read_sources
from autograder.testing.hints import SEED, Known, Pattern, fitting, pattern_of
from foundation.assignment_file import Assignment
from foundation.whole_files import write_whole

from .run_tests import Run, Version, progress_bar, run_versions

AS_IT_IS = "reference"


def patterns_of(faults: Sequence[Fault], layout: str, assignment: Assignment, jobs: int) -> dict[str, Pattern]:
    """What is to be seen of each fault, by its id, in one layout of the reference."""
    sources = read_sources(assignment.reference, assignment.reference)
    lay_out = {AS_IT_IS: dict, **layouts_of(assignment).LAYOUTS}[layout]
    markers = {task.number: (task.marker,) for task in assignment.tasks}
    versions = [Version(fault.id, lay_out(apply(fault, sources)), [SEED], markers[fault.task]) for fault in faults]
    found: dict[str, Pattern] = {}
    with progress_bar(len(versions), layout) as bar:

        def note(run: Run) -> None:
            bar.update()
            found[run.version] = pattern_of(outcome for outcomes in run.outcomes.values() for outcome in outcomes)

        run_versions(versions, sources, assignment, note, jobs)
    return found


def write_patterns(patterns: Mapping[str, Iterable[str]], assignment: Assignment) -> Path:
    """Writes them beside the catalogue; returns the path."""
    lines = {fault: " ".join(sorted(seen)) for fault, seen in sorted(patterns.items())}
    path = assignment.folder / PATTERNS
    write_whole(path, json.dumps(lines, indent=0) + "\n")
    return path


def measure(
    faults: Sequence[Fault], known: Mapping[str, Pattern], seen: Mapping[str, Pattern], without_itself: bool = False
) -> Counter[str]:
    """How many faults get the right hint alone, beside another, a wrong one, and none.

    Args:
        faults: those that are measured.
        known: patterns of all faults.
        seen: what is to be seen of each.
        without_itself: as if the catalogue did not have the fault: whatever hint comes is for another mistake.
    """
    counts: Counter[str] = Counter()
    for fault in faults:
        others = [one for one in faults if one.task == fault.task and not (without_itself and one is fault)]
        of_task: Known = [(one.hint, known[one.id]) for one in others]
        hints = fitting(of_task, seen[fault.id])
        counts[
            "none" if not hints else "wrong" if fault.hint not in hints else "right" if len(hints) == 1 else "two"
        ] += 1
    return counts


def measure_all(
    faults: Sequence[Fault], changed: Sequence[Fault], layouts: Sequence[str], assignment: Assignment, jobs: int
) -> int:
    """Writes the patterns, and prints how often hints are right; 1 where wrong ones are too many.

    Args:
        faults: the catalogue.
        changed: those whose patterns are computed; the others keep theirs.
        layouts: that are measured beside the reference's own.
        assignment: with the catalogue.
        jobs: processes at a time.
    """
    kept = {fault: frozenset(seen) for fault, seen in read_patterns(assignment).items()}
    kept |= patterns_of(changed, AS_IT_IS, assignment, jobs)
    known = {fault.id: kept[fault.id] for fault in faults if fault.id in kept}
    print(f"wrote {write_patterns(known, assignment)}")
    faults = [fault for fault in faults if fault.id in known]
    found = {"in the reference's layout": measure(faults, known, known)}
    for layout in layouts:
        found[f"in the layout {layout}"] = measure(faults, known, patterns_of(faults, layout, assignment, jobs))
    unknown = measure(faults, known, known, without_itself=True)
    for name, counts in {**found, "of a mistake that the catalogue lacks": unknown}.items():
        shares = ", ".join(f"{counts[kind] / counts.total():.1%} {words}" for kind, words in WORDS.items())
        print(f"{name}: {shares}")
    return int(any(counts["wrong"] > MOST_WRONG * counts.total() for counts in found.values()))


WORDS = {"right": "get their hint", "two": "get it beside another", "wrong": "get a wrong one", "none": "get none"}
MOST_WRONG = 0.03
