"""Reads `assignment.toml`: tasks, points, thresholds, limits."""

import difflib
import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from autograder.sandbox.worker.contract import COMPONENTS
from foundation.places import ASSIGNMENT_FILE

from .limits import Limits

DEFAULT_PATH = ASSIGNMENT_FILE
CREDITS = ("share", "all")
VISIBILITIES = ("visible", "hidden", "after_due_date", "after_published")


class AssignmentError(ValueError):
    """An assignment file that cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Task:
    """One part that earns points: judged by its tests, or by BLEU against a threshold."""

    number: str
    name: str
    title: str
    points: float
    judges: tuple[str, ...] = ()
    threshold: str | None = None
    extension: bool = False
    visibility: str = "visible"

    @property
    def marker(self) -> str:
        """The pytest marker of its tests: 1.3 -> task_1_3, E.1 -> task_e_1."""
        return "task_" + self.number.replace(".", "_").lower()


@dataclass(frozen=True)
class Assignment:
    """The whole file; `due` and `contact` are what the handout tells students, in words."""

    title: str
    package: str
    credit: str
    thresholds: dict[str, float]
    limits: Limits
    instructor_only: tuple[str, ...]
    tasks: tuple[Task, ...]
    due: str = ""
    contact: str = ""

    @property
    def max_score(self) -> float:
        """All points but the bonus ones."""
        return sum(task.points for task in self.tasks if not task.extension)


def read_assignment(path: Path | str = DEFAULT_PATH) -> Assignment:
    """Reads and checks the file.

    Raises:
        AssignmentError: naming the key, its value, and what would be right.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise AssignmentError(f"{path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AssignmentError(f"{path}: {error}") from None
    try:
        return _assignment(content)
    except AssignmentError as error:
        raise AssignmentError(f"{path}: {error}") from None


def _assignment(content: dict) -> Assignment:
    known = ["title", "due", "contact", "package", "credit", "thresholds", "limits", "release", "tasks"]
    _check_keys(content, known, "the file")
    thresholds = content.get("thresholds", {})
    for name, value in thresholds.items():
        if not _is_number(value) or not 0 <= value <= 1:
            raise AssignmentError(f"[thresholds] {name} = {value!r}: expected a number between 0 and 1")
    limits = content.get("limits", {})
    _check_keys(limits, [item.name for item in fields(Limits)], "[limits]")
    try:
        limits = Limits(**limits)
    except ValueError as error:
        raise AssignmentError(f"[limits] {error}") from None
    release = content.get("release", {})
    _check_keys(release, ["instructor_only"], "[release]")
    credit = content.get("credit", "share")
    if credit not in CREDITS:
        raise AssignmentError(f"credit = {credit!r}: expected {' or '.join(map(repr, CREDITS))}")
    tasks = tuple(_task(table, thresholds) for table in content.get("tasks", []))
    if not tasks:
        raise AssignmentError("no [[tasks]]: expected at least one")
    for key in ("number", "name"):
        values = [getattr(task, key) for task in tasks]
        for value in values:
            if values.count(value) > 1:
                raise AssignmentError(f"two tasks have the {key} {value!r}")
    return Assignment(
        title=str(content.get("title", "Assignment")),
        package=str(content.get("package", "student")),
        credit=credit,
        thresholds={name: float(value) for name, value in thresholds.items()},
        limits=limits,
        instructor_only=tuple(release.get("instructor_only", ())),
        tasks=tasks,
        due=str(content.get("due", "")),
        contact=str(content.get("contact", "")),
    )


def _task(table: dict, thresholds: dict[str, float]) -> Task:
    where = f"task {table.get('number', '?')}"
    _check_keys(table, [item.name for item in fields(Task)], where)
    for key in ("number", "name", "title", "points"):
        if key not in table:
            raise AssignmentError(f"{where}: {key} is missing")
    if not re.fullmatch(r"(\d+|E)\.\d+", str(table["number"])):
        raise AssignmentError(f"{where}: number = {table['number']!r}: expected a string like '1.3' or 'E.1'")
    if not _is_number(table["points"]) or table["points"] < 0:
        raise AssignmentError(f"{where}: points = {table['points']!r}: expected a number of at least 0")
    visibility = table.get("visibility", "visible")
    if visibility not in VISIBILITIES:
        expected = " or ".join(map(repr, VISIBILITIES))
        raise AssignmentError(f"{where}: visibility = {visibility!r}: expected {expected}")
    judges, threshold = tuple(table.get("judges", ())), table.get("threshold")
    if bool(judges) == bool(threshold):
        raise AssignmentError(f"{where}: expected either `judges` or `threshold`")
    for component in judges:
        if component not in COMPONENTS:
            raise AssignmentError(f"{where}: unknown component {component!r}{_suggest(component, COMPONENTS)}")
    if threshold and threshold not in thresholds:
        raise AssignmentError(f"{where}: unknown threshold {threshold!r}{_suggest(threshold, list(thresholds))}")
    return Task(**{**table, "judges": judges, "points": float(table["points"])})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _check_keys(table: object, known: list[str], where: str) -> None:
    if not isinstance(table, dict):
        raise AssignmentError(f"{where}: expected a table")
    for key in table:
        if key not in known:
            raise AssignmentError(f"{where}: unknown key {key!r}{_suggest(key, known)}")


def _suggest(name: str, known: list[str] | tuple[str, ...]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
