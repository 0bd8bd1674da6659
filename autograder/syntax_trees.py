"""Looks at Python source without running it: its syntax tree, its statements, its imports."""

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache


class TooNestedError(SyntaxError):
    """Code that is nested too deeply for this process; another one, with less on its stack, might parse it."""


def parse(text: str, is_compiled: bool = False) -> ast.Module | SyntaxError:
    """The syntax tree, or what is wrong with the text; warnings are suppressed.

    Args:
        text: of a module.
        is_compiled: also finds what only the compiler notices, such as a `return` outside a function; nothing is run.
            As in a notebook, `await` may stand outside one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            tree = ast.parse(text)
            if is_compiled:
                compile(tree, "<submission>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return tree
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError):
        return TooNestedError("its expressions are nested too deeply")
    except ValueError as error:  # NUL bytes, lone surrogates
        return SyntaxError(f"it cannot be compiled: {str(error)[:80]}")


@lru_cache(maxsize=32)
def statements_of(text: str) -> frozenset[str]:
    """The statements of a module, inner ones too, as `dump` gives them: what was handed out, and is nobody's own."""
    tree = parse(text)
    nodes = ast.walk(tree) if isinstance(tree, ast.Module) else ()
    return frozenset(dump(node) for node in nodes if isinstance(node, ast.stmt)) - {""}


def dump(node: ast.AST) -> str:
    """A node as text that shows no layout; "" where it is nested too deeply to be looked at."""
    try:
        return ast.dump(node)
    except RecursionError:
        return ""


def resolve(importer: str, is_package: bool, level: int, name: str | None) -> str | None:
    """The module that `from .name import …` means.

    Args:
        importer: name of the module that the line stands in, within the submission: "layers", "tools.soft".
        is_package: whether that is the `__init__.py` of a folder.
        level: number of dots.
        name: after the dots, or None.

    Returns:
        Its name within the submission, "" for the submission itself; None if the dots lead out of it.
    """
    parts = importer.split(".") if is_package else importer.split(".")[:-1]
    if level > len(parts) + 1:
        return None
    return ".".join([*parts[: len(parts) + 1 - level], *filter(None, [name])])


def relative_imports(tree: ast.Module, importer: str, path: str = "") -> Iterator[str]:
    """All that may be modules of the submission and that one of them imports, folders before what is in them.

    Args:
        tree: of the module.
        importer: its name within the submission.
        path: where it was read from.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            level, module, names = node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Call):
            level, module, names = _imported_by_call(node)
        else:
            continue
        origin = resolve(importer, path.endswith("/__init__.py"), level, module) if level else None
        if origin is not None:
            parts = origin.split(".") if origin else []
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            yield from (".".join([*parts, name]) for name in names)


def _imported_by_call(call: ast.Call) -> tuple[int, str, list[str]]:
    """The number of dots, module and names that `import_module` or `__import__` is called with; 0 for other calls."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called not in ("import_module", "__import__"):
        return 0, "", []
    match call.args:
        case [ast.Constant(value=str(name)), _, _, ast.List(elts=names), ast.Constant(value=int(level))]:
            return level, name, [str(one.value) for one in names if isinstance(one, ast.Constant)]
        case [ast.Constant(value=str(name)), *_]:
            return len(name) - len(name.lstrip(".")), name.lstrip("."), []
        case [
            ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__package__")), ast.Constant(value=str(name))])
            | ast.BinOp(left=ast.Name(id="__package__"), right=ast.Constant(value=str(name))),
            *_,
        ]:
            return 1, name.removeprefix("."), []
    return 0, "", []


def absolute_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules that a module imports by their full names, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
        elif isinstance(node, ast.Call):
            level, module, _ = _imported_by_call(node)
            if module and not level:
                yield module, node.lineno
