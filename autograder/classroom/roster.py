"""Students, from the CSV file that a platform exports, or a plain one; and which of them handed in what.

An id decides; without one, a name or a group that only one fits. Platforms and people write names in several ways, so
they are compared as they are spelled first, then as letters and digits alone. `Group 1.1` and `Group 11` are one in the
last form: where several fit, or an id disagrees, a person has to decide.
"""

import codecs
import csv
import io
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from foundation.command_line import UserError
from foundation.texts import counted, first_of, printable

from ..platforms.platform import POINTS_POSSIBLE, HandedIn, Person, Student, read_time

HEADINGS = tomllib.loads(Path(__file__).with_name("headings.toml").read_text(encoding="utf-8"))
COLUMNS: Mapping[str, list[str]] = HEADINGS["any"]
ROUNDED = re.compile(r"\d(?:[.,]\d+)?E\+\d+", re.IGNORECASE)
"""The form that a spreadsheet gives to a number of many digits."""
OWN_IDS: list[str] = HEADINGS["own"]["ids"]
"""Kinds of ids by which a platform itself knows a student: another one is another student, whatever the name."""
IDS = (*OWN_IDS, "number", "login", "email")

Students: TypeAlias = tuple[Student, ...]  # one student, or all partners of a group
Owners: TypeAlias = tuple[Students, str]  # of a submission; where there are none, the reason
NOBODY = "fits no student in the roster"


def read_roster(path: Path) -> tuple[Student, ...]:
    """Reads a roster: UTF-8 with a heading, separated by commas, semicolons or tabs. Raises: UserError."""
    (_, heading), *rows = rows_of(path) or [(1, [])]
    columns = _columns_of(heading)
    if not {"name", "first", "last", *IDS, "id"} & columns.keys():
        shown = ", ".join(printable(name, 30) for name in heading[:6]) or "an empty line"
        raise UserError(f"{path}:1: no column with names or ids; expected id, name, email, …, not {shown}")
    students: dict[str, Student] = {}
    possible: dict[str, str] = {}
    for number, row in rows:
        if any(cell.strip() for cell in row[len(heading) :]):
            cells_here = f"{len(row)} cells where the heading has {len(heading)}"
            raise UserError(f"{path}:{number}: {cells_here}; put cells with a comma in quotes")
        cells = {kind: row[at].strip() if at < len(row) else "" for kind, at in columns.items()}
        if rounded := next((cells[kind] for kind in ("id", *IDS) if ROUNDED.fullmatch(cells.get(kind, ""))), ""):
            remedy = "export the roster again, and open it in an editor only"
            raise UserError(f"{path}:{number}: {rounded} is rounded by a spreadsheet; {remedy}")
        line = dict(zip(heading, row, strict=False))
        if cells.get("name") == POINTS_POSSIBLE:
            possible = {name + POINTS_POSSIBLE: cell for name, cell in line.items()}
        student = _student_of(cells, line | possible)
        if student and student.id in students:
            raise UserError(f"{path}:{number}: {printable(student.id, 60)} is there twice; keep one line")
        students |= {student.id: student} if student else {}
    if not students:
        raise UserError(f"{path}: no students in it; expected a line each below the heading")
    return tuple(students.values())


def rows_of(path: Path) -> list[tuple[int, list[str]]]:
    """The numbered rows of a table, with the separator by which most columns are known. Raises: UserError."""
    try:
        content = path.read_bytes()
        is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # Blackboard's
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8; export it again as CSV in UTF-8") from None

    def n_known(delimiter: str) -> int:
        return len(_columns_of(next(csv.reader(io.StringIO(text), delimiter=delimiter), [])))

    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=n_known), strict=True)
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise UserError(f"{path}: not valid CSV: {error}") from None


def _columns_of(heading: list[str]) -> dict[str, int]:
    plain = [" ".join(name.lower().split()) for name in heading]
    own = [table["columns"] for table in HEADINGS["exported"] if {*table["known_by"]} & {*plain}]
    places = {
        kind: [*map(plain.index, (name for name in names if name in plain))]
        for kind, names in {**COLUMNS, **(own[0] if own else {})}.items()
    }
    return {kind: at[0] for kind, at in places.items() if at}


def _student_of(cells: Mapping[str, str], row: Mapping[str, str]) -> Student | None:
    """The student of a line, from its cells by kind; None for an empty line, and for staff or points."""
    name, first, last = (cells.get(kind, "") for kind in ("name", "first", "last"))
    if name in HEADINGS["nobody"]["names"] or cells.get("role", "student").casefold() not in ("student", ""):
        return None
    ids = {kind: cells[kind].removeprefix(HEADINGS["before"].get(kind, "")).strip() for kind in IDS if cells.get(kind)}
    first_id = next((ids[kind] for kind in ("number", "login", "email", *IDS) if kind in ids), "")
    if "@" in ids.get("login", ""):
        ids.setdefault("email", ids["login"])
    if not name:
        name = f"{first} {last}".strip()
    elif "," in name:
        last, _, first = (part.strip() for part in name.rpartition(","))
        name = f"{first} {last}"
    own = cells.get("id") or first_id or name
    if not own:
        return None
    ids.setdefault("login", own)
    written = cells.get("submitted", "").strip("-")
    time = read_time(written)
    return Student(
        own,
        name or own,
        ids,
        cells.get("group", ""),
        row=row,
        submitted=time.replace(tzinfo=None) if time else None,
        is_late=(cells.get("status", "").endswith(" late") or None) if written else None,
        unread_time=f"{printable(written, 40)!r} in the worksheet" if written and time is None else "",
    )


def owners_of(submissions: Sequence[HandedIn], roster: Sequence[Student] = ()) -> dict[HandedIn, Owners]:
    """The students of each submission, several for a group; none, and the reason, where nobody fits for sure.

    A student of a group who handed in nothing shares what others of the group handed in. Without a roster, students are
    the people whom the download names.
    """
    if not roster:
        return _people_in(submissions)
    own_of = Index(roster).students_of([submission.people for submission in submissions])
    have = {student for own, _ in own_of for student in own}
    without: dict[str, list[Student]] = defaultdict(list)
    for student in roster:
        if student.group and student not in have:
            without[student.group].append(student)
    owners = {}
    for submission, (own, why) in zip(submissions, own_of, strict=True):
        groups = dict.fromkeys(student.group for student in own)
        owners[submission] = (*own, *(student for group in groups for student in without[group])), why
    return owners


def hint_for(submissions: Sequence[HandedIn], roster: Sequence[Student]) -> str:
    """A hint at the column of a roster that has the names of submissions, but not under its heading; "" = none."""
    people = [person for submission in submissions for person in submission.people]
    names = [{*map(plain, filter(None, (person.name, *person.ids.values())))} for person in people]
    hits = Counter[str]()
    for heading in roster[0].row:
        cells = {plain(student.row.get(heading, "")) for student in roster}
        hits[heading] = sum(bool(own & cells) for own in names)
    [(heading, count)] = hits.most_common(1)
    if not count:
        shown = first_of([printable(submission.entry, 40) for submission in submissions], 3)
        return f"none of its columns has anybody of {shown}: is it this class's roster?"
    if any(heading.strip().lower() in known for known in COLUMNS.values()):
        return ""  # names are there, and fit nobody for sure
    kind = next((kind for person in people for kind in person.ids if kind in COLUMNS), "name")
    which = f"its column {printable(heading, 40)!r} has {count} of {counted(len(people), 'name')}"
    return f"{which}: call it {COLUMNS[kind][0]!r}"


def _people_in(submissions: Sequence[HandedIn]) -> dict[HandedIn, Owners]:
    """The people behind each submission as students; the same id, or else the same name, is the same student."""
    known: dict[tuple[str, str], Student] = {}
    owners = {}
    for submission in submissions:
        students: dict[Student, None] = {}
        for person in submission.people or (Person(""),):
            unnamed = ("name", person.name) if person.name else ("", submission.entry)
            kind, value = next(iter(person.ids.items()), unnamed)
            students[known.setdefault((kind, value), Student(value, person.name or value, person.ids))] = None
        owners[submission] = tuple(students), ""
    return owners


def last_of(submissions: Sequence[HandedIn]) -> HandedIn | None:
    """The only submission, or the last one; None where that is not known."""
    if len(submissions) == 1:
        return submissions[0]
    times = {each.submitted: each for each in submissions if each.submitted is not None}
    return times[max(times)] if times and len(times) == len(submissions) else None


def plain(name: str) -> str:
    """A name as its letters and digits only, without case and accents."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in decomposed if letter.isalnum())


def turned(name: str) -> list[str]:
    """A name with its words in each order in which the family name may come first or last."""
    words = name.replace(",", " ").split()
    return [" ".join(words[first:] + words[:first]) for first in range(len(words))]


def _forms(kind: str, name: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """A name in any capitals, with one space between words, and as `plain` has it."""
    spelled = unicodedata.normalize("NFC", name.replace("_", " ")).casefold()
    return (kind, " ".join(spelled.split())), (f"plain {kind}", plain(name))


def _called(fits: Iterable[Students]) -> str:
    """Students, and groups, by their names, for a message."""
    return first_of(sorted(fit[0].called if len(fit) == 1 else fit[0].group for fit in fits), 3)


class Index:
    """Finds students by id, name and group."""

    def __init__(self, roster: Sequence[Student]) -> None:
        """Reads the roster once."""
        self._known: dict[tuple[str, str], set[Students]] = defaultdict(set)  # by kind of id, name or group
        self._groups: dict[str, Students] = defaultdict(tuple)
        logins = {*HEADINGS["own"]["are_logins"]} - {kind for student in roster for kind in student.ids}
        for student in roster:
            ids = [*student.ids.items(), *((kind, student.ids["login"]) for kind in logins)]
            keys = [(kind, value.casefold()) for kind, value in ids]
            for key in (*keys, *(form for name in turned(student.name) for form in _forms("name", name))):
                self._known[key].add((student,))
            if student.group:
                self._groups[student.group] += (student,)
        for name, partners in self._groups.items():
            for key in _forms("group", name):
                self._known[key].add(partners)

    def students_of(self, everyone: Sequence[Sequence[Person]]) -> list[Owners]:
        """The students behind each of several submissions; none, and why, where one of its people is not known.

        Where several people come to the same student or group by their names, none of them does: an id goes before.
        """
        people = {(person.name, *sorted(person.ids.items())): person for of_one in everyone for person in of_one}
        claims = {key: self._claim(person) for key, person in people.items()}
        times = Counter(students for students, _ in claims.values())

        def known(person: Person) -> Owners:
            students, why = claims[person.name, *sorted(person.ids.items())]
            if students and why and times[students] > 1:
                return (), f"{why}, as is another entry's"
            return students, why

        owners: list[Owners] = []
        for of_one in everyone:
            own = [known(person) for person in of_one]
            whys = [(person.name, why) for person, (students, why) in zip(of_one, own, strict=True) if not students]
            name, why = whys[0] if whys else ("", "" if own else "it names nobody")
            students = tuple(dict.fromkeys(student for students, _ in own for student in students))
            owners.append(((), f"{name}: {why}" if len(own) > 1 else why) if why else (students, ""))
        return owners

    def _claim(self, person: Person) -> Owners:
        """Whom a person is taken for, and by what unless it is an id; or nobody, and why."""
        of_ids = [self._known.get((kind, value.casefold()), set()) for kind, value in person.ids.items()]
        owner = next((student for fits in of_ids if len(fits) == 1 for (student,) in fits), None)
        students, groups = self._named(person)
        named = students | groups
        if len(groups) == 1 and any(kind in person.ids for kind in HEADINGS["own"]["number_groups"]):
            return (*groups,)[0], f"its name is that of {_called(groups)}"
        if owner:
            if owner.group and plain(person.name) == plain(owner.group):
                return self._groups[owner.group], ""  # Canvas gives the id of one partner
            if named and (owner,) not in students:
                return (), f"its id is that of {_called([(owner,)])}, but its name that of {_called(named)}"
            return (owner,), ""
        numbers = [(kind, person.ids[kind]) for kind in OWN_IDS if kind in person.ids]
        fits = {
            fit
            for fit in named
            if all(any(each.ids.get(kind, number) == number for each in fit) for kind, number in numbers)
        }
        if not person.name:  # a repository may have the name of a group
            names = [("plain group", plain(value)) for value in person.ids.values()]
            fits = {fit for name in names for fit in self._known.get(name, ())}
        if len(fits) == 1:
            return (*fits,)[0], f"its name is that of {_called(fits)}"
        if several := fits or set().union(*of_ids):
            return (), f"fits more than one student in the roster: {_called(several)}"
        return (), f"its name is that of {_called(named)}, but its id is not" if named else NOBODY

    def _named(self, person: Person) -> tuple[set[Students], set[Students]]:
        """Students and groups with the person's name, in the surest form in which anybody has it."""
        (name, plain_name), (group, plain_group) = (_forms(kind, person.name) for kind in ("name", "group"))
        if not person.is_plain and (name in self._known or group in self._known):
            return self._known.get(name, set()), self._known.get(group, set())
        if not plain(person.name):
            return set(), set()
        # a group that is spelled otherwise is another group
        return self._known.get(plain_name, set()), self._known.get(plain_group, set()) if person.is_plain else set()
