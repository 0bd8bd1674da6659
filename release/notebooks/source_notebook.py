"""Makes the notebook of one file of prose, as nbgrader's source version: with solutions."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from foundation.assignment_file import Assignment, Task
from foundation.counting import as_threshold

from ..problems import Problem, ReleaseError
from ..skeleton.build import ASSIGNMENT_FILE
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
    section, counts = "top", Counter[str]()

    def next_id(kind: str) -> str:
        """Of a cell that nobody names: the section's heading and a count, the same in every build."""
        name = f"{kind}-{section}"
        counts[name] += 1
        return name if counts[name] == 1 else f"{name}-{counts[name]}"

    for part in parts:
        match part:
            case Text(text=text):
                if heading := re.match(r"#{1,3} (.+)", text):
                    section = _slug(heading[1])
                cells.append(new_markdown_cell(text, id=next_id("text")))
            case TaskHead(number=number):
                text = _heading(part, tasks[number], assignment)
                cells.append(new_markdown_cell(text, id=f"task_{_flat(number)}"))
                section = f"task-{_flat(number)}"
            case Code(text=text, may_fail=may_fail):
                tags = {"tags": ["raises-exception"]} if may_fail else {}
                cells.append(new_code_cell(text, id=next_id("code"), metadata=tags))
            case Setup():
                imports = merge_imports([line for one in own for line in one.imports], {one.name for one in own})
                lines = HELPERS + [line for line in imports if line not in HELPERS]
                cells.append(_graded(f"setup_{_slug(name)}", "\n".join(lines), locked=True))
            case Answer(number=number):
                cells += [_graded(answer_id(one), one.solved, solution=True) for one in definitions.get(number, ())]
                cells.append(_graded(test_id(number), f'check("{number}")', points=tasks[number].points, locked=True))
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
        for path, part in ((path, part) for path, parts in prose.items() for part in parts if isinstance(part, kind)):
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
                problems.append(Problem(ASSIGNMENT_FILE, 0, what, "put it in one, or remove the task"))
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


def _heading(part: TaskHead, task: Task, assignment: Assignment) -> str:
    points = f"{task.points:g} points" if task.points else "an extension, no points"
    if task.threshold is not None:
        points += f" for BLEU of at least {as_threshold(assignment.thresholds[task.threshold])}"
    effort = f"Difficulty {part.stars} · about {part.minutes} minutes"
    return f"## {task.number} {task.title}\n\n*{effort} · {points}*"


def _graded(
    name: str, text: str, *, solution: bool = False, locked: bool = False, points: float | None = None
) -> NotebookNode:
    """A cell that nbgrader knows; its id is its name, so that it stays the same from release to release."""
    marks: dict[str, object] = {
        "schema_version": 3,
        "grade": points is not None,
        "solution": solution,
        "locked": locked,
        "grade_id": name,
        "task": False,
    }
    if points is not None:
        marks["points"] = int(points) if float(points).is_integer() else points
    cell: NotebookNode = new_code_cell(text, id=name[:64], metadata=nbformat.from_dict({"nbgrader": marks}))
    return cell


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
