"""Web pages of a class: one for the staff, one for each student, one of similar submissions, each complete in itself.

Submissions decide on texts in them: everything is escaped, and a content security policy forbids the browser to load
or run anything but the page's own style and script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

import jinja2

from foundation.assignment_file import Assignment
from foundation.texts import as_score, counted
from foundation.whole_files import write_whole

from ..classroom.entries import Roll
from ..classroom.marks import Result
from ..classroom.similarity import Findings, Written
from ..course.catalogue import Fault
from ..grading.record import Part, Record
from ..intake.sources import file_of
from ..testing.results import State
from .class_page import class_view
from .class_summary import records_of
from .html import TEMPLATES, CodeLine, Excerpt, code_line, make_environment
from .terminal import details_of

STUDENTS, CLASS, SIMILAR = "students", "class.html", "similar.html"
CONTEXT = 2
"""Lines shown around those that two submissions share."""
MOST_LINES = 80
MOST_CHARACTERS = 200


def write_pages(
    roll: Roll, results: Sequence[Result], assignment: Assignment, catalogue: Mapping[str, Fault], output: Path
) -> None:
    """Writes `class.html`, and `students/KEY.html` for each submission; at least one has been graded."""
    records = records_of(results)
    shared = {key: [result for result in results if result.member.key == key] for key in records}
    names = roll.names()
    graded = {
        key: {"name": names[key], "record": record, "is_late": any(one.is_late for one in shared[key])}
        for key, record in records.items()
    }
    (output / STUDENTS).mkdir(exist_ok=True)
    for key, shown in graded.items():
        view = student_view(records[key], assignment, shared[key])
        write_page("student.html", output / STUDENTS / f"{key}.html", **view, **shown)
    view = class_view(records, shared, roll, assignment, catalogue, [one for one in results if one.member.is_missing])
    write_page("class.html", output / CLASS, **view, graded=graded, **links_in(output, records))


def write_page(template: str, path: Path, **view: object) -> None:
    """Writes what a template makes of a view, whole or not at all."""
    write_whole(path, environment().get_template(template).render(view))


def links_in(output: Path, keys: Iterable[str]) -> dict[str, object]:
    """The links to the pages that there are: `pages` of students, by the submission's key, and of the class."""
    pages = {key: f"{STUDENTS}/{quote(key)}.html" for key in keys if (output / STUDENTS / f"{key}.html").is_file()}
    has = {f"has_{name}_page": (output / file).is_file() for name, file in (("class", CLASS), ("similar", SIMILAR))}
    return {"pages": pages, **has}


@cache
def environment() -> jinja2.Environment:
    """The templates of these pages."""
    return make_environment(TEMPLATES, points=as_score)


def student_view(record: Record, assignment: Assignment, results: Sequence[Result]) -> dict[str, object]:
    """What the template `student.html` shows of a record, and of the students who share it."""
    judgement = record.judgement
    scores = [(result.member.name, result.score) for result in results]
    return {
        "title": assignment.title,
        "judgement": judgement,
        "written": {task.number for task in assignment.tasks if task.written},
        "tasks": [task_of(part, results, bool(judgement.refusal)) for part in judgement.parts],
        # with names only where those who share the submission have different ones
        "scores": scores if len({score for _, score in scores}) > 1 else [("", scores[0][1])],
        "said": [line for result in results for line in said_of(result, len(results) > 1)],
        "thresholds": assignment.thresholds,
    }


def task_of(part: Part, results: Sequence[Result], is_refused: bool) -> dict[str, object]:
    """A task with the texts of the grader, and what people have decided and said.

    What was lost is open, what passed only after a click. There is no score where there is none yet, or where partners
    have different ones, which are in `said`. Why a submission was refused as a whole is told above all tasks.
    """
    marks = [(result.member.name, one) for result in results if result.mark for one in result.mark.parts]
    marks = [(name, one) for name, one in marks if one.part.number == part.number]
    said = []
    for name, one in marks:
        who = f"{name}: " if len(results) > 1 else ""
        if one.by_hand:
            said.append(f"{who}{counted(one.score or 0, 'point')} by hand: {one.by_hand.text}")
        if one.comment:
            said.append(f"{who}{one.comment.text}")
    scores = {one.score for _, one in marks}
    is_lost = part.state is not State.PASSED and not part.extension and not is_refused
    is_decided = marks and not part.state.has_mark and all(one.by_hand for _, one in marks)
    return {
        "part": part,
        "state": "by hand" if is_decided else part.state.value,
        "is_open": bool(said) or is_lost or part.state is State.NEEDS_READER,
        "n_passed": sum(test.state is State.PASSED for test in part.tests),
        "details": details_of(part),
        "said": said,
        "score": scores.pop() if len(scores) == 1 else None,
    }


def said_of(result: Result, is_named: bool) -> list[str]:
    """What lateness costs a student, and what people have said about the whole, a line each."""
    if result.mark is None:
        return []
    late, lines = result.mark.lateness, []
    if late.unknown:
        when = "Handed in late" if result.member.is_late else "It is not known when this was handed in"
        lines.append(f"{when}; what that costs is not decided yet.")
    if late.days:
        earned = "points" if result.mark.earned is None else counted(result.mark.earned, "point")
        lines.append(f"{counted(late.days, 'day')} late: {late.percent:g}% of the {earned} earned is taken off.")
    lines += [f"Late days by hand: {late.by_hand.text}"] if late.by_hand else []
    lines += [f"Points for the whole by hand: {result.mark.by_hand.text}"] if result.mark.by_hand else []
    lines += [f"Excused: {result.mark.excused.text}"] if result.mark.excused else []
    lines += [result.mark.comment.text] if result.mark.comment else []
    return [f"{result.member.name}: {line}" for line in lines] if is_named else lines


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
    """The shared lines of a module with those around them, and where the student finds them."""
    first, last = shared[0], shared[-1]
    if origins := written.places.get(module):
        title = origins[first - 1] or f"{module}.py"
    else:
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        title = f"{file_of(module)}, {lines}"
    return Excerpt(title, tuple(shown_lines({*shared}, written.texts[module])))


def shown_lines(shared: set[int], text: Sequence[str]) -> Iterator[CodeLine]:
    """The shared lines and those around them, with gaps between."""
    near = sorted({n for line in shared for n in range(line - CONTEXT, line + CONTEXT + 1) if 0 < n <= len(text)})
    for before, number in zip([near[0] - 1, *near], near[:MOST_LINES], strict=False):
        if number != before + 1:
            yield CodeLine("", "…")
        yield CodeLine(str(number), code_line(text[number - 1], MOST_CHARACTERS), number in shared)
    if len(near) > MOST_LINES:
        yield CodeLine("", f"… and {len(near) - MOST_LINES} lines more")
