"""Finds the solutions in other files, whatever the file, its layout or the names in it.

Texts are compared as tokens. White space, quotes, parentheses and comments are none, so that layout does not matter,
and any text has tokens: a solution is found in prose, in a notebook and behind the `#` of a comment too. A statement of
a solution, or the whole of it, counts as leaked as it is, and with other words in place of the names that the reference
chose, unless given code has the same.
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from keyword import iskeyword

from .regions import Region, Source, blocks_of, is_text
from .skeleton import Skeleton

COPY_MIN = 7
"""A statement of fewer tokens, such as `return x, weights`, is too generic to be told from chance, …"""

TELLTALE_MIN = 4
"""… unless it has an attribute that given code never mentions, such as `self.last_norm`."""

RENAMED_MIN = 8
"""A statement of so many tokens is recognised under other names if it has one that cannot be changed, …"""

LONG = 20
"""… and one of so many tokens without that."""

_TOKEN = re.compile(
    r"""
      \\*["'],\s*\\*["']              # between two strings, as between the lines of a notebook's cell: dropped
    | \\+[nrt]                        # white space in a string: dropped
    | ,(?=\s*[)\]}])                  # magic trailing comma: dropped
    | (?P<token>
        (?:\.\s*)?[^\W\d]\w*          # name, or attribute with its dot
      | \d[\w.]*(?:(?<=[eE])[+-]\d+)? # number
      | [^\s\w'"`\\();\#] )
    """,
    re.VERBOSE,
)
_COMMENT = re.compile(r"#[^\n]*")
_EVERYDAY = frozenset(dir(builtins)) | {
    f".{name}" for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind)
}
"""Names of Python itself, such as `zip` and `.items`, which every program has."""


@dataclass(frozen=True)
class Statement:
    """A statement of a solution, where it stands, and of which task."""

    path: str
    line: int
    task: str
    tokens: tuple[str, ...]


class LeakFinder:
    """Knows the solutions of one reference and finds them in other files.

    Attributes:
        pieces: by what stands in a text, names left out or not, the statement that this comes from.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        statements = [
            statement
            for path, source in skeleton.sources.items()
            for region in skeleton.regions[path]
            for statement in _statements_in(source, region)
        ]
        sources = {**skeleton.sources, **skeleton.given}
        given = [_given_code(source, skeleton.regions.get(path, ())) for path, source in sources.items()]
        chosen = _chosen_names(skeleton)
        names = {token for statement in statements for token in statement.tokens if _is_name(token)}
        self._fixed = frozenset(names - chosen)
        telling = self._fixed - _EVERYDAY
        telltale = {name for name in names & chosen if name[0] == "."}.difference(*map(_tokens, given))
        self.pieces: dict[str, Statement] = {}
        for statement in statements:
            length = len(statement.tokens)
            if length >= (COPY_MIN if telltale.isdisjoint(statement.tokens) else TELLTALE_MIN):
                self.pieces[_joined(statement.tokens)] = statement
            if length >= (LONG if telling.isdisjoint(statement.tokens) else RENAMED_MIN):
                self.pieces[self._without_names(statement.tokens)] = statement
        for code in given:
            for piece in [piece for piece, _ in self._found_in(code)]:
                del self.pieces[piece]

    def leaks_in(self, where: str, content: bytes) -> list[str]:
        """One line for each statement of the reference that survives in the file; empty where there is none."""
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return [f"{where}: is not text, so its content cannot be checked; remove it"]
        leaks: dict[Statement, str] = {}
        for view in (_COMMENT.sub("", text), text):
            for piece, line in self._found_in(view):
                one = self.pieces[piece]
                leaks.setdefault(one, f"{where}:{line}: a copy of {one.path}:{one.line} (TODO {one.task})")
        return list(leaks.values())

    def _found_in(self, text: str) -> Iterator[tuple[str, int]]:
        """Each piece in a text, with the line of its first token."""
        placed = lex(text)
        tokens = [token for token, _ in placed]
        views = _joined(tokens), self._without_names(tokens)
        for piece in list(self.pieces):
            for view in views:
                if (position := view.find(piece)) >= 0:
                    index = view.count(" ", 0, position)
                    yield piece, text.count("\n", 0, placed[index][1]) + 1
                    break

    def _without_names(self, tokens: Collection[str]) -> str:
        """The tokens with a blank for each name that could be another one."""
        return _joined("_" if _is_name(token) and token not in self._fixed else token for token in tokens)


def lex(text: str) -> list[tuple[str, int]]:
    """The tokens of any text with their positions; an attribute is one with its dot: `x.size(0)` is `x .size 0`."""
    return [("".join(match["token"].split()), match.start()) for match in _TOKEN.finditer(text) if match["token"]]


def _tokens(text: str) -> list[str]:
    return [token for token, _ in lex(text)]


def _joined(tokens: Iterable[str]) -> str:
    return f" {' '.join(tokens)} "


def _is_name(token: str) -> bool:
    """Whether a token is a name, or an attribute with its dot."""
    return token.lstrip(".").isidentifier() and not iskeyword(token)


def _statements_in(source: Source, region: Region) -> Iterator[Statement]:
    """All of a region, every statement of it, of a compound one the head too, and what a statement computes."""
    whole = _COMMENT.sub("", "".join(source.lines[region.begin : region.end - 1]))
    yield Statement(source.path, region.begin + 1, region.number, tuple(_tokens(whole)))
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.stmt) or not region.begin < node.lineno < region.end:
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)) or is_text(node):
            continue
        parts: list[ast.stmt | ast.expr] = [node]
        if blocks := list(blocks_of(node)):
            first = blocks[0][0][0]
            stop = {"end_lineno": first.lineno, "end_col_offset": first.col_offset}
            parts.append(ast.Pass(lineno=node.lineno, col_offset=node.col_offset, **stop))
        elif isinstance(value := getattr(node, "value", None), ast.expr):
            parts.append(value)
        for part in parts:
            text = _COMMENT.sub("", ast.get_source_segment(source.text, part) or "")
            yield Statement(source.path, node.lineno, region.number, tuple(_tokens(text)))


def _given_code(source: Source, regions: Collection[Region]) -> str:
    """What students get of a file as it is: the code between solutions, without comments and docstrings."""
    lines = list(source.lines)
    gone = [(region.begin, region.end) for region in regions]
    gone += [(node.lineno, node.end_lineno or node.lineno) for node in ast.walk(source.tree) if is_text(node)]
    for first, last in gone:
        lines[first - 1 : last] = ["\n"] * (last - first + 1)
    return _COMMENT.sub("", "".join(lines))


def _chosen_names(skeleton: Skeleton) -> set[str]:
    """Every name that the reference binds, as a name and as an attribute."""
    names: set[str] = set()
    for source in skeleton.sources.values():
        for node in ast.walk(source.tree):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    names.add(name)
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    names.add(name)
                case ast.alias(name=name, asname=alias):
                    names.add(alias or name.partition(".")[0])
    return names | {f".{name}" for name in names}
