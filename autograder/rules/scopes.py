"""Names inside functions and classes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from .module_names import DEFINITIONS, LOOPS, an_element, bound_in, targets_of
from .syntax import listed

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

Source = ast.expr | ast.alias | None
"""The value of a local name: an expression, an alias of an import, or None for anything else."""


ScopeNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
"""Syntax that has a scope of its own."""


@dataclass(eq=False)
class Scope:
    """The scope of a piece of code.

    Attributes:
        module: that contains it.
        parent: the enclosing scope; None = this is the module's top level.
        is_class: a class body, whose names its methods do not see.
        position: the code runs at this point of the module's import; None = after it.
        line: where it is the text of an `exec`, the line that messages show for all of it.
        names: local names with their values, and the import statement of an alias.
        global_names: declared `global`.
    """

    module: str
    parent: Scope | None = None
    is_class: bool = False
    position: int | None = None
    line: int | None = None
    names: dict[str, list[tuple[Source, ast.stmt | None]]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)

    def find(self, name: str) -> list[tuple[tuple[Source, ast.stmt | None], Scope]] | None:
        """A name's values in the nearest scope that sets it; None where that is the module's top level."""
        if name in self.global_names:
            return None
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return [(source, scope) for source in scope.names[name]]
            scope = scope.parent
        return None

    def inner(self, node: ScopeNode, line: int | None = None) -> Scope:
        """The scope of a function, a lambda, a class or the text of an `exec` in this scope."""
        is_class = isinstance(node, ast.ClassDef)
        position = self.position if is_class or isinstance(node, ast.Module) else None
        scope = Scope(self.module, self, is_class, position, line or self.line)
        if isinstance(node, FUNCTIONS):
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                scope.names[argument.arg] = [(None, None)]
            for argument in filter(None, (arguments.vararg, arguments.kwarg)):
                scope.names[argument.arg] = [(None, None)]
        scope._gather(listed(node.body))
        return scope

    def after_import(self) -> Scope:
        """The same scope at a later time."""
        return self if self.position is None else replace(self, position=None)

    def _gather(self, body: list[ast.AST]) -> None:
        waiting = [*body]
        while waiting:
            node = waiting.pop()
            if isinstance(node, DEFINITIONS):
                self._set(node.name, None)
                continue
            if isinstance(node, ast.Lambda):
                continue
            if isinstance(node, ast.Global):
                self.global_names |= set(node.names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self._set(alias.asname or alias.name.partition(".")[0], alias, node)
            elif isinstance(node, (*LOOPS, ast.comprehension)):
                for name, value in targets_of(node.target, an_element(node.iter)):
                    self._set(name, value)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                for name, _ in targets_of(node.optional_vars, None):
                    self._set(name, None)
            elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
                self._set(node.name, None)
            for name, value in bound_in(node):
                self._set(name, value)
            waiting += ast.iter_child_nodes(node)

    def _set(self, name: str, source: Source, statement: ast.stmt | None = None) -> None:
        self.names.setdefault(name, []).append((source, statement))
