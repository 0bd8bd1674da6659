"""The texts beside the notebooks: the README.md of the students' archive, AGENTS.md, and guide.html.

An instructor writes the handouts, `templates/handout.md` has what these fill in. AGENTS.md has what the course allows
coding assistants to do.

guide.html has the ideas, worked examples, pictures and glossary of the notebooks, for those who work in files. It is
one page, with its pictures beside it; formulas are MathML.
"""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import jinja2
import mistune
from latex2mathml.converter import convert
from mistune.plugins.math import math
from mistune.plugins.table import table
from packaging.requirements import Requirement

from foundation.assignment_file import Assignment
from foundation.places import ANSWERS
from foundation.texts import as_threshold

from . import prose as texts
from .prose import Part, Prose, parts_of_kind
from .skeleton import ReleaseError, Skeleton, coded_tasks, decode

HANDOUT = "README.md"
GUIDE = "guide.html"
TEMPLATE = "handout.md"
PICTURES = "docs/pictures"
NAMES = ("AGENTS.md", "CLAUDE.md")  # where the common assistants look for instructions

_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
_OF_CELLS = re.compile(r"\bcourse\b|\brefresh\(|\bmain\(|\bdraw\(|\bunderstand\(")
"""Cells that need a notebook; of others, lines that show a picture are left out."""
_SHOWS = re.compile(r"IPython|\bImage\(")

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=False,  # noqa: S701 (Markdown and code; what HTML needs is escaped there)
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
TEMPLATES.filters |= {
    "threshold": as_threshold,
    "number": "{:g}".format,
    "cell": lambda text: text.replace("|", "\\|"),  # of a table in Markdown
}


def fill_in(folder: Path, name: str, words: Mapping[str, object]) -> bytes:
    """Fill in an instructor's template. Raises: ReleaseError where one of its names is unknown."""
    text = decode(name, (folder / name).read_bytes())
    try:
        return TEMPLATES.from_string(text).render(words).encode("utf-8")
    except jinja2.TemplateError as error:
        place = f"{name}:{error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else name
        fault = f"{(error.message or '').rstrip('.')}; in double braces, write one of {', '.join(sorted(words))}"
        raise ReleaseError(f"{place}: {fault}") from None


def words_of(
    assignment: Assignment,
    packages: Iterable[str],
    places: Mapping[str, Sequence[str]] = {},
    efforts: Mapping[str, Part] = {},
) -> dict[str, object]:
    """Return what handouts say of the assignment and of how it is graded, by the names in their templates.

    `packages` are the requirements of its students; by task, `places` are where its answer goes.
    """
    regular = [task.number for task in assignment.tasks if not task.extension]
    given = {
        "assignment": assignment,
        "requirements": map(Requirement, packages),
        "begin": coded_tasks(assignment)[0],
        "efforts": efforts,
        "places": places,
        "minutes": sum(efforts[number].minutes for number in regular if number in efforts),
    }
    made = vars(TEMPLATES.get_template(TEMPLATE).make_module(given))
    return {name: text for name, text in made.items() if not name.startswith("_")}


def make_handout(skeleton: Skeleton, prose: Prose, packages: Iterable[str]) -> bytes:
    """Fill in the assignment's handout."""
    assignment = skeleton.assignment
    places = {
        task.number: [f"`{assignment.package}/{path}`" for path in skeleton.files_of(task.number)]
        + [f"`{assignment.package}/{ANSWERS}`"] * task.written
        + ["`translations.txt`"] * bool(task.threshold)
        for task in assignment.tasks
    }
    efforts = {head.number: head for head in parts_of_kind(prose, "task")}
    words = words_of(assignment, packages, places, efforts)
    return fill_in(assignment.folder, TEMPLATE, words)


def named_pictures(root: Path, prose: Prose) -> dict[str, bytes]:
    """Find in `docs/pictures/` what texts in Markdown show, by the paths that they name. Raises: ReleaseError."""
    pictures = {}
    for name, part in ((name, part) for name, parts in prose.items() for part in parts if part.kind == "text"):
        for path in _IMAGE.findall(part.text):
            picture = root / PICTURES / PurePosixPath(path).name
            if not picture.is_file():
                raise ReleaseError(f"{name}: shows {path}, but there is no such picture; draw it in {PICTURES}/")
            pictures[path] = picture.read_bytes()
    return pictures


def files_for_assistants(assignment: Assignment) -> dict[str, bytes]:
    """Return the instructions to assistants, under each name by which one of them looks for it."""
    return dict.fromkeys(NAMES, TEMPLATES.get_template(NAMES[0]).render(assignment=assignment).encode("utf-8"))


_BOX = '<div class="scrolls" tabindex="0" role="group" aria-label="{}">{}</div>'
"""Scrolls by itself, with the keyboard, too."""


class _Renderer(mistune.HTMLRenderer):
    """HTML with formulas as MathML; pictures lie beside it. Headings are named as Jupyter links to them."""

    def inline_math(self, text: str) -> str:
        return _formula(text, "inline")

    def block_math(self, text: str) -> str:
        return _BOX.format("equation", _formula(text, "block"))

    def block_code(self, code: str, info: str | None = None) -> str:
        return f'<pre tabindex="0"><code>{html.escape(code)}</code></pre>'

    def table(self, text: str) -> str:
        return _BOX.format("table", f"<table>{text}</table>")

    def heading(self, text: str, level: int, **attrs: object) -> str:
        return f'<h{level} id="{text.replace(" ", "-")}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return f'<img alt="{html.escape(text)}" src="{PurePosixPath(url).name}">'


def _formula(text: str, display: str) -> str:
    return convert(text, display=display).replace("<math", f'<math alttext="{html.escape(text)}"', 1)


def make_guide(root: Path, skeleton: Skeleton, prose: Prose) -> dict[str, bytes]:
    """Make the page, and its pictures, from the notebooks' prose. Raises: ReleaseError."""
    assignment, renderer = skeleton.assignment, _Renderer()
    homes = {part.name: f"{assignment.package}.{part.module}" for part in texts.find_definitions(skeleton)}
    words = {
        "assignment": assignment,
        "tasks": {task.number: task for task in assignment.tasks},
        "files_of": skeleton.files_of,
        "markdown": mistune.Markdown(renderer, plugins=[math, table]),
        "as_code": renderer.block_code,
        "as_script": lambda cell: _as_script(cell, homes),
        "in_files": lambda text: texts.without(text, texts.IN_NOTEBOOKS),
    }
    parts: list[dict[str, object]] = []
    for of_notebook in prose.values():
        body = TEMPLATES.get_template("part.html").render(words, parts=of_notebook).removesuffix("\n")
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        parts.append({"title": heading[1] if heading else len(parts), "body": body})
    page = TEMPLATES.get_template(GUIDE).render(title=assignment.title, parts=parts).encode("utf-8")
    pictures = named_pictures(root, prose)
    return {GUIDE: page} | {PurePosixPath(path).name: content for path, content in pictures.items()}


def _as_script(cell: str, homes: Mapping[str, str]) -> str:
    """A cell as it runs in a file's folder, with its imports; nothing if it is about notebooks. `homes` has modules."""
    if _OF_CELLS.search(cell):
        return ""
    lines = [line for line in cell.replace("support/", "").split("\n") if not _SHOWS.search(line)]
    called = [name for name in homes if re.search(rf"\b{name}\(", cell)]
    used = [line for name in called if (line := f"from {homes[name]} import {name}") not in lines]
    imports = ["import torch"] * ("torch." in cell) + ["from torch import nn"] * ("nn." in cell) + used
    return "\n".join([*imports, *lines]).strip() if any(lines) else ""
