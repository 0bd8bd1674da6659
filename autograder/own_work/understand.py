"""Questions at home about a student's own code, whose answers are typed into the submission (task E.6).

What is asked, and what is right, follows from the text of the component alone: whoever has the same code gets the same
questions, at home and where it is graded.

    find("layers.LayerNorm", submission, assignment).questions
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import random
from dataclasses import dataclass

from foundation.assignment_file import Assignment, read_assignment, released_folder
from foundation.command_line import UserError

from ..at_home.hints import hints_for
from ..course.assignment_code import table_of
from ..intake.sources import Sources, read_sources
from ..running.collection import InProcessSubmission
from ..testing.case import Case, SubmissionUnderTest, number_of
from ..testing.comparison import fail
from ..testing.results import State
from .questions import Question, Scene, about_numbers, about_shape, numbers_in, places_in, shapes_in, watch
from .student_lines import definition_of, lines_of, listing_of, todo_in

N_QUESTIONS = 3


@dataclass(frozen=True)
class OwnQuestions:
    """The questions about a component; its lines with the numbers by which they name them; a tag of both."""

    tag: str
    listing: str
    questions: tuple[Question, ...]


def find(component: str, submission: SubmissionUnderTest, assignment: Assignment) -> OwnQuestions:
    """Draw the questions about a component, a function or a class with a `forward`, which has to run."""
    lines = lines_of(component, submission.sources)
    tag = hashlib.sha256("\n".join(lines.values()).encode()).hexdigest()[:6]
    places = places_in(lines)
    draw = random.Random(number_of(component, tag))  # noqa: S311  the same for the same code
    scene: Scene = table_of(assignment, "SCENES")[component](Case(0, f"questions about {component} {tag}"))
    shapes = [about_shape(scene, *seen) for seen in shapes_in(scene, watch(submission, scene, places), draw)]
    values: list[Question] = []
    if make := table_of(assignment, "BY_HAND").get(component):
        by_hand: Scene = make(Case(0, tag))
        sights = watch(submission, by_hand, places)
        values = [about_numbers(by_hand, *seen) for seen in numbers_in(by_hand, sights, draw)]
    in_turn = [question for pair in itertools.zip_longest(shapes, values) for question in pair if question]
    return OwnQuestions(tag, listing_of(lines), tuple(in_turn[:N_QUESTIONS]))


def read_answers(component: str, submission: SubmissionUnderTest) -> dict[object, object]:
    """The dictionary that a function without arguments returns, as it is typed: the function is not run.

    Raises: NotImplementedError where it is not there, or its TODO is; CheckFailed where no dictionary stands in it.
    """
    module, _, name = component.partition(".")
    function = definition_of(component, submission.sources)
    if todo := todo_in(function, submission.sources[module][1].split("\n")):
        raise NotImplementedError(todo)
    returned = [node.value for node in function.body if isinstance(node, ast.Return)]
    try:
        answers = ast.literal_eval(returned[0] or ast.Constant(None)) if returned else None
        got = type(answers).__name__
    except (ValueError, TypeError, RecursionError, MemoryError):
        answers, got = None, "something that has to be run"
    if not isinstance(answers, dict):
        fail("your answers", f"`return {{…}}` in `{name}`: a dictionary of texts that you have typed", got)
    return answers


def tell(number: str, sources: Sources, assignment: Assignment) -> str:
    """Return the questions about a task as text. Raises: UserError where there are none, or not yet."""
    about = {c: task for task in assignment.tasks if task.understanding == "questions" for c in task.asks_about}
    tasks = {t.number: t for t in assignment.tasks if not t.extension and set(t.components) & about.keys()}
    if number not in tasks:
        raise UserError(f"there are no questions about {number!r}: expected one of {', '.join(tasks) or 'no task'}")
    _, outcomes = hints_for(tasks[number], sources, assignment)
    if not outcomes:
        raise UserError(f"the tests of {number} are handed out later, and the questions with them")
    if any(outcome.state is not State.PASSED for outcome in outcomes):
        raise UserError(f"pass the tests of {number} first")
    submission = InProcessSubmission(sources, assignment)
    shown = []
    for component in tasks[number].components:
        asked, place = find(component, submission, assignment), about[component]
        gaps = ", ".join(['"…"'] * len(asked.questions))
        texts = ("\n   ".join(question.text) for question in asked.questions)
        shown += [asked.listing, *(f"{n}. {text}" for n, text in enumerate(texts, start=1))]
        shown += [f"Your answers are an entry of what `{place.components[0]}` returns (task {place.number}):"]
        shown += [f'    "{number} {asked.tag}": [{gaps}],']
    submission.close()
    return "\n\n".join(shown)


def give(number: str) -> int:
    """Prints the questions about a task of a student's folder; returns 0. Raises: see `tell`."""
    folder = released_folder()
    print(tell(number, read_sources(folder, folder), read_assignment()))
    return 0
