"""The handout, README.md of the students' package: prose from handout.md, the rest from the assignment."""

import string
from pathlib import Path

from autograder.assignment import Assignment, Task

from .skeleton import Skeleton

TEMPLATE = Path(__file__).with_name("handout.md")


def make_handout(assignment: Assignment, skeleton: Skeleton) -> bytes:
    """Fills the template; an unknown `$name` in it is an error and not shipped as it is."""
    regular = [task for task in assignment.tasks if not task.extension]
    extensions = [task for task in assignment.tasks if task.extension]
    filled = string.Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=assignment.title,
        package=assignment.package,
        tasks="\n".join(_row(task, assignment, skeleton) for task in regular),
        bleu=_bleu(assignment),
        extensions=_extensions(extensions),
    )
    return filled.encode("utf-8")


def _row(task: Task, assignment: Assignment, skeleton: Skeleton) -> str:
    where = _files(task, assignment, skeleton) if task.threshold is None else "`translations.txt`"
    return f"| {task.number} | {task.title} | {task.points:g} | {where} |"


def _files(task: Task, assignment: Assignment, skeleton: Skeleton) -> str:
    paths = [
        path for path, found in skeleton.regions.items() if any(region.hint.number == task.number for region in found)
    ]
    return ", ".join(f"`{assignment.package}/{path}`" for path in sorted(paths))


def _bleu(assignment: Assignment) -> str:
    goals = [
        f"{task.points:g} points from {assignment.thresholds[task.threshold]:.2f} on ({task.threshold})"
        for task in assignment.tasks
        if task.threshold is not None
    ]
    return f"BLEU of your `translations.txt`: {', '.join(goals)}." if goals else "BLEU is shown and earns no points."


def _extensions(tasks: list[Task]) -> str:
    if not tasks:
        return ""
    named = ", ".join(
        f"{task.number} {task.title.lower()}" + (f" ({task.points:g} points on top)" if task.points else "")
        for task in tasks
    )
    return f"- Extensions, for who wants more: {named}. Each has its TODO and its tests.\n"
