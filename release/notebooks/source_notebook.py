"""Makes the notebook of one file of prose, as nbgrader's source version: with solutions."""

import re
from collections.abc import Mapping, Sequence

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from foundation.assignment_file import Assignment, Task
from foundation.counting import as_threshold

from ..archives.student import ASSIGNMENT
from ..problems import Problem, ReleaseError
from .answers import EVERYWHERE, Definition, merge_imports
from .prose import Answer, Code, Part, Setup, TaskHead, Text

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

HELPERS = ["from course import check, is_graded, refresh", "", EVERYWHERE]
"""First of all: `course` makes the answers importable."""


def make_notebook(
    name: str, parts: Sequence[Part], definitions: Mapping[str, Sequence[Definition]], assignment: Assignment
) -> NotebookNode:
    """One notebook.

    Args:
        name: of its file, without the ending.
        parts: of its prose.
        definitions: by task.
        assignment: for titles and points.
    """
    tasks = {task.number: task for task in assignment.tasks}
    own = [one for part in parts if isinstance(part, Answer) for one in definitions.get(part.number, ())]
    cells: list[NotebookNode] = []
    names = _Names()
    for part in parts:
        match part:
            case Text(text=text):
                cells.append(_markdown(text, names.next(text)))
            case TaskHead(number=number):
                cells.append(_markdown(_heading(part, tasks[number], assignment), f"task_{_flat(number)}"))
                names.section = f"task-{_flat(number)}"
            case Code(text=text, may_fail=may_fail):
                cells.append(_code(text, names.next("", "code"), {"tags": ["raises-exception"]} if may_fail else {}))
            case Setup():
                imports = merge_imports([line for one in own for line in one.imports], {one.name for one in own})
                lines = HELPERS + [line for line in imports if line not in HELPERS]
                cells.append(_graded(f"setup_{_slug(name)}", "\n".join(lines), locked=True))
            case Answer(number=number):
                cells += [_graded(answer_id(one), one.solved, solution=True) for one in definitions.get(number, ())]
                test, points = f'check("{number}")', tasks[number].points
                cells.append(_graded(test_id(number), test, grade=True, locked=True, points=points))
    notebook: NotebookNode = new_notebook(cells=cells, metadata=METADATA)
    return notebook


def check_tasks(prose: Mapping[str, Sequence[Part]], assignment: Assignment) -> None:
    """Each task has one heading and one place for answers, in one notebook; each notebook with answers has its setup.

    Raises:
        ReleaseError: naming every place where that is not so.
    """
    known = [task.number for task in assignment.tasks]
    problems = []
    for kind, form in ((TaskHead, "{{task %s: …}}"), (Answer, "{{answer %s}}")):
        places: dict[str, str] = {}
        for path, parts in prose.items():
            for part in parts:
                if not isinstance(part, kind):
                    continue
                if part.number not in known:
                    right = f"the tasks are {', '.join(known)}"
                    problems.append(Problem(path, part.line, f"there is no task {part.number}", right))
                elif earlier := places.get(part.number):
                    what = f"{form % part.number} is already in {earlier}"
                    problems.append(Problem(path, part.line, what, "a task has one place: remove one of them"))
                places.setdefault(part.number, f"{path}:{part.line}")
        for number in known:
            if number not in places:
                what = f"{form % number} is in none of the notebooks' prose"
                problems.append(Problem(ASSIGNMENT, 0, what, "put it in one, or remove the task"))
    for path, parts in prose.items():
        setups = [part.line for part in parts if isinstance(part, Setup)]
        answers = [part.line for part in parts if isinstance(part, Answer)]
        if len(setups) > 1 or (answers and (not setups or setups[0] > answers[0])):
            line = answers[0] if answers else setups[1]
            problems.append(Problem(path, line, "{{setup}} is needed once", "above the first answer"))
    if problems:
        raise ReleaseError(problems)


def as_bytes(notebook: NotebookNode) -> bytes:
    """The file, validated."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return f"{text}\n".encode()


def stars(difficulty: int) -> str:
    """A difficulty, 1 to 5, as it is shown."""
    return "●" * difficulty + "○" * (5 - difficulty)


def _heading(part: TaskHead, task: Task, assignment: Assignment) -> str:
    points = f"{task.points:g} points" if task.points else "an extension, no points"
    if task.threshold is not None:
        points += f" for BLEU of at least {as_threshold(assignment.thresholds[task.threshold])}"
    effort = f"Difficulty {stars(part.difficulty)} · about {part.minutes} minutes"
    return f"## {task.number} {task.title}\n\n*{effort} · {points}*"


def _markdown(text: str, name: str) -> NotebookNode:
    cell: NotebookNode = new_markdown_cell(text, id=name)
    return cell


def _code(text: str, name: str, metadata: dict[str, object]) -> NotebookNode:
    cell: NotebookNode = new_code_cell(text, id=name)
    cell.metadata = nbformat.from_dict(metadata)
    return cell


def _graded(
    name: str, text: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: float = 0
) -> NotebookNode:
    """A cell that nbgrader knows; its id is its name, so that it stays the same from release to release."""
    marks: dict[str, object] = {
        "schema_version": 3,
        "grade": grade,
        "solution": solution,
        "locked": locked,
        "grade_id": name,
        "task": False,
    }
    if grade:
        marks["points"] = int(points) if float(points).is_integer() else points
    return _code(text, name[:64], {"nbgrader": marks})


def answer_id(one: Definition) -> str:
    """The id of a definition's answer cell."""
    return f"task_{_flat(one.task)}_{one.name}"


def test_id(number: str) -> str:
    """The id of a task's test cell."""
    return f"test_{_flat(number)}"


def _flat(number: str) -> str:
    return number.replace(".", "_").lower()


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "section"


class _Names:
    """Ids of cells that nobody names: the section's heading and a count, the same in every build."""

    def __init__(self) -> None:
        self.section = "top"
        self._counts: dict[str, int] = {}

    def next(self, text: str, kind: str = "text") -> str:
        """The id of the next cell; a heading in its first line begins a section."""
        if heading := re.match(r"#{1,3} (.+)", text):
            self.section = _slug(heading[1])
        name = f"{kind}-{self.section}"
        self._counts[name] = self._counts.get(name, 0) + 1
        return name if self._counts[name] == 1 else f"{name}-{self._counts[name]}"
