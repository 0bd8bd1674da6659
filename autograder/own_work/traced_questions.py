"""Questions about a call of a student's own code that is watched: what happens in it while it runs?

The code is run in small calls and watched, as by a debugger. What is asked, and what is right, follows from the text of
the component alone: whoever has the same code gets the same questions, at home and where it is graded.

    find("layers.LayerNorm", submission, assignment).questions
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foundation.assignment_file import Assignment, read_assignment, released_folder
from foundation.command_line import UserError

from ..at_home.hints import hints_for
from ..course.assignment_code import OwnWork
from ..intake.sources import Sources, read_sources
from ..running.collection import InProcessSubmission
from ..testing.case import Case, SubmissionUnderTest, number_of
from ..testing.comparison import fail
from ..testing.results import State
from .question import Question
from .student_lines import definition_of, lines_of, todo_in

N_QUESTIONS, MOST_PLACES, MOST_CHARACTERS, MOST_NUMBERS = 3, 40, 60, 4
BLOCKS = (ast.If, ast.For, ast.While)
NOT_ONCE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp, ast.Lambda)


@dataclass(frozen=True)
class Scene:
    """A call of a component."""

    component: str  # "layers.LayerNorm"
    told: str  # the call in words
    axes: Mapping[int, str]  # length -> what an axis of that length is
    made_with: Mapping[str, Any] | None  # arguments of the constructor; None for a function
    inputs: tuple[Any, ...]  # of the call

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs but None."""
        return [value for value in self.inputs if isinstance(value, Tensor)]

    def ask(self, kind: str, asked: str, *numbers: float) -> Question:
        """Make a question about the call, whose answer is typed."""
        answer = ", ".join(f"{number:g}" for number in numbers)
        return Question(kind, self.component, (self.call, asked), answer, numbers=numbers)

    @property
    def call(self) -> str:
        """The call in a sentence."""
        return f"The call is {self.told}"

    def subject(self, submission: SubmissionUnderTest, isolated: bool = True) -> Any:
        """Return the function's name, or a module in eval mode, with random parameters."""
        if self.made_with is None:
            return self.component
        return submission.build(self.component, **self.made_with, isolated=isolated).eval()


@dataclass(frozen=True)
class Place:
    """An expression that is looked at: after a statement that sets it, or before the one that it is a part of."""

    first: int  # line of the statement in the module
    last: int
    number: int  # of the first line in the component's listing
    code: str
    is_after: bool
    is_in_block: bool


@dataclass(frozen=True)
class Sight:
    """The tensor that a place holds in a call for the first time, if any, and how often its statement is run."""

    place: Place
    value: Tensor | None
    times: int


@dataclass(frozen=True)
class OwnQuestions:
    """The questions about a component at home; its lines with the numbers by which they name them; a tag of both."""

    tag: str
    listing: str
    questions: tuple[Question, ...]


def find(component: str, submission: SubmissionUnderTest, assignment: Assignment) -> OwnQuestions:
    """Draw the questions about a component, a function or a class with a `forward`, which has to run."""
    tables = OwnWork(assignment)
    lines = lines_of(component, submission.sources)
    tag = hashlib.sha256("\n".join(lines.values()).encode()).hexdigest()[:6]
    places = places_in(lines)
    draw = random.Random(number_of(component, tag))  # noqa: S311  the same for the same code
    scene: Scene = tables["SCENES"][component](Case(0, f"questions about {component} {tag}"))
    sights = watch(submission, scene, scene.subject(submission), places)
    by_numbers: Iterator[Question] = iter(())
    if component in tables["BY_HAND"]:
        by_hand: Scene = tables["BY_HAND"][component](Case(0, tag))
        seen = numbers_in(by_hand, watch(submission, by_hand, by_hand.subject(submission), places), draw)
        by_numbers = (by_hand.ask("value", about_numbers(place, place.number), *held) for place, held in seen)
    shapes = (
        scene.ask("shape", about_shape(sight, sight.place.number), *shape)
        for sight, shape in shapes_in(scene, sights, draw)
    )
    first = next(shapes, None), next(by_numbers, None), _asked_for_runs(scene, sights, draw)
    questions = [question for question in (*first, *shapes, *by_numbers) if question is not None]
    listing = "\n".join(f"{number:>4}  {line}" for number, line in enumerate(lines.values(), start=1))
    return OwnQuestions(tag, listing, tuple(questions[:N_QUESTIONS]))


def places_in(lines: Mapping[int, str]) -> list[Place]:
    """Return where a component with these lines can be looked at: names that it sets, parts of what it returns."""
    text, numbers = "\n".join(lines.values()), list(lines)
    tree = ast.parse(text)
    # A module is made before the call: nobody looks on there.
    makers = [node for node in ast.walk(tree) if getattr(node, "name", "") == "__init__"]
    making = {id(part) for maker in makers for part in ast.walk(maker)}
    blocks = [node for node in ast.walk(tree) if isinstance(node, BLOCKS) and id(node) not in making]
    inside = {id(part) for block in blocks for part in ast.walk(block)}
    places: list[Place] = []
    for node in ast.walk(tree):
        codes: list[str] = []
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                codes = [name]
            case ast.Assign(targets=[ast.Tuple(elts=names)]) if all(isinstance(part, ast.Name) for part in names):
                codes = [ast.unparse(part) for part in names]
            case ast.Return(value=ast.expr() as value):
                hidden = {id(part) for part in ast.walk(value) if isinstance(part, NOT_ONCE) for part in ast.walk(part)}
                parts = [part for part in ast.walk(value) if isinstance(part, (ast.Call, ast.BinOp))]
                shown = [ast.get_source_segment(text, part) or "" for part in parts if id(part) not in hidden]
                codes = [code for code in shown if code and "\n" not in code and "_(" not in code]
        for code in codes:
            if len(code) <= MOST_CHARACTERS and isinstance(node, ast.stmt):
                first, last = node.lineno, node.end_lineno or node.lineno
                lines_there = numbers[first - 1], numbers[last - 1]
                places.append(Place(*lines_there, first, code, isinstance(node, ast.Assign), id(node) in inside))
    return places[:MOST_PLACES]


def watch(submission: SubmissionUnderTest, scene: Scene, subject: Any, places: Sequence[Place]) -> list[Sight]:
    """Makes a scene's call of its subject, and looks on: see `stand_ins/watching.py` of the assignment."""
    wanted = [[place.first, place.last, place.code, place.is_after] for place in places]
    values, times = submission.apply("watch", subject, list(scene.inputs), wanted)
    kept = (value if isinstance(value, Tensor) else None for value in values)
    return [Sight(place, value, int(n)) for place, value, n in zip(places, kept, times, strict=True)]


def about_shape(sight: Sight, number: object) -> str:
    """Ask for the shape of an expression in the line of this number."""
    return f"What is the shape of {_where(sight.place, number)}{' for the first time' * (sight.times > 1)}?"


def about_numbers(place: Place, number: object) -> str:
    """Ask for the numbers in an expression in the line of this number."""
    return f"Which numbers are in {_where(place, number)}? Two decimals are enough."


def _where(place: Place, number: object) -> str:
    return f"`{place.code}` {'once' if place.is_after else 'in'} line {number}{' has run' * place.is_after}"


def shapes_in(scene: Scene, sights: Sequence[Sight], draw: random.Random) -> Iterator[tuple[Sight, tuple[int, ...]]]:
    """Yield where to ask for a shape, each shape once: those that are handed over last, those of many axes first."""
    given = {tuple(tensor.shape) for tensor in scene.tensors}
    first: dict[tuple[int, ...], Sight] = {}
    tensors = [(sight, tuple(sight.value.shape)) for sight in sights if sight.value is not None]
    for sight, shape in draw.sample(tensors, len(tensors)):
        if shape:
            first.setdefault(shape, sight)
    for shape in sorted(first, key=lambda shape: (shape in given, -len(shape))):
        yield first[shape], shape


def numbers_in(scene: Scene, sights: Sequence[Sight], draw: random.Random) -> Iterator[tuple[Place, tuple[float, ...]]]:
    """Yield where to ask for a few numbers, each once, which are not all the same as an input's."""
    given = [tensor.flatten().tolist() for tensor in scene.tensors]
    fitting: dict[tuple[float, ...], Place] = {}
    for sight in draw.sample(sights, len(sights)):
        value = sight.value
        held = tuple(value.double().flatten().tolist()) if value is not None and value.dtype is not torch.bool else ()
        if 0 < len(held) <= MOST_NUMBERS and all(abs(number) < 1e4 for number in held) and [*held] not in given:
            fitting.setdefault(tuple(round(number, 4) for number in held), sight.place)
    yield from ((place, held) for held, place in fitting.items())


def _asked_for_runs(scene: Scene, sights: Sequence[Sight], draw: random.Random) -> Question | None:
    """Ask how often a line in a branch or a loop is run."""
    inner = {(sight.place.number, sight.times) for sight in sights if sight.place.is_in_block or sight.times > 1}
    if not inner:
        return None
    line, n = draw.choice(sorted(inner))
    return scene.ask("runs", f"How often is line {line} run? 0 = never.", n)


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
