"""What counts as leaked: the statements and windows of the solutions, and how long and how specific each must be."""

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword

from ..skeleton.build import Skeleton
from ..skeleton.source import Source
from .cutting import Piece, code_of, statements_of, windows_of
from .fingerprints import blank_names, is_name, lex

VERBATIM_MIN = 7
"""A statement of fewer tokens, such as `return x, weights`, is too generic to be told from chance …"""

TELLTALE_MIN = 4
"""… unless it holds an attribute that only solutions have, such as `self.last_norm`: then from here on."""


@dataclass(frozen=True)
class Sieve:
    """How renamed code of one size is told from code that is merely similar.

    Args:
        length: tokens of a window; 0: a statement as a whole.
        fixed: how many names of PyTorch and the like it has to hold, which nobody can rename.
        agreement: share of the other names that have to be replaced consistently.
    """

    length: int
    fixed: int
    agreement: float


STATEMENT_MIN = 8
SIEVES = (Sieve(length=0, fixed=1, agreement=1.0), Sieve(16, 2, 0.85), Sieve(24, 0, 0.95))
"""The fewer names are fixed, the longer the code has to be. Statements count from STATEMENT_MIN tokens on."""

_EVERYDAY = frozenset(dir(builtins)) | {
    f".{name}" for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind)
}
"""Names of Python itself, such as `zip` and `.items`, which every program has: they do not count as fixed."""

SLACK = 4
"""A window that is given code but for this many tokens at one end is not a secret."""


@dataclass(frozen=True)
class Solutions:
    """Everything that other files are compared with.

    Args:
        statements: tokens joined by spaces -> the statement.
        windows: length -> tokens with blank names -> the stretches of solution that look like it; none is
            shorter than STATEMENT_MIN.
        fixed: the names that blanking leaves, since the reference did not choose them.
    """

    statements: Mapping[str, Piece]
    windows: Mapping[int, Mapping[tuple[str, ...], Sequence[Piece]]]
    fixed: frozenset[str]

    @cached_property
    def heads(self) -> frozenset[tuple[str, ...]]:
        """The first tokens of every window, for a quick first comparison."""
        return frozenset(window[:STATEMENT_MIN] for group in self.windows.values() for window in group)


def collect_solutions(skeleton: Skeleton) -> Solutions:
    """Reads all regions, and the instructor's own files as if each were one region."""
    windows: list[tuple[Sieve, Piece]] = []
    longest = max(sieve.length for sieve in SIEVES)
    statements: list[Piece] = []
    for source, begin, end, task in _solution_lines(skeleton):
        text = code_of(source)
        found = list(statements_of(source, text, begin, end, task))
        statements += found
        for sieve in SIEVES:
            if sieve.length:
                windows += [
                    (sieve, piece)
                    for piece in windows_of(source, text, begin, end, task, sieve.length, sieve.agreement)
                ]
            else:
                windows += [(sieve, piece) for piece in found if STATEMENT_MIN <= len(piece.tokens) < longest]
    fixed = frozenset(_names_of(statements) - _own_names(skeleton))
    by_length: dict[int, dict[tuple[str, ...], list[Piece]]] = defaultdict(lambda: defaultdict(list))
    for sieve, piece in dict.fromkeys(windows):
        if sum(token in fixed and token not in _EVERYDAY for token in piece.tokens) >= sieve.fixed:
            by_length[len(piece.tokens)][tuple(blank_names(piece.tokens, fixed))].append(piece)
    telltale = _telltale_attributes(skeleton)
    verbatim = {
        " ".join(piece.tokens): piece
        for piece in statements
        if len(piece.tokens) >= (VERBATIM_MIN if telltale.isdisjoint(piece.tokens) else TELLTALE_MIN)
    }
    return Solutions(verbatim, by_length, fixed)


def without_given(solutions: Solutions, copied: Collection[Piece], alike: Collection[Piece]) -> Solutions:
    """Leaves out what is not a secret.

    Args:
        solutions: as collected.
        copied: statements that also stand in given code, word for word.
        alike: windows that given code is a renaming of; those that overlap with one nearly as a whole go too.
    """
    near = {
        (piece.path, piece.stretch, piece.offset + shift)
        for piece in alike
        if piece.stretch
        for shift in range(-SLACK, SLACK + 1)
    }

    def is_secret(piece: Piece) -> bool:
        return piece not in alike and (piece.path, piece.stretch, piece.offset) not in near

    statements = {key: piece for key, piece in solutions.statements.items() if piece not in copied}
    windows = {
        length: {blanked: rest for blanked, pieces in group.items() if (rest := list(filter(is_secret, pieces)))}
        for length, group in solutions.windows.items()
    }
    return Solutions(statements, windows, solutions.fixed)


def given_code(skeleton: Skeleton) -> Iterator[str]:
    """What students get as it is: the code between the reference's solutions, and beside it, without prose."""
    yield from map(code_of, skeleton.given.values())
    for path, source in skeleton.sources.items():
        lines = code_of(source).split("\n")
        position = 0
        for region in skeleton.regions[path]:
            yield "\n".join(lines[position : region.begin - 1])
            position = region.end
        yield "\n".join(lines[position:])


def _solution_lines(skeleton: Skeleton) -> Iterator[tuple[Source, int, int, str]]:
    for path, source in skeleton.sources.items():
        for region in skeleton.regions[path]:
            yield source, region.begin, region.end, region.hint.number


def _names_of(pieces: Sequence[Piece]) -> set[str]:
    return {token for piece in pieces for token in piece.tokens if is_name(token) and not iskeyword(token)}


def _telltale_attributes(skeleton: Skeleton) -> set[str]:
    """The attributes that solutions set and given code never mentions, with their dot."""
    attributes = {
        "." + node.attr
        for path, source in skeleton.sources.items()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if any(region.begin < node.lineno < region.end for region in skeleton.regions[path])
    }
    return attributes - {token for text in given_code(skeleton) for token in lex(text)}


def _own_names(skeleton: Skeleton) -> set[str]:
    """Every name that the reference binds, attributes with their dot."""
    names: set[str] = set()
    for source in skeleton.sources.values():
        for node in ast.walk(source.tree):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    names |= {name, "." + name}
                case ast.Name(id=name, ctx=ast.Store()):
                    names.add(name)
                case ast.arg(arg=name):
                    names.add(name)
                case ast.alias(name=name, asname=alias):
                    names.add(alias or name.partition(".")[0])
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    names.add("." + name)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    names.add("." + name)  # a field of a dataclass
    return names
