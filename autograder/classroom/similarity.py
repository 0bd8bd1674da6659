"""Similar submissions of a class: findings for a person, who decides what they mean. No mark depends on them.

    findings = find_matches(read_class(entries, release, assignment, references, n_children))

Nothing of a submission is run or imported: it is parsed, in a child. A module is a set of statements
(`intake/statements.py`); what was handed out does not count.

A statement weighs ln((n + 1) / holders): one that many of a class of n have weighs little, and one that more than half
of it has is common knowledge and weighs nothing. The shared weight is compared with all that the smaller of two has, so
that a copy cannot be thinned by code that is added to it. Mistakes in translations are compared likewise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.processes import ask_forked

from ..grading.scoring import ScoringError, read_translations, undo_bpe
from ..intake.modules import Intake, read_release
from ..intake.sources import IntakeError
from ..intake.statements import Statement, number_of, statements_in
from ..intake.submission import take_in
from ..platforms.handed_in import HandedIn

ALIKE = 0.8
"""Pairs that share at least so much are listed: in made-up classes, copies in disguise share 0.87 and more, independent
solutions up to 0.79."""
SAME_MISTAKES = 0.5
"""Likewise of the mistakes in translations, of which models with different seeds share a fifth."""
COMMON, FEW = 0.5, 4
"""Statements of more than this share of a class are common knowledge, but not those of so few."""
LEAST = 40.0
"""Weight of what a submission has, below which equal parts may be luck; an ordinary one has 150."""
MOST_PAIRS = 100
SECONDS = 30.0
"""Wall time of a child that reads a submission; a large one takes a tenth of a second."""


@dataclass
class Written:
    """The work of a student."""

    statements: list[Statement] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)  # the lines of each module that the submission brings
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of each line that stands in no file of its own
    problem: str = ""  # why nothing can be compared, or ""
    mistakes: frozenset[int] = frozenset()  # half lines of its translations that are not the references'


def written_in(intake: Intake, contract: Contract, given: Collection[int]) -> Written:
    """The statements of a submission, without those that were handed out, even if renamed."""
    submitted = {module: intake.sources[module] for module in intake.submitted}
    statements = [statement for statement in statements_in(submitted, contract) if statement.text not in given]
    return Written(statements, {module: text.split("\n") for module, (_, text) in submitted.items()}, intake.origins)


def read_class(
    entries: Sequence[HandedIn], release: Path, assignment: Assignment, references: Sequence[str], n_children: int
) -> dict[str, Written]:
    """The work of each student, by key, read in children: a broken submission stops no other.

    Without references of the test split, translations are not compared.
    """
    handed_out = statements_in(read_release(release, assignment.contract), assignment.contract)
    given = {statement.text for statement in handed_out}

    def read(entry: HandedIn) -> Written:
        try:
            intake = take_in(entry.source, release, assignment)
            written = written_in(intake, assignment.contract, given)
        except IntakeError as error:
            return Written(problem=str(error))
        except RecursionError:
            return Written(problem="its code is nested too deeply to be compared")
        written.mistakes = mistakes_in(intake.translations, references)
        return written

    works = {entry.key: Written() for entry in entries}  # in their order, though answers come in another one
    answers = ask_forked(entries, read, SECONDS, n_children)
    for entry, answer in tqdm(answers, "reading", len(entries), unit="submission", disable=None):
        works[entry.key] = answer if isinstance(answer, Written) else Written(problem=answer.reason or "no answer")
    return works


def mistakes_in(content: bytes | None, references: Sequence[str]) -> frozenset[int]:
    """Numbers for half lines that are not the references', so that one changed word hides only half of a line."""
    if content is None or not references:
        return frozenset()
    try:
        lines = read_translations(content, name="translations.txt", expected=len(references))
    except ScoringError:
        return frozenset()
    right = {half for place, line in enumerate(references) for half in halves_of(place, line)}
    return frozenset(half for place, line in enumerate(lines) for half in halves_of(place, line)) - right


def halves_of(place: int, line: str) -> tuple[int, int]:
    """A number for the first and one for the second half of a line's words; punctuation does not count."""
    words = [word for word in undo_bpe(line).split() if any(map(str.isalnum, word))]
    middle = (len(words) + 1) // 2
    return number_of(f"{place} first {words[:middle]}"), number_of(f"{place} second {words[middle:]}")


@dataclass(frozen=True)
class Match:
    """The shared lines of two submissions in a component of a module, as in `Statement`."""

    component: str
    module: str
    left: tuple[int, ...]  # the lines in the first submission
    right: tuple[int, ...]  # in the second one


@dataclass(frozen=True)
class Pair:
    """Two submissions that share much."""

    left: str  # the key of the first one
    right: str  # of the second one
    share: float  # of what the smaller of the two has
    matches: tuple[Match, ...]  # the one with most lines first


@dataclass(frozen=True)
class Findings:
    """The result of comparing a class."""

    compared: tuple[str, ...]  # the keys of the submissions that were compared
    pairs: tuple[Pair, ...]  # those that are listed, the most alike first
    unread: Mapping[str, str]  # reasons by key, of submissions that could not be compared
    translations: int  # how many files of translations were compared
    same_translations: tuple[tuple[str, str], ...]  # keys of those that share their mistakes, the most alike first
    too_little: tuple[str, ...] = ()  # keys of those that have so little of their own that nobody could be named


def find_matches(written: Mapping[str, Written]) -> Findings:
    """Compares what the students of a class wrote, by the submission's key."""
    read = {key: work for key, work in written.items() if not work.problem}
    texts = {key: {statement.text for statement in work.statements} for key, work in read.items()}
    count = len(texts) + 1
    weights = {text: math.log(count / len(holders)) for text, holders in holders_of(texts.values()).items()}
    pairs = []
    for left, right, share in alike(texts, ALIKE)[:MOST_PAIRS]:
        shared = texts[left] & texts[right] & weights.keys()
        ours, theirs = (lines_by_component(read[key].statements, shared) for key in (left, right))
        matches = [Match(*place, ours[place], theirs[place]) for place in ours.keys() & theirs.keys()]
        matches.sort(key=lambda match: (-len(match.left), match.component))
        pairs.append(Pair(left, right, share, tuple(matches)))
    unread = {key: work.problem for key, work in written.items() if work.problem}
    mistakes = {key: work.mistakes for key, work in written.items() if work.mistakes}
    same = tuple((left, right) for left, right, _ in alike(mistakes, SAME_MISTAKES))
    own = {key: sum(weights.get(text, 0.0) for text in of_key) for key, of_key in texts.items()}
    too_little = tuple(key for key, weight in own.items() if weight < ALIKE * LEAST)
    return Findings(tuple(read), tuple(pairs), unread, len(mistakes), same, too_little)


def alike(sets: Mapping[str, AbstractSet[int]], least: float) -> list[tuple[str, str, float]]:
    """Pairs of keys that share at least so much of what the smaller one has, with the share, the most alike first."""
    keys = list(sets)
    shared = np.zeros((len(sets), len(sets)))
    for numbers in holders_of(sets.values()).values():
        shared[np.ix_(numbers, numbers)] += math.log((len(sets) + 1) / len(numbers))
    weights = np.diag(shared)
    shares = shared / np.minimum.outer(weights, weights).clip(LEAST)
    rows, columns = np.nonzero(np.triu(shares >= least, 1))
    pairs = [(keys[i], keys[j], float(shares[i, j])) for i, j in zip(rows, columns, strict=True)]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[:2]))


def holders_of(sets: Collection[AbstractSet[int]]) -> dict[int, list[int]]:
    """The numbers of the submissions that have a text, for each that is not common knowledge in a class."""
    holders: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(sets):
        for text in own:
            holders[text].append(number)
    most = max(FEW, COMMON * len(sets))
    return {text: numbers for text, numbers in holders.items() if len(numbers) <= most}


def lines_by_component(
    statements: Iterable[Statement], shared: AbstractSet[int]
) -> dict[tuple[str, str], tuple[int, ...]]:
    """The lines of the shared statements, by component and module."""
    lines: dict[tuple[str, str], set[int]] = {}
    for statement in statements:
        if statement.text in shared:
            lines.setdefault((statement.component, statement.module), set()).update(statement.lines)
    return {place: tuple(sorted(own)) for place, own in lines.items()}
