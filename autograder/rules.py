"""Names of PyTorch and Python in a submission's text that a person should know of; nothing is run.

Mentions of what students must write themselves are told at home, and noted in grading. Whether a mention is a use is
for the worker to say, where such a use raises (`sandbox/worker/shortcuts.py`). Uses of internals, which may be a way
around that, are allowed, and listed for a reader. The patterns are in `[contract.forbidden]` of `assignment.toml`.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping

from foundation.assignment_tables import Forbidden

from .sources import Locate, Sources, in_module, tree_of

MOST_INTERNALS, MAX_CODE_SHOWN = 20, 160
NO_TEXT = "(?!)"
"""A regular expression that matches no text."""
BY_NAME = {
    "builtins.getattr": 1,
    "builtins.setattr": 1,
    "builtins.delattr": 1,
    "operator.attrgetter": 0,
    "operator.methodcaller": 0,
}
"""Functions that reach anything by a name, and the position of this name among their arguments."""


def find_mentions(sources: Sources, forbidden: Forbidden, locate: Locate = in_module) -> Iterator[str]:
    """Notes on names that the contract forbids; `locate` says where a student finds a line, "" for lines of others."""
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
    sources: Sources, modules: Iterable[str], forbidden: Forbidden, release: Sources, locate: Locate = in_module
) -> list[str]:
    """The uses of internals in some modules, but for lines that were handed out: one for each line, a few at most.

    Such as "torch._refs.add in layers.py, line 3: x = torch._refs.add(y, 1)".
    """
    pattern = re.compile(forbidden.internals or NO_TEXT)
    found: dict[tuple[str, int], str] = {}
    for module in sorted(modules):
        text = sources[module][1]
        lines = text.split("\n")
        given = {line.strip() for line in release.get(module, ("", ""))[1].split("\n")}
        constant = set()  # functions of `BY_NAME` that are called with a name that everybody can read
        for node, path in paths_in(text):
            attribute = f".{node.attr}" if isinstance(node, ast.Attribute) else ""
            name = next((one for one in (path, attribute) if one and pattern.fullmatch(one)), "")
            if isinstance(node, ast.Call):
                if path in BY_NAME and isinstance([*node.args, None, None][BY_NAME[path]], ast.Constant):
                    constant.add(node.func)
            elif path in BY_NAME and node not in constant:
                name = f"{path.partition('.')[2]} with a computed name"
            code = lines[node.lineno - 1].strip()
            if name and code not in given:
                use = f"{name} in {locate(module, node.lineno)}: {code[:MAX_CODE_SHOWN]}"
                found.setdefault((module, node.lineno), use)
    return [found[place] for place in sorted(found)][:MOST_INTERNALS]


def paths_in(text: str) -> Iterator[tuple[ast.expr, str]]:
    """The names, attributes and calls in a module, with the dotted name of what is named or called.

    Such a name is "torch.nn.LayerNorm" or "builtins.vars", as far as imports and plain assignments tell; otherwise "".
    """
    tree = tree_of(text)
    nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []  # otherwise the tests will say so
    known = {name: f"builtins.{name}" for name in (*dir(builtins), "__builtins__")}
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                first = one.name.partition(".")[0]
                known[one.asname or first] = one.name if one.asname else first
        elif isinstance(node, ast.ImportFrom) and not node.level:
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Assign) and (path := path_of(node.value, known)):
            known |= {target.id: path for target in node.targets if isinstance(target, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            yield node, path_of(node, known)
        elif isinstance(node, ast.Call):
            yield node, path_of(node.func, known)


def path_of(node: ast.AST, known: Mapping[str, str]) -> str:
    """The dotted name of an expression, where that of its first name is known; otherwise ""."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    first = known.get(node.id, "") if isinstance(node, ast.Name) else ""
    return ".".join([first, *reversed(attributes)]) if first else ""
