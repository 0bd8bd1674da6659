"""What the instructor keeps: the solutions, the guide, the hidden references, the secret, and the proof's pages."""

from pathlib import Path

from foundation.term_secret import SECRET, term_secret

from ..skeleton.build import read_folder

PRIVATE = "data/private"

DOCS = "docs"
"""The instructor's guide, and the pages of the proof of the tests."""


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
    files |= {f"{PRIVATE}/{path}": content for path, content in read_folder(root / PRIVATE).items()}
    files |= {f"{DOCS}/{path}": content for path, content in read_folder(root / DOCS).items()}
    files[SECRET.as_posix()] = term_secret(root)
    files["HANDOUT.md"] = handout
    return {f"instructor/{path}": files[path] for path in sorted(files)}
