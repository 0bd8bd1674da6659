"""What the instructor keeps: the solutions, the guide, the hidden references, the secret, and the proof's pages."""

from pathlib import Path

from foundation.term_secret import SECRET, term_secret

from ..skeleton.build import read_folder

PRIVATE = "data/private"

FOLDERS = (PRIVATE, "docs", "given")
"""The instructor's guide with the pages of the proof, and training as the solutions need it, are in the last two."""


def collect_instructor(root: Path, reference: Path, handout: bytes) -> dict[str, bytes]:
    """All files of the archive by path.

    Args:
        root: of the project.
        reference: the marked solution.
        handout: what students read first.

    Raises:
        SecretError: where the term's secret cannot be used.
    """
    files = {f"reference/{path}": content for path, content in read_folder(reference).items()}
    for folder in FOLDERS:
        files |= {f"{folder}/{path}": content for path, content in read_folder(root / folder).items()}
    files[SECRET.as_posix()] = term_secret(root)
    files["HANDOUT.md"] = handout
    return {f"instructor/{path}": files[path] for path in sorted(files)}
