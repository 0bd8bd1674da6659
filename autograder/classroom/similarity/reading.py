"""From a submission to the statements that its author wrote: what was handed out is not among them.

Nothing of a submission is run or imported: it is parsed, in a child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.child_processes import Ended, ask_forked

from ...intake import Intake, IntakeError, take_in
from ...intake.modules import read_release
from ...scoring import ScoringError, parse_translations, undo_bpe
from ...sources import Sources, parse
from ..entries import Entry
from .statements import number_of, statements_of

SECONDS = 30.0
"""Wall time of a child; a large submission takes a tenth of a second."""
MOST_STATEMENTS = 20_000
"""Of a submission; an ordinary one has 200."""
NESTED = "its code is nested too deeply to be compared"
OTHER = "other code"
"""Of a module: what belongs to none of the contract's components, such as helpers."""


@dataclass(frozen=True)
class Found:
    """A statement where it was found."""

    component: str  # "layers.LayerNorm", or "layers: other code"
    text: int  # equal for equal statements
    module: str
    lines: tuple[int, ...]


@dataclass
class Written:
    """What a student wrote."""

    statements: list[Found] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)  # the lines of each module that the submission brings
    places: dict[str, list[str]] = field(default_factory=dict)  # of each line that stands in no file of its own
    problem: str = ""  # why nothing can be compared, or ""
    mistakes: frozenset[int] = frozenset()  # half lines of its translations that are not the references'


def found_in(sources: Sources, contract: Contract) -> Iterator[Found]:
    """The statements of some modules; those that are not Python have none."""
    for module, (_, text) in sorted(sources.items()):
        tree = parse(text)
        if isinstance(tree, ast.Module):
            components = contract.modules.get(module, ())
            for one in statements_of(tree, {*components, *contract.methods}):
                component = f"{module}.{one.top}" if one.top in components else f"{module}: {OTHER}"
                yield Found(component, one.text, module, one.lines)


def handed_out(release: Path, contract: Contract) -> frozenset[int]:
    """The statements that were handed out; what a student has renamed there is still given."""
    return frozenset(one.text for one in found_in(read_release(release, contract), contract))


def written_in(intake: Intake, contract: Contract, given: frozenset[int]) -> Written:
    """The statements of a submission, without those that were handed out."""
    submitted = {module: intake.sources[module] for module in intake.submitted}
    statements = [one for one in found_in(submitted, contract) if one.text not in given]
    if len(statements) > MOST_STATEMENTS:
        return Written(problem=f"it has more than {MOST_STATEMENTS:,} statements to compare")
    texts = {module: text.split("\n") for module, (_, text) in submitted.items()}
    return Written(statements, texts, {module: one for module, one in intake.origins.items() if module in texts})


def read_class(
    entries: Sequence[Entry],
    release: Path,
    assignment: Assignment,
    references: Sequence[str] = (),
    n_children: int = 1,
    show_progress: bool = False,
) -> Mapping[Entry, Written]:
    """What each student wrote, read in children: whatever is wrong with a submission stops no other.

    Without references of the test split, translations are not compared.
    """
    given = handed_out(release, assignment.contract)

    def read(entry: Entry) -> Written:
        try:
            intake = take_in(entry.source, release, assignment)
            written = written_in(intake, assignment.contract, given)
        except IntakeError as error:
            return Written(problem=error.reason)
        except RecursionError:
            return Written(problem=NESTED)
        written.mistakes = mistakes_in(intake.translations, references)
        return written

    found: dict[Entry, Written] = {}
    with tqdm(desc="reading", unit="submission", total=len(entries), disable=not show_progress) as bar:
        for entry, answer in ask_forked(entries, read, SECONDS, n_children):
            if isinstance(answer, Ended):
                answer = Written(problem=answer.reason or "nothing came back")
            found[entry] = answer
            bar.update()
    return found


def mistakes_in(content: bytes | None, references: Sequence[str]) -> frozenset[int]:
    """Numbers for half lines that are not the references', so that one changed word hides only half of a line."""
    if content is None or not references:
        return frozenset()
    try:
        lines = parse_translations(content, "translations.txt", expected=len(references))
    except ScoringError:
        return frozenset()
    right = {half for place, line in enumerate(references) for half in halves_of(place, line)}
    return frozenset(half for place, line in enumerate(lines) for half in halves_of(place, line)) - right


def halves_of(place: int, line: str) -> tuple[int, int]:
    """A number for the first and one for the second half of a line's words; punctuation does not count."""
    words = [word for word in undo_bpe(line).split() if any(map(str.isalnum, word))]
    middle = (len(words) + 1) // 2
    return number_of(f"{place} first {words[:middle]}"), number_of(f"{place} second {words[middle:]}")
