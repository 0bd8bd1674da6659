"""nbgrader's course of prose and reference: notebooks with solutions, and what nbgrader makes of them.

The prose is written once, in Markdown; the code comes from the reference with its markers, which are nbgrader's own.
Nothing of `notebooks/source/` leaves.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from foundation.assignment_file import Assignment, Task
from foundation.places import COMPONENT_TESTS
from foundation.texts import as_threshold, hint_above

from . import prose
from .contents import CORPUS, GIVEN, GRADER, collect_tests, read_folders
from .handout import HANDOUT, TEMPLATE, TEMPLATES, files_for_assistants, fill_in, named_pictures, words_of
from .packing import read_requirements
from .skeleton import ASSIGNMENT_FILE, Project, ReleaseError, Skeleton, raise_statement

FOLDER = "notebooks"
HELPER = "course.py"
CONFIG = "nbgrader_config.py"
SUPPORT = "support"  # the folder beside notebooks with what they import
PREDICTIONS = "predictions.json"

STUB = "raise NotImplementedError()"  # put in place of every solution by nbgrader

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class Course(NamedTuple):
    """Files by path: `source` has the solutions and stays with the instructor, `release` is what students get."""

    source: Mapping[str, bytes]
    release: Mapping[str, bytes]


def make_course(project: Project, skeleton: Skeleton, texts: prose.Prose) -> Course:
    """Make the whole course. Raises: ReleaseError with the faults of the prose, or nbgrader's reason to refuse."""
    source = make_sources(skeleton, texts) | collect_support(project, skeleton, texts)
    return Course(source, generate(project.root, source))


def make_sources(skeleton: Skeleton, texts: prose.Prose) -> dict[str, bytes]:
    """Make the notebooks with solutions, by file name."""
    definitions = prose.find_definitions(skeleton)
    check_tasks(texts, skeleton.assignment)
    made = {}
    for path, parts in texts.items():
        notebook = make_notebook(Path(path).stem, parts, definitions, skeleton.assignment)
        nbformat.validate(notebook)
        made[f"{Path(path).stem}.ipynb"] = f"{nbformat.writes(notebook)}\n".encode()
    return made


def collect_support(project: Project, skeleton: Skeleton, texts: prose.Prose) -> dict[str, bytes]:
    """Collect what notebooks need beside them: helper, tests, the engine's wheel, skeleton, corpus and pictures.

    The skeleton's folder has another name than the package and lies two levels down: the grader ignores notebooks that
    lie beside modules.
    """
    root, assignment = project.root, skeleton.assignment
    files = collect_tests(project, assignment, f"{GRADER}/at_home/notebook.py", in_notebooks=True)
    files.pop(f"{COMPONENT_TESTS}/test_given.py", None)  # of no task that a cell could check
    support = {path: files.pop(path) for path in [*files] if path.startswith(f"{GIVEN}/")}
    support |= {f"skeleton/{path}": text for path, text in skeleton.files.items() if path.endswith(".py")}
    support |= read_folders(root, CORPUS)
    files |= {f"{SUPPORT}/{path}": support[path] for path in sorted(support)}
    files |= named_pictures(root, texts)
    readme = fill_in(root, f"{FOLDER}/{TEMPLATE}", words_of(assignment, read_requirements(root, notebooks=True)))
    files |= {HELPER: (root / FOLDER / HELPER).read_bytes(), HANDOUT: readme}
    asked = prose.parts_of_kind(texts, "predict") if assignment.predictions else []
    answers = {part.number: {"letters": part.letters, "right": part.right, "why": part.why} for part in asked}
    files[f"{SUPPORT}/{PREDICTIONS}"] = f"{json.dumps(answers, indent=2, ensure_ascii=False)}\n".encode()
    return files | files_for_assistants(assignment)


def check_tasks(texts: prose.Prose, assignment: Assignment) -> None:
    """Raise ReleaseError unless each task has one heading and one place for answers."""
    problems = []
    for kind, form in (("task", "{{task %s: …}}"), ("answer", "{{answer %s}}")):
        placed = [(part, path) for path, parts in texts.items() for part in parts if part.kind == kind]
        wanted = {task.number for task in assignment.tasks if not task.by_hand or task.written}
        for part, path in placed:
            if part.number not in wanted:
                fault = f"there is no task {part.number}, or it is here already"
                problems.append(f"{path}: {fault}; remove the line")
            wanted.discard(part.number)
        for number in wanted:
            fault = f"{form % number} is in none of the notebooks' prose"
            problems.append(f"{ASSIGNMENT_FILE}: {fault}; put it in one, or remove the task")
    if problems:
        raise ReleaseError("\n".join(problems))


def make_notebook(
    name: str, parts: Sequence[prose.Part], definitions: Sequence[prose.Definition], assignment: Assignment
) -> NotebookNode:
    """Make the notebook of one file of prose, with solutions, which the definitions hold."""
    tasks = {task.number: task for task in assignment.tasks}
    answered = {part.number for part in parts if part.kind == "answer"}
    own = [definition for definition in definitions if definition.task in answered]
    cells: list[NotebookNode] = []
    section, counts = "top", Counter[str]()

    def next_id(kind: str) -> str:
        """Name a cell by the section's heading and a count, the same in every build."""
        name = f"{kind}-{section}"
        counts[name] += 1
        return name if counts[name] == 1 else f"{name}-{counts[name]}"

    for part in parts:
        number, task = part.number, tasks.get(part.number)
        if part.kind == "text":
            text = prose.without(part.text, prose.IN_FILES)
            if heading := re.match(r"#{1,3} (.+)", text):
                section = _slug(heading[1])
            cells.append(new_markdown_cell(text, id=next_id("text")))
        elif part.kind in ("code", "try"):
            tags = {"tags": ["raises-exception"]} if part.kind == "try" else {}
            cells.append(new_code_cell(part.text, id=next_id("code"), metadata=tags))
        elif part.kind == "predict" and assignment.predictions:
            cells.append(new_markdown_cell(part.text, id=next_id("predict")))
            code = f'predict("{number}", "")  # {" or ".join(part.letters)}'
            cells.append(new_code_cell(code, id=next_id("prediction")))
        elif part.kind == "setup":
            local = {definition.name for definition in own}
            origins = (origin for definition in own for origin in definition.imports if origin[1] not in local)
            text = TEMPLATES.get_template("setup.py.jinja").render(imports=prose.merge_imports(origins)).rstrip("\n")
            cells.append(_graded(new_code_cell(text), f"setup_{_slug(name)}", locked=True))
        elif part.kind == "task" and task:
            cells.append(new_markdown_cell(_heading(part, task, assignment), id=task.marker))
            section = f"task-{task.marker.removeprefix('task_')}"
        elif part.kind == "answer" and task:
            for definition in (definition for definition in own if definition.task == number):
                cell = new_code_cell(definition.text)
                cells.append(_graded(cell, f"{task.marker}_{definition.name}", solution=True))
            cell = new_markdown_cell("") if task.by_hand else new_code_cell(f'check("{number}")')
            marks = {"solution" if task.by_hand else "locked": True, "grade": True}
            points = int(task.points) if float(task.points).is_integer() else task.points
            cells.append(_graded(cell, task.marker.replace("task", "test"), **marks, points=points))
    notebook: NotebookNode = new_notebook(cells=cells, metadata=METADATA)
    return notebook


def _heading(part: prose.Part, task: Task, assignment: Assignment) -> str:
    of = "an extension, " * task.extension
    points = f"{of}{task.points:g} {'bonus ' * task.extension}points" if task.points else f"{of}no points"
    if task.threshold is not None:
        points += f" for BLEU of at least {as_threshold(assignment.thresholds[task.threshold])}"
    effort = f"Difficulty {part.stars} · about {part.minutes} minutes"
    return f"## {task.number} {task.title}\n\n*{effort} · {points}*"


def _graded(cell: NotebookNode, name: str, **marks: object) -> NotebookNode:
    """A cell that nbgrader knows; its id is its name, so that it stays the same from release to release."""
    usual = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "grade_id": name, "task": False}
    cell.id, cell.metadata = name[:64], nbformat.from_dict({"nbgrader": {**usual, **marks}})
    return cell


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "section"


def generate(root: Path, source: Mapping[str, bytes]) -> dict[str, bytes]:
    """Take nbgrader's steps of `generate_assignment` on each notebook, without its folders and its database."""
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
    """Turn nbgrader's stub below a hint into `raise NotImplementedError("TODO 1.2")`, as in the skeleton."""
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip() == STUB and (hint := hint_above(lines, number)):
            lines[number - 1] = raise_statement(hint[0], line)
    return "\n".join(lines)
