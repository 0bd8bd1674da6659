"""Runs in a student's notebook: checks of tasks, and the answers of all notebooks of a folder as one package.

    course = Course(Path.cwd(), Path("support"))
    course.check("1.2")                            # the tests of the .py files, on the current answers
    from student.layers import EncoderLayer        # answers from any notebook of the folder, saved or run here

Cells, saved or run in this kernel since, are distributed over modules exactly as in grading, so that the tested code is
the graded code. Everything runs in the student's own kernel: for learning, and for nbgrader's own autograding. Marks
that must withstand the graded code come from `python -m autograder grade` (see `--to-nbgrader`).
"""

import json
import linecache
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from typing import NamedTuple

from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.command_line import UserError
from foundation.texts import as_threshold, first_of, last_lines

from ..grading.scoring import ScoringError, read_references, read_translations
from ..intake.cells import DEFINITIONS, MOST_NOTES, Cell, Distribution, describe_unreadable, read_code, read_notebook
from ..intake.names import find_mentions, to_be_read
from ..intake.sources import IntakeError, Locate, RefusedError, Source, Sources, read_release
from ..own_work import boxes, questions
from ..running.collection import Collection, run_in_process
from ..running.in_process import InProcessSubmission
from ..sandbox.worker.loading import describe
from ..testing.observation import side_by_side
from ..testing.results import State, TaskResult, explain, judge_task, most_shown, most_telling
from . import hints

HERE = "this notebook"
TRANSLATIONS = "translations.txt"
PREDICTIONS = "predictions.json"


class Answers(NamedTuple):
    """The results of a notebook's cells."""

    sources: Sources
    origins: dict[str, list[str]]  # of each module with answers, the cell and line of each of its lines
    unreadable: dict[Cell, str]  # why
    doubts: dict[str, str]  # by name, of where the saved notebooks define it
    unsaved: dict[str, str]  # by name, of how the saved notebooks differ from what is tested


class Course:
    """The assignment as seen from a notebook."""

    def __init__(self, folder: Path, support: Path, history: Callable[[], Sequence[str]] = lambda: ()) -> None:
        """Makes the package importable, from the notebooks in `folder`, the skeleton and the corpus in `support`.

        `history` returns the cells that were run in this kernel so far, oldest first.
        """
        self.folder, self.support, self.history = folder, support, history
        self.assignment = read_assignment()
        self.skeleton = read_release(support / "skeleton", self.assignment.contract)
        self._answers: tuple[object, Answers] | None = None
        self._package = AnswerPackage(self.assignment.package, lambda: self.answers().sources)
        predictions = support / PREDICTIONS
        self._questions = json.loads(predictions.read_text(encoding="utf-8")) if predictions.is_file() else {}

    def answers(self) -> Answers:
        """Return what `assemble` returns, made anew after a change: importing the package asks once per module."""
        state = list(self.history()), [(path, path.stat().st_mtime_ns) for path in sorted(self.folder.glob("*.ipynb"))]
        if self._answers is None or self._answers[0] != state:
            self._answers = state, assemble(self.folder, self.history(), self.skeleton, self.assignment)
        return self._answers[1]

    def refresh(self) -> None:
        """Makes the next import of the package use the current answers."""
        self._package.forget()

    def predict(self, number: str, choice: str = "") -> None:
        """Prints whether a choice about a task, a letter, is right, and why if it is; it earns no points."""
        number = str(number)  # 1.2 is meant as "1.2", here and below
        question = self._questions.get(number)
        if question is None or (choice and choice not in question["letters"]):
            known = f"one of the letters {', '.join(question['letters'])}" if question else "a task with a question"
            print(f"predict({number!r}, {choice!r}): expected {known}")
        elif not choice:
            print(f"write a letter between the quotes: {', '.join(question['letters'])}")
        else:
            print(f"✓ {choice}: {question['why']}" if choice == question["right"] else f"✗ not {choice}; think again")

    def check(self, number: str, seed: int | None = None) -> float:
        """Tests one task and prints the result.

        Returns the points that it earns; nbgrader reads them below the cell. The same seed gives the same random
        inputs; None gives new ones.
        """
        number = str(number)
        task = next((task for task in self.assignment.tasks if task.number == number), None)
        if task is None:
            known = ", ".join(task.number for task in self.assignment.tasks)
            raise UserError(f"there is no task {number!r}; the tasks are {known}")
        if task.threshold is not None:
            print(self._about_translations(task, task.threshold))
            return 0.0
        sources, origins, unreadable, doubts, unsaved = self.answers()

        def locate(module: str, line: int) -> str:
            lines = origins.get(module, [])
            return lines[line - 1] if 0 < line <= len(lines) else ""

        seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        try:
            result, text = run_task(task, sources, seed, self.assignment, locate)
        except KeyboardInterrupt as stop:
            where = f" in {stop}" if str(stop) else ""
            raise UserError(f"check({number!r}) was stopped{where}") from None
        untold = {cell: why for cell, why in unreadable.items() if f"{cell}, {why}" not in text}
        if result.state is State.PASSED:
            doubts = unsaved | doubts
        names = (component.partition(".")[2] for component in task.components)
        notes = [f"note, once you hand in what is saved: {doubts[name]}" for name in names if name in doubts]
        parts = [text, *describe_unreadable(untold), *notes, *self._hints(task, sources, result.state)]
        if result.state is State.NOT_ATTEMPTED:
            parts.append("The tests see your answer as you have last run or saved it.")
        print("\n\n".join(parts))
        return result.score

    def understand(self, number: str) -> None:
        """Asks three questions about the answer to a task whose tests pass."""
        try:
            print(questions.tell(str(number), self.answers().sources, self.assignment))
        except UserError as error:
            print(error)

    def box(self, number: str, student: str, kind: str = "box") -> Callable[..., object]:
        """Return the answer to a task with the changed line of a hunt; or as it is, where `kind` is "right"."""
        return boxes.open_box(str(number), student, self.answers().sources, self.assignment, kind)

    def _hints(self, task: Task, sources: Sources, state: State) -> list[str]:
        """Hints, after some failed attempts."""
        if state not in (State.FAILED, State.ERROR) or not hints.read_hints(self.assignment.folder):
            return []
        if hints.count_attempt(self.folder / hints.ATTEMPTS, task, sources) < self.assignment.hint_after:
            return []
        return [f"Hint: {hint}" for hint in hints.hints_for(task, sources, self.assignment)[0]]

    def _about_translations(self, task: Task, threshold: str) -> str:
        """Describes whether the file can be scored; the references stay with the instructor."""
        head = f"{task.number} {task.title}: BLEU of at least {as_threshold(self.assignment.thresholds[threshold])}"
        path = self.folder / TRANSLATIONS
        if not path.is_file():
            return f"✗ {head}\n\n{TRANSLATIONS} does not exist yet: run the cell that writes it"
        source = self.support / "data" / "corpus" / "fren.test.src.bpe"
        notes: list[str] = []
        try:
            wanted = len(read_references(source, name=source.name))
            read_translations(path, expected=wanted, name=TRANSLATIONS, note=notes.append)
        except ScoringError as error:
            return f"✗ {head}\n\n{error}"
        text = f"{TRANSLATIONS} has the expected {wanted} lines; it will be scored after you hand it in"
        return "\n".join([f"· {head}", "", text, *(f"note: {note}" for note in notes)])


def run_task(task: Task, sources: Sources, seed: int, assignment: Assignment, locate: Locate) -> tuple[TaskResult, str]:
    """Judges one task by its tests: the result, and the text for the student, with places from `locate`."""
    tests = Collection(assignment)
    printed = run_in_process(tests, InProcessSubmission(sources, assignment, locate), task, seed)
    result = judge_task(task, list(tests.outcomes.values()), assignment.credit)
    has_part = task.understanding == "hunts" and bool(assignment.held_back)
    if task.tests_of or has_part:  # points depend on what students do not have: faults to be found, other hunts
        result = replace(result, score=0.0)
    judged = {*hints.modules_of(task)} - {*assignment.own_tests}
    own = {name: sources[name] for name in judged & sources.keys()}
    internals = to_be_read(sources, own, assignment.contract.forbidden, locate)
    mentions = [*find_mentions(own, assignment.contract.forbidden, locate)]
    return result, "\n".join([as_text(result, tests, printed, seed, bool(mentions), has_part), *mentions, *internals])


def as_text(
    result: TaskResult, tests: Collection, printed: str, seed: int, is_doubtful: bool = False, has_part: bool = False
) -> str:
    """The text below the student's cell, with what the answers printed; notes follow where grading may refuse some.

    Where the student `has_part` of the tests alone, there are no points yet, and without tests no mark either.
    """
    task, total = result.task, len(result.outcomes)
    missed = [outcome for outcome in result.outcomes if outcome.state != State.PASSED]
    points = f"{result.score:g} of {task.points:g} points" if task.points else "no points, an extension"
    points = "graded once you hand in" if task.tests_of else points
    points = "the other hunts are handed out later" if has_part else points
    points += ", unless grading refuses what is noted below" if is_doubtful and result.score else ""
    mark = "✓" if result.state == "passed" else "✗"
    count = f"{total - len(missed)} of {total} tests pass"
    lines = [f"{mark} {task.number} {task.title}: {count}, {points}" if total else f"{task.number} {task.title}"]
    if missed:
        lines += ["", explain(missed, total, result.outcomes, most_shown(task)).removeprefix(f"{count}.\n"), ""]
        compared = tests.compared.get(most_telling(missed, result.outcomes).nodeid)
        if compared is not None and (drawn := side_by_side(*compared)):
            lines += [*drawn, ""]
        lines.append(f'to repeat with the same inputs: check("{task.number}", seed={seed})')
    elif not total:
        lines += ["", "its tests are not here: they are handed out later", printed]
    if total and printed.strip():
        lines += ["", "output of your code:", last_lines(printed.strip())]
    return "\n".join(lines)


def assemble(folder: Path, history: Sequence[str], skeleton: Sources, assignment: Assignment) -> Answers:
    """All modules of the package, answers in place of the skeleton's TODOs.

    Cells that were run in this kernel, the `history`, take precedence over saved ones. Raises: IntakeError for a file
    that is not a notebook.
    """
    live = _latest([Cell(HERE, number, text, is_answer=True) for number, text in enumerate(history) if text.strip()])
    defined: set[str] = set().union(*map(_definitions, live))
    saved: list[Cell] = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            saved += (cell for cell in read_notebook(path.read_bytes(), path.name) if not cell.is_text)
        except RefusedError as error:
            raise IntakeError(f"{path.name}: {error}") from None
    graded = Distribution(saved, skeleton, assignment, "your notebooks")
    saved = [cell for cell in saved if defined.isdisjoint(_definitions(cell))]
    distribution = Distribution([*saved, *live], skeleton, assignment, "your notebooks")
    # A cell that was run and defines nothing, such as a misspelled experiment, stays in the history for good.
    counting = {
        cell: why for cell, why in distribution.unreadable.items() if cell.notebook != HERE or _definitions(cell)
    }
    sources = {**skeleton, **distribution.sources}
    return Answers(sources, distribution.origins, counting, graded.doubts, _differences(graded, distribution))


def _differences(graded: Distribution, tested: Distribution) -> dict[str, str]:
    """By name, how the saved answer differs from the tested one; nothing while the saved one is still a TODO."""
    differences = {}
    for name in graded.chosen.keys() & tested.chosen.keys():
        saved, run = graded.chosen[name], tested.chosen[name]
        if saved.has_todo:
            continue
        if saved.text.strip() != run.text.strip():
            differences[name] = f"its {name} is not what was tested; save it (Ctrl-S), or run its cell again"
        elif lost := sorted(tested.needed_by(name) - graded.makers.keys()):
            names = first_of(lost, MOST_NOTES)
            differences[name] = f"{name} needs {names}, which no saved cell defines; save (Ctrl-S), or write it again"
    return differences


def _latest(cells: list[Cell]) -> list[Cell]:
    """The cells without those whose definitions were all replaced by later cells, as in the kernel."""
    kept: list[Cell] = []
    later: set[str] = set()
    for cell in reversed(cells):
        names = _definitions(cell)
        if not names or names - later:
            kept.append(cell)
        later |= names
    return kept[::-1]


def _definitions(cell: Cell) -> set[str]:
    """The classes and functions that a cell defines at its top level."""
    items, _ = read_code(cell)
    return {name for item in items if item.node is None or isinstance(item.node, DEFINITIONS) for name in item.binds}


class AnswerPackage(MetaPathFinder, ExecutionLoader):
    """Finds and loads the package and its modules; each has the text that it had when first imported."""

    def __init__(self, name: str, collect: Callable[[], Sources]) -> None:
        """Sends imports of the package here; `collect` returns its current modules. An earlier finder of it goes."""
        self.name, self._collect = name, collect
        self._imported: dict[str, Source] = {}
        sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "name", None) != self.name]
        sys.meta_path.insert(0, self)
        self.forget()

    def forget(self) -> None:
        """Forgets the imported modules, so that the next import uses the current answers."""
        for name in [name for name in sys.modules if name == self.name or name.startswith(self.name + ".")]:
            del sys.modules[name]

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """A spec for the package or one of its modules."""
        package, _, module = fullname.partition(".")
        sources = self._collect() if package == self.name else {}
        described = describe(module or "__init__", sources)
        if described is None:
            return None
        path_of_module, is_package = described
        self._imported[fullname] = path_of_module, sources.get(module or "__init__", ("", ""))[1]
        linecache.cache.pop(path_of_module, None)  # has the lines of an earlier text
        return spec_from_loader(fullname, self, is_package=is_package or not module)

    def get_filename(self, fullname: str) -> str:
        """The path of a module."""
        return self._imported[fullname][0]

    def get_source(self, fullname: str) -> str:
        """The text of a module; tracebacks show its lines."""
        return self._imported[fullname][1]
