"""Reads `assignment.toml`: tasks, points, thresholds, limits, and the contract that submissions keep."""

import difflib
import keyword
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from .command_line import UserError
from .contract import Contract, Forbidden
from .late_policy import LatePolicy
from .places import ASSIGNMENT, ASSIGNMENT_FILE, REFERENCE, ROOT
from .printable_text import line_of
from .submission_limits import Limits

DEFAULT_PATH = ASSIGNMENT_FILE
CREDITS = ("items", "all")
TAKEN = (
    "autograder",
    "benchmarks",
    "data",
    "foundation",
    "given",
    "grade",
    "notebooks",
    "reference",
    "release",
    "validity",
)
"""Names of the kit's own packages."""
VISIBILITIES = ("visible", "hidden", "after_due_date", "after_published")


class AssignmentError(UserError):
    """An assignment file that cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Item:
    """An item of a task's rubric; it is earned where all its tests pass.

    Attributes:
        name: in the words of the course; tests name it with `@pytest.mark.item(name)`.
        weight: its part of the task's points, in proportion to the weights of the other items.
        requires: the name of an item without which this one is worth nothing; "" = none.
    """

    name: str
    weight: float
    requires: str = ""


@dataclass(frozen=True)
class Task:
    """One part that earns points: tests judge it, or BLEU against a threshold.

    Attributes:
        components: those of the contract whose faults cost these points; none where BLEU is judged.
        threshold: the name of the BLEU that is asked for; None where components are judged.
        items: the rubric; without one, the task is earned where all its tests pass.
    """

    number: str
    name: str
    title: str
    points: float
    components: tuple[str, ...] = ()
    threshold: str | None = None
    extension: bool = False
    visibility: str = "visible"
    items: tuple[Item, ...] = ()

    @property
    def marker(self) -> str:
        """The pytest marker of its tests: 1.3 -> task_1_3, E.1 -> task_e_1."""
        return "task_" + self.number.replace(".", "_").lower()


@dataclass(frozen=True)
class Assignment:
    """The whole file; `name` is nbgrader's for the assignment, `python` is the version that grades."""

    title: str
    name: str
    package: str
    credit: str
    thresholds: dict[str, float]
    limits: Limits
    instructor_only: tuple[str, ...]
    contract: Contract
    tasks: tuple[Task, ...]
    path: Path
    due: str = ""
    contact: str = ""
    python: tuple[int, int] = (3, 11)
    late: LatePolicy | None = None

    @property
    def folder(self) -> Path:
        """The folder with the rest of the assignment: the file's own, if it holds tests; otherwise the kit's."""
        return self.path.parent.resolve() if (self.path.parent / "tests").is_dir() else ASSIGNMENT

    @property
    def judges_translations(self) -> bool:
        """Whether BLEU decides on any points."""
        return any(task.threshold is not None for task in self.tasks)

    @property
    def reference(self) -> Path:
        """The marked solution, `reference/` of the project that has this folder as `autograder/assignment/`."""
        return self.folder.parents[1] / REFERENCE.name

    @property
    def max_score(self) -> float:
        """All points except bonus points."""
        return sum(task.points for task in self.tasks if not task.extension)


def read_assignment(path: Path | str = DEFAULT_PATH) -> Assignment:
    """Reads and checks the file.

    Args:
        path: of the file, or of the assignment's folder, which holds it as `assignment.toml`.

    Raises:
        AssignmentError: naming the key, its value, and what would be right.
    """
    path = Path(path)
    if path.is_dir():
        path /= ASSIGNMENT_FILE.name
    try:
        return _parsed(path.read_text(encoding="utf-8-sig"), path)  # some editors begin a file with a mark
    except OSError as error:
        raise AssignmentError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise AssignmentError(f"{path}: line {line_of(error)} is not UTF-8; save the file as UTF-8") from None
    except ValueError as error:  # no TOML, a number of thousands of digits, or no assignment
        raise AssignmentError(f"{path}: {error}") from None


def released_folder() -> Path:
    """The students' package of the kit's own assignment, where a release puts it. Raises: AssignmentError."""
    return ROOT / read_assignment().package


@lru_cache(maxsize=8)
def _parsed(text: str, path: Path) -> Assignment:
    return _assignment(tomllib.loads(text), path)


def _assignment(content: dict[str, Any], path: Path) -> Assignment:
    words = ["title", "name", "due", "contact", "package", "python"]
    _table(content, [*words, "credit", "thresholds", "limits", "late", "release", "contract", "tasks"], "the file")
    due = content.get("due", "")
    if not isinstance(due, (str, date)):
        raise AssignmentError(f"due = {due!r}: expected text in quotes, or a date")
    own_name = content.get("name", "assignment")
    if not isinstance(own_name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", own_name):
        raise AssignmentError(f"name = {own_name!r}: expected letters, digits, - and _ only, such as 'transformer'")
    thresholds = _table(content.get("thresholds", {}), None, "[thresholds]")
    for name, value in thresholds.items():
        if not _is_number(value) or not 0 <= value <= 1:
            raise AssignmentError(f"[thresholds] {name} = {value!r}: expected a number between 0 and 1")
    try:
        limits = _limits(content.get("limits", {}))
    except ValueError as error:
        raise error if isinstance(error, AssignmentError) else AssignmentError(f"[limits] {error}") from None
    release = _table(content.get("release", {}), ["instructor_only"], "[release]")
    credit = content.get("credit", "items")
    if credit not in CREDITS:
        raise AssignmentError(f"credit = {credit!r}: expected {' or '.join(map(repr, CREDITS))}")
    contract = _contract(content.get("contract", {}))
    tables = content.get("tasks", [])
    if not isinstance(tables, list):
        raise AssignmentError("tasks: expected a table [[tasks]] for each of them")
    tasks = tuple(_task(table, thresholds, contract) for table in tables)
    if not tasks:
        raise AssignmentError("no [[tasks]]: expected at least one")
    asked = [task.threshold for task in tasks if task.threshold is not None]
    for lower, higher in pairwise(asked):
        if thresholds[higher] < thresholds[lower]:
            what = f"{higher} = {thresholds[higher]} is below {lower} = {thresholds[lower]}"
            raise AssignmentError(f"[thresholds] {what}: expected at least as much, since its task comes later")
    for key in ("number", "name"):
        values = [getattr(task, key) for task in tasks]
        for value in values:
            if values.count(value) > 1:
                raise AssignmentError(f"two tasks have the {key} {value!r}")
    return Assignment(
        title=_line(content.get("title", "Assignment"), "title"),
        name=own_name,
        package=_package(content.get("package", "student")),
        credit=credit,
        thresholds={name: float(value) for name, value in thresholds.items()},
        limits=limits,
        instructor_only=tuple(_texts(release.get("instructor_only", []), "[release] instructor_only")),
        contract=contract,
        tasks=tasks,
        path=path,
        due=str(due),
        contact=_text(content.get("contact", ""), "contact"),
        python=_python(content.get("python", "3.11")),
        late=_late(content["late"]) if "late" in content else None,
    )


def _python(text: object) -> tuple[int, int]:
    """The version of the Python that grades."""
    if not isinstance(text, str) or not re.fullmatch(r"3\.\d\d", text) or text < "3.11":
        raise AssignmentError(f"python = {text!r}: expected the version that grades, 3.11 or later, such as '3.12'")
    return 3, int(text[2:])


def _limits(content: object) -> Limits:
    keys = [item.name for item in fields(Limits)]
    table = _table(content, keys, "[limits]")
    if missing := [key for key in keys if key not in table]:
        raise AssignmentError(f"[limits]: expected every limit; missing: {', '.join(missing)}")
    return Limits(**table)


def _late(content: object) -> LatePolicy:
    table = _table(content, [item.name for item in fields(LatePolicy)], "[late]")
    if "due" not in table:
        raise AssignmentError("[late]: due is missing; write, for example, due = 2026-12-18T23:59:00+01:00")
    try:
        return LatePolicy(**table)
    except ValueError as error:
        raise AssignmentError(f"[late] {error}") from None


def _contract(content: object) -> Contract:
    keys = ["components", "nn_modules", "methods", "initialised", "forbidden"]
    table = _table(content, keys, "[contract]")
    modules = table.get("components", {})
    if not isinstance(modules, dict) or not modules:
        raise AssignmentError('[contract.components]: expected at least one module, such as layers = ["LayerNorm"]')
    known: list[str] = []
    for module, names in modules.items():
        known += _names(names, f"[contract.components] {module}")
        if not module.isidentifier():
            raise AssignmentError(f"[contract.components] {module!r}: expected the name of a module, without .py")
    for name in known:
        if known.count(name) > 1:
            raise AssignmentError(f"[contract.components] {name!r} occurs twice: each component needs its own name")
    groups = {key: _names(table.get(key, []), f"[contract] {key}") for key in ("nn_modules", "initialised")}
    for key, names in groups.items():
        for name in names:
            if name not in known:
                raise AssignmentError(f"[contract] {key}: unknown component {name!r}{_suggest(name, known)}")
    return Contract(
        modules={module: tuple(names) for module, names in modules.items()},
        nn_modules=frozenset(groups["nn_modules"]),
        methods=tuple(_names(table.get("methods", []), "[contract] methods")),
        initialised=frozenset(groups["initialised"]),
        forbidden=_forbidden(table.get("forbidden", {})),
    )


def _names(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name.isidentifier() for name in value):
        raise AssignmentError(f"{where} = {value!r}: expected a list of Python names")
    return value


def _forbidden(content: object) -> Forbidden:
    keys = [item.name for item in fields(Forbidden)]
    table = _table(content, keys, "[contract.forbidden]")
    lists = {key: _texts(table.get(key, []), f"[contract.forbidden] {key}") for key in keys}
    for key, texts in lists.items():
        _check_patterns(texts, f"[contract.forbidden] {key}")
    return Forbidden(
        classes="|".join(lists["classes"]),
        functions="|".join(lists["functions"]),
        modules=tuple(lists["modules"]),
        kernels="|".join(lists["kernels"]),
        python=tuple(lists["python"]),
        internals="|".join(lists["internals"]),
    )


def _check_patterns(texts: Sequence[str], where: str) -> None:
    """Regular expressions, which are used joined by `|`: each by itself, and all in one."""
    try:
        for text in texts:
            if not text:
                raise AssignmentError(f"{where}: '' would match nothing; remove it")
            what = f"{text!r} is not a regular expression that can stand among others"
            re.compile(f"(?:{text})")
        what = "these regular expressions cannot be joined"
        re.compile("|".join(texts))
    except re.error as error:
        raise AssignmentError(f"{where}: {what}: {error}") from None


def _task(content: object, thresholds: dict[str, Any], contract: Contract) -> Task:
    where = f"task {content.get('number', '?')}" if isinstance(content, dict) else "[[tasks]]"
    table = _table(content, [item.name for item in fields(Task)], where)
    for key in ("number", "name", "title", "points"):
        if key not in table:
            raise AssignmentError(f"{where}: {key} is missing")
    number, points, extension = table["number"], table["points"], table.get("extension", False)
    if not isinstance(number, str) or not re.fullmatch(r"(\d+|E)\.\d+", number):
        raise AssignmentError(f"{where}: number = {number!r}: expected a string like '1.3' or 'E.1'")
    for key in ("name", "title"):
        _line(table[key], f"{where}: {key}")
    if not _is_number(points) or points < 0:
        raise AssignmentError(f"{where}: points = {points!r}: expected a finite number of at least 0")
    if not isinstance(extension, bool):
        raise AssignmentError(f"{where}: extension = {extension!r}: expected true or false")
    visibility = table.get("visibility", "visible")
    if visibility not in VISIBILITIES:
        expected = " or ".join(map(repr, VISIBILITIES))
        raise AssignmentError(f"{where}: visibility = {visibility!r}: expected {expected}")
    components = tuple(_texts(table.get("components", []), f"{where}: components"))
    threshold = _text(table["threshold"], f"{where}: threshold") if "threshold" in table else None
    if bool(components) == (threshold is not None):
        raise AssignmentError(f"{where}: expected either `components` or `threshold`")
    for component in components:
        if component not in contract.components:
            module, _, name = component.partition(".")
            what = f"unknown component {component!r}{_suggest(component, contract.components)}"
            if module in contract.modules:
                what += f" If it is new, add {name!r} to {module} in [contract.components]"
            raise AssignmentError(f"{where}: {what}")
    if threshold is not None and threshold not in thresholds:
        raise AssignmentError(f"{where}: unknown threshold {threshold!r}{_suggest(threshold, thresholds)}")
    items = _items(table.get("items", []), where)
    return Task(**{**table, "components": components, "points": float(points), "items": items})


def _items(content: object, where: str) -> tuple[Item, ...]:
    if not isinstance(content, list):
        raise AssignmentError(f'{where}: items: expected a list of {{ name = "…", weight = 1 }}')
    found: list[Item] = []
    for entry in content:
        table = _table(entry, [item.name for item in fields(Item)], f"{where}: an item")
        name = _line(table.get("name"), f"{where}: an item's name")
        weight, requires = table.get("weight"), table.get("requires", found[0].name if found else "")
        if not isinstance(weight, (int, float)) or not _is_number(weight) or weight <= 0:
            raise AssignmentError(f"{where}: {name!r}: weight = {weight!r}: expected a number above 0")
        known = [item.name for item in found]
        if name in known:
            raise AssignmentError(f"{where}: two items are called {name!r}")
        if requires and requires not in known:
            raise AssignmentError(f"{where}: {name!r}: requires = {requires!r}: expected an item that stands before it")
        found.append(Item(name, float(weight), requires))
    return tuple(found)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise AssignmentError(f"{where} = {value!r}: expected text in quotes")
    return value


def _line(value: object, where: str) -> str:
    """Text that stands in headings and tables."""
    text = _text(value, where)
    if not text.strip() or not text.isprintable():
        raise AssignmentError(f"{where} = {value!r}: expected one line of text")
    return text


def _package(value: object) -> str:
    """The name of the students' package, which stands beside the kit's own."""
    name = _text(value, "package")
    if not name.isidentifier() or keyword.iskeyword(name) or name in sys.stdlib_module_names or name in TAKEN:
        raise AssignmentError(f"package = {name!r}: expected the name of a Python package that nothing else has")
    return name


def _texts(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise AssignmentError(f"{where} = {value!r}: expected a list of strings")
    return value


def _is_number(value: object) -> bool:
    """Whether it is a finite number; TOML also has `inf` and `nan`, and whole numbers of any length."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _table(content: object, known: Iterable[str] | None, where: str) -> dict[str, Any]:
    """The content, checked to be a table that has no other than the known keys; None = any."""
    if not isinstance(content, dict):
        raise AssignmentError(f"{where}: expected a table")
    names = list(content if known is None else known)
    for key in content:
        if key not in names:
            raise AssignmentError(f"{where}: unknown key {key!r}{_suggest(key, names)}")
    return content


def _suggest(name: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
