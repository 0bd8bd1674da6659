"""guide.html: the ideas, worked examples, pictures and glossary of the notebooks, for those who work in files.

One page without anything from elsewhere: formulas are MathML, pictures are part of it.
"""

import base64
import html
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

import mistune
from latex2mathml.converter import convert
from mistune.plugins.math import math
from mistune.plugins.table import table

from foundation.assignment_file import Assignment

from .handout import PICTURES
from .notebooks import read_parts
from .prose import EVERYWHERE, IN_NOTEBOOKS, Answer, Code, Part, Predict, TaskHead, Text, find_definitions, without
from .skeleton import Skeleton

GUIDE = "guide.html"
KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".gif": "image/gif"}

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --text: #e6e9ed; --link: #79b8ff; } }
body { font: 17px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
body { background: var(--ground); color: var(--text); overflow-wrap: break-word; } a { color: var(--link); }
h1 { margin-top: 3rem; } h2 { margin-top: 2.5rem; border-top: 1px solid #8884; padding-top: 1rem; }
pre, code { font: 0.9em ui-monospace, monospace; } pre { background: #8881; padding: 0.8rem; overflow-x: auto; }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid #8884; padding: 0.3rem 0.8rem 0.3rem 0; }
td, th { text-align: left; vertical-align: top; } img { max-width: 100%; background: #fff; }
nav a { display: block; } .scrolls { overflow-x: auto; } math[display="block"] { margin: 1rem 0; }
.where { background: #48f2; padding: 0.6rem 0.8rem; }
"""

OF_CELLS = re.compile(r"\bcourse\b|\brefresh\(|\bmain\(|\bdraw\(|\bunderstand\(")
"""Cells that need a notebook; of others, lines that show a picture are left out."""
SHOWS = re.compile(r"IPython|\bImage\(")


CODE = '<pre tabindex="0"><code>{}</code></pre>'
BOX = '<div class="scrolls" tabindex="0" role="group" aria-label="{}">{}</div>'
"""What scrolls by itself, with the keyboard, too."""


class Renderer(mistune.HTMLRenderer):
    """HTML with formulas as MathML and pictures as data."""

    def __init__(self, pictures: Path) -> None:
        """Takes the folder of the pictures."""
        super().__init__()
        self.pictures = pictures

    def inline_math(self, text: str) -> str:
        """A formula within a line."""
        return convert(text).replace("<math", f'<math alttext="{html.escape(text)}"', 1)

    def block_math(self, text: str) -> str:
        """A formula in a line of its own."""
        formula = convert(text, display="block").replace("<math", f'<math alttext="{html.escape(text)}"', 1)
        return BOX.format("equation", formula)

    def block_code(self, code: str, info: str | None = None) -> str:
        """Code, which the keyboard can scroll."""
        return CODE.format(html.escape(code))

    def table(self, text: str) -> str:
        """A table, which may be wider than a telephone."""
        return BOX.format("table", f"<table>{text}</table>")

    def heading(self, text: str, level: int, **attrs: object) -> str:
        """A heading under the name by which Jupyter links to it."""
        return f'<h{level} id="{text.replace(" ", "-")}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture."""
        picture = self.pictures / PurePosixPath(url).name
        data = base64.b64encode(picture.read_bytes()).decode()
        return f'<img alt="{html.escape(text)}" src="data:{KINDS[picture.suffix]};base64,{data}">'


def make_guide(root: Path, assignment: Assignment, skeleton: Skeleton) -> bytes:
    """Makes the page from the notebooks' prose."""
    markdown = mistune.Markdown(Renderer(root / PICTURES), plugins=[math, table])
    titles, bodies = [], []
    for number, of_notebook in enumerate(read_parts(root).values()):
        body = "\n".join(as_html(of_notebook, markdown, assignment, skeleton))
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        titles.append(f'<a href="#part{number}">{heading[1] if heading else number}</a>')
        bodies.append(f'<section id="part{number}">{body}</section>')
    title = f"<title>{html.escape(assignment.title)}: the guide</title>"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8">{title}'
    view = '<meta name="viewport" content="width=device-width"><style>' + STYLE + "</style>"
    contents = f'<nav aria-label="parts">{"".join(titles)}</nav>'
    return "\n".join([head, view, contents, "<main>", *bodies, "</main>", "</html>", ""]).encode("utf-8")


def as_html(
    parts: Iterable[Part], markdown: mistune.Markdown, assignment: Assignment, skeleton: Skeleton
) -> Iterable[str]:
    """Converts the parts of one notebook; an answer cell becomes the place where the answer goes."""
    tasks = {task.number: task for task in assignment.tasks}
    homes = {one.name: f"{assignment.package}.{one.module}" for one in find_definitions(skeleton, assignment)}
    for part in parts:
        if isinstance(part, Text):
            yield str(markdown(without(part.text, IN_NOTEBOOKS)))
        elif isinstance(part, Code):
            if code := as_script(part.text, homes):
                yield CODE.format(html.escape(code))
        elif isinstance(part, Predict) and assignment.predictions:
            answer = f"**{[*part.lettered][part.right]}** {part.why}"
            yield f"{markdown(part.text)}<details><summary>answer</summary>{markdown(answer)}</details>"
        elif isinstance(part, TaskHead):
            yield f"<h2>{part.number} {html.escape(tasks[part.number].title)}</h2>"
            difficulty = f"difficulty: {part.stars.count('●')} of {len(part.stars)}"
            yield f'<p><span role="img" aria-label="{difficulty}">{part.stars}</span> · {part.minutes} minutes</p>'
        elif isinstance(part, Answer):
            files = (f"<code>{assignment.package}/{path}</code>" for path in skeleton.files_of(part.number))
            test = f"<code>python -m pytest -m {tasks[part.number].marker}</code>"
            if where := " and ".join(files):
                yield f'<p class="where">Write it in {where}, and test it with {test}.</p>'


def as_script(cell: str, homes: Mapping[str, str]) -> str:
    """A cell as it runs in a file's folder, with its imports; nothing if it is about notebooks. `homes` has modules."""
    if OF_CELLS.search(cell):
        return ""
    lines = [line for line in cell.replace("support/", "").split("\n") if not SHOWS.search(line)]
    called = [name for name in homes if re.search(rf"\b{name}\(", cell)]
    used = [line for name in called if (line := f"from {homes[name]} import {name}") not in lines]
    imports = [EVERYWHERE] * ("torch." in cell) + ["from torch import nn"] * ("nn." in cell) + used
    return "\n".join([*imports, *lines]).strip() if any(lines) else ""
