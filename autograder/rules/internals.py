"""Lists uses of PyTorch's and Python's internals: allowed, but a person should read them."""

import ast
import re
from collections.abc import Iterable

from foundation.contract import Forbidden
from foundation.sources import Sources

from .evaluation import Evaluator, TooTangledError
from .forbidden import NOTHING, ForbiddenNames
from .module_names import DEFINITIONS
from .scopes import Scope
from .syntax import children
from .uses import LOOKED_UP, ShortCut, code_at, parts_of_definition
from .values import Library

MOST = 20


def find_internals(
    sources: Sources, modules: Iterable[str], forbidden: Forbidden, evaluator: Evaluator | None = None
) -> list[ShortCut]:
    """The uses in a submission, one for each line, in the order of the lines; at most `MOST`.

    Args:
        sources: all modules of the package.
        modules: those that the submission brings.
        forbidden: whose `internals` are looked for.
        evaluator: of these modules, where several searches share one; it reads each module once.
    """
    search = Search(evaluator or Evaluator(sources, ForbiddenNames(forbidden)), forbidden)
    found = [use for module in sorted(modules) for use in search.uses_in(module)]
    return found[:MOST]


class Search:
    """Visits all code of a module, whether any component needs it or not."""

    def __init__(self, evaluator: Evaluator, forbidden: Forbidden) -> None:
        self._pattern = re.compile(forbidden.internals or NOTHING)
        self._evaluator = evaluator
        evaluator.n_steps_in_all = 0  # what another search has used is its own

    def uses_in(self, module: str) -> list[ShortCut]:
        """The uses in one module; what is too tangled to be followed is left out, as the other search says."""
        tree = self._evaluator.module(module).tree
        waiting: list[tuple[ast.AST, Scope]] = [(tree, Scope(module))] if tree else []
        found: dict[int, str] = {}
        self._evaluator.n_steps = 0
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
        return min(filter(self._pattern.fullmatch, paths), key=lambda path: (path.startswith("."), path), default=None)
