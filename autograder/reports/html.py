"""Templates of pages that are complete in themselves, and the lines of submitted code that pages show."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jinja2

from foundation.texts import printable

TEMPLATES = Path(__file__).parent / "templates"
MOST_CHARACTERS = 150
"""Of a line of code."""


def make_environment(templates: Path, **filters: Callable[..., object]) -> jinja2.Environment:
    """The templates of a folder, in which all text is escaped and a missing name is an error; they extend `base.html`.

    A page's content security policy names the folder's `style.css` by `style_hash`, and `table.js` by `script_hash`.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([templates, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for kind, name in (("style", "style.css"), ("script", "table.js")):
        if (templates / name).is_file():
            digest = hashlib.sha256(environment.get_template(name).render().encode()).digest()
            environment.globals[f"{kind}_hash"] = f"sha256-{base64.b64encode(digest).decode()}"
    environment.filters.update(filters)
    return environment


@dataclass(frozen=True)
class CodeLine:
    """A line with its number in the student's editor, "" for what is left out; marked if it is why it is shown."""

    number: str
    text: str
    is_marked: bool = False


@dataclass(frozen=True)
class Excerpt:
    """Some lines of one file, or of one cell of a notebook; with its name as the title."""

    title: str
    lines: tuple[CodeLine, ...]


def code_line(text: str) -> str:
    """A line as it is shown: tabs as spaces, nothing unprintable, and not too long."""
    return printable(text.rstrip("\r").expandtabs(4), MOST_CHARACTERS)
