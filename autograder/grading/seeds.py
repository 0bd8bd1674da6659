"""The seed of the tests' random inputs, and its name in a record.

The seed follows from the term's secret alone: all submissions of a term get the same inputs, so that the same mistake
costs two neighbours the same points, a disputed mark can be replayed, and the release proves with these very inputs
that the reference earns everything. A record holds only an id of the seed, and is sealed with the secret.
"""

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path

from foundation.term_secret import term_secret

from .record import Record


@dataclass(frozen=True)
class Seeds:
    """The seeds of a term."""

    secret: bytes  # of the term
    fixed: int | None = None  # used instead of the term's own seed

    def seed_of(self, purpose: str) -> int:
        """The seed for a purpose; nobody can predict it without the secret."""
        if self.fixed is not None:
            return self.fixed
        return int.from_bytes(hmac.digest(self.secret, purpose.encode(), hashlib.sha256)[:16], "big")

    @property
    def of_tests(self) -> int:
        """The seed of the component tests' inputs."""
        return self.seed_of("inputs of the component tests")

    @property
    def id_of_tests(self) -> str:
        """The name of that seed in a record: without the secret not even a short seed can be guessed from it."""
        text = f"id of seed {self.of_tests}"
        return hmac.digest(self.secret, text.encode(), hashlib.sha256).hex()[:12]

    def seal(self, record: Record) -> Record:
        """The record with a seal that only the holder of the secret can make."""
        return record.changed(seal=self._code_of(record))

    def has_sealed(self, record: Record) -> bool:
        """True if a record is as this term's grader wrote it."""
        return hmac.compare_digest(record.seal, self._code_of(record))

    def _code_of(self, record: Record) -> str:
        """The message authentication code of all of a record but the seal, in hexadecimal."""
        content = f"record\n{record.changed(seal='').model_dump_json()}"
        return hmac.digest(self.secret, content.encode(), hashlib.sha256).hex()


def seeds_of_term(root: Path, fixed: int | None = None) -> Seeds:
    """The seeds of the project in this folder."""
    return Seeds(term_secret(root), fixed)
