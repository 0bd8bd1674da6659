"""The pictures in what students read: each Markdown image is taken from `docs/pictures/`, by its file's name."""

import re
from pathlib import Path, PurePosixPath

from ..problems import Problem, ReleaseError

PICTURES = "docs/pictures"

_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<path>[^)\s]+)\)")


def named_pictures(root: Path, text: str, name: str) -> dict[str, bytes]:
    """The images that a text shows, by the paths under which it names them.

    Args:
        root: of the project.
        text: Markdown.
        name: of the text, for messages.

    Raises:
        ReleaseError: if there is no picture of that name.
    """
    found = {}
    for match in _IMAGE.finditer(text):
        path = match["path"]
        picture = root / PICTURES / PurePosixPath(path).name
        if not picture.is_file():
            line = text.count("\n", 0, match.start()) + 1
            right = f"draw it in {PICTURES}/: make pictures"
            raise ReleaseError([Problem(name, line, f"shows {path}, but there is no such picture", right)])
        found[path] = picture.read_bytes()
    return found
