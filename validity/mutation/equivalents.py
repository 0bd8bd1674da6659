"""The list of mutants that are right, or cannot be told from correct code, each with the reason."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .mutants import Mutant, MutationError


@dataclass(frozen=True)
class Equivalent:
    """Mutants that are right or cannot be told from correct code, and why."""

    within: str
    before: str
    after: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the mutants that it explains."""
        return self.within, self.before, self.after


def read_equivalents(path: Path) -> list[Equivalent]:
    """Reads the list.

    Raises:
        MutationError: naming the entry, and what would be right.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    except (OSError, ValueError) as error:
        raise MutationError(f"{path}: {error}") from None
    found = []
    for number, entry in enumerate(entries, start=1):
        texts = [entry.get(key) for key in ("within", "before", "reason")]
        changes = entry.get("after")
        texts += changes if isinstance(changes, list) and changes else [None]
        if len(entry) != 4 or not all(isinstance(text, str) and text.strip() for text in texts):
            right = "the texts within, before and reason, and after, a list of texts"
            raise MutationError(f"{path}: equivalent {number}: expected {right}")
        found += [Equivalent(texts[0], texts[1], after, texts[2]) for after in changes]
    return found


def without_mutant(equivalents: Sequence[Equivalent], mutants: Sequence[Mutant]) -> list[Equivalent]:
    """Entries that name no mutant: the reference has moved on."""
    known = {mutant.key for mutant in mutants}
    return [entry for entry in equivalents if entry.key not in known]
