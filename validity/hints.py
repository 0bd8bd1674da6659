"""The patterns by which a student's mistake is named and a hint is found, and how often it is the right one.

Each fault of the catalogue is put into the reference, and the tests of its task run with the seed of hints. What fails
is its pattern; PATTERNS has them by the fault's id, for a release to put beside the hints.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.at_home.hints import SEED, Known, Pattern, fitting, pattern_of
from autograder.course.catalogue import PATTERNS, Fault, apply, read_catalogue, read_patterns
from autograder.intake.sources import read_sources
from foundation.assignment_file import Assignment, read_assignment
from foundation.whole_files import write_whole

from .run_tests import Version, run_versions

WORDS = {"right": "get their hint", "two": "get it beside another", "wrong": "get a wrong one", "none": "get none"}
MOST_WRONG = 0.03


def patterns_of(faults: Sequence[Fault], assignment: Assignment, jobs: int, reference: Path) -> dict[str, Pattern]:
    """What is to be seen of each fault in the reference, by its id."""
    sources = read_sources(reference, reference)
    markers = {task.number: (task.marker,) for task in assignment.tasks}
    versions = [Version(fault.id, apply(fault, sources), [SEED], markers[fault.task]) for fault in faults]
    return {
        run.version: pattern_of(outcome for outcomes in run.outcomes.values() for outcome in outcomes)
        for run in run_versions(versions, sources, assignment, jobs, "hints")
    }


def counts_of(faults: Sequence[Fault], known: Mapping[str, Pattern], without_itself: bool = False) -> Counter[str]:
    """How many faults get the right hint alone, beside another, a wrong one, and none.

    Args:
        faults: those that are measured.
        known: their patterns.
        without_itself: as if the catalogue did not have the fault: whatever hint comes is for another mistake.
    """
    counts: Counter[str] = Counter()
    for fault in faults:
        others = [one for one in faults if one.task == fault.task and not (without_itself and one is fault)]
        of_task: Known = [(one.hint, known[one.id]) for one in others]
        hints = fitting(of_task, known[fault.id])
        counts[
            "none" if not hints else "wrong" if fault.hint not in hints else "right" if len(hints) == 1 else "two"
        ] += 1
    return counts


def measure(fault: str, jobs: int, reference: Path, assignment: Path) -> int:
    """Writes the patterns, and prints how often hints are right; 1 where wrong ones are too many.

    Args:
        fault: whose id has this text, their patterns are computed; the others keep theirs.
        jobs: processes at a time.
        reference: its folder.
        assignment: its file or folder.
    """
    whole = read_assignment(assignment)
    faults = read_catalogue(assignment=whole)
    known = read_patterns(whole)
    known |= patterns_of([one for one in faults if fault in one.id], whole, jobs, reference)
    faults = [one for one in faults if one.id in known]
    path = whole.folder / PATTERNS
    lines = {one.id: " ".join(sorted(known[one.id])) for one in sorted(faults, key=lambda one: one.id)}
    write_whole(path, json.dumps(lines, indent=0) + "\n")
    print(f"wrote {path}")
    found = {
        "of a mistake that the catalogue has": counts_of(faults, known),
        "of one that it lacks": counts_of(faults, known, without_itself=True),
    }
    for name, counts in found.items():
        shares = ", ".join(f"{counts[kind] / counts.total():.1%} {words}" for kind, words in WORDS.items())
        print(f"{name}: {shares}")
    first, *_ = found.values()
    return int(first["wrong"] > MOST_WRONG * first.total())
