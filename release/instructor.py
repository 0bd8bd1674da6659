"""What the instructor keeps: the solutions, the guide, the hidden references, the secret, and the proof's pages."""

from pathlib import Path

from autograder.hidden import SECRET, term_secret

from .skeleton import read_folder

PRIVATE = "data/private"

GUIDE = "docs/instructor.md"

PROOF = "dist/proof"
"""Where `python -m autograder prove` puts its pages; they come along where they are."""


def collect_instructor(root: Path, reference: Path, handout: bytes) -> dict[str, bytes]:
    """All files of the archive by path.

    Args:
        root: of the project.
        reference: the marked solution.
        handout: what students read first.
    """
    files = {f"reference/{path}": content for path, content in read_folder(reference).items()}
    files |= {f"{PRIVATE}/{path}": content for path, content in read_folder(root / PRIVATE).items()}
    files |= {f"proof/{path}": content for path, content in read_folder(root / PROOF).items()}
    if (root / GUIDE).is_file():
        files["GUIDE.md"] = (root / GUIDE).read_bytes()
    files[SECRET.as_posix()] = term_secret(root)
    files["HANDOUT.md"] = handout
    return {f"instructor/{path}": files[path] for path in sorted(files)}
