"""Fingerprints of token sequences by winnowing.

Schleimer, Wilkerson and Aiken 2003, "Winnowing: Local Algorithms for Document Fingerprinting", section 3: of each
WINDOW neighbouring sequences of LENGTH tokens, the one with the least hash is kept. Whatever two texts share of at
least LENGTH + WINDOW - 1 tokens leaves a fingerprint in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from .tokens import OWN

LENGTH = 8
WINDOW = 4


def fingerprints(tokens: Sequence[str], length: int = LENGTH, window: int = WINDOW) -> Iterator[tuple[int, int]]:
    """Positions and hashes; a text shorter than `length` has one, of all of it."""
    hashes = [hash_of(tokens[start : start + length]) for start in range(max(1, len(tokens) - length + 1))]
    last = -1
    for start in range(max(1, len(hashes) - window + 1)):
        span = range(start, min(start + window, len(hashes)))
        chosen = min(span, key=lambda place: (hashes[place], -place))
        if chosen != last:
            yield chosen, hashes[chosen]
            last = chosen


def hash_of(tokens: Sequence[str]) -> int:
    """A number of 63 bits, the same in every process; of chosen names only which ones are the same counts."""
    order: dict[str, str] = {}
    blank = [order.setdefault(one, f"{OWN}{len(order)}") if one.startswith(OWN) else one for one in tokens]
    digest = hashlib.blake2b("\x1f".join(blank).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
