"""Lists uses of PyTorch's and Python's internals: allowed, but a person should read them."""

import ast
import re
from collections.abc import Iterable
from dataclasses import replace

from foundation.contract import Forbidden
from foundation.sources import Sources

from .forbidden import NOTHING, ForbiddenNames
from .names import DEFINITIONS, Evaluator, Library, Scope, TooTangledError, children
from .short_cuts import LOOKED_UP, ShortCut, code_at, parts_of_definition

MOST = 20
BY_NAME = {
    "builtins.getattr": 1,
    "builtins.setattr": 1,
    "builtins.delattr": 1,
    "operator.attrgetter": 0,
    "operator.methodcaller": 0,
}
"""Functions that reach anything by a name, and the position of this name among their arguments."""


def find_internals(
    sources: Sources,
    modules: Iterable[str],
    forbidden: Forbidden,
    evaluator: Evaluator | None = None,
    release: Sources | None = None,
) -> list[ShortCut]:
    """The uses in a submission, one for each line, in the order of the lines; at most `MOST`.

    Args:
        sources: all modules of the package.
        modules: those that the submission brings.
        forbidden: whose `internals` are looked for.
        evaluator: of these modules, where several searches share one; it reads each module once.
        release: what was handed out, whose own lines are left out.
    """
    given = {name: {line.strip() for line in text.split("\n")} for name, (_, text) in (release or {}).items()}
    search = Search(evaluator or Evaluator(sources, ForbiddenNames(forbidden)), forbidden)
    found = [use for name in sorted(modules) for use in search.uses_in(name) if use.code not in given.get(name, ())]
    if len(found) > MOST:
        cut = found[MOST - 1]
        found[MOST - 1 :] = [replace(cut, name=f"{cut.name}, and more in {len(found) - MOST} other lines")]
    return found


class Search:
    """Visits all code of a module, whether any component needs it or not."""

    def __init__(self, evaluator: Evaluator, forbidden: Forbidden) -> None:
        self._pattern = re.compile(forbidden.internals or NOTHING)
        self._evaluator = evaluator

    def uses_in(self, module: str) -> list[ShortCut]:
        """The uses in one module; what is too tangled to be followed is left out, as the other search says."""
        tree = self._evaluator.module(module).tree
        waiting: list[tuple[ast.AST, Scope]] = [(tree, Scope(module))] if tree else []
        found: dict[int, str] = {}
        self._evaluator.begin()
        try:
            while waiting:
                self._evaluator.step()
                node, scope = waiting.pop()
                name = self._name(node, scope)
                if name and isinstance(node, ast.expr):
                    found.setdefault(node.lineno, name)
                if isinstance(node, (*DEFINITIONS, ast.Lambda)):
                    waiting += reversed(parts_of_definition(node, scope))
                elif isinstance(node, ast.Attribute) and name:
                    continue  # what it is an attribute of need not be named, too
                elif isinstance(node, ast.Call) and self._function_by_name(node.func, scope):
                    waiting += [(part, scope) for part in (*node.args, *node.keywords)]
                elif not isinstance(node, (ast.Import, ast.ImportFrom)):
                    waiting += reversed([(part, scope) for part in children(node)])
        except (TooTangledError, RecursionError):
            pass
        return [ShortCut(module, line, found[line], code_at(self._evaluator, module, line)) for line in sorted(found)]

    def _name(self, node: ast.AST, scope: Scope) -> str | None:
        """The name by which a node is on the list."""
        if not isinstance(node, LOOKED_UP):
            return None
        paths = {value.path for value in self._evaluator.evaluate(node, scope) if isinstance(value, Library)}
        if isinstance(node, ast.Attribute):
            paths.add(f".{node.attr}")
        listed = filter(self._pattern.fullmatch, paths)
        name = min(listed, key=lambda path: (path.startswith("."), path), default=None)
        if name is None and isinstance(node, ast.Call) and (function := self._function_by_name(node.func, scope)):
            place = BY_NAME[function]
            named = node.args[place] if len(node.args) > place else None
            is_constant = isinstance(named, ast.Constant) and len(node.args) > place
            return None if is_constant else f"{function.partition('.')[2]} with a computed name"
        if name is None and isinstance(node, (ast.Name, ast.Attribute)) and BY_NAME.keys() & paths:
            return f"{min(BY_NAME.keys() & paths).partition('.')[2]} under another name"
        return name

    def _function_by_name(self, called: ast.expr, scope: Scope) -> str | None:
        """The function in `BY_NAME` that a call may mean."""
        values = self._evaluator.evaluate(called, scope)
        return min(
            (value.path for value in values if isinstance(value, Library) and value.path in BY_NAME), default=None
        )
