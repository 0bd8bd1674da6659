"""Questions about what a student's own code does: the answer is typed at home, and one of four options on paper.

The code is run in small calls and watched, as by a debugger, and so are versions of it with one line changed. Every
answer comes from that, and so do the wrong options: values at other lines or after a change, and calls that were seen
to differ, or not to.

At home (task E.6), what is asked and what is right follow from the text of the component alone: whoever has the same
code gets the same questions, there and where it is graded.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from foundation.assignment_file import Assignment
from foundation.command_line import UserError

from ..at_home.hints import hints_for
from ..course.assignment_code import table_of
from ..intake.sources import Sources
from ..running.collection import MAY_BE_OF_STAND_INS, AmongOwnParts
from ..running.in_process import InProcessSubmission
from ..testing.case import Case, SubmissionUnderTest, number_of
from ..testing.comparison import all_equal, fail
from .student_lines import Change, definition_of, lines_of, listing_of, mixed, place_of, todo_in, without_comment
from .versions import MOST_TRIED, Versions, expect_passed

LETTERS = "ABCD"
N_QUESTIONS = 3
"""About a component, at home."""
N_OPTIONS = len(LETTERS)
TYPED = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
NEAR = 0.011
"""Tolerance for numbers that people compute, who may round to two decimals."""
CLEARLY = 0.05
"""Least difference of a wrong option in one of its numbers: (0.02, 0.98) is too near (0, 1) without a calculator."""
LONGEST_ANSWER, MOST_PLACES, MOST_CHARACTERS, MOST_NUMBERS, LARGEST = 200, 40, 60, 4, 1e4
NOT_ONCE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp, ast.Lambda)


@dataclass(frozen=True)
class Scene:
    """A call of a component."""

    component: str  # "layers.LayerNorm"
    call: str  # in words
    made_with: Mapping[str, Any] | None  # arguments of the constructor; None for a function
    inputs: tuple[Any, ...]  # of the call

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs but None."""
        return [value for value in self.inputs if isinstance(value, Tensor)]

    def subject(self, submission: SubmissionUnderTest, isolated: bool = True) -> Any:
        """Return the function's name, or a module in eval mode."""
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

    @property
    def where(self) -> str:
        """The place in a question."""
        return f"`{self.code}` {'after' if self.is_after else 'in'} the first run of line {self.number}"


Sight = tuple[Place, Tensor]
"""The tensor that a place holds in a call for the first time."""


@dataclass(frozen=True)
class Question:
    """A question; code in its text and its options stands between backquotes."""

    kind: str  # see `sheets.KINDS`
    component: str  # "layers.LayerNorm"
    text: tuple[str, ...]  # paragraphs
    answer: str
    options: tuple[str, ...] = ()  # the answers to choose from; none where the student finds the answer alone
    lines: tuple[str, ...] = ()  # of the component, numbered from 1
    change: Change | None = None  # that the question is about
    marked: int = 0  # number of the line that the question is about
    why: tuple[str, ...] = ()  # what the examiner should know besides, in paragraphs

    @property
    def letter(self) -> str:
        """The letter of the right option; "" without options."""
        return LETTERS[self.options.index(self.answer)] if self.options else ""

    def is_answered(self, typed: str) -> bool:
        """True if the numbers of a typed answer are those of the right one, in their order."""
        numbers, right = ([*map(float, TYPED.findall(text))] for text in (typed, self.answer))
        is_near = partial(math.isclose, rel_tol=NEAR, abs_tol=NEAR)
        return len(typed) <= LONGEST_ANSWER and len(numbers) == len(right) and all(map(is_near, numbers, right))


def places_in(lines: Mapping[int, str]) -> list[Place]:
    """Return where a component with these lines can be looked at: names that it sets, parts of what it returns."""
    text, numbers = "\n".join(lines.values()), list(lines)
    places: list[Place] = []
    for node in ast.walk(ast.parse(text)):
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
                last = numbers[(node.end_lineno or node.lineno) - 1]
                is_after = isinstance(node, ast.Assign)
                places.append(Place(numbers[node.lineno - 1], last, node.lineno, code, is_after))
    return places[:MOST_PLACES]


def watch(submission: SubmissionUnderTest, scene: Scene, places: Sequence[Place]) -> list[Sight]:
    """Makes a scene's call, and looks on: see `stand_ins/watching.py` of the assignment."""
    wanted = [[place.first, place.last, place.code, place.is_after] for place in places]

    def look_on(submission: SubmissionUnderTest) -> list[Any]:
        return list(submission.apply("watch", scene.subject(submission), list(scene.inputs), wanted))

    try:
        values = look_on(submission)
    except MAY_BE_OF_STAND_INS:
        values = look_on(AmongOwnParts(submission))
    sights = zip(places, values, strict=True)
    return [(place, value) for place, value in sights if isinstance(value, Tensor)]


def shapes_in(scene: Scene, sights: Sequence[Sight], draw: random.Random) -> Iterator[tuple[Place, tuple[int, ...]]]:
    """Yield where to ask for a shape, each shape once: those that are handed over last, those of many axes first.

    An argument itself, whose shape stands in the question, is not asked about.
    """
    given = {tuple(tensor.shape) for tensor in scene.tensors}
    first: dict[tuple[int, ...], Place] = {}
    for place, value in draw.sample(sights, len(sights)):
        if value.ndim and not any(all_equal([value], [tensor]) for tensor in scene.tensors):
            first.setdefault(tuple(value.shape), place)
    for shape in sorted(first, key=lambda shape: (shape in given, -len(shape))):
        yield first[shape], shape


def numbers_in(scene: Scene, sights: Sequence[Sight], draw: random.Random) -> Iterator[tuple[Place, str]]:
    """Yield where to ask for a few numbers, with two decimals, each once, which are not all the same as an input's."""
    given = [tensor.flatten().tolist() for tensor in scene.tensors]
    fitting: dict[str, Place] = {}
    for place, value in draw.sample(sights, len(sights)):
        held = [] if value.dtype is torch.bool else value.double().flatten().tolist()
        if 0 < len(held) <= MOST_NUMBERS and all(abs(number) < LARGEST for number in held) and held not in given:
            rounded = [round(number, 2) + 0.0 for number in held]  # no -0 beside 0
            fitting.setdefault(", ".join(f"{number:.2f}".rstrip("0").rstrip(".") for number in rounded), place)
    yield from ((place, numbers) for numbers, place in fitting.items())


def about_shape(scene: Scene, place: Place, shape: tuple[int, ...]) -> Question:
    """Ask for the shape that a place holds in a call."""
    text = f"The call is {scene.call}", f"What is the shape of {place.where}?"
    return Question("shape", scene.component, text, str(shape), marked=place.number)


def about_numbers(scene: Scene, place: Place, numbers: str) -> Question:
    """Ask for the numbers that a place holds in a call."""
    text = f"The call is {scene.call}", f"Which numbers are in {place.where}? Two decimals are enough."
    return Question("value", scene.component, text, numbers, marked=place.number)


def shape_question(versions: Versions, draw: random.Random) -> Question | None:
    """Ask for the shape of a value at a line; None where no shape fits."""
    scene: Scene = versions.table("SCENES")(Case(versions.seed, f"a scene with {versions.name}"))
    given = {tuple(tensor.shape) for tensor in scene.tensors}
    sights = _sights(versions, scene, places_in(versions.lines))
    seen = [(place, shape) for place, shape in shapes_in(scene, sights, draw) if shape not in given]
    for place, right in seen:
        near = dict.fromkeys([*(shape for _, shape in seen), *given, *itertools.permutations(right)])
        wrong = [str(shape) for shape in near if len(shape) == len(right) and shape != right]
        if len(right) > 1 and len(wrong) >= N_OPTIONS - 1:
            return _with_options(versions, about_shape(scene, place, right), wrong, draw)
    return None


def value_question(versions: Versions, draw: random.Random) -> Question | None:
    """Ask for the numbers that a name holds after a line; wrong are those of other lines, and after a change above."""
    scene: Scene = versions.table("BY_HAND")(Case(versions.seed, f"a call of {versions.name} by hand"))
    places = [place for place in places_in(versions.lines) if place.is_after]
    values = [*numbers_in(scene, _sights(versions, scene, places), draw)]
    lines = {place.first for place in places}
    changes = [change for change in versions.changes if change.line in lines]
    for place, right in values:
        above = [change for change in changes if change.line < place.first]
        texts = [change.text for change in draw.sample(above, min(len(above), MOST_TRIED))]
        others = [numbers_in(scene, _sights(versions, scene, [place], text), draw) for text in texts]
        held = dict.fromkeys(numbers for _, numbers in itertools.chain(values, *others))
        alike = [numbers for numbers in held if numbers.count(",") == right.count(",")]
        wrong = [numbers for numbers in alike if _differ_clearly(numbers, right)]
        if len(wrong) >= N_OPTIONS - 1:
            return _with_options(versions, about_numbers(scene, place, right), wrong, draw)
    return None


def _differ_clearly(numbers: str, others: str) -> bool:
    """True of two lists of as many numbers, in words, of which one could not be mistaken for the other."""
    pairs = zip(numbers.split(","), others.split(","), strict=True)
    return any(abs(float(a) - float(b)) >= CLEARLY for a, b in pairs)


def about_random(versions: Versions) -> str:
    """A sentence about the inputs of the calls, and what a module has learned: see `calls.py`."""
    learned = ", learned ones too," if versions.title[0].isupper() else ""
    return f"All numbers that a call does not name{learned} are random, and the same before and after the change."


def input_question(versions: Versions, draw: random.Random) -> Question | None:
    """Ask for the only call on which a version differs, or does not; None where no change leaves one alone.

    The right call is right for some change, and so are the wrong ones, as far as there are enough: whoever knows which
    calls often differ must not know the answer.
    """
    returning = [call for call, result in versions.results()[0].items() if result is not None]
    tried = [(change, versions.differing(change.text)) for change in mixed(versions.changes, draw)[:MOST_TRIED]]
    kinds = (True, "no longer return the same, or raise an exception"), (False, "still return the same")
    for differs, asked in draw.sample(kinds, 2):
        splits = [
            (change, [call for call in returning if (call in calls) is differs])
            for change, calls in tried
            if calls is not None
        ]
        splits = [(change, right) for change, right in splits if len(returning) - len(right) >= N_OPTIONS - 1]
        often = list(dict.fromkeys(call for _, right in splits for call in right))
        for call in draw.sample(often, min(1, len(often))):
            change, right = draw.choice([split for split in splits if call in split[1]])
            wrong = [other for other in returning if other not in right]
            likely = [other for other in wrong if other in often]
            line = f"This line of your `{versions.title}` is changed. {about_random(versions)}"
            text = f"{line} Which of these calls would {asked}?"
            number = versions.number(change.line)
            before, after = map(without_comment, (change.before, change.after))
            change = replace(change, before=before, after=after)
            question = Question("input", versions.name, (text,), call, change=change, marked=number)
            return _with_options(versions, question, likely if len(likely) >= N_OPTIONS - 1 else wrong, draw)
    return None


def _sights(versions: Versions, scene: Scene, places: Sequence[Place], text: str | None = None) -> list[Sight]:
    """Look at places in the code, or in a version of it; nothing is seen where it raises an exception."""
    return versions.look(lambda submission: watch(submission, scene, places), text) or []


def _with_options(versions: Versions, question: Question, wrong: Sequence[str], draw: random.Random) -> Question:
    """The question with the right answer among wrong ones, below the component's lines."""
    options = draw.sample([question.answer, *draw.sample(wrong, N_OPTIONS - 1)], N_OPTIONS)
    return replace(question, options=tuple(options), lines=versions.shown)


@dataclass(frozen=True)
class OwnQuestions:
    """The questions about a component; its lines with the numbers by which they name them; a tag of both."""

    tag: str
    listing: str
    questions: tuple[Question, ...]


def find(component: str, submission: SubmissionUnderTest, assignment: Assignment) -> OwnQuestions:
    """Draw the questions about a component, a function or a class with a `forward`, which has to run."""
    lines = lines_of(place_of(component, submission.sources), submission.sources)
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
    expect_passed(number, outcomes, "the questions")
    submission = InProcessSubmission(sources, assignment)
    shown = []
    for component in tasks[number].components:
        asked, place = find(component, submission, assignment), about[component]
        gaps = ", ".join(['"…"'] * len(asked.questions))
        texts = ("\n   ".join(question.text) for question in asked.questions)
        shown += [asked.listing, *(f"{n}. {text}" for n, text in enumerate(texts, start=1))]
        name = place.components[0].rpartition(".")[2]
        shown += [f"Your answers are an entry of what `{name}` returns (task {place.number}):"]
        shown += [f'    "{number} {asked.tag}": [{gaps}],']
    submission.close()
    return "\n\n".join(shown)
