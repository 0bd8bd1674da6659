"""Gates over the notebooks: sound for Jupyter and nbgrader, and worth what the `.py` files are worth."""

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..build import Release
from ..notebooks.cells import answer_id, test_id
from ..skeleton.build import coded_tasks
from .base import Verdict, Workspace
from .environment import clean_environment
from .grading import shows_todo

GRADE_SECONDS = 300
SOLVED, OPEN = "solved", "open"


def notebooks_are_sound(workspace: Workspace) -> Verdict:
    """nbgrader's metadata, ids, points and stubs; no outputs. The answer cells hold the skeleton, word for word."""
    release = workspace.release
    if release.course is None:
        return Verdict("no notebooks", [])
    faults = [
        f"{path}: {fault}"
        for path, content in release.course.release.items()
        if path.endswith(".ipynb")
        for fault in notebook_faults(content)
    ]
    cells = _cells(release)
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
        return faults  # validation would mend them
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


def notebooks_earn_their_share(workspace: Workspace) -> Verdict:
    """Graded like a student's: with solutions all points that code can earn, as handed out none, with its TODOs."""
    release = workspace.release
    if release.course is None:
        return Verdict("no notebooks", [])
    with tempfile.TemporaryDirectory(prefix="notebooks-") as name:
        folder = Path(name)
        for entry, files in ((SOLVED, release.course.source), (OPEN, release.course.release)):
            (folder / "class" / entry).mkdir(parents=True)
            for path, content in files.items():
                if path.endswith(".ipynb"):
                    (folder / "class" / entry / path).write_bytes(content)
        records, trouble = _grade(workspace, folder)
    if trouble:
        return Verdict("no result", [trouble])
    faults = []
    for task in coded_tasks(release.assignment):
        solved, left_open = records[SOLVED][task.number], records[OPEN][task.number]
        if solved["score"] != task.points or solved["state"] != "passed":
            lost = f"{solved['score']:g} of {task.points:g}, {solved['state']}: {solved['message'][:300]}"
            faults.append(f"task {task.number} with its solution: {lost}")
        if left_open["score"] != 0:
            faults.append(f"task {task.number}: the empty notebook earns {left_open['score']:g} points")
        regions = release.skeleton.regions.values()
        messages = [region.message for found in regions for region in found if region.hint.number == task.number]
        if not task.extension and not shows_todo(left_open["message"], messages):
            faults.append(f"task {task.number}: no TODO message: {left_open['message'][:200] or 'no output'}")
    points = [sum(part["score"] for part in records[entry].values()) for entry in (SOLVED, OPEN)]
    return Verdict(f"solved {points[0]:g}, as handed out {points[1]:g} points", faults)


def _grade(workspace: Workspace, folder: Path) -> tuple[Mapping[str, Mapping[str, dict]], str]:
    """The parts of both records by task number; or why there are none."""
    paths = [str(folder / "class"), "--output", str(folder / "marks"), "--release", str(workspace.package.resolve())]
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "autograder", "grade-class", *paths, "--jobs", "1"],
            cwd=workspace.project.root,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=GRADE_SECONDS,
            env=clean_environment(),
        )
        records = {}
        for entry in (SOLVED, OPEN):
            content = json.loads((folder / "marks" / "records" / f"{entry}.json").read_text(encoding="utf-8"))
            records[entry] = {part["number"]: part for part in content["parts"]}
    except subprocess.TimeoutExpired:
        return {}, f"grading two submissions took more than {GRADE_SECONDS} s"
    except (OSError, ValueError, KeyError) as error:
        return {}, f"grading them ended with status {finished.returncode}: {finished.stderr.strip()[-400:] or error}"
    return records, ""


def _cells(release: Release) -> dict[str, dict]:
    """All cells of the students' notebooks by id."""
    notebooks = [json.loads(text) for path, text in release.course.release.items() if path.endswith(".ipynb")]
    cells = {cell["id"]: cell for notebook in notebooks for cell in notebook["cells"]}
    return {name: {**cell, "source": "".join(cell["source"])} for name, cell in cells.items()}
