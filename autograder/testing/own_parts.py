"""Finds parts of a submission that a stand-in cannot replace everywhere; a note says that they are judged as they are.

A stand-in is found wherever a component's name is looked up, and wherever its class is built or its function called. It
is not found where a class makes its objects itself (`__new__`), where a function is wrapped in another one, and where
an object was built while the modules were imported. What uses these in another way than by name is judged with them.
"""

import ast
from collections.abc import Container, Iterator
from itertools import islice

from foundation.assignment_file import Assignment

from ..assignment_code import stand_ins_of
from ..sources import Locate, Sources, in_module
from ..syntax_trees import parse

MOST = 5
"""Notes on one submission."""


def find_own_parts(sources: Sources, assignment: Assignment, locate: Locate = in_module) -> list[str]:
    """The notes on a submission's modules; `locate` says where the student finds a line."""
    stand_ins = stand_ins_of(assignment)
    names = {name for _, _, name in (c.partition(".") for c in assignment.contract.components)}
    replaced = {name for name in names if hasattr(stand_ins, name)}
    found = (
        f"{locate(module, line)}: {what}; other parts that reach it in another way than by its name are judged with it"
        for module, (_, text) in sources.items()
        for line, what in _find(text, replaced)
    )
    return list(islice(found, MOST))


def _find(text: str, names: Container[str]) -> Iterator[tuple[int, str]]:
    """Lines with what is found there, in one module."""
    tree = parse(text)
    for node in nodes_at_import(tree) if isinstance(tree, ast.Module) else ():
        if isinstance(node, ast.ClassDef) and node.name in names:
            if any(isinstance(one, ast.FunctionDef) and one.name == "__new__" for one in node.body):
                yield node.lineno, f"the class {node.name} has its own __new__"
        elif isinstance(node, ast.FunctionDef) and node.name in names and node.decorator_list:
            yield node.lineno, f"the function {node.name} is wrapped by a decorator"
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = [target.id for target in node.targets if isinstance(target, ast.Name) and target.id in names]
            yield from ((node.lineno, f"the function {name} is made by a call") for name in made)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in names and name[0].isupper():
                yield node.lineno, f"an object of {name} is built at import"


def nodes_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: all but the bodies of functions, and of `if __name__ == …`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += [node.args, *getattr(node, "decorator_list", ())]
        elif not (
            isinstance(node, ast.If) and any(getattr(one, "id", "") == "__name__" for one in ast.walk(node.test))
        ):
            waiting += reversed(list(ast.iter_child_nodes(node)))
