"""The generator's numbers, from `settings.toml`: sizes, Zipf slopes, shares of what is drawn."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from foundation.command_line import UserError

SETTINGS_FILE = Path(__file__).resolve().parent / "settings.toml"


class SettingsError(UserError):
    """`settings.toml` is wrong; the message says where, and what would be right."""


@dataclass(frozen=True)
class Size:
    """How many pairs each split has, how long they are, how many subwords a language has."""

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


KEYS: dict[str, tuple[str, ...]] = {
    "zipf": tuple(
        f"{kind}_{knob}"
        for kind in ("noun", "adjective", "verb", "name", "adverb")
        for knob in ("slope", "shift")
    ),
    "english": ("first_synonym", "contraction", "negation_contraction"),
    "subject": (
        "je", "tu", "il", "elle", "nous", "vous", "ils", "elles", "on", "name", "pair", "noun", "someone",
    ),
    "sentence": (
        "adjective", "noun", "verb", "infinitive", "content", "linked", "yes_no", "wh", "imperative",
        "existential", "identity", "comparison", "age", "impersonal",
    ),
    "frame": (
        "intransitive", "expression", "transitive", "oblique", "dative", "locative", "control", "swap",
    ),
    "phrase": (
        "object_pronoun", "adjective", "second_adjective", "degree", "complement", "relative", "measure",
        "adverb", "place", "company", "duration", "manner", "negation", "plural", "front",
    ),
}  # fmt: skip


def read_settings(path: Path = SETTINGS_FILE) -> Settings:
    """Reads and checks the settings.

    Raises:
        SettingsError: for an unknown or missing key (naming the nearest valid one) or a wrong value.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise SettingsError(f"{path}: {problem}") from None
    size_keys = tuple(field.name for field in fields(Size))
    _same_keys(path, "the file", table, ("size", *KEYS))
    _same_keys(path, "[size]", table["size"], size_keys)
    for key, value in table["size"].items():
        if type(value) is not int or value < 1:
            raise SettingsError(f"{path}: [size] {key} is {value!r}, expected a whole number of at least 1")
    for name, keys in KEYS.items():
        _same_keys(path, f"[{name}]", table[name], keys)
        for key, value in table[name].items():
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise SettingsError(f"{path}: [{name}] {key} is {value!r}, expected a number of at least 0")
    shares = {**table["phrase"], **table["english"]}
    for key, value in shares.items():
        if value > 1:
            raise SettingsError(f"{path}: {key} is {value!r}, expected a share between 0 and 1")
    return Settings(size=Size(**table["size"]), **{name: dict(table[name]) for name in KEYS})


def _same_keys(path: Path, where: str, table: dict[str, Any], expected: tuple[str, ...]) -> None:
    for key in table:
        if key not in expected:
            near = difflib.get_close_matches(key, expected, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(expected)}"
            raise SettingsError(f"{path}: {where} has the unknown key {key!r}; {hint}")
    missing = [key for key in expected if key not in table]
    if missing:
        raise SettingsError(f"{path}: {where} lacks {', '.join(missing)}")
