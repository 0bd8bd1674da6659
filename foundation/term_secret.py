"""What is hidden from students: the references of the test split, and the secret that a term's inputs come from.

Paths are relative to the project's root, and to the folder that Gradescope unpacks the grader in.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path

REFERENCES = Path("data/private/fren.test.bpe")
SECRET = Path("data/private/grading_secret.txt")


def term_secret(root: Path) -> bytes:
    """64 hexadecimal digits and a newline, or whatever the instructor has written into the file.

    Without that file it follows from the hidden references, so that a fresh test set (`python -m data generate
    --test-seed N`) brings a fresh secret with it.
    """
    own = root / SECRET
    if own.is_file():
        return own.read_bytes()
    references = (root / REFERENCES).read_bytes()
    return (hashlib.sha256(b"inputs of the component tests\n" + references).hexdigest() + "\n").encode()


def seed_for(secret: bytes, hashes: Mapping[str, str]) -> int:
    """The seed of one submission's random inputs; nobody without the secret can foretell it.

    Args:
        secret: of the term.
        hashes: file name -> sha256 of what the submission consists of.
    """
    content = json.dumps(sorted(hashes.items())).encode()
    return int.from_bytes(hmac.digest(secret, content, hashlib.sha256)[:16], "big")
