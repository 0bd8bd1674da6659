"""Makes the handout, README.md of the students' archive: prose from its own handout.md, the rest from its file."""

import textwrap
from collections.abc import Mapping

from foundation.assignment_file import Assignment, Task
from foundation.counting import as_threshold

from .archives.requirements import Requirements
from .instructor_texts import fill_in, read_text, words_of
from .notebooks.prose import TaskHead
from .skeleton.build import Skeleton, coded_tasks

TEMPLATE = "handout.md"


CREDITS = {
    "items": "A task's points are split among the items of its rubric, below; all tests of an item must pass.",
    "all": "A task earns its points if all of its tests pass, otherwise none.",
}


def make_handout(
    assignment: Assignment, skeleton: Skeleton, efforts: Mapping[str, TaskHead], requirements: Requirements
) -> bytes:
    """Fills in the assignment's template; an unknown `$name` in it is an error.

    Args:
        assignment: tasks, points, thresholds.
        skeleton: the files that the tasks are in.
        efforts: difficulty and minutes by the task's number; {} where they are not known.
        requirements: what students install.
    """
    regular = [task for task in assignment.tasks if not task.extension]
    extensions = [task for task in assignment.tasks if task.extension]
    first = coded_tasks(assignment)[0]
    words = {
        **words_of(assignment, requirements.packages),
        "package": assignment.package,
        "first": first.number,
        "marker": first.marker,
        "effort_head": "difficulty | minutes |" if efforts else "",
        "effort_rule": "---|---|" if efforts else "",
        "effort_note": _effort_note(regular, efforts),
        "tasks": "\n".join(_row(task, assignment, skeleton, efforts) for task in regular),
        "credit": CREDITS[assignment.credit],
        "rubric": "\n".join(_rubric(task) for task in assignment.tasks if task.items),
        "bleu": _bleu(assignment),
        "extensions": _extensions(extensions, efforts),
    }
    return fill_in(read_text(assignment.folder / TEMPLATE, TEMPLATE), TEMPLATE, words).encode("utf-8")


def _row(task: Task, assignment: Assignment, skeleton: Skeleton, efforts: Mapping[str, TaskHead]) -> str:
    where = _files(task, assignment, skeleton) if task.threshold is None else "`translations.txt`"
    cells = [task.number, task.title.replace("|", "\\|"), f"{task.points:g}"]
    if efforts:
        effort = efforts.get(task.number)
        cells += [effort.stars, str(effort.minutes)] if effort else ["", ""]
    return f"| {' | '.join([*cells, where])} |"


def _rubric(task: Task) -> str:
    """A row of the table of rubrics; with its points, where the task has any."""
    total = sum(item.weight for item in task.items)
    items = [
        f"{item.name} ({task.points * item.weight / total:.2g})" if task.points else item.name for item in task.items
    ]
    return f"| {task.number} | {' · '.join(items).replace('|', chr(92) + '|')} |"


def _effort_note(tasks: list[Task], efforts: Mapping[str, TaskHead]) -> str:
    minutes = sum(efforts[task.number].minutes for task in tasks if task.number in efforts)
    if not minutes:
        return "Take them in this order: each one builds on the ideas of the earlier ones."
    total = f"{minutes} minutes" if minutes < 90 else f"{round(minutes / 60)} hours"
    return f"About {total} in all; more if the ideas are new to you."


def _files(task: Task, assignment: Assignment, skeleton: Skeleton) -> str:
    paths = [
        path for path, found in skeleton.regions.items() if any(region.hint.number == task.number for region in found)
    ]
    return ", ".join(f"`{assignment.package}/{path}`" for path in sorted(paths))


def _bleu(assignment: Assignment) -> str:
    goals = [
        f"{task.points:g} points for at least {as_threshold(assignment.thresholds[task.threshold])} ({task.threshold})"
        for task in assignment.tasks
        if task.threshold is not None
    ]
    return f"BLEU of your `translations.txt`: {', '.join(goals)}." if goals else "BLEU is reported but earns no points."


def _extensions(tasks: list[Task], efforts: Mapping[str, TaskHead]) -> str:
    if not tasks:
        return ""
    named = ", ".join(_extension(task, efforts.get(task.number)) for task in tasks)
    worth = "" if any(task.points for task in tasks) else "They earn no points. "
    test = f"`-m {tasks[0].marker}`"
    text = f"- Extensions, for those who want more: {named}. {worth}Each has its own TODOs and tests ({test}, …)."
    return textwrap.fill(text, 118, subsequent_indent="  ") + "\n"


def _extension(task: Task, effort: TaskHead | None) -> str:
    details = [f"{task.points:g} bonus points"] if task.points else []
    details += [f"{effort.minutes} minutes"] if effort else []
    return f"{task.number} {task.title.lower()}" + (f" ({', '.join(details)})" if details else "")
