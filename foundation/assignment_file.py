"""Reads `assignment.toml`: tasks, points, thresholds, limits, and the contract that submissions keep."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from . import assignment_tables as rules
from .assignment_tables import Contract, LatePolicy, Limits, Line, Rule, read_table, read_values, suggest
from .command_line import UserError
from .places import ASSIGNMENT, ASSIGNMENT_FILE, REFERENCE, ROOT
from .texts import line_of

UNDERSTANDING = ("own_tests", "questions", "hunts", "sitting", "paper_hunt")
"""Kinds of tasks about understanding, whose points stand in a table of their own."""
NAME = rules.matching(r"[A-Za-z0-9][A-Za-z0-9_-]*", "letters, digits, - and _ only, such as 'transformer'")
NUMBER = rules.matching(r"(\d+|E)\.\d+", "a string like '1.3' or 'E.1'")
PACKAGE = rules.matching(r"[a-z_][a-z0-9_]*", "the name of a Python package, in small letters")
VERSION = rules.matching(
    r"3\.(1[1-9]|[2-9]\d)",
    "the version that grades, 3.11 or later, such as '3.12'",
    lambda value: (3, int(value[2:])),
)
RELEASE = {"instructor_only": rules.TEXTS, "phase": Rule("1 or 2", lambda value: value in (1, 2) and value is not True)}


@dataclass(frozen=True)
class Item:
    """An item of a task's rubric; it is earned where all its tests pass."""

    name: Line  # in the words of the course; tests name it with `@pytest.mark.item(name)`
    weight: rules.Above0  # its part of the task's points, in proportion to the weights of the other items
    requires: str = ""  # the name of an item without which this one is worth nothing; "" = none


@dataclass(frozen=True)
class Task:
    """One part that earns points: tests judge it, or BLEU against a threshold."""

    number: Annotated[str, NUMBER]
    name: Line
    title: Line
    points: float
    components: tuple[str, ...] = ()  # those of the contract whose faults cost these points; none where BLEU is judged
    tests_of: tuple[str, ...] = ()  # where the components are classes of the student's own tests: what each tests
    understanding: Literal["", "own_tests", "questions", "hunts", "sitting", "paper_hunt"] = ""  # "" = it is about code
    asks_about: tuple[str, ...] = ()  # components that its questions are about: whoever changes these is asked anew
    threshold: str | None = None  # the name of the BLEU that is asked for; None where components are judged
    by_hand: bool = False  # whether people mark it, and nothing else: an oral check, a sitting, a report
    written: bool = False  # whether students answer it in writing: in ANSWERS, or in a cell of text
    extension: bool = False
    visibility: Literal["visible", "hidden", "after_due_date", "after_published"] = "visible"
    items: tuple[Item, ...] = ()  # the rubric; without one, the task is earned where all its tests pass

    @property
    def shares(self) -> tuple[float, ...]:
        """The points of each item of the rubric, in hundredths whose sum is the task's points."""
        total, weight, shares = sum(item.weight for item in self.items), 0.0, list[float]()
        for item in self.items:  # a sum that is rounded as it grows is exact at its end
            weight += item.weight
            shares.append(round(round(self.points * weight / total, 2) - sum(shares), 2))
        return tuple(shares)

    @property
    def marker(self) -> str:
        """The pytest marker of its tests."""
        return marker_of(self.number)

    @property
    def has_component_tests(self) -> bool:
        """True if grading judges it by component tests alone: not by what own tests find, nor by answers to hunts."""
        return bool(self.components) and not self.tests_of and self.understanding != "hunts"

    @property
    def is_answered(self) -> bool:
        """True if students answer questions in it: nothing that a component computes is judged."""
        return self.understanding in ("questions", "hunts")


@dataclass(frozen=True)
class Assignment:
    """The whole file."""

    path: Path
    thresholds: dict[str, float]
    limits: Limits
    contract: Contract
    tasks: tuple[Task, ...]
    late: LatePolicy | None = None
    instructor_only: tuple[str, ...] = ()
    phase: int | None = None  # in the first, component tests of what students write tests for are held back
    title: Line = "Assignment"
    name: Annotated[str, NAME] = "assignment"  # nbgrader's
    package: Annotated[str, PACKAGE] = "student"
    credit: Literal["items", "all"] = "items"
    term: str = ""
    due: str = ""
    contact: str = ""
    python: Annotated[tuple[int, int], VERSION] = (3, 11)  # the version that grades
    assistants: Literal["none", "tutor", "free"] = "tutor"  # what coding assistants may do
    predictions: bool = True  # whether notebooks ask before they check
    hint_after: rules.Count = 3  # how many failed attempts a hint takes
    most_bleu: Annotated[float, rules.between(0, 1)] = 1.0  # translations above it are looked at first

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
        """True if BLEU decides on any points."""
        return any(task.threshold is not None for task in self.tasks)

    @property
    def reference(self) -> Path:
        """The marked solution, `reference/` of the project that has this folder as `assignment/`."""
        return self.folder.parent / REFERENCE.name

    @property
    def max_score(self) -> float:
        """All points except bonus points."""
        return sum(task.points for task in self.tasks if not task.extension)


def read_assignment(path: Path | str = ASSIGNMENT_FILE) -> Assignment:
    """Reads the file, or `assignment.toml` in a folder. Raises: UserError naming the key and what would be right."""
    path = Path(path)
    if path.is_dir():
        path /= ASSIGNMENT_FILE.name
    try:
        return _parsed(path.read_text(encoding="utf-8-sig"), path)  # some editors begin a file with a mark
    except OSError as error:
        fault = error.strerror or str(error)
    except UnicodeDecodeError as error:
        fault = f"line {line_of(error)} is not UTF-8; save the file as UTF-8"
    except tomllib.TOMLDecodeError as error:
        fault = f"not TOML, in which text has quotes: {error}"
    except ValueError as error:  # a number of thousands of digits, or no assignment
        fault = str(error)
    raise UserError(f"{path}: {fault}")


def released_folder() -> Path:
    """The students' package of the kit's own assignment, where a release puts it. Raises: UserError."""
    return ROOT / read_assignment().package


def marker_of(number: str) -> str:
    """Return the pytest marker of a task's tests: 1.3 -> task_1_3, E.1 -> task_e_1."""
    return "task_" + number.replace(".", "_").lower()


@lru_cache(maxsize=8)
def _parsed(text: str, path: Path) -> Assignment:
    content = tomllib.loads(text)
    tables = ["thresholds", "limits", "late", "release", "understanding", "contract", "tasks"]
    values = read_table(Assignment, content, "", tables)
    values |= read_values(RELEASE, content.get("release", {}), "[release]: ")
    thresholds = content.get("thresholds", {})
    thresholds = read_values(dict.fromkeys(thresholds, rules.between(0, 1)), thresholds, "[thresholds]: ")
    for (name, low), (other, high) in pairwise(thresholds.items()):
        if high < low:
            raise UserError(f"[thresholds]: {other} = {high:g}: expected at least {low:g}, the {name} one before it")
    kinds, given = dict.fromkeys(UNDERSTANDING, rules.POINTS), content.get("understanding", {})
    points = read_values(kinds, given, "[understanding]: ")
    contract = rules.read_contract(content.get("contract", {}))
    tasks = tuple(_task(table, thresholds, points, contract) for table in content.get("tasks", ()))
    for key in ("number", "name"):
        of_tasks = [getattr(task, key) for task in tasks]
        if twice := [value for value in of_tasks if of_tasks.count(value) > 1]:
            raise UserError(f"two tasks have the {key} {twice[0]!r}")
    for task in tasks:
        if task.tests_of and task.points and "phase" not in values:
            where = f"[understanding]: own_tests = {task.points:g}: "
            fault = f"the tests that answer task {task.number} are handed out"
            raise UserError(f"{where}{fault}; expected [release] phase = 1, which holds them back, and later 2")
    limits = Limits(**read_table(Limits, content.get("limits", {}), "[limits]: "))
    late = LatePolicy(**read_table(LatePolicy, content["late"], "[late]: ")) if "late" in content else None
    return Assignment(path, thresholds, limits, contract, tasks, late, **values)


def _task(content: Any, thresholds: dict[str, float], points: dict[str, float], contract: Contract) -> Task:
    where, kind = f"task {content.get('number', '?')}: ", content.get("understanding")
    if kind in UNDERSTANDING:
        if "points" in content:
            raise UserError(f"{where}points: they stand in [understanding], as {kind}")
        content = {**content, "points": points.get(kind, 0)}
    task = Task(**read_table(Task, content, where, ["items"]), items=_items(content.get("items", []), where))
    if [bool(task.components), task.threshold is not None, task.by_hand].count(True) != 1:
        raise UserError(f"{where}expected one of `components`, `threshold` and `by_hand = true`")
    if task.written and not task.by_hand:
        raise UserError(f"{where}written: people read it; expected `by_hand = true`, too")
    if task.tests_of and len(task.tests_of) != len(task.components):
        raise UserError(f"{where}tests_of: expected what each of the components tests, in their order")
    rules.check_components((*task.components, *task.tests_of, *task.asks_about), contract.components, where)
    if task.threshold is not None and task.threshold not in thresholds:
        raise UserError(f"{where}unknown threshold {task.threshold!r}{suggest(task.threshold, thresholds)}")
    return task


def _items(content: list[object], where: str) -> tuple[Item, ...]:
    """The rubric of a task; without `requires`, an item requires the first one."""
    items: list[Item] = []
    for entry in content:
        item = Item(**({"requires": items[0].name if items else ""} | read_table(Item, entry, f"{where}an item: ")))
        known = [other.name for other in items]
        if item.name in known:
            raise UserError(f"{where}two items are called {item.name!r}")
        if item.requires and item.requires not in known:
            raise UserError(f"{where}{item.name!r}: requires = {item.requires!r}: expected an item before it")
        items.append(item)
    return tuple(items)
