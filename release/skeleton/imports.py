"""Fifth pass: imports that only the solution used do not remain.

A name goes when the reference used it and the skeleton does not. A name that nothing ever used stays (it is
there for its effect, or to be exported), and so do `from __future__`, star imports and what is in `__all__`.
"""

import ast
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from .source import Source, parse_source


@dataclass(frozen=True)
class _Binding:
    """One imported name: `chain` is what has to occur in the code for the import to be in use."""

    statement: ast.Import | ast.ImportFrom
    index: int
    chain: str


def drop_imports(before: Source, after: Source) -> str:
    """The text of `after` without the imports that only `before` used.

    Args:
        before: the file with its solutions.
        after: the same file, stripped.
    """
    used_before = _used(before)
    while True:
        used_after = _used(after) | _exported(after.tree)
        dropped = [
            binding
            for binding in _bindings(after.tree)
            if _is_used(binding, used_before) and not _is_used(binding, used_after)
        ]
        if not dropped:
            return after.text
        statement = max((binding.statement for binding in dropped), key=lambda node: node.lineno)
        gone = {binding.index for binding in dropped if binding.statement is statement}
        after = parse_source(after.path, _without(after, statement, gone))


def _bindings(tree: ast.Module) -> Iterator[_Binding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*"):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for index, alias in enumerate(node.names):
                yield _Binding(node, index, alias.asname or alias.name)


def _used(source: Source) -> set[str]:
    """Every dotted chain that the code reads, with its beginnings: `a.b.c` gives a, a.b and a.b.c."""
    chains: set[str] = set()
    for node in ast.walk(source.tree):
        chains |= _chains_of(node)
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        for part in ast.walk(annotation) if annotation else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                chains |= _chains_of_text(part.value)
    return chains


def _chains_of(node: ast.AST) -> set[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return set()
    parts.append(node.id)
    parts.reverse()
    return {".".join(parts[:length]) for length in range(1, len(parts) + 1)}


def _chains_of_text(annotation: str) -> set[str]:
    try:
        tree = ast.parse(annotation.strip(), mode="eval")
    except SyntaxError:
        return set()
    return set().union(*(_chains_of(node) for node in ast.walk(tree)))


def _is_used(binding: _Binding, chains: set[str]) -> bool:
    if binding.chain in chains:
        return True
    # `import a.b` may be in use as `a` alone only where nothing shows which part is meant.
    root, _, rest = binding.chain.partition(".")
    return bool(rest) and root in chains and not any(chain.startswith(root + ".") for chain in chains)


def _exported(tree: ast.Module) -> set[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        is_all = any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
        if is_all and isinstance(value, (ast.List, ast.Tuple)):
            return {item.value for item in value.elts if isinstance(item, ast.Constant)}
    return set()


def _without(after: Source, statement: ast.Import | ast.ImportFrom, gone: set[int]) -> str:
    """The text with these names taken out of the statement; if it loses all of them it goes."""
    lines = list(after.lines)
    if len(gone) < len(statement.names):
        _remove_names(lines, statement, gone, after)
    else:
        parent = next(
            node for node in ast.walk(after.tree) if any(child is statement for child in ast.iter_child_nodes(node))
        )
        _remove_statement(lines, statement, parent)
    return "".join(lines)


def _remove_statement(lines: list[str], statement: ast.stmt, parent: ast.AST) -> None:
    """Deletes whole lines; an emptied `if` (of TYPE_CHECKING) goes as well, other blocks get `pass`."""
    block = next(
        block
        for field in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(parent, field, None), list) and any(node is statement for node in block)
    )
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    shares_line = any(
        node is not statement and node.lineno <= last and (node.end_lineno or node.lineno) >= first for node in block
    )
    if shares_line:  # `import a; import b`: leave the line's other statements as they are
        line = lines[first - 1]
        end = statement.end_col_offset or len(line)
        tail = line[end:].lstrip()
        head = line[: statement.col_offset]
        lines[first - 1] = head + tail[1:].lstrip() if tail.startswith(";") else head.rstrip().rstrip(";") + tail
        return
    if len(block) == 1 and not isinstance(parent, ast.Module):
        if isinstance(parent, ast.If) and block is parent.body and not parent.orelse:
            first, last = parent.lineno, parent.end_lineno or last
        else:
            line = lines[first - 1]
            lines[first - 1 : last] = [line[: statement.col_offset] + "pass" + _line_end(line)]
            return
    del lines[first - 1 : last]
    is_blank_above = first == 1 or not lines[first - 2].strip()
    if is_blank_above and first <= len(lines) and not lines[first - 1].strip():
        del lines[first - 1]  # the paragraph is gone: one of its two blank lines goes too


def _remove_names(lines: list[str], statement: ast.Import | ast.ImportFrom, gone: set[int], after: Source) -> None:
    names = statement.names
    first = statement.lineno
    last = statement.end_lineno or first
    own_lines = [alias.lineno for alias in names]
    has_line_each = first not in own_lines and len(set(own_lines)) == len(own_lines)
    if has_line_each:
        for index in sorted(gone, reverse=True):
            del lines[names[index].lineno - 1 : names[index].end_lineno]
        return
    kept = [alias for index, alias in enumerate(names) if index not in gone]
    shown = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in kept]
    head = lines[first - 1].encode()[: statement.col_offset].decode()
    tail = lines[last - 1].encode()[statement.end_col_offset :].decode()
    if isinstance(statement, ast.ImportFrom):
        head += f"from {'.' * statement.level}{statement.module or ''} "
    one_line = f"{head}import {', '.join(shown)}{tail}"
    has_comments = any(token.type == tokenize.COMMENT and first <= token.start[0] < last for token in after.tokens)
    if len(one_line.rstrip()) <= 110 and not has_comments:
        lines[first - 1 : last] = [one_line]
        return
    end = _line_end(lines[first - 1])
    inner = head[: len(head) - len(head.lstrip())] + "    "
    comments = [
        f"{inner}{token.string}{end}"
        for token in after.tokens
        if token.type == tokenize.COMMENT and first <= token.start[0] < last
    ]
    lines[first - 1 : last] = [
        f"{head}import ({end}",
        *comments,
        *(f"{inner}{name},{end}" for name in shown),
        f"){tail}",
    ]


def _line_end(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n"
