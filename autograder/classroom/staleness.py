"""What has to be done for each submission: run it, weigh its stored outcomes anew, or nothing.

A submission has to run where there is no finished result of what it is now: after a change of its files, of tests,
limits, references, packages or the grader's code that decides outcomes. After a change of points, thresholds, credit or
titles alone, its stored outcomes are weighed anew; see `grading.grader_version`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, ask_forked

from ..grading.grader_version import weighting_of
from ..grading.seeds import Seeds, content_hash
from ..intake import IntakeError, take_in
from ..sandbox.containment.layers import satisfies
from .entries import Entry
from .store import Stored

INTAKE_SECONDS = 60.0


@dataclass(frozen=True)
class Conditions:
    """What all submissions of a class are graded with.

    Attributes:
        assignment: tasks, points, thresholds, limits.
        release: the skeleton.
        references: of the test split.
        grader_version: of everything that decides outcomes.
        seeds: for the tests' random inputs.
        level: of containment.
        n_children: how many submissions are graded at a time.
        show_progress: shows a progress bar.
    """

    assignment: Assignment
    release: Path
    references: Path
    grader_version: str
    seeds: Seeds
    level: str = "auto"
    n_children: int = 1
    show_progress: bool = False


class Need(Enum):
    """What has to be done for a submission."""

    RUN = auto()
    WEIGHING = auto()
    NOTHING = auto()


def need_of(stored: Sequence[Stored], conditions: Conditions) -> tuple[Need, Stored | None]:
    """What has to be done, and the result that it can be done with.

    Args:
        stored: results of the submission's present content, by the present version of the grader and the present seed.
        conditions: as asked for now.
    """
    usable = [one for one in stored if one.record.is_finished and satisfies(conditions.level, one.record.run.layers)]
    weighting = weighting_of(conditions.assignment)
    for one in usable:
        if one.record.judgement.weighting == weighting:
            return Need.NOTHING, one
    return (Need.WEIGHING, usable[-1]) if usable else (Need.RUN, None)


def contents_of(
    entries: Sequence[Entry], release: Path, assignment: Assignment, n_children: int, show_progress: bool = False
) -> tuple[dict[Entry, str], dict[Entry, str]]:
    """A hash over the files of each submission that can be read, and why others cannot.

    Submissions are read in children: whatever is wrong with one stops no other. Where reading itself breaks, the
    submission is in neither.

    Args:
        entries: the submissions.
        release: the skeleton.
        assignment: whose files are read.
        n_children: how many read at a time.
        show_progress: shows a progress bar.
    """

    def look(entry: Entry) -> tuple[str, str]:
        try:
            return content_hash(take_in(entry.source, release, assignment).hashes), ""
        except IntakeError as error:
            return "", error.reason

    contents, unreadable = {}, {}
    tqdm.monitor_interval = 0  # its thread would be forked along
    answers = ask_forked(entries, look, INTAKE_SECONDS, n_children)
    total = len(entries)
    for entry, answer in tqdm(answers, "reading", total, unit="submission", leave=False, disable=not show_progress):
        if not isinstance(answer, Ended):
            content, reason = answer
            if content:
                contents[entry] = content
            else:
                unreadable[entry] = reason
    return contents, unreadable
