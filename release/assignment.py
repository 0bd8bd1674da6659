"""What a release has to know of `autograder/assignment.toml`: the tasks, and what stays with the instructor."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .problems import Problem, ReleaseError

DEFAULT_INSTRUCTOR_ONLY = ("cached_decode.py",)


@dataclass(frozen=True)
class Task:
    """One row of the assignment.

    Args:
        number: such as `1.3` or `E.1`.
        name: such as `multi_head`.
        title: for the handout.
        points: 0 for an extension without bonus.
        is_bleu: judged by translations and not by code, so that it has no TODO.
        minutes: expected working time; 0 where the assignment does not say.
        difficulty: from the assignment; empty where it does not say.
    """

    number: str
    name: str
    title: str
    points: float
    is_bleu: bool = False
    minutes: int = 0
    difficulty: str = ""

    @property
    def is_extension(self) -> bool:
        """Whether it is optional."""
        return self.number.startswith("E.")


@dataclass(frozen=True)
class Assignment:
    """The tasks in order, and the files of the reference that are not shipped."""

    tasks: tuple[Task, ...]
    instructor_only: tuple[str, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        """What a hint may bear: every task that is judged by code."""
        return tuple(task.number for task in self.tasks if not task.is_bleu)


def read_assignment(path: Path, shown: str) -> Assignment:
    """Reads the file. Raises: ReleaseError where it is missing or says something else than expected."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReleaseError([Problem(shown, 0, "does not exist", "it has to name the tasks")]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReleaseError([Problem(shown, 0, f"is not valid TOML ({error})", "mend it")]) from None
    rows = table.get("tasks", table.get("task", []))
    problems = []
    tasks = []
    for row in rows:
        number, name = row.get("number"), row.get("name")
        if not isinstance(number, str) or not isinstance(name, str):
            problems.append(Problem(shown, 0, f"a task without number or name: {row}", 'write number = "1.3", name = …'))
            continue
        tasks.append(
            Task(
                number=number,
                name=name,
                title=row.get("title") or name.replace("_", " "),
                points=row.get("points", 0),
                is_bleu="threshold" in row or name.startswith("bleu"),
                minutes=row.get("minutes", 0),
                difficulty=str(row.get("difficulty", "")),
            )
        )
    if not tasks and not problems:
        problems.append(Problem(shown, 0, "names no tasks", "write them as [[tasks]]"))
    only = table.get("release", {}).get("instructor_only", list(DEFAULT_INSTRUCTOR_ONLY))
    if not isinstance(only, list) or not all(isinstance(name, str) for name in only):
        problems.append(Problem(shown, 0, "[release] instructor_only is no list", 'write ["cached_decode.py"]'))
    if problems:
        raise ReleaseError(problems)
    return Assignment(tuple(tasks), tuple(only))
