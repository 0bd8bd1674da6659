"""Two gates: every TODO raises its number, and the notebooks are sound for Jupyter and nbgrader."""

import ast
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from foundation.todo_wording import with_comment

from ..notebooks.source_notebook import answer_id, test_id
from ..skeleton.regions import Region, blocks_of, qualified_name
from .running import Verdict, Workspace, ending_of, run_python

SECONDS = 120
OTHER_NAME = "a_submission"
_IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith(".__main__"):
        importlib.import_module(module.name)
"""


def todos_raise(workspace: Workspace) -> Verdict:
    """Each solution has become a statement that raises its number; the skeleton imports under any name."""
    skeleton = workspace.release.skeleton
    faults = [
        fault
        for path, found in skeleton.regions.items()
        for fault in raise_faults(path, skeleton.files[path].decode("utf-8"), found)
    ]
    with tempfile.TemporaryDirectory(prefix="imported-") as name:
        shutil.copytree(workspace.package, Path(name) / OTHER_NAME)
        finished = run_python(["-c", _IMPORT_ALL, OTHER_NAME], SECONDS, Path(name))
        if finished.returncode:
            faults.append(f"importing every module under another name ended with {ending_of(finished)}")
    functions = {(path, region.function) for path, found in skeleton.regions.items() for region in found}
    return Verdict(f"{sum(map(len, skeleton.regions.values()))} TODOs in {len(functions)} functions", faults)


def raise_faults(path: str, text: str, regions: Sequence[Region]) -> list[str]:
    """What is wrong with the TODOs of one stripped file, judged by its syntax tree.

    Each region has to be one `raise NotImplementedError("TODO …")`, in order, in the function that the region was
    in, directly below its hint.
    """
    lines = text.split("\n")
    labels = {region.label for region in regions}
    expected = [f"{region.function}: {region.message}" for region in regions]
    found = [
        (node.lineno, f"{function}: {with_comment(label, lines, node.lineno)}")
        for function, label, node in _raises(ast.parse(text))
        if label in labels
    ]
    if len(found) != len(expected):
        return [f"{path}: {len(expected)} regions, but {len(found)} statements that raise their labels"]
    return [
        f"{path}:{line}: expected {right!r}, found {present!r}"
        for right, (line, present) in zip(expected, found, strict=True)
        if present != right
    ]


def _raises(tree: ast.Module) -> list[tuple[str, str, ast.Raise]]:
    """The statements that raise NotImplementedError with a text, in order, each with its function."""
    found = []
    for block, around in blocks_of(tree):
        for statement in block:
            match statement:
                case ast.Raise(ast.Call(ast.Name("NotImplementedError"), [ast.Constant(str(label))])):
                    found.append((qualified_name(around), label, statement))
    return sorted(found, key=lambda one: one[2].lineno)


def notebooks_are_sound(workspace: Workspace) -> Verdict:
    """Checks metadata, ids, points and stubs, and that nothing has outputs; answer cells are the skeleton's."""
    release = workspace.release
    if release.course is None:
        return Verdict("no notebooks")
    notebooks = {path: text for path, text in release.course.release.items() if path.endswith(".ipynb")}
    faults = [f"{path}: {fault}" for path, content in notebooks.items() for fault in notebook_faults(content)]
    cells = {cell["id"]: cell for content in notebooks.values() for cell in json.loads(content)["cells"]}
    expected = {answer_id(one): one.open for one in release.course.definitions}
    for name, text in expected.items():
        if name not in cells:
            faults.append(f"no notebook has the answer cell {name}")
        elif "".join(cells[name]["source"]) != text:
            faults.append(f"the answer cell {name} is not what the skeleton has")
    for task in release.assignment.tasks:
        marks = cells.get(test_id(task.number), {}).get("metadata", {}).get("nbgrader", {})
        if marks.get("points") != task.points:
            faults.append(f"task {task.number}: its test cell has {marks.get('points')} points, not {task.points:g}")
    return Verdict(f"{len(expected)} answer cells are the skeleton's", faults)


def notebook_faults(content: bytes) -> Iterator[str]:
    """What Jupyter or nbgrader would not take, code that does not compile, and outputs, which may hold anything."""
    import nbformat  # here, as nbgrader: a release without notebooks needs neither
    from nbgrader.nbgraderformat import MetadataValidator

    notebook = nbformat.from_dict(json.loads(content))
    ids = [cell.id for cell in notebook.cells]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        yield from (f"two cells have the id {name}" for name in twice)
        return  # validation would repair them
    try:
        nbformat.validate(notebook)
        MetadataValidator().validate_nb(notebook)
    except Exception as error:  # either library has its own kinds
        yield str(error).split("\n")[0][:200]
    for cell in notebook.cells:
        yield from (f"cell {cell.id} has {part}" for part in ("outputs", "attachments") if cell.get(part))
        try:
            ast.parse("".join(cell.source) if cell.cell_type == "code" else "")
        except SyntaxError as error:
            yield f"cell {cell.id}, line {error.lineno}: does not compile: {error.msg}"
