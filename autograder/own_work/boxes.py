"""Bug hunts at home: boxes that answer calls, beside the student's own code; and models trained with a mistake.

from autograder.own_work.boxes import box, right
box("1.2", "anna")(query, key, value)      call your code with the changed line
right("1.2", "anna")(query, key, value)    call your code as it is
"""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from functools import lru_cache, partial
from pathlib import Path
from textwrap import shorten
from typing import Any

from torch import Tensor
from tqdm import tqdm

from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.command_line import UserError

from ..course.assignment_code import stand_ins_of
from ..intake.sources import Sources, read_own_sources
from ..running.collection import Collection, run_in_process
from ..running.in_process import InProcessSubmission
from ..sandbox.worker.messages import Encoder
from ..testing.case import SubmissionUnderTest, number_of
from ..testing.results import CheckFailed, Outcome
from .hunts import SEED, Hunt, check_answer, draw_hunt, hunted, student_of
from .questions import LETTERS
from .student_lines import listing_of
from .versions import Versions

MISTAKES, FIGURES = "own_work/trained_mistakes.toml", "own_work/trained_mistakes.jsonl"
CLEARLY = {"bleu": 0.2, "loss": 0.3}
"""Differences of figures by which one can tell from a mistake, without an experiment, which of two models has it."""
HARDLY, OFTEN = 0.02, 0.15
"""Shares of translations that change with the batch: one model at most the first, the other at least the second."""

Row = Mapping[str, Any]
"""Figures of one model: see `benchmarks.trained`."""


class AtHome(Versions):
    """Versions of a component in this very process."""

    def open(self, text: str | None = None) -> AbstractContextManager[InProcessSubmission]:
        """Load the submission, or a version of it, and forget it again."""
        return closing(InProcessSubmission(self.sources_with(text), self.assignment))

    def judge(self, text: str | None = None) -> Sequence[Outcome]:
        """Run the tests of the component's task."""
        tests = _tests(self.assignment.path)
        tests.outcomes = {}
        submission = InProcessSubmission(self.sources_with(text), self.assignment)
        run_in_process(tests, submission, self.task, self.seed)
        return [*tests.outcomes.values()]


@lru_cache(maxsize=1)
def _tests(assignment: Path) -> Collection:
    return Collection(read_assignment(assignment))


def hunted_at_home(assignment: Assignment) -> dict[str, str]:
    """Return the components that hunts are about, by their tasks' numbers, but for those whose tests come later."""
    held_back = [task.number for task in assignment.held_back]
    return {number: name for number, name in hunted(assignment).items() if number not in held_back}


def hunts_at_home(student: str, sources: Sources, assignment: Assignment) -> dict[str, Hunt | str]:
    """Draw a student's hunts, of all tasks whose tests are there; in the place of one, the reason why there is none."""
    drawn: dict[str, Hunt | str] = {}
    for number in tqdm(hunted_at_home(assignment), "hunts", unit="hunt", disable=None, leave=False):
        try:
            drawn[number] = hunt_at_home(number, student, sources, assignment)
        except UserError as error:
            drawn[number] = str(error)
    return drawn


def hunt_at_home(number: str, student: str, sources: Sources, assignment: Assignment) -> Hunt:
    """Draw a student's hunt in a task. Raises: UserError where something is missing for it."""
    if not student.strip():
        raise UserError("whose hunts? expected your name or number, as the course knows you")
    components = hunted(assignment)
    if number not in components:
        raise UserError(f"there is no hunt in {number}: expected one of {', '.join(components)}")
    return _drawn(number, components[number], student, tuple(sources.items()), assignment.path)


@lru_cache(maxsize=16)
def _drawn(number: str, component: str, student: str, sources: Any, path: Path) -> Hunt:
    assignment, modules = read_assignment(path), dict(sources)
    if (module := component.partition(".")[0]) not in modules:
        raise UserError(f"{assignment.package}/{module}.py is missing: the hunt in {number} is made of your own code")
    return draw_hunt(AtHome(component, modules, SEED, assignment), student)


def open_box(number: str, student: str, sources: Sources, assignment: Assignment, kind: str) -> Callable[..., Any]:
    """Return the call of a hunt's `box`, or of `right`, which names the shapes of an example if the code raises.

    Raises: UserError where it cannot be had.
    """
    hunt = hunt_at_home(number, student, sources, assignment)
    submission = InProcessSubmission(sources, assignment)
    made = stand_ins_of(assignment).Hunt(submission.package.name, hunt.content)

    def call(*inputs: Any) -> Any:
        try:
            return getattr(made, kind)(*inputs)
        except Exception as error:
            raised = f"{kind}({number!r}, …) raised {type(error).__name__}: {error}"
            raise UserError(f"{raised}; an example of its inputs has the shapes {_shapes(hunt)}") from error

    return call


def box(number: str, student: str, kind: str = "box") -> Callable[..., Any]:
    """Return your component of a task with the changed line; it takes tensors, or numbers in lists."""
    return open_box(number, student, read_own_sources(), read_assignment(), kind)


right = partial(box, kind="right")
"""Your component as it is, with the same parameters."""


def check_at_home(submission: SubmissionUnderTest, task: Task, item: str, assignment: Assignment) -> None:
    """Check an item of the rubric on the student's own machine. Raises: CheckFailed, NotImplementedError, UserError."""
    __tracebackhide__ = True
    student = student_of(task.components[0], submission.sources)
    hunts = hunts_at_home(student, submission.sources, assignment)
    contents = [hunt.content for hunt in hunts.values() if isinstance(hunt, Hunt)]
    answers = submission.apply("find", task.components[0], contents, isolated=False)
    try:
        Encoder().encode(answers)  # as a worker sends them
    except TypeError as error:
        raise CheckFailed(f"your findings: {error}; expected numbers, texts, tensors, and lists of them") from None
    check_answer(item, hunts, answers)


def tell_hunts(student: str, sources: Sources, assignment: Assignment, answer: str = "") -> str:
    """Describe a student's hunts, and a trained model with a mistake; or reply to an answer about the model.

    Raises: UserError unless the answer is one of the letters; where there is no hunt, with the first reason.
    """
    model, letter = draw_model(student, assignment), answer.strip().upper()
    if model and letter:
        if letter not in [*LETTERS]:
            raise UserError(f"the answer {answer!r}: expected one of {', '.join(LETTERS)}")
        is_right = letter == model[1]
        return f"{letter} is right." if is_right else f"{letter} is wrong: what would you see of it?"
    parts = [
        f"The hunts of {student}: in each component below, one line of your code is changed in the box. "
        "Each entry, such as the one below its listing, goes into what `findings` returns (task E.7). "
        "Learned parameters have random values, the same in the box and in your code."
    ]
    hunts = [*hunts_at_home(student, sources, assignment).values()]
    if reasons := [hunt for hunt in hunts if isinstance(hunt, str)]:
        if len(reasons) == len(hunts):
            raise UserError(reasons[0])
        parts += [f"Missing: {reason}." for reason in reasons]
    for hunt in (hunt for hunt in hunts if isinstance(hunt, Hunt)):
        calls = f'box("{hunt.number}", "{student}") and right("{hunt.number}", "{student}") take tensors; an example'
        parts += [listing_of(hunt.versions.lines), f"{calls} has the shapes {_shapes(hunt)}."]
        parts += [f'    "{hunt.number}": {{"line": …, "now": "…", "input": […]}},']
    if later := hunted(assignment).keys() - hunted_at_home(assignment).keys():
        parts += [f"Handed out later, with the tests of these tasks: the hunts in {', '.join(sorted(later))}."]
    if model:
        parts += [f'{model[0]}\nto check an answer: --answer LETTER, or in a notebook hunt("{student}", LETTER)']
    return "\n\n".join(parts)


def _shapes(hunt: Hunt) -> str:
    return ", ".join(str(tuple(value.shape)) if isinstance(value, Tensor) else "None" for value in hunt.scene.inputs)


def draw_model(student: str, assignment: Assignment) -> tuple[str, str] | None:
    """Draw a student's model with a mistake: what is seen of it, with four mistakes to choose from; its own letter.

    None where the assignment has no such models.
    """
    mistakes, figures = (assignment.folder / name for name in (MISTAKES, FIGURES))
    if not mistakes.is_file():
        return None
    words = {table["id"]: table["mistake"] for table in read_mistakes(mistakes)}
    rows = {row["fault"]: row for row in map(json.loads, figures.read_text(encoding="utf-8").splitlines())}
    intact = rows.pop("")
    draw = random.Random(number_of(assignment.term, "".join(student.lower().split())))  # noqa: S311  repeatable
    fault = draw.choice(sorted(rows))
    others = [other for other in sorted(rows) if _differ(rows[fault], rows[other])]
    options = draw.sample([fault, *draw.sample(others, len(LETTERS) - 1)], len(LETTERS))
    choices = [f"{letter}: {words[name]}" for letter, name in zip(LETTERS, options, strict=True)]
    return "\n".join([*_describe(rows[fault], intact), *choices]), LETTERS[options.index(fault)]


def _describe(wrong: Row, due: Row) -> Iterator[str]:
    """What is seen of a model with a mistake, and of one without, in lines."""
    loss, loss_due = (math.nan if row["loss"] is None else row["loss"] for row in (wrong, due))
    yield "A model was trained with one of these mistakes (preset quick). In brackets: one without it."
    yield (
        f"  loss at the end {loss:.2f} ({loss_due:.2f}), dev BLEU {wrong['bleu']:.2f} ({due['bleu']:.2f}), "
        f"translations that change in a batch of four {wrong['batch']:.0%} ({due['batch']:.0%})"
    )
    for (source, _, got), (_, _, good) in zip(wrong["samples"], due["samples"], strict=True):
        yield f"  {source} → {_cut(got)} ({good})"
    for source, alone, together in wrong["example"]:
        yield f"  {source} → {_cut(alone)} In a batch: {_cut(together)}"


def read_mistakes(path: Path) -> list[dict[str, str]]:
    """Read the mistakes: `id`, `mistake`, and for one in given code `component`, `find` and `replace`."""
    tables: list[dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))["mistake"]
    return tables


def _differ(row: Row, other: Row) -> bool:
    least, most = sorted([row["batch"], other["batch"]])
    if None in (row["loss"], other["loss"]) or (least <= HARDLY and most >= OFTEN):
        return True
    return any(abs(row[name] - other[name]) >= clearly for name, clearly in CLEARLY.items())


def _cut(translation: str) -> str:
    return shorten(translation, 80, placeholder=" …") or "nothing"
