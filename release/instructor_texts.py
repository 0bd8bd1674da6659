"""The texts that an instructor writes for students: read, filled in with what the assignment knows, with pictures."""

import re
import string
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from foundation.assignment_file import Assignment
from foundation.printable_text import line_of

from .problems import Problem, ReleaseError

PICTURES = "docs/pictures"

_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<path>[^)\s]+)\)")


def read_text(path: Path, name: str) -> str:
    """A text in UTF-8, with its line ends as they are.

    Args:
        path: of the file.
        name: of the file, for messages.

    Raises:
        ReleaseError: where it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        problem = Problem(name, 0, f"cannot be read ({error.strerror})", f"write {path}")
    except UnicodeDecodeError as error:
        problem = Problem(name, line_of(error), f"is not UTF-8 ({error.reason})", "save it as UTF-8")
    raise ReleaseError([problem])


def fill_in(text: str, name: str, words: Mapping[str, str]) -> str:
    """A text with words in place of `$name` and `${name}`, and `$` in place of `$$`.

    Args:
        text: as `string.Template` takes it.
        name: of its file, for messages.
        words: by their names.

    Raises:
        ReleaseError: naming each `$` that stands for nothing, by its line.
    """
    template = string.Template(text)
    problems = []
    for match in template.pattern.finditer(text):
        word = match["named"] or match["braced"]
        if match["escaped"] is None and word not in words:
            what = f"${word} stands for nothing" if word else "a $ stands alone"
            right = f"write $$ for a dollar sign, or one of {', '.join(f'${known}' for known in sorted(words))}"
            problems.append(Problem(name, _line_at(text, match), what, right))
    if problems:
        raise ReleaseError(problems)
    return template.substitute(words)


def words_of(assignment: Assignment, packages: Iterable[str]) -> dict[str, str]:
    """What both handouts say of the assignment and of how it is graded, by the names in their templates."""
    return {
        "python": ".".join(map(str, assignment.python)),
        "packages": ", ".join(re.split(r"[^\w.-]", package, maxsplit=1)[0] for package in packages),
        "title": assignment.title,
        "due": f"\nHand in by **{assignment.due}**.\n" if assignment.due else "",
        "contact": f" ({assignment.contact})" if assignment.contact else "",
    }


def named_pictures(root: Path, text: str, name: str) -> dict[str, bytes]:
    """The images that a text shows, by the paths under which it names them.

    Each is taken from `docs/pictures/`, by its file's name.

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
            what = f"shows {path}, but there is no such picture"
            raise ReleaseError([Problem(name, _line_at(text, match), what, f"draw it in {PICTURES}/: make pictures")])
        found[path] = picture.read_bytes()
    return found


def _line_at(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1
