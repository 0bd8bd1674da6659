"""Web pages of a class: one for the staff, one for each student, one of similar submissions, each complete in itself.

Submissions decide on texts in them: everything is escaped, and a content security policy forbids the browser to load
or run anything but the page's own style and script.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from foundation.assignment_file import Assignment
from foundation.texts import as_score, as_threshold, counted, printable
from foundation.whole_files import write_whole

from ..classroom.entries import Roll
from ..classroom.marks import PartMark, Result, by_submission
from ..classroom.similarity import Findings, Written
from ..course.catalogue import Fault
from ..grading.record import Record
from ..grading.scoring import shown
from ..intake.sources import file_of
from .class_page import class_view, records_of
from .exports import STUDENTS
from .terminal import details_of

CLASS, SIMILAR = "class.html", "similar.html"
CONTEXT = 2  # lines shown around those that two submissions share
MOST_LINES = 80  # of an excerpt
TEMPLATES = Path(__file__).parent / "templates"
MOST_CHARACTERS = 150  # of a line of code


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
    environment.filters.update(filters, code=with_code_spans)
    return environment


def code_line(text: str) -> str:
    """A line as it is shown: tabs as spaces, nothing unprintable, and not too long."""
    return printable(text.rstrip("\r").expandtabs(4), MOST_CHARACTERS)


def with_code_spans(text: str) -> Markup:
    """Escaped text, in which what stands between backquotes is code."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  what is in it is escaped


ENVIRONMENT = make_environment(
    TEMPLATES, points=as_score, counted=counted, details=details_of, bleu=shown, threshold=as_threshold
)


def write_pages(
    roll: Roll, results: Sequence[Result], assignment: Assignment, catalogue: Mapping[str, Fault], output: Path
) -> None:
    """Writes `class.html`, and `students/KEY.html` for each submission; at least one has been graded."""
    records, names = records_of(results), roll.names()
    (output / STUDENTS).mkdir(exist_ok=True)
    for key, same in by_submission(results).items():
        view = student_view(names[key], records[key], assignment, same)
        write_page("student.html", output / STUDENTS / f"{key}.html", **view)
    view = class_view(results, roll, assignment, catalogue)
    write_page("class.html", output / CLASS, **view, **links_in(output, records))


def write_page(template: str, path: Path, **view: object) -> None:
    """Writes a view in the form of a template, whole or not at all."""
    write_whole(path, ENVIRONMENT.get_template(template).render(view))


def links_in(output: Path, keys: Iterable[str]) -> dict[str, object]:
    """The links to the pages that there are: `pages` of students, by the submission's key, and of the class."""
    pages = {key: f"{STUDENTS}/{quote(key)}.html" for key in keys if (output / STUDENTS / f"{key}.html").is_file()}
    has = {f"has_{name}_page": (output / file).is_file() for name, file in (("class", CLASS), ("similar", SIMILAR))}
    return {"pages": pages, **has}


def student_view(name: str, record: Record, assignment: Assignment, results: Sequence[Result]) -> dict[str, object]:
    """The content of the template `student.html`: a record, and the students who share it."""
    marks: dict[str, list[tuple[str, PartMark]]] = {part.number: [] for part in record.judgement.parts}
    for result in results:
        for mark in result.mark.parts if result.mark else ():
            marks[mark.part.number].append((result.member.name, mark))
    scores = [(result.member.name, result.score) for result in results]
    parts = [(part, marks[part.number]) for part in record.judgement.parts]
    return {
        "title": assignment.title,
        "name": name,
        "record": record,
        "judgement": record.judgement,
        "is_late": any(result.is_late for result in results),
        "results": results,
        # without what is done in class, until that has points, or a person has said something about it
        "parts": [(p, own) for p, own in parts if p.points or any(m.comment or not m.waits for _, m in own)],
        "written": {task.number for task in assignment.tasks if task.written},
        # with names only where those who share the submission have different ones
        "scores": scores if len({score for _, score in scores}) > 1 else [("", scores[0][1])],
        "thresholds": assignment.thresholds,
    }


def write_similar_page(
    findings: Findings, roll: Roll, written: Mapping[str, Written], assignment: Assignment, output: Path
) -> None:
    """Writes `similar.html`."""
    names = roll.names()
    write_page(
        "similar.html",
        output / SIMILAR,
        title=assignment.title,
        findings=findings,
        written=written,
        excerpt=excerpt,
        names={key: names.get(key, key) for key in written},
        **links_in(output, written),
    )


def excerpt(module: str, shared: Sequence[int], written: Written) -> tuple[str, list[tuple[int, str, bool]]]:
    """The place of shared lines, and these with those around them: number, text, and whether it is shared."""
    text, first, last = written.texts[module], shared[0], shared[-1]
    if origins := written.places.get(module):
        title = origins[first - 1] or f"{module}.py"
    else:
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        title = f"{file_of(module)}, {lines}"
    numbers = range(max(1, first - CONTEXT), min(len(text), last + CONTEXT) + 1)
    around = [(n, code_line(text[n - 1]), n in shared) for n in numbers[:MOST_LINES]]
    return title, [*around, *((n, "…", False) for n in numbers[MOST_LINES:][:1])]
