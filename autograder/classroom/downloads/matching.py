"""Which student handed in what. An id decides; without one, a name that only one student has."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .handed_in import Download, HandedIn, Person
from .roster import Student


@dataclass(frozen=True)
class Matched:
    """A roster and a download, side by side.

    Attributes:
        roster: all students.
        students: of each submission; several for a group, none where nobody fits.
        counting: of each student with a submission: the one whose marks count, the last where times are known.
        missing: students without any submission.
        unmatched: submissions that fit nobody, or more than one.
        namesakes: of these: the students who have the name.
        undecided: students with several submissions of which nothing tells which one counts.
        perhaps: of students without any submission: entries that may be theirs, such as a text typed into the platform.
    """

    roster: tuple[Student, ...]
    students: Mapping[HandedIn, tuple[Student, ...]]
    counting: Mapping[Student, HandedIn]
    missing: tuple[Student, ...]
    unmatched: tuple[HandedIn, ...]
    namesakes: Mapping[HandedIn, tuple[Student, ...]]
    undecided: Mapping[Student, tuple[HandedIn, ...]]
    perhaps: Mapping[Student, tuple[str, ...]]


def match(download: Download, roster: Sequence[Student] = ()) -> Matched:
    """Matches submissions with students; without a roster, these are the people whom the download names."""
    perhaps: dict[Student, list[str]] = defaultdict(list)
    namesakes: dict[HandedIn, tuple[Student, ...]] = {}
    if roster:
        index = Index(roster)
        students = {one: index.students_of(one.people) for one in download.submissions}
        namesakes = {one: found for one, owners in students.items() if not owners and (found := index.namesakes(one))}
        for stray in download.strays:
            for student in index.students_of(stray.people):
                perhaps[student].append(stray.entry)
        for one, found in namesakes.items():
            for student in found:
                perhaps[student].append(one.entry)
    else:
        students = people_in(download.submissions)
        roster = tuple(dict.fromkeys(student for owners in students.values() for student in owners))
    having: dict[Student, list[HandedIn]] = defaultdict(list)
    for one, owners in students.items():
        for owner in owners:
            having[owner].append(one)
    counting, undecided = {}, {}
    for student in roster:
        several = having[student]
        last = last_of(several)
        if last is not None:
            counting[student] = last
        elif several:
            undecided[student] = tuple(several)
    return Matched(
        tuple(roster),
        students,
        counting,
        missing=tuple(student for student in roster if not having[student]),
        unmatched=tuple(one for one, owners in students.items() if not owners),
        namesakes=namesakes,
        undecided=undecided,
        perhaps={student: tuple(entries) for student, entries in perhaps.items() if not having[student]},
    )


def people_in(submissions: Iterable[HandedIn]) -> dict[HandedIn, tuple[Student, ...]]:
    """The people behind each submission as students; the same id, or else the same name, is the same student."""
    known: dict[tuple[str, str], Student] = {}
    owners = {}
    for one in submissions:
        found = []
        for person in one.people or (Person(""),):
            kind, value = next(iter(person.ids.items()), ("name", person.name) if person.name else ("", one.entry))
            new = Student(value, person.name or value, person.ids)
            found.append(known.setdefault((kind, value), new))
        owners[one] = tuple(dict.fromkeys(found))
    return owners


def last_of(submissions: Sequence[HandedIn]) -> HandedIn | None:
    """The only submission, or the last one; None where that cannot be told."""
    if len(submissions) == 1:
        return submissions[0]
    times = {one: one.submitted for one in submissions}
    known = [time for time in times.values() if time is not None]
    if not known or len(set(known)) != len(submissions):
        return None
    return next(one for one, time in times.items() if time == max(known))


class Index:
    """Finds students by id, name and group."""

    def __init__(self, roster: Iterable[Student]) -> None:
        """Reads the roster once."""
        self._by_id: dict[tuple[str, str], list[Student]] = defaultdict(list)
        self._by_name: dict[str, list[Student]] = defaultdict(list)
        self._by_group: dict[str, list[Student]] = defaultdict(list)
        for student in roster:
            for kind, value in student.ids.items():
                self._by_id[kind, value.casefold()].append(student)
            for name in spellings(student.name):
                self._by_name[name].append(student)
            if student.group:
                self._by_group[plain(student.group)].append(student)

    def students_of(self, people: Iterable[Person]) -> tuple[Student, ...]:
        """The students behind a submission; empty where one of them cannot be told."""
        found: list[Student] = []
        for person in people:
            students = self._of(person)
            if not students:
                return ()
            found += [student for student in students if student not in found]
        return tuple(found)

    def namesakes(self, one: HandedIn) -> tuple[Student, ...]:
        """The students who have the name of the only person behind a submission."""
        return tuple(self._by_name.get(plain(one.people[0].name), [])) if len(one.people) == 1 else ()

    def _of(self, person: Person) -> list[Student]:
        name = plain(person.name)
        if name and (group := self._by_group.get(name)):  # before ids: Canvas gives those of one partner
            return group
        for kind, value in person.ids.items():
            if len(students := self._by_id.get((kind, value.casefold()), [])) == 1:
                return students
        named = self._by_name.get(name, []) if name else []
        return named if len(named) == 1 else []


def spellings(name: str) -> set[str]:
    """A name with its words in turn, so that the family name may come first or last."""
    words = name.split()
    return {plain("".join(words[first:] + words[:first])) for first in range(len(words))}


def names_another(one: HandedIn, students: Sequence[Student]) -> str:
    """What the download calls a submission's only student, if that is no spelling of the name: a group, perhaps."""
    if len(one.people) != 1 or len(students) != 1:
        return ""
    name = plain(one.people[0].name)
    known = {*spellings(students[0].name), *map(plain, students[0].ids.values()), plain(students[0].group)}
    return one.people[0].name if name and name not in known else ""


def plain(name: str) -> str:
    """A name as its letters and digits only, without case: platforms leave out the rest."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in decomposed if letter.isalnum())
