"""Gate: the notebooks are sound for Jupyter and nbgrader, and their answer cells are the skeleton's."""

import ast
import json
from typing import Any

from ..notebooks.nbgrader_course import Course
from ..notebooks.source_notebook import answer_id, test_id
from .running import Verdict, Workspace


def notebooks_are_sound(workspace: Workspace) -> Verdict:
    """Checks metadata, ids, points and stubs, and that nothing has outputs; answer cells are the skeleton's."""
    release = workspace.release
    if release.course is None:
        return Verdict("no notebooks", [])
    faults = [
        f"{path}: {fault}"
        for path, content in release.course.release.items()
        if path.endswith(".ipynb")
        for fault in notebook_faults(content)
    ]
    cells = _cells(release.course)
    expected = {answer_id(one): one.open for one in release.course.definitions}
    for name, text in expected.items():
        if name not in cells:
            faults.append(f"no notebook has the answer cell {name}")
        elif cells[name]["source"] != text:
            faults.append(f"the answer cell {name} is not what the skeleton has")
    for task in release.assignment.tasks:
        marks = cells.get(test_id(task.number), {}).get("metadata", {}).get("nbgrader", {})
        if marks.get("points") != task.points:
            faults.append(f"task {task.number}: its test cell has {marks.get('points')} points, not {task.points:g}")
    return Verdict(f"{len(expected)} answer cells are the skeleton's", faults)


def notebook_faults(content: bytes) -> list[str]:
    """What Jupyter or nbgrader would not take, code that does not compile, and outputs, which may hold anything."""
    import nbformat  # here, as nbgrader: a release without notebooks needs neither
    from nbgrader.nbgraderformat import MetadataValidator

    notebook = nbformat.from_dict(json.loads(content))
    ids = [cell.id for cell in notebook.cells]
    faults = [f"two cells have the id {name}" for name in sorted({name for name in ids if ids.count(name) > 1})]
    if faults:
        return faults  # validation would repair them
    try:
        nbformat.validate(notebook)
        MetadataValidator().validate_nb(notebook)
    except Exception as error:  # either library has its own kinds
        faults.append(str(error).split("\n")[0][:200])
    for cell in notebook.cells:
        if cell.cell_type == "code":
            try:
                ast.parse("".join(cell.source))
            except SyntaxError as error:
                faults.append(f"cell {cell.id}, line {error.lineno}: does not compile: {error.msg}")
    faults += [f"cell {cell.id} has outputs" for cell in notebook.cells if cell.get("outputs")]
    faults += [f"cell {cell.id} has attachments" for cell in notebook.cells if cell.get("attachments")]
    return faults


def _cells(course: Course) -> dict[str, dict[str, Any]]:
    """All cells of the students' notebooks by id."""
    notebooks = [json.loads(text) for path, text in course.release.items() if path.endswith(".ipynb")]
    cells = {cell["id"]: cell for notebook in notebooks for cell in notebook["cells"]}
    return {name: {**cell, "source": "".join(cell["source"])} for name, cell in cells.items()}
