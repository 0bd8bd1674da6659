"""Finds the solutions in other files, whatever the file, its layout or the names in it.

Texts are compared as tokens. White space, quotes, parentheses and comments are none, so that layout does not matter,
and any text has tokens: a solution is found in prose, in a notebook and behind the `#` of a comment too. Two things
count as leaked, unless given code has them as well:

    a copy            a statement of a solution as it is
    a renamed copy    a statement, or a stretch of tokens, in which the names that the reference chose are others,
                      each everywhere the same
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword

from .regions import Region, Source, blocks_of, is_text
from .skeleton import Skeleton

COPY_MIN = 7
"""A statement of fewer tokens, such as `return x, weights`, is too generic to be told from chance, …"""

TELLTALE_MIN = 4
"""… unless it has an attribute that given code never mentions, such as `self.last_norm`."""

RENAMED_MIN = 8
"""A statement of so many tokens is recognised under other names if one of its names cannot be changed, …"""

STRETCH = 20
"""… and any stretch of so many tokens of a solution without that."""

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

Key = str | tuple[str, ...]
"""The tokens of a piece: joined by spaces, to be found as they are; or one by one, with numbers in place of names."""


@dataclass(frozen=True)
class Piece:
    """Where a sequence of tokens stands in the reference, and in the solution of which task."""

    path: str
    line: int
    task: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} (TODO {self.task})"


class LeakFinder:
    """Knows the solutions of one reference and finds them in other files.

    Attributes:
        places: where each piece stands.
        fixed: the names that nobody can change, since the reference did not choose them.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        sources = {**skeleton.sources, **skeleton.given}
        given = [_tokens(_given_code(source, skeleton.regions.get(path, ()))) for path, source in sources.items()]
        self.fixed, self.places = _collect_pieces(skeleton, {token for tokens in given for token in tokens})
        self._lengths: dict[tuple[str, ...], set[int]] = {}  # of the renamed ones by how they begin, names left out
        for key in self.places:
            if isinstance(key, tuple):
                head = tuple("_" if token[0] == "\0" else token for token in key[:RENAMED_MIN])
                self._lengths.setdefault(head, set()).add(len(key))
        for key in {key for tokens in given for key, _ in self._find(tokens)}:
            del self.places[key]

    def leaks_in(self, where: str, content: bytes) -> list[str]:
        """One line for each place of the reference that survives in the file; empty where there is none."""
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return [f"{where}: is not text, so its content cannot be checked; remove it"]
        found: dict[Piece, str] = {}
        for view in (_COMMENT.sub("", text), text):
            placed = lex(view)
            for key, index in self._find([token for token, _ in placed]):
                line = view.count("\n", 0, placed[index][1]) + 1
                piece, how = self.places[key], "a copy" if isinstance(key, str) else "a renamed copy"
                found.setdefault(piece, f"{where}:{line}: {how} of {piece}")
        return list(found.values())

    def _find(self, tokens: Sequence[str]) -> Iterator[tuple[Key, int]]:
        """Each piece in a sequence, with the index of its first token."""
        joined = f" {' '.join(tokens)} "
        for key in self.places:
            position = joined.find(f" {key} ") if isinstance(key, str) else -1
            if position >= 0:
                yield key, joined.count(" ", 0, position)
        blank = ["_" if _is_free(token, self.fixed) else token for token in tokens]
        for index, head in enumerate(zip(*(blank[shift:] for shift in range(RENAMED_MIN)), strict=False)):
            for length in self._lengths.get(head, ()):
                numbered = _number_names(tokens[index : index + length], self.fixed)
                if numbered in self.places:
                    yield numbered, index


def lex(text: str) -> list[tuple[str, int]]:
    """The tokens of any text with their positions; an attribute is one with its dot: `x.size(0)` is `x .size 0`."""
    return [("".join(match["token"].split()), match.start()) for match in _TOKEN.finditer(text) if match["token"]]


def _tokens(text: str) -> list[str]:
    return [token for token, _ in lex(text)]


def _is_free(token: str, fixed: Collection[str]) -> bool:
    """Whether a token is a name, or an attribute with its dot, that could be another one."""
    return token not in fixed and token.lstrip(".").isidentifier() and not iskeyword(token)


def _number_names(tokens: Sequence[str], fixed: Collection[str]) -> tuple[str, ...]:
    """The tokens with a number for each free name, in the order in which they come: the same for a renamed copy."""
    numbers: dict[str, str] = {}
    return tuple(
        numbers.setdefault(token, f"\0{len(numbers)}") if _is_free(token, fixed) else token for token in tokens
    )


def _collect_pieces(skeleton: Skeleton, given: Collection[str]) -> tuple[frozenset[str], dict[Key, Piece]]:
    """The names that nobody can change, and the statements and stretches of all regions, but for generic ones."""
    statements: list[tuple[Piece, list[str]]] = []
    stretches: list[tuple[Piece, list[str]]] = []
    for path, source in skeleton.sources.items():
        for region in skeleton.regions[path]:
            statements += _statements_in(source, region)
            code = _COMMENT.sub("", "".join(source.lines[region.begin : region.end - 1]))
            placed = lex(code)
            for start in range(len(placed) - STRETCH + 1):
                line = region.begin + 1 + code.count("\n", 0, placed[start][1])
                tokens = [token for token, _ in placed[start : start + STRETCH]]
                stretches.append((Piece(source.path, line, region.hint.number), tokens))
    names = {token for _, tokens in statements for token in tokens if _is_free(token, ())}
    chosen = _chosen_names(skeleton)
    fixed = frozenset(names - chosen)
    telling = fixed - _EVERYDAY
    telltale = {name for name in names & chosen if name[0] == "."}.difference(given)
    copies: dict[Key, Piece] = {
        " ".join(tokens): piece
        for piece, tokens in statements
        if len(tokens) >= (COPY_MIN if telltale.isdisjoint(tokens) else TELLTALE_MIN)
    }
    short = [
        (piece, tokens)
        for piece, tokens in statements
        if RENAMED_MIN <= len(tokens) <= STRETCH and not telling.isdisjoint(tokens)
    ]
    return fixed, copies | {_number_names(tokens, fixed): piece for piece, tokens in (*stretches, *short)}


def _statements_in(source: Source, region: Region) -> Iterator[tuple[Piece, list[str]]]:
    """Every statement of a region, of a compound one the head too, and what a statement computes."""
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
            text = ast.get_source_segment(source.text, part) or ""
            yield Piece(source.path, node.lineno, region.hint.number), _tokens(_COMMENT.sub("", text))


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
