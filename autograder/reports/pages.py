"""Web pages of a class: one for the staff, one for each student, one of similar submissions, each complete in itself.

Submissions decide on texts in them: everything is escaped, and a content security policy forbids the browser to load
or run anything but the page's own style and script.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from foundation.assignment_file import Assignment
from foundation.texts import as_score, counted
from foundation.whole_files import write_whole

from ..classroom.entries import Roll
from ..classroom.marks import PartMark, Result, by_submission
from ..classroom.similarity import Findings, Written
from ..course.catalogue import Fault
from ..grading.record import Record
from ..grading.scoring import shown
from ..intake.sources import file_of
from .class_page import class_view
from .class_summary import records_of
from .exports import STUDENTS
from .html import TEMPLATES, CodeLine, Excerpt, code_line, make_environment
from .terminal import details_of

CLASS, SIMILAR = "class.html", "similar.html"
CONTEXT = 2
"""Lines shown around those that two submissions share."""
MOST_LINES = 80
ENVIRONMENT = make_environment(TEMPLATES, points=as_score, counted=counted, details=details_of, bleu=shown)


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
    return {
        "title": assignment.title,
        "name": name,
        "record": record,
        "judgement": record.judgement,
        "is_late": any(result.is_late for result in results),
        "results": results,
        "marks": marks,
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


def excerpt(module: str, shared: Sequence[int], written: Written) -> Excerpt:
    """The shared lines of a module with those between and around them, and where the student finds them."""
    text, first, last = written.texts[module], shared[0], shared[-1]
    if origins := written.places.get(module):
        title = origins[first - 1] or f"{module}.py"
    else:
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        title = f"{file_of(module)}, {lines}"
    numbers = range(max(1, first - CONTEXT), min(len(text), last + CONTEXT) + 1)[:MOST_LINES]
    return Excerpt(title, tuple(CodeLine(str(n), code_line(text[n - 1]), n in shared) for n in numbers))
