"""Reads values of a TOML file: each is what it should be, or an error names its place, the value, and what is right."""

import difflib
import sys
from collections.abc import Iterable
from typing import Any

from .command_line import UserError


def read_text(value: object, where: str) -> str:
    """Text in quotes."""
    if not isinstance(value, str):
        raise UserError(f"{where} = {value!r}: expected text in quotes")
    return value


def read_line(value: object, where: str) -> str:
    """Text that stands in headings and tables."""
    text = read_text(value, where)
    if not text.strip() or not text.isprintable():
        raise UserError(f"{where} = {value!r}: expected one line of text")
    return text


def read_texts(value: object, where: str) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UserError(f"{where} = {value!r}: expected a list of strings")
    return value


def is_number(value: object) -> bool:
    """Whether it is a finite number; TOML also has `inf` and `nan`, and whole numbers of any length."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def read_table(content: object, known: Iterable[str] | None, where: str) -> dict[str, Any]:
    """The content, checked to be a table that has no other than the known keys; None = any."""
    if not isinstance(content, dict):
        raise UserError(f"{where}: expected a table")
    names = list(content if known is None else known)
    for key in content:
        if key not in names:
            raise UserError(f"{where}: unknown key {key!r}{suggest(key, names)}")
    return content


def suggest(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, as the end of a message."""
    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
