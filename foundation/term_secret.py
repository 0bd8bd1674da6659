"""What is hidden from students: the references of the test split, and the secret that a term's inputs come from.

Paths are relative to the project's root, and to the folder into which Gradescope unpacks the grader.
"""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from .whole_files import OutputError

REFERENCES = Path("data/private/fren.test.bpe")
SECRET = Path("data/private/grading_secret.txt")


class NoSecretError(FileNotFoundError):
    """There is neither a secret nor anything to derive it from."""


def term_secret(root: Path) -> bytes:
    """64 hexadecimal digits and a newline, or whatever the instructor has written into the file.

    Without that file it follows from the hidden references, so that a fresh test set (`python -m data generate
    --test-seed N`) brings a fresh secret with it.

    Raises:
        NoSecretError: where both are missing.
    """
    own, references = root / SECRET, root / REFERENCES
    if own.is_file():
        return own.read_bytes()
    if not references.is_file():
        raise NoSecretError(f"neither {own} nor {references} exists")
    return (hashlib.sha256(b"inputs of the component tests\n" + references.read_bytes()).hexdigest() + "\n").encode()


def draw_secret(root: Path) -> Path:
    """Draws a secret and keeps it for the term, readable by this user only; one that exists stays.

    Returns:
        Where the secret is.

    Raises:
        OutputError: where it cannot be written.
    """
    path = root / SECRET
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, drawn = tempfile.mkstemp(dir=path.parent, prefix=".secret.")  # 0600
        try:
            os.write(descriptor, (secrets.token_hex(32) + "\n").encode())
            os.close(descriptor)
            os.link(drawn, path)  # whole, and never in the place of another process's
        finally:
            Path(drawn).unlink()
    except FileExistsError:
        pass
    except OSError as error:
        raise OutputError(f"{path}: the term's secret cannot be kept: {error.strerror or error}") from None
    return path
