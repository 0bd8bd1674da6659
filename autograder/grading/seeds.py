"""Which seed each submission's random inputs come from, and how a record names it.

The seed follows from the term's secret and the submission's content, so that a disputed mark can be replayed and the
same files always earn the same marks. A record holds only an id of the seed, and is sealed with the secret.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.term_secret import term_secret

from .record import Record


@dataclass(frozen=True)
class Seeds:
    """The seeds of a term.

    Attributes:
        secret: of the term.
        fixed: used for every submission instead of its own seed; None = none.
    """

    secret: bytes
    fixed: int | None = None

    def seed_of(self, content: str) -> int:
        """The seed of a submission with this content hash; nobody can predict it without the secret."""
        if self.fixed is not None:
            return self.fixed
        return int.from_bytes(hmac.digest(self.secret, content.encode(), hashlib.sha256)[:16], "big")

    def id_of(self, content: str) -> str:
        """How a record names that seed: it can be recognised, but not even a short one guessed without the secret."""
        text = f"id of seed {self.seed_of(content)}"
        return hmac.digest(self.secret, text.encode(), hashlib.sha256).hex()[:12]

    def of(self, files: Mapping[str, str]) -> tuple[int, str]:
        """The seed of a submission with these files, and its id."""
        content = content_hash(files)
        return self.seed_of(content), self.id_of(content)

    def seal(self, record: Record) -> Record:
        """The record with a seal that only the holder of the secret can make."""
        return record.changed(seal=self._code_of(record))

    def has_sealed(self, record: Record) -> bool:
        """Whether a record is as this term's grader wrote it."""
        return hmac.compare_digest(record.seal, self._code_of(record))

    def _code_of(self, record: Record) -> str:
        """The message authentication code of all of a record but the seal."""
        return self.code_of("record", record.changed(seal="").model_dump_json())

    def code_of(self, kind: str, content: str) -> str:
        """The message authentication code of a text of some kind, in hexadecimal."""
        return hmac.digest(self.secret, f"{kind}\n{content}".encode(), hashlib.sha256).hex()


def seeds_of_term(root: Path, fixed: int | None = None) -> Seeds:
    """The seeds of the project in this folder."""
    return Seeds(term_secret(root), fixed)


def content_hash(files: Mapping[str, str]) -> str:
    """One hash for all files of a submission: file name -> sha256."""
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()
