"""The patterns by which a student's mistake is named and a hint is found, and how often it is the right one.

Each fault of the catalogue is put into the reference, and the tests of its task run with the seed of hints. What fails
is its pattern; PATTERNS has them by the fault's id, for a release to put beside the hints.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from autograder.at_home.hints import SEED, Known, Pattern, fitting, pattern_of
from autograder.course.catalogue import PATTERNS, Fault, apply, faults_of, read_patterns
from autograder.intake.sources import read_sources
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import REFERENCE
from foundation.whole_files import write_whole

from .run_tests import Version, run_versions

WORDS = {"right": "get their hint", "two": "get it beside another", "wrong": "get a wrong one", "none": "get none"}
MOST_WRONG = 0.03


def measure(fault: str, jobs: int) -> int:
    """Compute the patterns by which mistakes are named.

    Put every known fault into the reference, run the tests of its task with the seed of hints, and write the patterns
    of failures to misconceptions/patterns.json. Count how often the correct hint is found. Status 1 if more than 3% get
    a wrong hint.
    """
    assignment = read_assignment()
    faults, known = faults_of(assignment), read_patterns(assignment)
    known |= patterns_of([entry for entry in faults if fault in entry.id], assignment, jobs)
    faults = [entry for entry in faults if entry.id in known]
    path = assignment.folder / PATTERNS
    lines = {name: " ".join(sorted(known[name])) for name in sorted(entry.id for entry in faults)}
    write_whole(path, json.dumps(lines, indent=0) + "\n")
    print(f"wrote {path}")
    there, lacking = counts_of(faults, known), counts_of(faults, known, without_itself=True)
    for mistake, counts in (("a mistake that the catalogue has", there), ("one that it lacks", lacking)):
        shares = ", ".join(f"{counts[kind] / counts.total():.1%} {words}" for kind, words in WORDS.items())
        print(f"of {mistake}: {shares}")
    return int(there["wrong"] > MOST_WRONG * there.total())


def patterns_of(faults: Sequence[Fault], assignment: Assignment, jobs: int = 1) -> dict[str, Pattern]:
    """The pattern of each fault in the reference, by its id."""
    sources = read_sources(REFERENCE, REFERENCE)
    markers = {task.number: (task.marker,) for task in assignment.tasks}
    versions = [Version(fault.id, apply(fault, sources), [SEED], markers[fault.task]) for fault in faults]
    return {
        run.version: pattern_of(run.all_outcomes) for run in run_versions(versions, sources, assignment, jobs, "hints")
    }


def counts_of(faults: Sequence[Fault], known: Mapping[str, Pattern], without_itself: bool = False) -> Counter[str]:
    """The number of faults that get the right hint alone, beside another, a wrong one, and none.

    With `without_itself`, as if the catalogue did not have the fault: whatever hint comes is for another mistake.
    """
    counts: Counter[str] = Counter()
    for fault in faults:
        others = [other for other in faults if other.task == fault.task and not (without_itself and other is fault)]
        of_task: Known = [(other.hint, known[other.id]) for other in others]
        hints = fitting(of_task, known[fault.id])
        if fault.hint in hints:
            counts["right" if len(hints) == 1 else "two"] += 1
        else:
            counts["wrong" if hints else "none"] += 1
    return counts
