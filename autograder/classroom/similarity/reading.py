"""From a submission to the fingerprints of its answers. Nothing of it is run or imported: it is parsed, in a child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, ask_forked
from foundation.contract import Contract

from ...intake import Intake, IntakeError, take_in
from ...intake.modules import read_release
from ..entries import Entry
from .answers import Given, answers_of, given_in
from .fingerprints import LENGTH, fingerprints
from .one_form import in_one_form
from .tokens import Reader
from .translations import Translated, translated

SECONDS = 30.0
"""Wall time of a child; a large submission takes a tenth of a second."""
MOST_FINGERPRINTS = 20_000
"""Of a submission; an ordinary one has 600."""
NESTED = "its code is nested too deeply to be compared"


@dataclass(frozen=True)
class Print:
    """A fingerprint where it was found.

    Attributes:
        hash: of a few tokens.
        module: that it comes from.
        lines: on which these tokens stand.
    """

    hash: int
    module: str
    lines: tuple[int, ...]


@dataclass
class Written:
    """What a student wrote.

    Attributes:
        prints: the fingerprints, by component.
        texts: the lines of each module that the submission brings.
        places: the student's place of each line that does not stand in a file of its own, by module.
        problem: why nothing can be compared, or "".
        translations: against the references; None where there are none, or they cannot be read.
    """

    prints: dict[str, list[Print]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""
    translations: Translated | None = None


@dataclass(frozen=True)
class HandedOut:
    """What was handed out, in two forms: what a student has renamed there is still given.

    Attributes:
        statements: as they are.
        hashes: their fingerprints.
    """

    statements: Given = field(default_factory=dict)
    hashes: frozenset[int] = frozenset()


def handed_out(release: Path, contract: Contract) -> HandedOut:
    """What was handed out of the contract's modules."""
    sources = read_release(release, contract)
    everything = written_in(Intake("release", sources, frozenset(sources)), contract, HandedOut())
    hashes = frozenset(one.hash for prints in everything.prints.values() for one in prints)
    return HandedOut(given_in(sources, contract), hashes)


def written_in(intake: Intake, contract: Contract, given: HandedOut) -> Written:
    """The fingerprints of a submission's answers."""
    written = Written()
    count = 0
    for answer, names in answers_of(intake, contract, given.statements):
        reader = Reader(names, answer.names)
        tokens, lines = reader.read(in_one_form(answer.body, reader.nameless))
        for start, found in fingerprints(tokens):
            if found in given.hashes:
                continue
            own = tuple(sorted(set(lines[start : start + LENGTH])))
            written.prints.setdefault(answer.component, []).append(Print(found, answer.module, own))
            count += 1
            if count > MOST_FINGERPRINTS:
                return Written(problem=f"it has more than {MOST_FINGERPRINTS:,} places to compare")
    modules = {one.module for prints in written.prints.values() for one in prints}
    written.texts = {module: intake.sources[module][1].split("\n") for module in modules}
    written.places = {module: intake.origins[module] for module in modules if module in intake.origins}
    return written


def read_class(
    entries: Sequence[Entry],
    release: Path,
    assignment: Assignment,
    references: Sequence[str] = (),
    n_children: int = 1,
    show_progress: bool = False,
) -> Mapping[Entry, Written]:
    """What each student wrote, read in children: whatever is wrong with a submission stops no other.

    Args:
        entries: the submissions.
        release: the skeleton that was handed out.
        assignment: its contract.
        references: of the test split; without them translations are not compared.
        n_children: how many are read at a time.
        show_progress: shows a progress bar.
    """
    given = handed_out(release, assignment.contract)

    def read(entry: Entry) -> Written:
        return read_entry(entry, release, assignment, given, references)

    found: dict[Entry, Written] = {}
    with tqdm(desc="reading", unit="submission", total=len(entries), disable=not show_progress) as bar:
        for entry, answer in ask_forked(entries, read, SECONDS, n_children):
            if isinstance(answer, Ended):
                answer = Written(problem=answer.reason or "nothing came back")
            found[entry] = answer
            bar.update()
    return found


def read_entry(
    entry: Entry, release: Path, assignment: Assignment, given: HandedOut, references: Sequence[str]
) -> Written:
    """What a student wrote; where that cannot be read, why."""
    try:
        intake = take_in(entry.source, release, assignment)
    except IntakeError as error:
        return Written(problem=error.reason)
    try:
        written = written_in(intake, assignment.contract, given)
    except RecursionError:
        written = Written(problem=NESTED)
    written.translations = translated(intake.translations, references)
    return written
