"""Reads `assignment.toml`: tasks, points, thresholds, limits, and the contract that submissions keep."""

import keyword
import re
import sys
import tomllib
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from .assignment_tables import (
    Contract,
    LatePolicy,
    Limits,
    is_number,
    read_choice,
    read_contract,
    read_late,
    read_limits,
    read_line,
    read_table,
    read_text,
    read_texts,
    suggest,
)
from .command_line import UserError
from .places import ASSIGNMENT, ASSIGNMENT_FILE, REFERENCE, ROOT
from .texts import line_of

CREDITS = ("items", "all")
ASSISTANTS = ("none", "tutor", "free")
PHASES = (None, 1, 2)
UNDERSTANDING = ("own_tests", "questions", "hunts")
"""Kinds of tasks about understanding, whose points stand in a table of their own."""
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
        tests_of: where the components are classes of the student's own tests: what each of them tests.
        understanding: one of UNDERSTANDING; "" = the task is about code.
        asks_about: components that its questions are about: whoever changes these is asked anew.
        threshold: the name of the BLEU that is asked for; None where components are judged.
        by_hand: whether people mark it, and nothing else: an oral check, a sitting, a report.
        written: whether it is one that students answer in writing: in ANSWERS, or in a cell of text.
        items: the rubric; without one, the task is earned where all its tests pass.
    """

    number: str
    name: str
    title: str
    points: float
    components: tuple[str, ...] = ()
    tests_of: tuple[str, ...] = ()
    understanding: str = ""
    asks_about: tuple[str, ...] = ()
    threshold: str | None = None
    by_hand: bool = False
    written: bool = False
    extension: bool = False
    visibility: str = "visible"
    items: tuple[Item, ...] = ()

    @property
    def marker(self) -> str:
        """The pytest marker of its tests: 1.3 -> task_1_3, E.1 -> task_e_1."""
        return "task_" + self.number.replace(".", "_").lower()

    @property
    def is_answered(self) -> bool:
        """Whether students answer questions in it: what is judged is not what a component computes."""
        return self.understanding in ("questions", "hunts")


@dataclass(frozen=True)
class Assignment:
    """The whole file; `name` is nbgrader's for the assignment, `python` is the version that grades.

    `assistants` is what coding assistants may do; `predictions`: whether notebooks ask before they check; `hint_after`:
    how many failed attempts a hint takes. `phase` is of the release: in the first, component tests of what students
    write tests for are held back; None = no phases.
    """

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
    assistants: str = "tutor"
    predictions: bool = True
    hint_after: int = 3
    late: LatePolicy | None = None
    phase: int | None = None

    @property
    def folder(self) -> Path:
        """The folder with the rest of the assignment: the file's own, if it holds tests; otherwise the kit's."""
        return self.path.parent.resolve() if (self.path.parent / "tests").is_dir() else ASSIGNMENT

    @property
    def own_tests(self) -> frozenset[str]:
        """The modules that hold students' own tests: they are tried on implementations of ours, and not judged."""
        return frozenset(name.partition(".")[0] for task in self.tasks if task.tests_of for name in task.components)

    @property
    def held_back(self) -> tuple[Task, ...]:
        """The tasks whose component tests students do not get in this phase."""
        tested = {name for task in self.tasks for name in task.tests_of if self.phase == 1}
        return tuple(task for task in self.tasks if not task.tests_of and not tested.isdisjoint(task.components))

    @property
    def written(self) -> tuple[Task, ...]:
        """The tasks that students answer in writing."""
        return tuple(task for task in self.tasks if task.written)

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


def read_assignment(path: Path | str = ASSIGNMENT_FILE) -> Assignment:
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
    words = ["title", "name", "due", "contact", "package", "python", "assistants", "predictions", "hint_after"]
    read_table(
        content,
        [*words, "credit", "thresholds", "limits", "late", "release", "understanding", "contract", "tasks"],
        "the file",
    )
    due = content.get("due", "")
    if not isinstance(due, (str, date)):
        raise AssignmentError(f"due = {due!r}: expected text in quotes, or a date")
    own_name = content.get("name", "assignment")
    if not isinstance(own_name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", own_name):
        raise AssignmentError(f"name = {own_name!r}: expected letters, digits, - and _ only, such as 'transformer'")
    thresholds = read_table(content.get("thresholds", {}), None, "[thresholds]")
    for name, value in thresholds.items():
        if not is_number(value) or not 0 <= value <= 1:
            raise AssignmentError(f"[thresholds] {name} = {value!r}: expected a number between 0 and 1")
    limits = read_limits(content.get("limits", {}))
    release = read_table(content.get("release", {}), ["instructor_only", "phase"], "[release]")
    phase = release.get("phase")
    if phase not in PHASES:
        raise AssignmentError(f"[release] phase = {phase!r}: expected 1 or 2")
    understanding = read_table(content.get("understanding", {}), [*UNDERSTANDING], "[understanding]")
    contract = read_contract(content.get("contract", {}))
    tables = content.get("tasks", [])
    if not isinstance(tables, list):
        raise AssignmentError("tasks: expected a table [[tasks]] for each of them")
    tasks = tuple(_task(table, thresholds, understanding, contract) for table in tables)
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
        title=read_line(content.get("title", "Assignment"), "title"),
        name=own_name,
        package=_package(content.get("package", "student")),
        credit=read_choice(content.get("credit", "items"), CREDITS, "credit"),
        thresholds={name: float(value) for name, value in thresholds.items()},
        limits=limits,
        instructor_only=tuple(read_texts(release.get("instructor_only", []), "[release] instructor_only")),
        contract=contract,
        tasks=tasks,
        path=path,
        due=str(due),
        contact=read_text(content.get("contact", ""), "contact"),
        python=_python(content.get("python", "3.11")),
        assistants=read_choice(content.get("assistants", "tutor"), ASSISTANTS, "assistants"),
        predictions=_switch(content.get("predictions", True), "predictions"),
        hint_after=_count(content.get("hint_after", 3), "hint_after"),
        late=read_late(content["late"]) if "late" in content else None,
        phase=phase,
    )


def _switch(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise AssignmentError(f"{where} = {value!r}: expected true or false")
    return value


def _count(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise AssignmentError(f"{where} = {value!r}: expected a whole number, 0 or more")
    return value


def _python(text: object) -> tuple[int, int]:
    """The version of the Python that grades."""
    if not isinstance(text, str) or not re.fullmatch(r"3\.\d\d", text) or text < "3.11":
        raise AssignmentError(f"python = {text!r}: expected the version that grades, 3.11 or later, such as '3.12'")
    return 3, int(text[2:])


def _task(content: object, thresholds: dict[str, Any], understanding: dict[str, Any], contract: Contract) -> Task:
    where = f"task {content.get('number', '?')}" if isinstance(content, dict) else "[[tasks]]"
    table = read_table(content, [item.name for item in fields(Task)], where)
    kind = read_choice(table.get("understanding", ""), ("", *UNDERSTANDING), f"{where}: understanding")
    if kind:
        if "points" in table:
            raise AssignmentError(f"{where}: points: they stand in [understanding], as {kind}")
        table = {**table, "points": understanding.get(kind, 0)}
    for key in ("number", "name", "title", "points"):
        if key not in table:
            raise AssignmentError(f"{where}: {key} is missing")
    number, points, extension = table["number"], table["points"], table.get("extension", False)
    if not isinstance(number, str) or not re.fullmatch(r"(\d+|E)\.\d+", number):
        raise AssignmentError(f"{where}: number = {number!r}: expected a string like '1.3' or 'E.1'")
    for key in ("name", "title"):
        read_line(table[key], f"{where}: {key}")
    if not is_number(points) or points < 0:
        given = f"[understanding] {kind}" if kind else f"{where}: points"
        raise AssignmentError(f"{given} = {points!r}: expected a finite number of at least 0")
    _switch(extension, f"{where}: extension")
    read_choice(table.get("visibility", "visible"), VISIBILITIES, f"{where}: visibility")
    components = tuple(read_texts(table.get("components", []), f"{where}: components"))
    tests_of = tuple(read_texts(table.get("tests_of", []), f"{where}: tests_of"))
    asks_about = tuple(read_texts(table.get("asks_about", []), f"{where}: asks_about"))
    threshold = read_text(table["threshold"], f"{where}: threshold") if "threshold" in table else None
    by_hand = _switch(table.get("by_hand", False), f"{where}: by_hand")
    if [bool(components), threshold is not None, by_hand].count(True) != 1:
        raise AssignmentError(f"{where}: expected one of `components`, `threshold` and `by_hand = true`")
    if _switch(table.get("written", False), f"{where}: written") and not by_hand:
        raise AssignmentError(f"{where}: written: people read it; expected `by_hand = true`, too")
    if tests_of and len(tests_of) != len(components):
        raise AssignmentError(f"{where}: tests_of: expected what each of the components tests, in their order")
    for component in (*components, *tests_of, *asks_about):
        if component not in contract.components:
            module, _, name = component.partition(".")
            what = f"unknown component {component!r}{suggest(component, contract.components)}"
            if module in contract.modules:
                what += f" If it is new, add {name!r} to {module} in [contract.components]"
            raise AssignmentError(f"{where}: {what}")
    if threshold is not None and threshold not in thresholds:
        raise AssignmentError(f"{where}: unknown threshold {threshold!r}{suggest(threshold, thresholds)}")
    items = _items(table.get("items", []), where)
    read = {
        "components": components,
        "tests_of": tests_of,
        "asks_about": asks_about,
        "points": float(points),
        "items": items,
    }
    return Task(**{**table, **read})


def _items(content: object, where: str) -> tuple[Item, ...]:
    if not isinstance(content, list):
        raise AssignmentError(f'{where}: items: expected a list of {{ name = "…", weight = 1 }}')
    found: list[Item] = []
    for entry in content:
        table = read_table(entry, [item.name for item in fields(Item)], f"{where}: an item")
        name = read_line(table.get("name"), f"{where}: an item's name")
        weight, requires = table.get("weight"), table.get("requires", found[0].name if found else "")
        if not isinstance(weight, (int, float)) or not is_number(weight) or weight <= 0:
            raise AssignmentError(f"{where}: {name!r}: weight = {weight!r}: expected a number above 0")
        known = [item.name for item in found]
        if name in known:
            raise AssignmentError(f"{where}: two items are called {name!r}")
        if requires and requires not in known:
            raise AssignmentError(f"{where}: {name!r}: requires = {requires!r}: expected an item that stands before it")
        found.append(Item(name, float(weight), requires))
    return tuple(found)


def _package(value: object) -> str:
    """The name of the students' package, which stands beside the kit's own."""
    name = read_text(value, "package")
    if not name.isidentifier() or keyword.iskeyword(name) or name in sys.stdlib_module_names or name in TAKEN:
        raise AssignmentError(f"package = {name!r}: expected the name of a Python package that nothing else has")
    return name
