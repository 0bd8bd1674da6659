"""Makes nbgrader's course of prose and reference: notebooks with solutions, and what nbgrader makes of them.

The prose is written once, in Markdown; the code comes from the reference with its markers, which are nbgrader's own.
Nothing of `notebooks/source/` leaves.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from foundation.assignment_file import Assignment, Task
from foundation.texts import as_threshold, hint_above

from .contents import CORPUS, GRADER, read_folders, read_tests
from .handout import files_for_assistants, fill_in, named_pictures, words_of
from .packing import NOTEBOOK_SOURCES, REQUIREMENTS, read_requirements, requirements_file
from .prose import (
    EVERYWHERE,
    IN_FILES,
    Answer,
    Code,
    Definition,
    Part,
    Predict,
    Setup,
    TaskHead,
    Text,
    find_definitions,
    merge_imports,
    read_prose,
    without,
)
from .regions import ReleaseError, indent_of, read_text
from .skeleton import ASSIGNMENT_FILE, Skeleton, raise_statement

FOLDER = "notebooks"
PROSE = f"{FOLDER}/prose"
HELPER = "course.py"
CONFIG = "nbgrader_config.py"
HANDOUT = "handout.md"
SUPPORT = "support"  # the folder beside notebooks with what they import
PREDICTIONS = "predictions.json"
_IN_NOTEBOOK = f"{GRADER}/testing/notebook.py"

STUB = "raise NotImplementedError()"
"""What nbgrader puts in place of every solution."""

COLAB = """\
import os
import sys

if "google.colab" in sys.modules and not os.path.exists("course.py"):  # there, this folder lies in your Drive
    from google.colab import drive

    drive.mount("/content/drive")
    os.chdir("/content/drive/MyDrive/notebooks")
    sys.path.insert(0, os.getcwd())
"""
IMPORTS = "from course import box, check, hunt, is_graded, predict, refresh, right, understand"
HELPERS = [COLAB, IMPORTS, "", EVERYWHERE]
"""First of all: `course` makes the answers importable."""

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True)
class Course:
    """Both versions of the assignment's folder.

    Args:
        name: nbgrader's name of the assignment.
        source: files by path, with solutions; they stay with the instructor.
        release: files by path, as students get them.
        definitions: what the answer cells hold.
    """

    name: str
    source: Mapping[str, bytes]
    release: Mapping[str, bytes]
    definitions: tuple[Definition, ...]

    @property
    def shipped(self) -> dict[str, bytes]:
        """What students get, by path from the project's root."""
        return {f"{release_folder(self.name)}/{path}": content for path, content in self.release.items()}

    @property
    def kept(self) -> dict[str, bytes]:
        """What stays with the instructor, likewise."""
        return {f"{NOTEBOOK_SOURCES}/{self.name}/{path}": content for path, content in self.source.items()}


def release_folder(name: str) -> str:
    """Where nbgrader has the students' version of the assignment of that name, from the project's root."""
    return f"{FOLDER}/release/{name}"


def has_notebooks(root: Path) -> bool:
    """Whether the project has prose for notebooks at all."""
    return (root / PROSE).is_dir()


def make_course(root: Path, assignment: Assignment, skeleton: Skeleton, index: str = "") -> Course:
    """Makes the whole course. Raises: ReleaseError with the faults of the prose, or nbgrader's reason to refuse."""
    definitions = find_definitions(skeleton, assignment)
    support = collect_support(root, assignment, skeleton, index)
    source = {**make_sources(root, assignment, definitions), **support}
    return Course(assignment.name, source, generate(root, source), tuple(definitions))


def read_parts(root: Path) -> dict[str, list[Part]]:
    """The parts of each notebook by the path of its prose; {} without notebooks."""
    names = [f"{PROSE}/{path.name}" for path in sorted((root / PROSE).glob("*.md"))]
    return {name: read_prose(name, read_text(root / name, name)) for name in names}


def answers_to_predictions(root: Path, assignment: Assignment) -> bytes:
    """For each task with a question: the letters of all choices, the right one, and why."""
    asked = [part for parts in read_parts(root).values() for part in parts if isinstance(part, Predict)]
    found = {
        part.number: {"letters": "".join(part.lettered), "right": [*part.lettered][part.right], "why": part.why}
        for part in asked * assignment.predictions
    }
    return f"{json.dumps(found, indent=2, ensure_ascii=False)}\n".encode()


def read_efforts(root: Path) -> dict[str, TaskHead]:
    """Difficulty and minutes of each task by its number, as the notebooks' headings give them; {} without notebooks."""
    return {part.number: part for parts in read_parts(root).values() for part in parts if isinstance(part, TaskHead)}


def make_sources(root: Path, assignment: Assignment, definitions: Sequence[Definition]) -> dict[str, bytes]:
    """The notebooks with solutions, by file name."""
    by_task: dict[str, list[Definition]] = {}
    for one in definitions:
        by_task.setdefault(one.task, []).append(one)
    prose = read_parts(root)
    check_tasks(prose, assignment)
    made = {Path(path).stem: make_notebook(Path(path).stem, prose[path], by_task, assignment) for path in prose}
    for notebook in made.values():
        nbformat.validate(notebook)
    return {f"{name}.ipynb": f"{nbformat.writes(notebook)}\n".encode() for name, notebook in made.items()}


def collect_support(root: Path, assignment: Assignment, skeleton: Skeleton, index: str) -> dict[str, bytes]:
    """What notebooks need beside them: helper, tests, skeleton, corpus and pictures.

    The skeleton's folder has another name than the package and lies two levels down: the grader ignores notebooks that
    lie beside modules.
    """
    support = read_tests(root, assignment, [_IN_NOTEBOOK])
    support |= {f"skeleton/{path}": content for path, content in skeleton.files.items()}
    support |= read_folders(root, CORPUS)
    found = {f"{SUPPORT}/{path}": support[path] for path in sorted(support)}
    for path in sorted((root / PROSE).glob("*.md")):
        found |= named_pictures(root, read_text(path, f"{PROSE}/{path.name}"), f"{PROSE}/{path.name}")
    handout, packages = f"{FOLDER}/{HANDOUT}", read_requirements(root)
    readme = fill_in(read_text(root / handout, handout), handout, words_of(assignment, packages))
    found |= {HELPER: (root / FOLDER / HELPER).read_bytes(), "README.md": readme.encode("utf-8")}
    found[REQUIREMENTS] = requirements_file(packages, index)
    found[f"{SUPPORT}/{PREDICTIONS}"] = answers_to_predictions(root, assignment)
    return found | files_for_assistants(assignment)


def check_tasks(prose: Mapping[str, Sequence[Part]], assignment: Assignment) -> None:
    """Raises ReleaseError unless each task has one heading and one place for answers."""
    problems = []
    for kind, form in ((TaskHead, "{{task %s: …}}"), (Answer, "{{answer %s}}")):
        placed = [(part, path) for path, parts in prose.items() for part in parts if isinstance(part, kind)]
        wanted = {task.number for task in assignment.tasks if not task.by_hand or task.written}
        for part, path in placed:
            if part.number not in wanted:
                what = f"there is no task {part.number}, or it is here already"
                problems.append(f"{path}: {what}; remove the line")
            wanted.discard(part.number)
        for number in wanted:
            what = f"{form % number} is in none of the notebooks' prose"
            problems.append(f"{ASSIGNMENT_FILE}: {what}; put it in one, or remove the task")
    if problems:
        raise ReleaseError("\n".join(problems))


def make_notebook(
    name: str, parts: Sequence[Part], definitions: Mapping[str, Sequence[Definition]], assignment: Assignment
) -> NotebookNode:
    """Makes the notebook of one file of prose, with solutions: the definitions, by task."""
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
                text = without(text, IN_FILES)
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
            case Predict(number=number, lettered=lettered):
                if assignment.predictions:
                    cells.append(new_markdown_cell(part.text, id=next_id("predict")))
                    code = f'predict("{number}", "")  # {" or ".join(lettered)}'
                    cells.append(new_code_cell(code, id=next_id("prediction")))
            case Setup():
                imports = merge_imports([line for one in own for line in one.imports], {one.name for one in own})
                lines = HELPERS + [line for line in imports if line not in HELPERS]
                cells.append(_graded(f"setup_{_slug(name)}", "\n".join(lines), locked=True))
            case Answer(number=number) if tasks[number].by_hand:
                points = tasks[number].points
                cells.append(_graded(f"test_{_flat(number)}", "", solution=True, points=points, make=new_markdown_cell))
            case Answer(number=number):
                for one in definitions.get(number, ()):
                    cells.append(_graded(f"task_{_flat(number)}_{one.name}", one.text, solution=True))
                points = tasks[number].points
                cells.append(_graded(f"test_{_flat(number)}", f'check("{number}")', points=points, locked=True))
    notebook: NotebookNode = new_notebook(cells=cells, metadata=METADATA)
    return notebook


def _heading(part: TaskHead, task: Task, assignment: Assignment) -> str:
    of = "an extension, " * task.extension
    points = f"{of}{task.points:g} {'bonus ' * task.extension}points" if task.points else f"{of}no points"
    if task.threshold is not None:
        points += f" for BLEU of at least {as_threshold(assignment.thresholds[task.threshold])}"
    effort = f"Difficulty {part.stars} · about {part.minutes} minutes"
    return f"## {task.number} {task.title}\n\n*{effort} · {points}*"


def _graded(
    name: str,
    text: str,
    *,
    solution: bool = False,
    locked: bool = False,
    points: float | None = None,
    make: Callable[..., NotebookNode] = new_code_cell,
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
    return make(text, id=name[:64], metadata=nbformat.from_dict({"nbgrader": marks}))


def _flat(number: str) -> str:
    return number.replace(".", "_").lower()


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "section"


def generate(root: Path, source: Mapping[str, bytes]) -> dict[str, bytes]:
    """Takes nbgrader's steps of `generate_assignment` on each notebook, without its folders and its database."""
    # Here: nbgrader takes a second to load, and only this needs it.
    from nbgrader.preprocessors import SaveCells
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(root / FOLDER)).load_config()
    steps = [step(config=config) for step in config.GenerateAssignment.preprocessors if step is not SaveCells]
    released = dict(source)
    for path in [path for path in source if path.endswith(".ipynb")]:
        notebook = nbformat.reads(source[path].decode(), as_version=4)
        try:
            for step in steps:
                notebook, _ = step.preprocess(notebook, {})
        except (RuntimeError, ValueError) as error:
            raise ReleaseError(f"{FOLDER}: nbgrader refuses {path}: {error}") from None
        released[path] = f"{nbformat.writes(notebook)}\n".encode()
    return released


def name_stubs(text: str) -> str:
    """Turns nbgrader's stub below a hint into `raise NotImplementedError("TODO 1.2")`, as in the skeleton."""
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip() == STUB and (hint := hint_above(lines, number)):
            lines[number - 1] = indent_of(line) + raise_statement(hint[0])
    return "\n".join(lines)
