"""Finds solutions in other files, whatever the file, its layout or its names."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence

from ..problems import ReleaseError
from ..skeleton.build import Skeleton
from ..skeleton.source import parse_source
from .cutting import Piece
from .fingerprints import agreement, blank_names, lex, lines_of_tokens, views
from .texts_in_files import Text, UnreadableError, texts_in
from .what_counts import STATEMENT_MIN, Solutions, collect_solutions, given_code, without_given

COPY = "a copy"
RENAMED = "a renamed or reformatted copy"


class LeakFinder:
    """Knows the solutions of one reference and finds them in other files.

    What also stands in the given code of the reference is not a secret and is left out from the start.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        solutions = collect_solutions(skeleton)
        known: dict[str, set[Piece]] = {COPY: set(), RENAMED: set()}
        for text in given_code(skeleton):
            for piece, _, how in _matches(solutions, lex(text)):
                known[how].add(piece)
        self.solutions = without_given(solutions, known[COPY], known[RENAMED])

    def leaks_in(self, where: str, content: bytes) -> list[str]:
        """One line for each place of the reference that survives in the file; empty where there is none."""
        found: dict[tuple[str, int], str] = {}
        try:
            for text in texts_in(where, content):
                for piece, line, how in self._search(text):
                    found.setdefault((piece.path, piece.line), f"{text.where}:{line}: {how} of {piece}")
        except UnreadableError as error:
            found["", 0] = f"{error}; remove it"
        return list(found.values())

    def _search(self, text: Text) -> Iterator[tuple[Piece, int, str]]:
        if not any(token in text.text for token in ("(", "=", "[")):
            return  # nothing of Python's syntax: a corpus
        tokens = None
        if ".py" in text.where:
            with contextlib.suppress(ReleaseError):  # not valid Python: read as any other text
                tokens = parse_source(text.where, text.text).tokens
        for view in views(text.text, tokens):
            found = list(_matches(self.solutions, lex(view)))
            lines = lines_of_tokens(view) if found else []
            for piece, index, how in found:
                yield piece, lines[index], how


def find_leaks(finder: LeakFinder, files: Mapping[str, bytes]) -> list[str]:
    """One line for each leak in any of the files; equal files are searched once."""
    seen: set[bytes] = set()
    leaks: list[str] = []
    for where, content in files.items():
        if content not in seen:
            leaks += finder.leaks_in(where, content)
            seen.add(content)
    return leaks


def _matches(solutions: Solutions, tokens: Sequence[str]) -> Iterator[tuple[Piece, int, str]]:
    """Every piece of solution in a sequence, with the index of its first token and how it was recognised."""
    joined = " " + " ".join(tokens) + " "
    for key, piece in solutions.statements.items():
        position = joined.find(f" {key} ")
        if position >= 0:
            yield piece, joined.count(" ", 0, position), COPY
    blanked = blank_names(tokens, solutions.fixed)
    for start, head in enumerate(zip(*(blanked[shift:] for shift in range(STATEMENT_MIN)), strict=False)):
        if head not in solutions.heads:
            continue
        for length, group in solutions.windows.items():
            for piece in group.get(tuple(blanked[start : start + length]), ()):
                theirs = tokens[start : start + length]
                if agreement(piece.tokens, theirs, solutions.fixed) >= piece.agreement:
                    yield piece, start, RENAMED
