"""What must not leave: every statement of every solution as tokens, and where it stands in the reference."""

import ast
import keyword
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .fingerprints import blank_names, lex
from .regions import Region, blocks_of
from .skeleton import Skeleton
from .source import Source

VERBATIM_MIN = 7
"""Statements of fewer tokens, such as `return x, weights`, are too generic to be told from chance."""

WINDOW = 16
"""Tokens of a window in the comparison of renamed code."""

RENAMED_MIN = 12
"""A statement or region that is shorter than a window counts as a window of its own from this length on."""

_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@dataclass(frozen=True)
class Piece:
    """A token sequence of a solution: where it stands, and of which task (empty: an instructor's file)."""

    path: str
    line: int
    task: str
    tokens: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" + (f" (TODO {self.task})" if self.task else " (instructor only)")


@dataclass(frozen=True)
class Solutions:
    """All that is compared.

    Args:
        statements: verbatim tokens, joined by spaces, to the piece they come from.
        windows: length -> blanked tokens -> the pieces that look like this.
        fixed: the names that blanking leaves, since the reference did not choose them.
    """

    statements: Mapping[str, Piece]
    windows: Mapping[int, Mapping[tuple[str, ...], Sequence[Piece]]]
    fixed: set[str]


def collect_solutions(skeleton: Skeleton) -> Solutions:
    """Reads all regions and all instructor-only files."""
    streams: list[list[Piece]] = []  # a region each: its tokens by statement
    statements: list[Piece] = []
    for path, source in skeleton.sources.items():
        for region in skeleton.regions[path]:
            found = list(_statements(source, region.begin, region.end, region.hint.number))
            statements += found
            streams.append(_stream(source, region))
    for source in skeleton.withheld.values():
        end = len(source.lines) + 1
        statements += _statements(source, 0, end, "")
        streams.append(_tokens(source, 0, end, ""))
    own = _own_names([*skeleton.sources.values(), *skeleton.withheld.values()])
    fixed = {token for stream in streams for piece in stream for token in piece.tokens} - own
    windows: dict[int, dict[tuple[str, ...], list[Piece]]] = {}
    for piece in [*_windows(streams), *(piece for piece in statements if RENAMED_MIN <= len(piece.tokens) < WINDOW)]:
        blanked = tuple(blank_names(piece.tokens, fixed))
        if _is_telling(blanked, fixed):
            windows.setdefault(len(blanked), {}).setdefault(blanked, []).append(piece)
    verbatim = {" ".join(piece.tokens): piece for piece in statements if len(piece.tokens) >= VERBATIM_MIN}
    return Solutions(verbatim, windows, fixed)


def given_code(skeleton: Skeleton) -> Iterator[str]:
    """The code of the reference that students get as it is: pieces between solutions, no comments or docstrings."""
    for path, source in skeleton.sources.items():
        position = 0
        for begin, end in [*((region.begin, region.end) for region in skeleton.regions[path]), (1 << 60, 0)]:
            yield " ".join(_strings(source, position, begin))
            position = end


def _stream(source: Source, region: Region) -> list[Piece]:
    return _tokens(source, region.begin, region.end, region.hint.number)


def _tokens(source: Source, begin: int, end: int, task: str) -> list[Piece]:
    """Single tokens between two lines, each a piece with its line."""
    prose = _prose_lines(source.tree)
    return [
        Piece(source.path, token.start[0], task, (part,))
        for token in source.tokens
        if token.type not in _SKIPPED and begin < token.start[0] < end and token.start[0] not in prose
        for part in [token.string]
    ]


def _strings(source: Source, begin: int, end: int) -> list[str]:
    return [piece.tokens[0] for piece in _tokens(source, begin, end, "")]
