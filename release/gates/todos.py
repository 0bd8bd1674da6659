"""Gate: the skeleton imports under any name, and every TODO raises its number."""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from foundation.assignment_file import Task
from foundation.todo_wording import with_comment

from ..skeleton.build import Skeleton
from ..skeleton.regions import Region
from .child_process import TooSlowError, ending_of, run_python
from .running import Verdict, Workspace

SCRIPT = Path(__file__).with_name("calling_todos.py")
SAMPLES = "sample_arguments.py"
"""Of an assignment: the arguments with which its functions are called."""
SECONDS = 120


class Call(TypedDict):
    """What became of the calls of one function."""

    is_callable: bool
    raised: list[str]
    trouble: str


def todos_raise(workspace: Workspace) -> Verdict:
    """Proven twice: the statement stands in its function, and calling the function raises it."""
    skeleton = workspace.release.skeleton
    regions = [(path, region) for path, found in skeleton.regions.items() for region in found]
    faults = [
        fault
        for path, found in skeleton.regions.items()
        for fault in raise_faults(path, skeleton.files[path].decode("utf-8"), found)
    ]
    functions = sorted({(path, region.function) for path, region in regions})
    samples = workspace.release.assignment.folder / SAMPLES
    answers, trouble = _call(workspace.package, functions, samples if samples.is_file() else None)
    if trouble:
        return Verdict("the skeleton does not import", [*faults, *trouble])
    n_called = 0
    for path, function in functions:
        answer = answers[f"{path}:{function}"]
        expected = {region.label for other, region in regions if (other, region.function) == (path, function)}
        wrong = [message for message in answer["raised"] if message not in expected]
        faults += [f"{path}: {function} raises NotImplementedError({message!r})" for message in wrong]
        n_called += bool(answer["raised"])
        is_silent = answer["is_callable"] and not answer["raised"]
        if is_silent and _begins_with_todo(skeleton.files[path].decode("utf-8"), function):
            faults.append(f"{path}: {function} begins with its TODO, and yet the call {answer['trouble']}")
    summary = f"{len(regions)} TODOs in {len(functions)} functions, {n_called} of these called"
    return Verdict(summary, faults)


def raise_faults(path: str, text: str, regions: Sequence[Region]) -> list[str]:
    """What is wrong with the raise statements of one stripped file, judged by its syntax tree.

    Each region has to be one `raise NotImplementedError("TODO …")`, in order, in the function that the region was
    in, directly below its hint.
    """
    lines = text.split("\n")
    found = list(_raises(ast.parse(text)))
    messages = {region.label for region in regions}
    ours = [(name, node) for name, node in found if _message(node) in messages]
    faults = []
    if len(ours) != len(regions):
        faults.append(f"{path}: {len(regions)} regions, but {len(ours)} statements that raise their messages")
    for region, (function, node) in zip(regions, ours, strict=False):
        place = f"{path}:{node.lineno}"
        if _message(node) != region.label or function != region.function:
            faults.append(f"{place}: expected {region.label!r} in {region.function}, found {function}")
        elif with_comment(region.label, lines, node.lineno) != region.message:
            faults.append(f"{place}: the hint does not stand above it")
    return faults


def shows_todo(text: str, skeleton: Skeleton, task: Task) -> bool:
    """Whether a text says what one of the task's TODOs says, however its lines are broken."""
    flat = " ".join(text.split())
    regions = (region for found in skeleton.regions.values() for region in found)
    return any(region.hint.number == task.number and " ".join(region.message.split()) in flat for region in regions)


def _raises(node: ast.AST, owners: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.Raise]]:
    """Every raise statement with the qualified name of its function, in the order of the text."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise):
            yield ".".join(owners).removesuffix(".<locals>"), child
        elif isinstance(child, ast.ClassDef):
            yield from _raises(child, (*owners, child.name))
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _raises(child, (*owners, child.name, "<locals>"))
        else:
            yield from _raises(child, owners)


def _message(node: ast.Raise) -> str | None:
    match node.exc:
        case ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(message))], keywords=[]):
            return message
    return None


def _call(package: Path, functions: list[tuple[str, str]], samples: Path | None) -> tuple[dict[str, Call], list[str]]:
    """What happens in another process when the functions are called; or why nothing could be called."""
    asked = [{"path": path, "function": function} for path, function in functions]
    request = json.dumps({"functions": asked, "samples": str(samples or "")})
    try:
        finished = run_python(["-I", str(SCRIPT), str(package)], SECONDS, given=request)
        answer = json.loads(finished.stdout.splitlines()[-1])
    except TooSlowError as error:
        return {}, [str(error)]
    except (ValueError, IndexError):
        return {}, [f"importing and calling ended with {ending_of(finished)}"]
    return answer["functions"], answer["import_faults"]


def _begins_with_todo(text: str, function: str) -> bool:
    """Whether nothing but a docstring stands before the raise statement in the function."""
    for name, node in _definitions(ast.parse(text)):
        body = [statement for statement in node.body if not isinstance(statement, ast.Expr)]
        if name == function:
            return bool(body) and isinstance(body[0], ast.Raise)
    return False


def _definitions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions of a module and the methods of its classes, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield owner + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _definitions(child, f"{owner}{child.name}.")
