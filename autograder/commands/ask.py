"""`python -m autograder ask`: questions for students about their own code, for a conversation."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tqdm import tqdm

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT, TEST_REFERENCES
from foundation.processes import Ended, ask_forked
from foundation.texts import counted, printable
from foundation.whole_files import check_folder

from ..classroom.entries import find_students, read_roll
from ..classroom.grading import hold
from ..classroom.marks import NOTHING, Decision, decide, decisions_in
from ..grading.provenance import Seeds, seeds_of_term
from ..grading.submission import open_grader
from ..intake.sources import IntakeError
from ..intake.submission import take_in
from ..platforms.platform import Student
from .arguments import class_in, print_note
from .marks import THEN, gives_none, task_of, who_decides

if TYPE_CHECKING:  # needs PyTorch, which other commands do without
    from ..own_work.sheets import Sheet

OF_SITTING = "sitting: "
"""Begins the reason of points that a sitting gives: the next scan may change them."""
SECONDS = 600.0  # wall time of one student's sheet, before it is given up: a safety net


def ask(options: argparse.Namespace) -> int:
    """Draw questions for students about their own code.

    Draw five questions for a student about the student's own code, for a conversation: the shape of a value at a line,
    numbers in a call that can be computed by hand, the call on which a changed line makes a difference.
    Every answer is computed by running the code in the sandbox. Write questions.html and answers.html, to be printed,
    with a sheet for each student. The same student gets the same questions all term. With --sitting each student gets
    six other questions, for a sitting in class; --scan then turns the answers into marks: out of six, also for students
    who had fewer because code is missing or wrong. The exit status is 1 if the sandbox failed for some student.
    """
    from ..own_work.sheets import NAME, write_key, write_sheets

    if options.sitting is not None and not NAME.fullmatch(options.sitting):
        expected = "expected letters, digits, '.', '_' and '-', such as a date"
        raise UserError(f"--sitting {printable(options.sitting, 50)!r}: {expected}")
    if options.hunt and options.sitting is not None:
        raise UserError("--hunt and --sitting are different sheets: leave one of them out")
    options.output /= "hunt" if options.hunt else "" if options.sitting is None else f"sitting-{options.sitting}"
    if options.scan is not None:
        return scan(options)
    if options.folder is None:
        raise UserError("the submissions are missing: name a download")
    check_folder(options.output)
    assignment = read_assignment(options.assignment)
    seeds = seeds_of_term(ROOT, options.seed)
    sheets, n_failed = sheets_of_class(options, assignment, seeds)
    asked = sheets
    if options.sitting is not None:
        asked = sorted((sheet for sheet in sheets if sheet.questions), key=lambda sheet: sheet.name.casefold())
        write_key(asked, options.output)
    pages = write_sheets(asked, assignment.title, options.output)
    width = max((len(sheet.name) for sheet in sheets), default=0)
    for sheet in sheets:
        why = f" ({sheet.reason})" if sheet.reason else ""
        print(f"{sheet.name:<{width}}  {counted(len(sheet.questions), 'question')}{why}")
    print("\n".join(["", *(f"{path.stem}: {path}" for path in pages)]))
    return int(n_failed > 0)


def sheets_of_class(options: argparse.Namespace, assignment: Assignment, seeds: Seeds) -> tuple[list[Sheet], int]:
    """The sheets of a class, each drawn in a child, and how many could not be drawn; prints why."""
    from ..own_work.sheets import Examiner, Sheet

    roll, entries = class_in(options, assignment, options.output)
    handed_in, sheets = {entry.key: entry for entry in entries}, list[Sheet]()
    students = [member for member in roll.members if member.key]  # partners have a sheet each
    tqdm.monitor_interval = 0  # its thread would be forked along
    with hold(options.output), open_grader(assignment, TEST_REFERENCES, options.level) as grader:
        examiner = Examiner(grader, seeds, options.sitting or "", options.hunt)

        def draw(student: Student) -> Sheet:
            try:
                intake = take_in(handed_in[student.key].source, options.release, assignment)
                return examiner.sheet(student.id, student.called, intake)
            except IntakeError as error:
                return Sheet(student.id, student.called, reason=str(error))

        answers = ask_forked(students, draw, SECONDS, options.jobs)
        for student, sheet in tqdm(answers, "students", len(students), unit="student", disable=None):
            if isinstance(sheet, Ended):
                grader.renew()
                print(f"autograder: {student.entry}: no questions were drawn: {sheet.reason}", file=sys.stderr)
            else:
                sheets.append(sheet)
    ids = [student.id for student in students]
    return sorted(sheets, key=lambda sheet: ids.index(sheet.key)), len(students) - len(sheets)


def scan(options: argparse.Namespace) -> int:
    """Marks what was answered in a sitting, and enters points if a task is named; the exit status."""
    from ..own_work.sheets import KEY, n_right, read_answers, read_key

    if options.sitting is None:
        raise UserError("--scan also needs --sitting NAME: which sitting was it?")
    assignment = read_assignment(options.assignment)
    sittings = [task.number for task in assignment.tasks if task.understanding == "sitting" and task.points]
    number = options.task or next(iter(sittings), None)
    task = None if number is None else task_of(number, assignment)
    if task and not task.by_hand:
        raise UserError(f"--task {number}: it has points without a sitting; expected one with `by_hand = true`")
    if task and not task.points:
        raise UserError(f"--task {number}: {gives_none(task)}, or leave --task out")
    beside = options.scan.resolve().parent
    is_its_folder = beside.name == options.output.name and (beside / KEY).exists()
    key = read_key(beside if is_its_folder else options.output)
    answers = read_answers(options.scan, key)
    if not answers:
        expected = "no answers in it: fill in the column `answers`, such as ABCD-A"
        raise UserError(f"{printable(str(options.scan))}: {expected}")
    width = max(len(key[student].name) for student in answers)
    right = {student: n_right(letters, key[student].letters) for student, letters in answers.items()}
    for student, n in right.items():
        few = "; talk to this student" if 2 * n < len(answers[student]) else ""
        few += f"; points out of {key[student].n}, for lack of correct code" * (key[student].n > len(answers[student]))
        print(f"{key[student].name:<{width}}  {n} of {len(answers[student])}{few}")
    print_note("no answers", [sheet.name for student, sheet in key.items() if student not in answers])
    if task:
        roll, who = read_roll(options.marks, assignment), who_decides(None)
        # All, before any gets points.
        members = {student: find_students(roll, student) for student in right}
        decided, kept, n_given = decisions_in(options.marks), list[str](), 0
        for student, n in right.items():
            points = round(task.points * n / key[student].n, 2)
            why = f"{OF_SITTING}{n} of {key[student].n} answers"
            for member in members[student]:
                before = decided.get(member.id, NOTHING).get(("points", task.number))
                if before and not before.text.startswith(OF_SITTING):
                    kept.append(member.called)
                    continue
                given = Decision(student=member.id, kind="points", task=task.number, value=points, text=why, by=who)
                decide(options.marks, given)
                n_given += 1
        print_note(f"points of task {task.number} by hand stay; withdraw them to let the sitting count", kept)
        print(f"\npoints of task {task.number} for {counted(n_given, 'student')}; {THEN}")
    return 0
