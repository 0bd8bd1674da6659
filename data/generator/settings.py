"""The generator's numbers, from `settings.toml`: sizes, Zipf slopes, shares of what is drawn."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from foundation.command_line import UserError

SETTINGS_FILE = Path(__file__).resolve().parent / "settings.toml"
KEYS = {
    "zipf": "noun_slope noun_shift adjective_slope adjective_shift verb_slope verb_shift name_slope name_shift "
    "adverb_slope adverb_shift",
    "english": "first_synonym contraction negation_contraction",
    "subject": "je tu il elle nous vous ils elles on name pair noun someone",
    "sentence": "adjective noun verb infinitive content linked yes_no wh imperative existential identity comparison "
    "age impersonal",
    "frame": "intransitive expression transitive oblique dative locative control swap",
    "phrase": "object_pronoun adjective second_adjective degree complement relative measure adverb place company "
    "duration manner negation plural front",
}
SHARES = ("phrase", "english")


class SettingsError(UserError):
    """`settings.toml` is wrong; the message names the place, and what would be right."""


@dataclass(frozen=True)
class Size:
    """Pairs of each split, tokens of the longest, subwords of each language."""

    train: int
    dev: int
    test: int
    max_tokens: int
    french_vocabulary: int
    english_vocabulary: int


@dataclass(frozen=True)
class Settings:
    """All numbers, table by table; weights and shares are plain dictionaries."""

    size: Size
    zipf: dict[str, float]
    english: dict[str, float]
    subject: dict[str, float]
    sentence: dict[str, float]
    frame: dict[str, float]
    phrase: dict[str, float]


def read_settings(path: Path = SETTINGS_FILE) -> Settings:
    """Reads and checks the settings.

    Raises:
        SettingsError: for an unknown or missing key (naming the nearest valid one) or a wrong value.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise SettingsError(f"{path}: {problem}") from None
    _check_keys(f"{path}: the file", table, ("size", *KEYS))
    _check_keys(f"{path}: [size]", table["size"], [field.name for field in fields(Size)])
    for name, keys in KEYS.items():
        _check_keys(f"{path}: [{name}]", table[name], keys.split())
    for name, numbers in table.items():
        for key, value in numbers.items():
            if name == "size" and (type(value) is not int or value < 1):
                expected = "a whole number of at least 1"
            elif type(value) not in (int, float) or value < 0:
                expected = "a number of at least 0"
            elif name in SHARES and value > 1:
                expected = "a share between 0 and 1"
            else:
                continue
            raise SettingsError(f"{path}: [{name}] {key} is {value!r}, expected {expected}")
    return Settings(**{**table, "size": Size(**table["size"])})


def _check_keys(where: str, table: dict[str, Any], expected: Sequence[str]) -> None:
    for key in table:
        if key not in expected:
            near = difflib.get_close_matches(key, expected, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(expected)}"
            raise SettingsError(f"{where} has the unknown key {key!r}; {hint}")
    missing = [key for key in expected if key not in table]
    if missing:
        raise SettingsError(f"{where} lacks {', '.join(missing)}")
