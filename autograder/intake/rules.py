"""Names of PyTorch and Python in a submission's text that a person should know of, by `[contract.forbidden]`.

Mentions of what students must write themselves are noted at home and in grading; where one is used, the worker raises
(`sandbox/worker/shortcuts.py`). Uses of internals, which may be a way around that, are allowed, and listed for a
reader, with what the worker has seen of them (`sandbox/worker/watching.py`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache

from foundation.assignment_tables import Forbidden

from .names import imports_in, nodes_of, paths_in
from .sources import Locate, Sources, in_module

MOST_INTERNALS, MAX_CODE_SHOWN = 20, 160
NO_TEXT = "(?!)"
"""A regular expression that matches no text."""
BY_NAME = re.compile(r".*\.(attrgetter|methodcaller|getattr|setattr|delattr)")
"""Functions of modules that reach anything by a name."""
WHOLE = {"builtins", "sys", "torch", "torch.nn", "torch.nn.functional"}
"""Modules that hardly anybody hands on whole: what is reached through another name then, the text does not show."""


def find_mentions(sources: Sources, forbidden: Forbidden, locate: Locate = in_module) -> Iterator[str]:
    """Notes on names that the contract forbids; `locate` has where a student finds a line, "" for lines of others."""
    pattern = re.compile("|".join(filter(None, [forbidden.classes, forbidden.functions])) or NO_TEXT)
    always = {name.rpartition(".")[2] for name in forbidden.always}
    *some, last = [name.rpartition(".")[2] for name in forbidden.components] or [""]
    somewhere = f"it in {', '.join(some)}{' and ' * bool(some)}{last}" if last else ""
    for module, (_, text) in sources.items():
        for node, path in paths_in(text):
            is_forbidden = path.startswith("torch.") and pattern.fullmatch(path.rpartition(".")[2])
            if is_forbidden and not isinstance(node, ast.Call) and (place := locate(module, node.lineno)):
                where = "" if path.rpartition(".")[2] in always else somewhere
                yield f"note: {place}: {path}; grading refuses {where or 'a task that uses it'}"


def find_internals(
    sources: Sources,
    modules: Collection[str],
    forbidden: Forbidden,
    release: Sources,
    locate: Locate = in_module,
    seen: Iterable[tuple[str, int, str]] = (),
) -> list[str]:
    """The uses of internals in some modules, but for lines that were handed out: one for each line, a few at most.

    Such as "torch._refs.add in layers.py, line 3: x = torch._refs.add(y, 1)". `seen` has uses that a worker has seen:
    module, line, and name; they come first.
    """
    lines = {module: sources[module][1].split("\n") for module in modules}
    uses: dict[tuple[str, int], str] = {}
    pattern = forbidden.internals or NO_TEXT
    given: dict[str, set[str]] = {}  # lines that were handed out, as far as they use internals
    for module in modules:
        text = release.get(module, ("", ""))[1]
        given[module] = {text.split("\n")[line - 1].strip() for line, _ in internals_in(text, pattern)}
    named = ((module, *use) for module in sorted(modules) for use in internals_in(sources[module][1], pattern))
    for module, line, name in (*seen, *named):
        code = lines[module][line - 1].strip() if module in lines and 0 < line <= len(lines[module]) else ""
        if code and code not in given[module]:
            uses.setdefault((module, line), f"{name} in {locate(module, line)}: {code[:MAX_CODE_SHOWN]}")
    return list(uses.values())[:MOST_INTERNALS]


def _followed_in(node: ast.AST) -> list[ast.AST]:
    """The names of modules in a part of a syntax tree after which the search of the text goes on, or the worker's."""
    match node:
        case ast.Attribute(value=value) | ast.Assign(targets=[ast.Name()], value=value):
            return [value]
        case ast.Call(func=ast.Name(id="getattr" | "hasattr" | "setattr"), args=[owner, *_]):
            return [owner]
    return []


@lru_cache(maxsize=64)
def internals_in(text: str, pattern: str) -> list[tuple[int, str]]:
    """Line and name of the internals that a module names, and of functions that take computed names."""
    is_internal = cache(re.compile(pattern).fullmatch)
    nodes = nodes_of(text)
    followed = {part for node in nodes for part in _followed_in(node)}
    plain = set()  # functions of `BY_NAME` that are called with a name that everybody can read
    uses = set()
    for node, path in paths_in(text):
        names = [path[at:] for at, before in enumerate("." + path) if before == "."]  # torch.sys.modules is sys.modules
        if isinstance(node, ast.Attribute):
            names.append(f".{node.attr}")
        elif isinstance(node, ast.MatchClass):
            names = [f".{name}" for name in node.kwd_attrs]
        elif isinstance(node, ast.Call) and BY_NAME.fullmatch(path):
            texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            plain |= {node.func} if any(isinstance(text, str) for text in texts) else set()
            names = [f".{part}" for text in texts for part in str(text).split(".")]
        # A chain of attributes may stand on several lines: the name itself is at the end of it.
        line = (node.func if isinstance(node, ast.Call) else node).end_lineno or node.lineno
        uses |= {(line, name) for name in names if name and is_internal(name)}
        if path in WHOLE and isinstance(node, ast.Name) and node not in followed:
            uses.add((line, f"{path}, handed on"))
        if not isinstance(node, ast.Call) and BY_NAME.fullmatch(path) and node not in plain:
            uses.add((line, f"{path.rpartition('.')[2]} with a computed name"))
    imported = ((part.line, name) for part in imports_in(text) if not part.level for name in part.wholes)
    uses |= {(line, name) for line, name in imported if name.startswith("torch.") and is_internal(name)}
    return sorted(uses, key=lambda use: (use[0], ", " in use[1], -len(use[1]), use[1]))
