"""Similar submissions of a class: findings for a person, who decides what they mean. No mark depends on them.

Nothing of a submission is run or imported: it is parsed, in a child. A module is a set of statements
(`intake/statements.py`); what was handed out does not count.

A statement weighs ln((n + 1) / holders): one that many of a class of n have weighs little, and one that more than half
of it has is common knowledge and weighs nothing. The shared weight is compared with all that the smaller of two has, so
that a copy cannot be thinned by code that is added to it.
"""

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

from ..intake.sources import IntakeError, read_release
from ..intake.statements import Statement, statements_in
from ..intake.submission import Intake, take_in
from ..platforms.platform import HandedIn

ALIKE = 0.8
"""Pairs that share at least so much are listed: in made-up classes, copies in disguise share 0.87 and more, independent
solutions up to 0.79."""
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


def written_in(intake: Intake, contract: Contract, given: Collection[int]) -> Written:
    """The statements of a submission, without those that were handed out, even if renamed."""
    submitted = {module: intake.sources[module] for module in intake.submitted}
    statements = [statement for statement in statements_in(submitted, contract) if statement.text not in given]
    return Written(statements, {module: text.split("\n") for module, (_, text) in submitted.items()}, intake.origins)


def read_class(
    entries: Sequence[HandedIn], release: Path, assignment: Assignment, n_children: int
) -> dict[str, Written]:
    """The work of each student, by key, read in children: a broken submission stops no other."""
    handed_out = statements_in(read_release(release, assignment.contract), assignment.contract)
    given = {statement.text for statement in handed_out}

    def read(entry: HandedIn) -> Written:
        try:
            return written_in(take_in(entry.source, release, assignment), assignment.contract, given)
        except IntakeError as error:
            return Written(problem=str(error))
        except RecursionError:
            return Written(problem="its code is nested too deeply to be compared")

    works = {entry.key: Written() for entry in entries}  # in their order, though answers come in another one
    answers = ask_forked(entries, read, SECONDS, n_children)
    for entry, answer in tqdm(answers, "reading", len(entries), unit="submission", disable=None):
        works[entry.key] = answer if isinstance(answer, Written) else Written(problem=answer.reason or "no answer")
    return works


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
    too_little: tuple[str, ...]  # keys of those that have so little of their own that nobody could be named


def find_matches(written: Mapping[str, Written]) -> Findings:
    """Compares what the students of a class wrote, by the submission's key."""
    read = {key: work for key, work in written.items() if not work.problem}
    unread = {key: work.problem for key, work in written.items() if work.problem}
    keys, texts = list(read), [{statement.text for statement in work.statements} for work in read.values()]
    holders: dict[int, list[int]] = defaultdict(list)  # of each text, by number
    for number, own in enumerate(texts):
        for text in own:
            holders[text].append(number)
    most = max(FEW, COMMON * len(read))
    rare = {text: numbers for text, numbers in holders.items() if len(numbers) <= most}
    shared = np.zeros((len(read), len(read)))
    for numbers in rare.values():
        shared[np.ix_(numbers, numbers)] += math.log((len(read) + 1) / len(numbers))
    weights = np.diag(shared)
    shares = shared / np.minimum.outer(weights, weights).clip(LEAST)
    pairs = []
    for i, j in zip(*np.nonzero(np.triu(shares >= ALIKE, 1)), strict=True):
        common = texts[i] & texts[j] & rare.keys()
        ours, theirs = (_lines_by_component(read[keys[number]].statements, common) for number in (i, j))
        matches = [Match(*place, ours[place], theirs[place]) for place in ours.keys() & theirs.keys()]
        matches.sort(key=lambda match: (-len(match.left), match.component))
        pairs.append(Pair(keys[i], keys[j], float(shares[i, j]), tuple(matches)))
    pairs.sort(key=lambda pair: (-pair.share, pair.left, pair.right))
    too_little = tuple(key for key, weight in zip(keys, weights, strict=True) if weight < ALIKE * LEAST)
    return Findings(tuple(read), tuple(pairs[:MOST_PAIRS]), unread, too_little)


def _lines_by_component(
    statements: Iterable[Statement], shared: AbstractSet[int]
) -> dict[tuple[str, str], tuple[int, ...]]:
    """The lines of the shared statements, by component and module."""
    lines: dict[tuple[str, str], set[int]] = {}
    for statement in statements:
        if statement.text in shared:
            lines.setdefault((statement.component, statement.module), set()).update(statement.lines)
    return {place: tuple(sorted(own)) for place, own in lines.items()}
