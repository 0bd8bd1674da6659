"""The students of each submission. An id decides; without one, a name or a group that only one fits.

Platforms and people write names in several ways, so they are compared as they are spelled first, then as letters and
digits alone. `Group 1.1` and `Group 11` are one in the last form: where several fit, or an id disagrees, a person
has to decide.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from foundation.texts import counted, first_of, printable

from ..platforms.download import PLATFORMS
from ..platforms.handed_in import HandedIn, Person
from .roster import COLUMNS, Student

OWN_IDS = {kind: platform for platform in PLATFORMS.values() for kind in platform.ids}
"""Kinds of ids by which a platform itself knows a student: another one is another student, whatever the name."""


def owners_of(submissions: Sequence[HandedIn], roster: Sequence[Student] = ()) -> dict[HandedIn, tuple[Student, ...]]:
    """The students of each submission, several for a group, none where nobody fits for sure.

    Without a roster, they are the people whom the download names.
    """
    if not roster:
        return people_in(submissions)
    owners = Index(roster).students_of([submission.people for submission in submissions])
    return share_in_groups(dict(zip(submissions, owners, strict=True)), roster)


def share_in_groups(
    owners: Mapping[HandedIn, tuple[Student, ...]], roster: Sequence[Student]
) -> dict[HandedIn, tuple[Student, ...]]:
    """The same, in which a student of a group who handed in nothing shares what others of the group handed in."""
    have = {student for own in owners.values() for student in own}
    without: dict[str, list[Student]] = defaultdict(list)
    for student in roster:
        if student.group and student not in have:
            without[student.group].append(student)
    return {
        submission: (
            *own,
            *(student for group in dict.fromkeys(each.group for each in own) for student in without[group]),
        )
        for submission, own in owners.items()
    }


def hint_for(submissions: Sequence[HandedIn], roster: Sequence[Student]) -> str:
    """A hint at the column of a roster that fits no submission, with their names or the ends of them; "" = none."""
    people = [person for submission in submissions for person in submission.people]
    wanted = [{*map(plain, filter(None, (person.name, *person.ids.values())))} for person in people]
    ends = [{plain(text.rpartition("-")[2]) for text in person.ids.values()} for person in people]
    columns = []
    for heading in roster[0].row:
        cells = {plain(student.row.get(heading, "")) for student in roster} - {""}
        for is_whole, names in ((True, wanted), (False, ends)):
            columns.append((sum(bool(name & cells) for name in names), is_whole, heading))
    hits, is_whole, heading = max(columns, key=lambda column: column[:2], default=(0, True, ""))
    if not hits:
        shown = first_of([printable(submission.entry, 40) for submission in submissions], 3)
        return f"none of its columns has anybody of {shown}: is it this class's roster?"
    if is_whole and heading.strip().lower() in {name for names in COLUMNS.values() for name in names}:
        return ""  # names are there, and fit nobody for sure
    kind = next((kind for person in people for kind in person.ids if kind in COLUMNS), "name")
    count = f"its column {printable(heading, 40)!r} has {hits} of {counted(len(people), 'name')}"
    if not is_whole:
        return f"{count}, behind a hyphen: rename the folders, or add --layout git"
    return f"{count}: call it {COLUMNS[kind][0]!r}"


def people_in(submissions: Iterable[HandedIn]) -> dict[HandedIn, tuple[Student, ...]]:
    """The people behind each submission as students; the same id, or else the same name, is the same student."""
    known: dict[tuple[str, str], Student] = {}
    owners = {}
    for submission in submissions:
        students: dict[Student, None] = {}
        for person in submission.people or (Person(""),):
            unnamed = ("name", person.name) if person.name else ("", submission.entry)
            kind, value = next(iter(person.ids.items()), unnamed)
            students[known.setdefault((kind, value), Student(value, person.name or value, person.ids))] = None
        owners[submission] = tuple(students)
    return owners


def last_of(submissions: Sequence[HandedIn]) -> HandedIn | None:
    """The only submission, or the last one; None where that is not known."""
    if len(submissions) == 1:
        return submissions[0]
    times = {each.submitted: each for each in submissions if each.submitted is not None}
    return times[max(times)] if times and len(times) == len(submissions) else None


def spelled(name: str) -> str:
    """A name in any capitals, with one space between words."""
    return " ".join(unicodedata.normalize("NFC", name.replace("_", " ")).casefold().split())


def plain(name: str) -> str:
    """A name as its letters and digits only, without case and accents."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in decomposed if letter.isalnum())


FORMS = (spelled, plain)
"""In which names are compared, the surest first."""


@dataclass(frozen=True)
class Fit:
    """A candidate: a student, or all partners of a group."""

    students: tuple[Student, ...]
    is_group: bool = False


Claim: TypeAlias = tuple[Fit, int]
"""Whom a person of the download is taken for, and how sure that is: 0 = by id, later forms of a name are higher."""


class Index:
    """Finds students by id, name and group."""

    def __init__(self, roster: Iterable[Student]) -> None:
        """Reads the roster once."""
        self._by_id: dict[tuple[str, str], list[Student]] = defaultdict(list)
        self._by_name: dict[tuple[int, str], dict[Fit, None]] = defaultdict(dict)
        self._groups: dict[str, Fit] = {}
        groups: dict[str, list[Student]] = defaultdict(list)
        students = tuple(roster)
        logins = {kind for kind, platform in OWN_IDS.items() if platform.are_logins}
        logins -= {kind for student in students for kind in student.ids}
        for student in students:
            for kind, value in student.ids.items():
                self._by_id[kind, value.casefold()].append(student)
                for other in logins if kind == "login" else ():
                    self._by_id[other, value.casefold()].append(student)
            for name in orders(student.name):
                self._enter(name, Fit((student,)))
            if student.group:
                groups[student.group].append(student)
        for name, partners in groups.items():
            self._groups[name] = Fit(tuple(partners), is_group=True)
            self._enter(name, self._groups[name])

    def _enter(self, name: str, fit: Fit) -> None:
        for rank, form in enumerate(FORMS, 1):
            self._by_name[rank, form(name)][fit] = None

    def students_of(self, everyone: Sequence[Sequence[Person]]) -> list[tuple[Student, ...]]:
        """The students behind each of several submissions; none where one of its people is not known.

        Of people whose names come to the same student or group, the one who is surest counts; where two are as sure by
        their names, neither does.
        """
        claims = {key_of(person): self._claim(person) for people in everyone for person in people}
        times = Counter(claim for claim in claims.values() if claim)
        surest = dict(sorted(times, key=lambda claim: -claim[1]))

        def sure(people: Sequence[Person]) -> tuple[Student, ...]:
            students: dict[Student, None] = {}
            for claim in (claims[key_of(person)] for person in people):
                if claim is None:
                    return ()
                fit, rank = claim
                if rank > surest[fit] or (rank and times[claim] > 1):
                    return ()
                students |= dict.fromkeys(fit.students)
            return tuple(students)

        return [sure(people) for people in everyone]

    def _claim(self, person: Person) -> Claim | None:
        """Whom a person is taken for; None where nobody fits, more than one, or the id and the name disagree."""
        known = [self._by_id.get((kind, value.casefold()), []) for kind, value in person.ids.items()]
        owner = next((students[0] for students in known if len(students) == 1), None)
        named, rank = self._named(person)
        groups = [fit for fit in named if fit.is_group]
        if len(groups) == 1 and any(kind in OWN_IDS and OWN_IDS[kind].numbers_groups for kind in person.ids):
            return groups[0], rank
        if owner:
            group = self._groups.get(owner.group)
            if group and plain(person.name) == plain(owner.group):
                return group, 0  # Canvas gives the id of one partner
            is_own = not named or Fit((owner,)) in named or person.name in owner.ids.values()
            return (Fit((owner,)), 0) if is_own else None
        numbers = [(kind, person.ids[kind]) for kind in OWN_IDS if kind in person.ids]
        fits = [
            fit
            for fit in named
            if all(any(student.ids.get(kind, number) == number for student in fit.students) for kind, number in numbers)
        ]
        return (fits[0], rank) if len(fits) == 1 else None

    def _named(self, person: Person) -> tuple[list[Fit], int]:
        """The candidates with the person's name, in the surest form in which anybody has it."""
        for rank, form in enumerate(FORMS, 1):
            fits = list(self._by_name.get((rank, form(person.name)), ())) if form(person.name) else []
            if form is plain and not person.is_plain:  # a group that is spelled otherwise is another group
                fits = [fit for fit in fits if not fit.is_group]
            if fits and (form is plain or not person.is_plain):
                return fits, rank
        return [], len(FORMS)


def key_of(person: Person) -> tuple[object, ...]:
    """Tells people apart."""
    return (person.name, *sorted(person.ids.items()))


def orders(name: str) -> set[str]:
    """A name with its words in turn, so that the family name may come first or last."""
    words = name.split()
    return {" ".join(words[first:] + words[:first]) for first in range(len(words))}
