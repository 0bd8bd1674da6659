"""Templates of pages that are complete in themselves."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

import jinja2

BASE = Path(__file__).parent  # of base.html


def make_environment(templates: Path, **filters: Callable[..., object]) -> jinja2.Environment:
    """The templates of a folder, in which all text is escaped and a missing name is an error; they extend `base.html`.

    Args:
        templates: with `style.css`, which a page's content security policy names by `style_hash`, and perhaps
            `table.js`, likewise by `script_hash`.
        filters: for the templates, by name.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([templates, BASE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for kind, name in (("style", "style.css"), ("script", "table.js")):
        if (templates / name).is_file():
            text = environment.get_template(name).render()
            environment.globals[f"{kind}_hash"] = (
                "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            )
    environment.filters.update(filters)
    return environment
