"""What the names in a submission stand for, as far as its imports and plain assignments tell; nothing is run.

A path says what a name stands for: "torch.nn.LayerNorm", "builtins.getattr", or, with a dot before it, something of the
submission's own: ".layers.LayerNorm". An empty path says that it is unknown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from autograder.sources import Sources
from foundation.assignment_tables import Forbidden

from ..sandbox.imports import resolve
from ..sources import TooNestedError, tree_of

LIBRARY = "torch"
NO_TEXT = "(?!)"
"""A regular expression that matches no text."""
MAX_HOPS, MAX_ATTRIBUTES, MAX_PATH = 20, 30, 300
"""From module to module; of one expression; in characters."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Local = Mapping[str, str]
"""The paths of the names that a function binds."""


class ForbiddenNames:
    """An assignment's list of what students must write themselves, by PyTorch's names for it."""

    def __init__(self, forbidden: Forbidden) -> None:
        """Takes the list as the assignment's file has it."""
        self._modules = forbidden.modules
        self._names = re.compile("|".join(filter(None, [forbidden.classes, forbidden.functions])) or NO_TEXT)

    def has(self, path: str) -> bool:
        """Whether a path is on the list, or leads to an attribute of something that is."""
        first, _, rest = path.partition(".")
        if first != LIBRARY:
            return False
        if any(path == module or path.startswith(module + ".") for module in self._modules):
            return True
        return any(map(self._names.fullmatch, rest.split(".")))


class ModuleNames:
    """The names at the top level of one module.

    Attributes:
        tree: of its text; None where that does not compile.
        lines: of its text.
        is_tangled: it cannot be read here, though a worker may be able to run it.
        paths: name -> path; where a name is bound twice, the last one.
        places: name -> the line that binds it.
        definitions: name -> what it is bound to; a class or function as a whole.
        stars: the packages or modules that `from … import *` names.
    """

    def __init__(self, name: str, text: str) -> None:
        tree = tree_of(text)
        self.name, self.lines = name, text.split("\n")
        self.tree = tree if isinstance(tree, ast.Module) else None
        self.is_tangled = isinstance(tree, TooNestedError)
        self.paths: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.definitions: dict[str, list[ast.AST]] = {}
        self.stars: dict[str, None] = {}

    def code_at(self, line: int) -> str:
        """A line, without the space around it."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""


class Names:
    """The names of all modules of a submission."""

    def __init__(self, sources: Sources, forbidden: Forbidden) -> None:
        """Reads the modules."""
        self._sources, self.forbidden = sources, ForbiddenNames(forbidden)
        self.modules = {name: ModuleNames(name, text) for name, (_, text) in sources.items()}
        for module in self.modules.values():
            for node in statements(module.tree.body if module.tree else []):
                self._bind(module, node)

    def _bind(self, module: ModuleNames, node: ast.stmt) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, path in self.imported(node, module.name).items():
                if name == "*":
                    module.stars[path.removesuffix(".*")] = None
                else:
                    module.paths[name], module.places[name] = path, node.lineno
            return
        for name, value in bound_by(node):
            path = self.path_of(value, module.name, {}) if isinstance(value, ast.expr) else ""
            module.paths[name], module.places[name] = path or f".{module.name}.{name}", node.lineno
            module.definitions.setdefault(name, []).append(value)

    def imported(self, node: ast.Import | ast.ImportFrom, importer: str) -> dict[str, str]:
        """The names that an import binds, with their paths."""
        if isinstance(node, ast.Import):
            return {
                one.asname or one.name.partition(".")[0]: one.name if one.asname else one.name.partition(".")[0]
                for one in node.names
            }
        origin: str | None = node.module
        if node.level:
            is_package = self._sources[importer][0].endswith("/__init__.py")
            origin = resolve(importer, is_package, node.level, node.module)
            if origin is None:
                return {one.asname or one.name: "" for one in node.names}
            origin = f".{origin}" if origin else ""
        return {one.asname or one.name: f"{origin}.{one.name}" for one in node.names}

    def path_of(self, node: ast.AST, module: str, local: Local) -> str:
        """The path of an expression in a module, where a function has bound the names in `local`."""
        attributes: list[str] = []
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value, name):
                    attributes.append(name)
                    node = value
                case ast.Call(function, [value, ast.Constant(str() as name), *_]) if (
                    self.path_of(function, module, local) == "builtins.getattr"
                ):
                    attributes.append(name)
                    node = value
                case _:
                    return ""
            if len(attributes) > MAX_ATTRIBUTES:
                return ""
        first = local[node.id] if node.id in local else self.look_up(module, node.id) or f"builtins.{node.id}"
        return self._followed(".".join([first, *reversed(attributes)])) if first else ""

    def look_up(self, module: str, name: str) -> str:
        """The path of a name at the top level of a module; "" where nothing binds it."""
        found = self.modules[module].paths.get(name) or self._from_star(module, name, {module})
        return self._followed(found)

    def _from_star(self, module: str, name: str, seen: set[str]) -> str:
        """The path of a name that `from … import *` brings, as far as it matters; "" where none does."""
        for origin in () if name.startswith("_") else self.modules[module].stars:
            if not origin.startswith("."):
                path = f"{origin}.{name}"
                if self.forbidden.has(path) or path in ("torch.nn.functional", "torch.nn.modules"):
                    return path
            elif (own := origin[1:]) in self.modules and own not in seen:
                seen.add(own)
                if path := self.modules[own].paths.get(name) or self._from_star(own, name, seen):
                    return path
        return ""

    def _followed(self, path: str) -> str:
        """The path that another one leads to, from module to module of the submission."""
        for _ in range(MAX_HOPS):
            module, name, rest = self.split(path)
            found = (
                module and name and (self.modules[module].paths.get(name) or self._from_star(module, name, {module}))
            )
            if not found or found == f".{module}.{name}":
                break
            path = found + rest
        return path if len(path) < MAX_PATH else ""

    def split(self, path: str) -> tuple[str, str, str]:
        """Module, name in it, and the attributes after it, of a path of the submission's own; "" for what is not."""
        parts = path[1:].split(".") if path.startswith(".") else []
        for length in range(len(parts), 0, -1):
            if (module := ".".join(parts[:length])) in self.modules:
                rest = "".join(f".{part}" for part in parts[length + 1 :])
                return module, (parts[length] if length < len(parts) else ""), rest
        return "", "", ""

    def inside(self, function: Function, module: str, local: Local) -> Local:
        """The names that a function sees bound in functions, itself included."""
        found = {part.arg: "" for part in ast.walk(function.args) if isinstance(part, ast.arg)}
        waiting: list[ast.AST] = body_of(function)
        while waiting:
            part = waiting.pop()
            if isinstance(part, DEFINITIONS):
                found[part.name] = ""
            elif isinstance(part, (ast.Import, ast.ImportFrom)):
                found |= self.imported(part, module)
            elif not isinstance(part, ast.Lambda):
                waiting += ast.iter_child_nodes(part)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    found[part.id] = ""
        return {**local, **found}


def bound_by(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """The names that a statement binds, with what they are bound to; a class or function is bound to itself."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            yield name, node
        case ast.Assign(targets, value):
            for target in targets:
                yield from targets_of(target, value)
        case ast.AnnAssign(target, _, ast.expr() as value) | ast.AugAssign(target, _, value):
            yield from targets_of(target, value)
        case ast.For(target, value) | ast.AsyncFor(target, value):
            for name, _ in targets_of(target, value):
                yield name, ast.Starred(value)  # one of its elements
        case ast.With(items) | ast.AsyncWith(items):
            for item in items:
                yield from targets_of(item.optional_vars, item.context_expr) if item.optional_vars else ()


def targets_of(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names in an assignment's target, with their part of the value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        matches = len(parts) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in parts)
        for index, inner in enumerate(target.elts):
            yield from targets_of(inner, parts[index] if matches else ast.Starred(value))


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported for grading, in their order; those in blocks too."""
    waiting = [*body][::-1]
    while waiting:  # not by recursion: `elif` nests deeply
        node = waiting.pop()
        yield node
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(node, DEFINITIONS):
            blocks = []
        elif isinstance(node, ast.If) and is_never_true(node.test):
            blocks = [node.orelse]
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            blocks.append(part.body)
        waiting += [one for block in blocks for one in block][::-1]


def is_never_true(test: ast.expr) -> bool:
    """Whether a condition does not hold while a module is imported for grading."""
    match test:
        case ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
    return False


def body_of(function: Function) -> list[ast.AST]:
    """A function's statements; a lambda's expression as one."""
    return [*function.body] if isinstance(function.body, list) else [function.body]
