"""Reading the lexicon's tab-separated tables: lines, columns, options, and the nouns that a word goes with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from foundation.command_line import UserError

from .entries import Noun, Selection, WordClass

EMPTY = "-"
ENGLISH_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz '-|/")


class LexiconError(UserError):
    """The lexicon is wrong; the message says in which file and line, and what would be right."""


@dataclass(frozen=True)
class Row:
    """One line of a table: where it stands and its cells by column name."""

    path: Path
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """The cell's text; an empty string where the table has a dash."""
        text = self.cells[column]
        return "" if text == EMPTY else text

    def error(self, message: str) -> LexiconError:
        """An error that points to this line."""
        return LexiconError(f"{self.path}:{self.line}: {message}")

    def english(self, column: str = "english") -> tuple[str, ...]:
        """English words of a cell, separated by `|`: lower case without accents, as the corpus has them."""
        text = self[column]
        if not text or not all(letter in ENGLISH_LETTERS for letter in text):
            raise self.error(f"{column} is {text!r}, expected lower-case letters without accents")
        return tuple(text.split("|"))

    def one_of(self, column: str, allowed: tuple[str, ...]) -> str:
        """The cell's text, which must be one of `allowed`."""
        text = self[column]
        if text not in allowed:
            raise self.error(f"{column} is {text!r}, expected one of: {', '.join(allowed)}")
        return text

    def options(self, column: str, allowed: tuple[str, ...]) -> dict[str, str]:
        """Options of a cell, `flag` or `name=value`, separated by semicolons; a flag's value is empty."""
        found: dict[str, str] = {}
        for part in filter(None, (part.strip() for part in self[column].split(";"))):
            name, _, value = part.partition("=")
            if name not in allowed:
                raise self.error(f"unknown option {name!r} in {column}, expected: {', '.join(sorted(allowed))}")
            if name in found:
                raise self.error(f"option {name!r} stands twice")
            found[name] = value.strip()
        return found


def read_table(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """Rows of a table whose header must be exactly `columns`. Lines that start with `#` are comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise LexiconError(f"{path}: cannot read the table: {problem}") from None
    header_seen = False
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = tuple(line.split("\t"))
        if not header_seen:
            if cells != columns:
                raise LexiconError(f"{path}:{number}: the header is {cells}, expected {columns}")
            header_seen = True
            continue
        if len(cells) != len(columns):
            raise LexiconError(f"{path}:{number}: {len(cells)} cells, expected {len(columns)}: {', '.join(columns)}")
        for column, cell in zip(columns, cells, strict=True):
            if not cell or cell != cell.strip():
                raise LexiconError(
                    f"{path}:{number}: {column} is {cell!r}, expected text without spaces around it, or {EMPTY!r}"
                )
        if cells in seen:
            raise LexiconError(f"{path}:{number}: the same entry stands in line {seen[cells]}")
        seen[cells] = number
        yield Row(path, number, dict(zip(columns, cells, strict=True)))
    if not header_seen:
        raise LexiconError(f"{path}: no header, expected {columns}")


class SelectionReader:
    """Turns `person,text=lettre` into a `Selection`, and checks that each part exists."""

    def __init__(self, classes: dict[str, WordClass], groups: dict[str, tuple[str, ...]], nouns: tuple[Noun, ...]):
        self.classes = classes
        self.groups = groups
        self.by_lemma: dict[str, set[str]] = {}
        for noun in nouns:
            self.by_lemma.setdefault(noun.lemma, set()).add(noun.class_name)

    def read(self, row: Row, text: str) -> Selection:
        """The selection that `text` means; an empty text admits nothing."""
        number = gender = ""
        names: set[str] = set()
        nouns: set[tuple[str, str]] = set()
        for part in filter(None, text.split(",")):
            if part[:3] in ("pl:", "sg:"):
                number, part = part[:2], part[3:]
            if part[-2:] in (":m", ":f"):
                gender, part = part[-1], part[:-2]
            class_name, equals, lemma = part.partition("=")
            if equals:
                nouns |= self._nouns(row, class_name, lemma)
            elif part in self.groups:
                names |= set(self.groups[part])
            elif part in self.classes:
                names.add(part)
            else:
                raise row.error(f"{part!r} is no class or group of classes.toml; a single noun is written '=noun'")
        return Selection(frozenset(names), frozenset(nouns), gender, number)

    def _nouns(self, row: Row, class_name: str, lemma: str) -> set[tuple[str, str]]:
        known = self.by_lemma.get(lemma, set())
        if class_name and class_name not in known:
            where = f"it stands in: {', '.join(sorted(known))}" if known else "it stands in no noun table"
            raise row.error(f"there is no noun {lemma!r} of class {class_name!r}; {where}")
        if not known:
            raise row.error(f"there is no noun {lemma!r} in the noun tables")
        return {(class_name, lemma)} if class_name else {(name, lemma) for name in known}
