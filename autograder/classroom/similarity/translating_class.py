"""The checkpoints of a class translate again, each in a child of this process.

Workers of all submissions are forked from one zygote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended

from ...grading.record import Model
from ...grading.seeds import content_hash
from ...intake import TRANSLATIONS, Intake, take_in
from ...intake.size_limits import CHECKPOINT
from ...sandbox.containment.zygote import Zygote
from ...scoring import ScoringError
from ..entries import Entry
from ..kept_answers import KeptAnswers
from ..roll import Line
from .translating_again import Agreement, Sample, translate_again

SECONDS = 900.0
"""Wall time of one submission, before it is given up: a safety net, since the sandbox has its own limits."""
MOST_DIFFERING = 10
"""Lines that are kept of those that come out otherwise."""


class Outcome(StrEnum):
    """What was found of a submission, in the order in which a person looks."""

    DIFFERS = "differs"
    NOT_TRANSLATED = "not translated"
    AGREES = "agrees"
    NOTHING = "nothing to check"

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at the submission."""
        return self in (Outcome.DIFFERS, Outcome.NOT_TRANSLATED)


class DifferingLine(Model):
    """A line that comes out otherwise: its number in the file, from 1, as handed in, and as translated again."""

    number: int
    submitted: Line
    again: Line


class Checked(Model):
    """A submission whose checkpoint has translated again, or why it has not.

    Attributes:
        key: of the submission.
        name: of its students.
        entry: its name in the download.
        outcome: what was found.
        reason: why nothing was translated, or "".
        sampled: how many lines were translated.
        same: how many of them are as handed in.
        beam_size: of the search that agrees best; 0 = as the checkpoint says.
        differing: some of the others.
    """

    key: str
    name: Line = ""
    entry: Line
    outcome: Outcome
    reason: Line = ""
    sampled: int = 0
    same: int = 0
    beam_size: int = 0
    differing: tuple[DifferingLine, ...] = ()


class CheckedClass(Model):
    """A class, and with what it was checked, as `translated-again.json` has it.

    Attributes:
        lines: size of the sample.
        seed: of the sample.
        version: of the grader, of what was handed out, and of the references.
        submissions: in the order of the download.
    """

    lines: int
    seed: int
    version: str
    submissions: tuple[Checked, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """How many submissions have an outcome."""
        return sum(one.outcome is outcome for one in self.submissions)


def check_class(
    entries: Sequence[Entry],
    names: Mapping[str, str],
    found: Mapping[str, Checked],
    kept: KeptAnswers[Checked],
    check: Callable[[Entry], tuple[str, Checked]],
    renew: Callable[[], None] = lambda: None,
    n_children: int = 1,
    show_progress: bool = False,
) -> tuple[Checked, ...]:
    """Checks those of a class that have not been checked.

    Args:
        entries: the submissions.
        names: of their students, by key.
        found: what is known already, likewise.
        kept: where to keep what is found.
        check: called in a child: a hash of the submission's files, and what was found.
        renew: called where a child has ended early.
        n_children: how many run at a time.
        show_progress: shows a progress bar.

    Returns:
        All of them, in the order of the entries.

    Raises:
        NotWrittenError: where something cannot be kept; what was kept before stays.
    """
    every = dict(found)
    left = [entry for entry in entries if entry.key not in every]
    for entry, answer in kept.find_out(left, check, SECONDS, n_children, show_progress):
        if isinstance(answer, Ended):
            every[entry.key] = unchecked(entry, Outcome.NOT_TRANSLATED, f"the grader failed: {answer.reason}")
            renew()
        else:
            every[entry.key] = answer
    return tuple(every[entry.key].changed(name=names[entry.key]) for entry in entries)


def unchecked(entry: Entry, outcome: Outcome, reason: str) -> Checked:
    """A submission of which nothing was translated, and why."""
    return Checked(key=entry.key, entry=entry.entry, outcome=outcome, reason=reason)


def check_entry(
    entry: Entry, release: Path, sample: Sample, assignment: Assignment, zygote: Zygote
) -> tuple[str, Checked]:
    """Checks one submission.

    Args:
        entry: the submission.
        release: the skeleton that was handed out.
        sample: which lines.
        assignment: its code that translates, and its limits.
        zygote: that the sandbox's workers are forked from.

    Returns:
        A hash of the submission's files, and what was found.

    Raises:
        IntakeError: where it cannot be read.
        SandboxUnavailableError: where the sandbox fails.
    """
    intake = take_in(entry.source, release, assignment)
    content = content_hash(intake.hashes)
    if reason := lacking(intake):
        return content, unchecked(entry, Outcome.NOTHING, reason)
    try:
        return content, with_agreement(entry, translate_again(intake, None, sample, assignment, zygote))
    except ScoringError as error:  # of the translations
        return content, unchecked(entry, Outcome.NOTHING, str(error).removeprefix(f"{intake.name}: "))


def lacking(intake: Intake) -> str:
    """What a submission lacks, without which nothing can be checked; "" = nothing."""
    problems = [note for note in intake.notes if note.startswith(CHECKPOINT)]
    without = [] if intake.checkpoint else problems or [f"no {CHECKPOINT}"]
    if intake.translations is None:
        without.append(intake.translations_problem or f"no {TRANSLATIONS}")
    return "; ".join(without)


def with_agreement(entry: Entry, found: Agreement) -> Checked:
    """A submission with what translating again has shown."""
    if found.problem:
        return unchecked(entry, Outcome.NOT_TRANSLATED, found.problem)
    return Checked(
        key=entry.key,
        entry=entry.entry,
        outcome=Outcome.AGREES if found.agrees else Outcome.DIFFERS,
        sampled=found.sampled,
        same=found.sampled - len(found.differing),
        beam_size=found.beam_size,
        differing=tuple(
            DifferingLine(number=one.number, submitted=one.submitted, again=one.again)
            for one in found.differing[:MOST_DIFFERING]
        ),
    )
