"""Checks of paths inside a submission: dangerous ones, and two that mean the same file on some system."""

import unicodedata
from collections.abc import Iterable

from ..errors import RefusedError, quote
from ..size_limits import MAX_DEPTH, MAX_NAME_CHARACTERS

STEERING = {"Cc", "Zl", "Zp"}  # control characters, line and paragraph separators
BIDIRECTIONAL = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def check_name(name: str) -> str:
    """The plain form of a member's name, "folder/file.py"; "" for the archive's own top folder.

    Raises:
        RefusedError: for a name that could lead out of a folder, or that is displayed differently from what it is.
    """
    if len(name) > MAX_NAME_CHARACTERS:
        raise RefusedError(f"a name of {len(name):,} characters, {quote(name)}; at most {MAX_NAME_CHARACTERS} are read")
    if any(unicodedata.category(c) in STEERING or c in BIDIRECTIONAL for c in name):
        raise RefusedError(f"{quote(name)} has control characters in its name")
    if "\\" in name:
        raise RefusedError(f"{quote(name)} has a backslash in its name; use a tool that writes / between folders")
    if ":" in name:
        raise RefusedError(f"{quote(name)} has a colon in its name, which some systems read as a drive or stream")
    if name.startswith("/"):
        raise RefusedError(f"{quote(name)} is an absolute path; pack the files with relative names")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise RefusedError(f"{quote(name)} leads out of the archive (..); pack the files with relative names")
    if len(parts) > MAX_DEPTH:
        raise RefusedError(f"{quote(name)} is {len(parts)} folders deep; at most {MAX_DEPTH} are read")
    return "/".join(parts)


def check_clashes(names: Iterable[str]) -> None:
    """Refuses names that are one file on some system: duplicates, names that differ in case, a file and a folder.

    Raises:
        RefusedError: which names both.
    """
    spelling: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for name in names:
        parts = name.split("/")
        for length in range(1, len(parts) + 1):
            path = "/".join(parts[:length])
            kind = "file" if length == len(parts) else "folder"
            key = folded(path)
            if spelling.setdefault(key, path) != path:
                raise RefusedError(f"{quote(path)} and {quote(spelling[key])} differ only in case or accents; keep one")
            if kinds.get(key, kind) != kind:
                raise RefusedError(f"{quote(path)} is both a file and a folder; keep one")
            if kind == "file" and key in kinds:
                raise RefusedError(f"{quote(path)} appears twice; keep one")
            kinds[key] = kind


def folded(path: str) -> str:
    """A path as seen by a system that ignores case and the two encodings of an accent."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
    return "/".join(part.rstrip(". ") for part in plain.split("/"))


def is_clutter(path: str) -> bool:
    """Whether systems and tools leave such a path behind: a hidden file, or a cache."""
    return any(part.startswith(".") or part in ("__pycache__", "__MACOSX") for part in path.split("/"))
