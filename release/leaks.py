"""The search for solutions in other files, whatever the file, its layout or the names in it.

Texts are compared as tokens. White space, quotes, parentheses and comments are none, so that layout does not matter,
and any text has tokens: a solution is found in prose, in a notebook and behind the `#` of a comment too. A statement of
a solution, what it computes, or the whole of it, counts as leaked as it is, and with other words in place of the names
that the reference chose, unless given code has the same. What can be written in two ways is the same.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from keyword import iskeyword
from typing import NamedTuple

from .legible import readings
from .skeleton import Region, Skeleton, Source, is_text

COPY_MIN = 7  # a statement of fewer tokens, such as `return x, weights`, may be chance, …
TELLTALE_MIN = 4  # … unless it has an attribute that given code never mentions, such as `self.last_norm`
RENAMED_MIN = 8  # a statement of so many tokens is recognised under other names if it has one that cannot be changed, …
LONG = 20  # … and one of so many tokens without that
BEGINNING = 4  # tokens by which statements are looked up: the shortest that is looked for has so many

SAME = {".mT": (".transpose", "-", "2", ",", "-", "1")}  # what PyTorch can write in two ways, as tokens

Tokens = tuple[str, ...]

_TOKEN = re.compile(
    r"""
      \[\s*\\*["'](?P<item>\w+)\\*["']\s*]  # an item by its name: as an attribute
    | \\*["'],\s*\\*["']              # between two strings, as between the lines of a notebook's cell: dropped
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


class Statement(NamedTuple):
    """A statement of a solution, where it stands, and of which task."""

    path: str
    line: int
    task: str
    tokens: Tokens

    def __str__(self) -> str:
        return f"{self.path}:{self.line} (TODO {self.task})"


class LeakFinder:
    """Knows the solutions of one reference and finds them in other files."""

    def __init__(self, skeleton: Skeleton) -> None:
        solved = [(source, region) for source in skeleton.sources.values() for region in source.regions]
        statements = [statement for source, region in solved for statement in _statements_in(source, region)]
        given = [_given_code(source) for source in (*skeleton.sources.values(), *skeleton.given.values())]
        chosen = _chosen_names(skeleton)
        names = {token for statement in statements for token in statement.tokens if _is_name(token)}
        self._fixed = frozenset(names - chosen)
        telling = self._fixed - _EVERYDAY
        telltale = {name for name in names & chosen if name[0] == "."}.difference(*map(_tokens, given))
        self.pieces: dict[Tokens, Statement] = {}  # by what stands in a text, names left out or not
        for statement in statements:
            length = len(statement.tokens)
            if length >= (COPY_MIN if telltale.isdisjoint(statement.tokens) else TELLTALE_MIN):
                self.pieces[statement.tokens] = statement
            if length >= (LONG if telling.isdisjoint(statement.tokens) else RENAMED_MIN):
                self.pieces[self._without_names(statement.tokens)] = statement
        self._by_beginning: dict[Tokens, list[Tokens]] = {}
        for piece in self.pieces:
            self._by_beginning.setdefault(piece[:BEGINNING], []).append(piece)
        for piece in {piece for code in given for piece, _ in self._found_in(code)}:
            del self.pieces[piece]
            self._by_beginning[piece[:BEGINNING]].remove(piece)

    def leaks_in(self, where: str, content: bytes) -> list[str]:
        """Return a line for each statement of the reference that survives in the file; empty where there is none."""
        try:
            copies = self.statements_in(where, content)
        except UnicodeDecodeError:
            copies = None
        if copies is None or b"\0" in content:
            return [f"{where}: is not text, so its content cannot be checked; remove it"]
        return [f"{where}{place}: a copy of {statement}" for statement, place in copies.items()]

    def statements_in(self, path: str, content: bytes) -> dict[Statement, str]:
        """Each statement in a file, with its line, or what it stands in. Raises: UnicodeDecodeError for no text."""
        copies: dict[Statement, str] = {}
        for text, form in readings(path, content):
            for view in [text] if form else {text, _COMMENT.sub("", text)}:
                for piece, offset in self._found_in(view):
                    place = f", in {form}" if form else f":{view.count(chr(10), 0, offset) + 1}"
                    copies.setdefault(self.pieces[piece], place)
        return copies

    def _found_in(self, text: str) -> Iterator[tuple[Tokens, int]]:
        """Each piece in a text, with the offset of its first token."""
        placed = lex(text)
        tokens = tuple(token for token, _ in placed)
        for view in (tokens, self._without_names(tokens)):
            for index, beginning in enumerate(zip(*(view[shift:] for shift in range(BEGINNING)), strict=False)):
                for piece in self._by_beginning.get(beginning, ()):
                    if view[index : index + len(piece)] == piece:
                        yield piece, placed[index][1]

    def _without_names(self, tokens: Tokens) -> Tokens:
        """The tokens with a blank for each name that could be another one."""
        blanks = {token: "_" for token in set(tokens) - self._fixed if _is_name(token)}
        return tuple(blanks.get(token, token) for token in tokens)


def lex(text: str) -> list[tuple[str, int]]:
    """The tokens of any text with their positions; an attribute is one with its dot: `x.size(0)` is `x .size 0`."""
    matches = ((match, f".{match['item']}" if match["item"] else match["token"]) for match in _TOKEN.finditer(text))
    tokens = (("".join(token.split()), match.start()) for match, token in matches if token)
    return [(same, place) for token, place in tokens for same in SAME.get(token, (token,))]


def _tokens(text: str) -> Tokens:
    return tuple(token for token, _ in lex(text))


def _is_name(token: str) -> bool:  # with its dot, where it is an attribute
    return token.lstrip(".").isidentifier() and not iskeyword(token)


def _statements_in(source: Source, region: Region) -> Iterator[Statement]:
    """All of a region, every statement of it, of a compound one the head too, and what a statement computes.

    Of what it computes the operations count alone, too: `a @ b` may stand in a statement of its own elsewhere.
    """

    def statement(text: str, line: int) -> Statement:
        return Statement(source.path, line, region.number, _tokens(_COMMENT.sub("", text)))

    yield statement("".join(source.lines[region.begin : region.end - 1]), region.begin + 1)
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.stmt) or not region.begin < node.lineno < region.end:
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)) or is_text(node):
            continue
        parts: list[ast.stmt | ast.expr] = [node]
        inner = (part for part in ast.walk(node) if isinstance(part, ast.stmt) and part is not node)
        if first := next(inner, None):
            stop = {"end_lineno": first.lineno, "end_col_offset": first.col_offset}
            parts.append(ast.Pass(lineno=node.lineno, col_offset=node.col_offset, **stop))
        elif isinstance(value := getattr(node, "value", None), ast.expr):
            parts += [value, *(part for part in ast.walk(value) if isinstance(part, (ast.BinOp, ast.Compare)))]
        for part in parts:
            yield statement(ast.get_source_segment(source.text, part) or "", node.lineno)


def _given_code(source: Source) -> str:
    """Return what students get of a file as it is: the code between solutions, without comments and docstrings."""
    lines = list(source.lines)
    gone = [(region.begin, region.end) for region in source.regions]
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
