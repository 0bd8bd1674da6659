"""What `ask --scan` does: marks what was answered in a sitting, and says how each kind of question did."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.texts import counted, printable

from ..classroom.decisions import decide, find_student
from ..classroom.entries import read_roll
from ..understanding.sitting import Seat, analyse, n_right, read_answers, read_key, write_results
from .arguments import open_store
from .by_hand import THEN, task_of, who_decides


def scan(options: argparse.Namespace) -> int:
    """Prints and writes the marks, and enters them if a task is named; the exit status."""
    if options.sitting is None:
        raise UserError("--scan also needs --sitting NAME: which sitting was it?")
    assignment = read_assignment(options.assignment)
    if options.task is not None and not task_of(options.task, assignment).by_hand:
        raise UserError(f"--task {options.task}: it has points without a sitting; expected one with `by_hand = true`")
    seats = read_key(options.output)
    answers = read_answers(options.scan, seats)
    if not answers:
        what = "no answers in it: fill in the column `answers`, such as ABCD-A"
        raise UserError(f"{printable(str(options.scan))}: {what}")
    width = max(len(seats[number].name) for number in answers)
    for number, said in sorted(answers.items()):
        one = seats[number]
        few = "; talk to this student" if 2 * n_right(said, one) < len(one.right) else ""
        print(f"{number:>3}  {one.name:<{width}}  {n_right(said, one)} of {len(one.right)}{few}")
    if missing := len(seats) - len(answers):
        print(f"     {counted(missing, 'seat')} without answers")
    print("\nkind      asked  right  discrimination")
    for kind in analyse(answers, seats):
        told = "–" if kind.discrimination is None else f"{kind.discrimination:+.2f}"
        weak = "  tells strong students from weak ones no better than chance" if kind.is_weak else ""
        print(f"{kind.kind:<8}  {kind.n:>5}  {kind.easiness:>5.0%}  {told:>14}{weak}")
    if options.task is not None:
        right = {seats[number]: n_right(said, seats[number]) for number, said in answers.items()}
        give_points(options, assignment, right)
    print(f"\nresults: {write_results(answers, seats, options.output)}")
    return 0


def give_points(options: argparse.Namespace, assignment: Assignment, right: Mapping[Seat, int]) -> None:
    """Enters points by hand, as `override` does; none at all where a student is not found."""
    task = task_of(options.task, assignment)
    with open_store(options.store, options.marks, assignment) as database:
        who = who_decides(None)
        students = {one: find_student(read_roll(options.marks), one.student).id for one in right}
        for one, n in right.items():
            points = round(task.points * n / len(one.right), 2)
            why = f"sitting: {n} of {len(one.right)} answers"
            decide(database, students[one], "points", points, why, who, task.number)
    print(f"\npoints of task {task.number} for {counted(len(right), 'student')}; {THEN}")
