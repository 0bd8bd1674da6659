"""A recording of what a submission was asked and what it answered, as the bytes that went over the pipe.

Nothing is decoded while it is recorded, and nothing that is recorded can change afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_BYTES = 32 << 20


@dataclass(frozen=True)
class Exchange:
    """One request and its reply: JSON headers and safetensors bodies."""

    request: dict[str, Any]
    body: bytes
    reply: dict[str, Any]
    reply_body: bytes


@dataclass
class Episode:
    """The exchanges of one test, by its node id; `is_whole` is False where some were not kept."""

    test: str
    exchanges: list[Exchange] = field(default_factory=list)
    is_whole: bool = True


class Tape:
    """Episodes by the test's node id; keeps no more than MAX_BYTES of bodies."""

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}
        self._current: Episode | None = None
        self._size = 0

    def begin(self, test: str) -> None:
        """What follows belongs to the test with this node id."""
        self._current = self.episodes[test] = Episode(test)

    def clear(self) -> None:
        """Forget all; what follows is not recorded."""
        self.episodes, self._current, self._size = {}, None, 0

    def add(self, request: dict[str, Any], body: bytes, reply: dict[str, Any], reply_body: bytes) -> None:
        """Record one exchange."""
        if self._current is None or request["verb"] in ("load", "import"):
            return
        self._size += len(body) + len(reply_body)
        if self._size > MAX_BYTES:
            self._current.is_whole = False
        else:
            self._current.exchanges.append(Exchange(request, body, reply, reply_body))
