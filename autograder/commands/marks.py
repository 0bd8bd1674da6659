"""`python -m autograder override`, `comment`, `late`, `export-marks`: decisions by hand, marks for platforms."""

import argparse
import getpass
import sys
from collections.abc import Mapping, Sequence

from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT
from foundation.texts import counted, printable
from foundation.whole_files import check_folder

from ..classroom.entries import find_students, read_roll
from ..classroom.grading import WAITING, Results
from ..classroom.marks import DECISIONS, WHOLE, Decision, decide, decisions_in, results_of, with_items
from ..classroom.roster import read_roster
from ..grading.provenance import seeds_of_term
from ..grading.record import Part
from ..platforms.platform import Student
from ..reports.exports import export, grades_of
from ..reports.pages import CLASS
from .arguments import print_note

THEN = "run grade-class again: it grades nothing, and writes the new marks"
FIRST = "run grade-class, and export again"
WITHOUT_ID = "no student in the roster, or more than one, has these ids or names, so enter these marks by hand"


def override(options: argparse.Namespace) -> int:
    """Give a student points for a task by hand.

    They take the place of the grader's until you take them back; if they were more than the grader's, never for less
    than it finds out later. Everybody on the roster can be named.
    """
    assignment = read_assignment(options.assignment)
    students = students_of(options, assignment)
    points: float | None = options.points
    if options.excused:
        return enter(options, students, "excused", {"kind": "excused", "value": 1})
    if options.task is None:
        raise UserError("--task is missing: its number, all, or whole")
    if options.item and options.task in ("whole", "all"):
        raise UserError("--item needs a task: name it with --task")
    decision = {"kind": "points", "value": points}
    by_hand = "" if points is None else f"{counted(points, 'point')} by hand"
    if options.task == "whole":
        _check(points, sum(task.points for task in assignment.tasks), "all tasks are worth with the bonus")
        withdrawn = [{"kind": "excused"}] if points is None else []
        return enter(options, students, f"the whole: {by_hand or 'no mark by hand any more'}", decision, *withdrawn)
    tasks = assignment.tasks if options.task == "all" else (task_of(options.task, assignment),)
    for task in tasks:
        if points and not task.points and task.number == options.task:
            raise UserError(f"--task {task.number}: {gives_none(task)}")
        _check(points, task.points, f"task {task.number} is worth")
    key = students[0].key
    record = Results(options.output, seeds_of_term(ROOT)).kept(key) if key else None
    parts = {part.number: part for part in record.judgement.parts} if record else {}
    if options.item:
        return override_items(options, students, tasks[0], parts.get(tasks[0].number))
    which = f"{tasks[0].number} {tasks[0].title}" if len(tasks) == 1 else f"each of {len(tasks)} tasks"
    helps = {number for number, part in parts.items() if (points or 0.0) > (part.score or 0.0)}
    given = by_hand or "the grader's points again"
    decisions = [{**decision, "task": task.number, "helps": task.number in helps} for task in tasks]
    return enter(options, students, f"{which}: {given}", *decisions)


def _check(points: float | None, most: float, why: str) -> None:
    if points is not None and not 0 <= points <= most:
        raise UserError(f"--points {points:g}: expected 0 to {most:g}, which {why}")


def override_items(options: argparse.Namespace, students: Sequence[Student], task: Task, part: Part | None) -> int:
    """Gives items of a task's rubric by hand, besides those that were given before; the exit status."""
    earned = {item.name: bool(item.score) or not item.points for item in part.items} if part else {}
    for name in options.item:
        if name not in earned:
            known = f"expected {', '.join(earned)}" if earned else "its rubric was not judged; give --points"
            raise UserError(f"--item {printable(name, 60)}: task {task.number} has no such item: {known}")
    given = [name for name in options.item if not earned[name]]
    if not given or part is None:
        print(f"{task.number} {task.title}: earned already, so nothing changes")
        return 0
    decided = decisions_in(options.output)
    for student in students:
        before = decided.get(student.id, {}).get(("points", task.number))
        items = tuple(dict.fromkeys((*(before.items if before else ()), *given)))
        why = f"{', '.join(f'“{item}”' for item in items)} given: {options.why}"
        about = f"{task.number} {task.title}: {counted(with_items(part, items), 'point')} by hand"
        enter(options, [student], about, {"kind": "points", "task": task.number, "items": items, "text": why})
    return 0


def comment(options: argparse.Namespace) -> int:
    """Comment on a student's submission.

    The comment is shown on the student's page, and takes the place of an earlier one on the same task.
    """
    assignment = read_assignment(options.assignment)
    task = WHOLE if options.task is None else task_of(options.task, assignment).number
    text = options.text.strip()
    about = f"comment on {task or 'the whole'} {'noted' if text else 'taken back'}"
    return enter(options, students_of(options, assignment), about, {"kind": "comment", "task": task, "text": text})


def late(options: argparse.Namespace) -> int:
    """Enter by how many days a student was late.

    For platforms that mark a submission as late without its time, for clocks that were wrong, and for those who were
    ill: what is not entered costs nothing.
    """
    assignment, days = read_assignment(options.assignment), options.days
    about = "late days as the platform says" if days is None else counted(days, "late day")
    enter(options, students_of(options, assignment), about, {"kind": "late", "value": days})
    if assignment.late is None:
        print(f"note: {assignment.path} has no table [late], so that late days cost nothing")
    return 0


def students_of(options: argparse.Namespace, assignment: Assignment) -> Sequence[Student]:
    """The student whom a decision is about, or all partners of a group; prints which partners it leaves out."""
    roll = read_roll(options.output, assignment)
    students = find_students(roll, options.student)
    key = students[0].key
    others = [member.called for member in roll.members if member not in students and key and member.key == key]
    is_an_id = any(member.id == students[0].entry for member in roll.members)  # which is looked for first
    whole = students[0].group if is_an_id else students[0].entry
    print_note(f"this counts for {students[0].called} alone; name {whole} to decide also for", others)
    return students


def enter(
    options: argparse.Namespace, students: Sequence[Student], about: str, *decisions: Mapping[str, object]
) -> int:
    """Enters decisions about some students, and prints what they are; the exit status."""
    who = who_decides(options.by)
    for student in students:
        for decision in decisions:
            common = {"student": student.id, "by": who, "text": getattr(options, "why", "")}
            decide(options.output, Decision.model_validate({**common, **decision}))
    print(f"{', '.join(student.called for student in students)}: {about}; {THEN}")
    return 0


def who_decides(name: str | None) -> str:
    """The name of whoever enters a decision: the given one, or else the user of this machine."""
    try:
        return name or getpass.getuser()
    except (KeyError, OSError):
        raise UserError("--by NAME is missing, and this machine does not know its user") from None


def task_of(number: str, assignment: Assignment) -> Task:
    """The task with a number. Raises: UserError where there is none."""
    tasks = {task.number: task for task in assignment.tasks}
    if number not in tasks:
        raise UserError(f"--task {printable(number, 30)}: no such task; there are {', '.join(tasks)}")
    return tasks[number]


def gives_none(task: Task) -> str:
    """The remedy where a task has no points that could be given."""
    where = f"`{task.understanding}` in [understanding]" if task.understanding else "its `points`"
    return f"it gives no points: set {where} in assignment.toml"


def export_class(options: argparse.Namespace) -> int:
    """Write marks in a form that a learning platform imports.

    Write the marks of a class as a table that a platform imports, and each student's page into an archive that Canvas,
    Moodle and Brightspace take as feedback. Nothing is graded: the results of `grade-class` count, with points by hand
    and late days. Students without a score get none there. The exit status is 1 if the platform could not find a
    student, or the assignment's column is not known.
    """
    output = options.output or options.marks / "export"
    check_folder(output)
    assignment = read_assignment(options.assignment)
    roll = read_roll(options.marks, assignment)
    stored = Results(options.marks, seeds_of_term(ROOT))
    records = stored.records(roll.names())
    decisions = decisions_in(options.marks)
    if not records:
        raise UserError(f"{options.marks}: no records of this term's grader in it; run `grade-class` first")
    judgement = next(iter(records.values())).judgement
    results = results_of(roll, records, decisions, assignment.late)
    grades = grades_of(results, read_roster(options.roster) if options.roster else ())
    name, column = options.platform, options.column or judgement.assignment
    table, unknown, unwritten = export(name, grades, column, judgement.max_score, options.marks, output)
    archive = output / f"{name}-feedback.zip"
    print(f"{name}: {output / name}.csv" + (f", {archive}" if archive.exists() else ""))
    unmarked = [f"{result.member.name} ({result.status})" for result in results if result.score is None]
    print_note("no score", unmarked)
    changed = [result.member.name for result in results if result.record and stored.kept(result.member.key, WAITING)]
    print_note("the earlier mark counts, as another waits for `grade-class --keep`", changed)
    page, decided = options.marks / CLASS, options.marks / DECISIONS
    if archive.exists() and page.exists() and decided.exists() and page.stat().st_mtime < decided.stat().st_mtime:
        print(f"note: {archive.name} has pages from before the last decision; {FIRST}", file=sys.stderr)
    for text in filter(None, (table.doubt, table.note)):
        print(f"note: {name}: {text}", file=sys.stderr)
    remedy = "name its list of students with --roster" if not options.roster else WITHOUT_ID
    print_note(f"not known to {name}; {remedy}", table.unknown)
    file = "file" if archive.exists() else "archive"
    print_note(f"no feedback {file} for {name}, which knows only its own download", unknown)
    print_note(f"not graded to the end, so that there is no page; {FIRST}", unwritten)
    return int(bool(table.unknown or table.doubt))
