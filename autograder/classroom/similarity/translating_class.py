"""The checkpoints of a class translate again, each in a child of this process; what was found is kept for the next run.

Workers of all submissions are forked from one zygote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from foundation.assignment_file import Assignment

from ...grading.record import Model, write_json
from ...grading.seeds import content_hash
from ...intake import TRANSLATIONS, Intake, IntakeError, take_in
from ...intake.size_limits import CHECKPOINT
from ...sandbox.containment.zygote import Zygote
from ...scoring import ScoringError
from ..entries import Entry, in_children
from ..roll import Line
from .translating_again import Agreement, Sample, translate_again

FILE = "translated-again.json"
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
        content: a hash of its files; "" where it is to be tried again.
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
    content: str = ""
    outcome: Outcome
    reason: Line = ""
    sampled: int = 0
    same: int = 0
    beam_size: int = 0
    differing: tuple[DifferingLine, ...] = ()


class CheckedClass(Model):
    """A class, and with what it was checked.

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
    made_with: CheckedClass,
    output: Path,
    check: Callable[[Entry, Checked | None], Checked],
    renew: Callable[[], None] = lambda: None,
    n_children: int = 1,
    show_progress: bool = False,
) -> CheckedClass:
    """Checks a class, and writes `translated-again.json` after each submission.

    Args:
        entries: the submissions.
        names: of their students, by key.
        made_with: without submissions: how this class is checked.
        output: an existing folder; what it has of an earlier run with the same settings is not done again.
        check: called in a child, with what is known of the entry.
        renew: called where a child has ended early.
        n_children: how many run at a time.
        show_progress: shows a progress bar.

    Raises:
        NotWrittenError: where the file cannot be written; what it had stays.
    """
    known = known_in(output / FILE, made_with)
    found = {entry.key: known[entry.key] for entry in entries if entry.key in known}
    answered = set()

    def store() -> CheckedClass:
        present = [found[entry.key].changed(name=names[entry.key]) for entry in entries if entry.key in found]
        whole = made_with.changed(submissions=tuple(present))
        write_json(output / FILE, whole.model_dump(mode="json"))
        return whole

    def work(entry: Entry) -> Iterator[Checked]:
        yield check(entry, known.get(entry.key))

    for entry, message in in_children(entries, work, SECONDS, n_children, show_progress):
        if isinstance(message, Checked):
            answered.add(entry.key)
            if found.get(entry.key) != message:
                found[entry.key] = message
                store()
        elif entry.key not in answered:
            reason = f"the grader failed: {message.reason}"
            made = Checked(key=entry.key, entry=entry.entry, outcome=Outcome.NOT_TRANSLATED, reason=reason)
            found[entry.key] = made
            renew()
    return store()


def known_in(path: Path, made_with: CheckedClass) -> dict[str, Checked]:
    """What an earlier run with the same settings has found, by the submission's key; nothing where there was none."""
    try:
        earlier = CheckedClass.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return {}
    same = earlier.changed(submissions=()) == made_with
    return {one.key: one for one in earlier.submissions if one.content} if same else {}


def check_entry(
    entry: Entry, known: Checked | None, release: Path, sample: Sample, assignment: Assignment, zygote: Zygote
) -> Checked:
    """Checks one submission, unless it is as it was.

    Args:
        entry: the submission.
        known: what was found of it before.
        release: the skeleton that was handed out.
        sample: which lines.
        assignment: its code that translates, and its limits.
        zygote: that the sandbox's workers are forked from.

    Raises:
        SandboxUnavailableError: where the sandbox fails.
    """
    try:
        intake = take_in(entry.source, release, assignment)
    except IntakeError as error:
        reason = getattr(error, "reason", str(error))
        return Checked(key=entry.key, entry=entry.entry, outcome=Outcome.NOTHING, reason=reason)
    content = content_hash(intake.hashes)
    if known is not None and known.content == content:
        return known
    made = Checked(key=entry.key, entry=entry.entry, content=content, outcome=Outcome.NOTHING)
    if reason := lacking(intake):
        return made.changed(reason=reason)
    try:
        return with_agreement(made, translate_again(intake, None, sample, assignment, zygote))
    except ScoringError as error:  # of the translations
        return made.changed(reason=str(error).removeprefix(f"{intake.name}: "))


def lacking(intake: Intake) -> str:
    """What a submission lacks, without which nothing can be checked; "" = nothing."""
    problems = [note for note in intake.notes if note.startswith(CHECKPOINT)]
    without = [] if intake.checkpoint else problems or [f"no {CHECKPOINT}"]
    if intake.translations is None:
        without.append(intake.translations_problem or f"no {TRANSLATIONS}")
    return "; ".join(without)


def with_agreement(made: Checked, found: Agreement) -> Checked:
    """A submission with what translating again has shown."""
    if found.problem:
        return made.changed(outcome=Outcome.NOT_TRANSLATED, reason=found.problem)
    return made.changed(
        outcome=Outcome.AGREES if found.agrees else Outcome.DIFFERS,
        sampled=found.sampled,
        same=found.sampled - len(found.differing),
        beam_size=found.beam_size,
        differing=tuple(
            DifferingLine(number=one.number, submitted=one.submitted, again=one.again)
            for one in found.differing[:MOST_DIFFERING]
        ),
    )
