"""The secret that a term's inputs come from, hidden from students."""

import contextlib
import os
import secrets
import sys
import tempfile
from pathlib import Path

from .command_line import UserError
from .places import REFERENCES
from .texts import printable

SECRET = REFERENCES.with_name("grading_secret.txt")
"""From the project's root, and from the folder into which Gradescope unpacks the grader."""

SHORTEST = 16
"""Characters of a secret that somebody has written: fewer could be found by trying."""


def term_secret(root: Path) -> bytes:
    """Read the term's file: 64 hexadecimal digits, drawn where there is none, or what the instructor has written.

    Raises: UserError where it can be neither read nor kept, or could be guessed.
    """
    path = root / SECRET
    name = printable(str(path))
    try:
        if not path.exists():
            _draw(path)
            print(f"note: drew the term's secret: {name}; keep it to replay marks", file=sys.stderr)
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{name}: the term's secret cannot be kept there: {error.strerror or error}") from None
    if len(content.strip()) < SHORTEST:
        fault = f"shorter than {SHORTEST} characters, which could be guessed"
        raise UserError(f"{name}: {fault}; remove it, and a secret is drawn")
    return content


def _draw(path: Path) -> None:
    """Writes a new secret, whole and readable by this user only; never in the place of another process's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".secret.") as file:  # 0600
        file.write(f"{secrets.token_hex(32)}\n".encode())
        file.flush()
        os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)
