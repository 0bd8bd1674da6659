"""Finds the modules that some files need, by following imports."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..skeleton.source import read_source


def needed_modules(files: Mapping[str, bytes], packages: Sequence[str], starts: Iterable[str]) -> set[str]:
    """The paths of all modules of some packages that the starting files import, directly or not.

    Args:
        files: content by path from the project's root; those of the packages among them.
        packages: such as `autograder`; others are not followed.
        starts: paths of the files to begin with; they are needed themselves.

    Raises:
        ReleaseError: where one of them is not valid Python.
    """
    needed: set[str] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path in needed:
            continue
        needed.add(path)
        folders = path.split("/")[:-1]
        inits = ("/".join([*folders[:length], "__init__.py"]) for length in range(1, len(folders) + 1))
        waiting += [init for init in inits if init in files]
        for name in _imported(path, files[path]):
            if name.partition(".")[0] in packages:
                waiting += _paths(name, files)
    return needed


def _imported(path: str, content: bytes) -> Iterator[str]:
    """Absolute names of the modules that a file may import; `from a import b` gives both `a` and `a.b`."""
    parts = path.removesuffix(".py").split("/")
    for node in ast.walk(read_source(path, content).tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, (origin, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _paths(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """The file of a module, or the `__init__` of a package."""
    folder = name.replace(".", "/")
    for path in (f"{folder}/__init__.py", f"{folder}.py"):
        if path in files:
            yield path
