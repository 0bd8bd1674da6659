"""Bug hunts: a student's own component with one line changed, to be found by experiment.

The change is drawn by the term, the student's name and the code, among small changes that raise no exception, keep all
shapes and fail some tests of the task: about as many for everybody. Nothing is handed out but what the student has
written. Home (`boxes.py`) and grading (`graded.py`) draw alike; hunts on paper have the same rule.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.texts import counted

from ..intake.sources import Sources, tree_of
from ..testing.case import Case, SubmissionUnderTest, number_of
from ..testing.comparison import expect, fail
from ..testing.results import CheckFailed, Outcome, State
from .questions import Question, Scene, about_random
from .student_lines import Change, definition_of, mixed, todo_in, without_comment
from .versions import MOST_TRIED, Versions, differ, expect_passed, tensors_of

SEED = 0
"""Of the inputs of tests and calls by which a change is chosen."""
LEAST_TYPICAL, MOST_TYPICAL, MOST_MISSED = 0.1, 0.6, 0.8
"""Share of the tests that a change should fail: so that all hunts are about as hard; and the largest one."""
IDLE = re.compile(r"pass|(\w+) = \1")
"""A changed line that shows at a glance."""
SCALES = (1.0, 0.01, 30.0)
MOST_NUMBERS, LONGEST_CODE, LEAST_SHOWN = 4096, 200, 2
THE_INPUT = "an input that shows it"
"""As items of the rubric name it; the other part of an answer is the changed line."""
UNNAMED = "your name"
"""In `findings` as it is handed out."""

Inputs = Sequence[Tensor | None]
"""Of a call."""
Quiet = tuple[Change, list[Outcome], set[str]]
"""A change, the tests that fail with it, and the calls on which it differs."""


def quiet_changes(versions: Versions, draw: random.Random) -> Iterator[Quiet]:
    """Yield the changes that do for a hunt; last those that fail an untypical share of the tests."""
    others: list[tuple[float, Quiet]] = []
    for change in mixed(versions.changes, draw)[:MOST_TRIED]:
        differing = versions.differing(change.text)
        if not differing or IDLE.fullmatch(change.after) or not versions.keeps_shapes(change.text):
            continue
        outcomes = versions.judge(change.text)
        missed = [outcome for outcome in outcomes if outcome.state is not State.PASSED]
        share = len(missed) / max(1, len(outcomes))
        if not 0 < share <= MOST_MISSED or any(outcome.state is not State.FAILED for outcome in missed):
            continue
        if LEAST_TYPICAL <= share <= MOST_TYPICAL:
            yield change, missed, differing
        else:
            others.append((max(LEAST_TYPICAL - share, share - MOST_TYPICAL), (change, missed, differing)))
    yield from (quiet for _, quiet in sorted(others, key=lambda entry: entry[0]))


@dataclass(frozen=True)
class Hunt:
    """A component of a student with one line changed."""

    student: str  # whose it is
    versions: Versions  # where it is run
    change: Change
    scene: Scene  # a call of it, with arguments for the constructor of a class

    @property
    def number(self) -> str:
        """The number of the component's task."""
        return self.versions.task.number

    @property
    def content(self) -> dict[str, Any]:
        """Everything from which `Hunt` of the stand-ins makes boxes beside the student's code."""
        first, lines = min(self.versions.lines), self.versions.lines
        return {
            "number": self.number,
            "component": self.versions.place,
            "places": [line - first for line in lines],
            "own": self._definition(self.versions.text),
            "changed": self._definition(self.change.text),
            "suspects": [[self.versions.number(change.line), change.after] for change in self.versions.changes],
            "made_with": dict(self.scene.made_with) if self.scene.made_with is not None else None,
            "inputs": list(self.scene.inputs),
        }

    def _definition(self, text: str) -> str:
        lines = self.versions.lines
        return "\n".join(text.split("\n")[min(lines) - 1 : max(lines)])

    def run(self, calls: Sequence[Inputs], text: str | None = None) -> list[list[Tensor] | None]:
        """Return the results of calls of the code, or of a version, with random parameters; None where one raises."""

        def see(submission: SubmissionUnderTest) -> list[list[Tensor] | None]:
            subject = self.scene.subject(submission, isolated=False)
            if isinstance(subject, str):
                subject = partial(submission.call, subject, isolated=False)
            else:
                Case(SEED, "a hunt").randomise(subject.parameters())
            return [tensors_of(partial(subject, *inputs)) for inputs in calls]

        return self.versions.look(see, text) or [None] * len(calls)

    @property
    def can_be_seen(self) -> bool:
        """True if the example shows the change, at some scale: not a change of first values, which no box has."""
        scaled = [
            [value * scale if value is not None and value.is_floating_point() else value for value in self.scene.inputs]
            for scale in SCALES
        ]
        pairs = zip(self.run(scaled), self.run(scaled, self.change.text), strict=True)
        return any(differ(due, got) is True for due, got in pairs)

    def check(self, part: str, answer: object) -> None:
        """Check a part of an answer. Raises: CheckFailed."""
        __tracebackhide__ = True
        if not isinstance(answer, dict) or not {"line", "now", "input"} <= answer.keys():
            fail(self._about("the answer"), 'a dictionary with "line", "now" and "input"', shown(answer))
        if part == THE_INPUT:
            self._check_input(answer["input"])
        else:
            self._check_line(answer["line"], answer["now"])

    def _about(self, text: str) -> str:
        student = self.student if self.student != UNNAMED else "nobody, since `findings` lacks your name,"
        return f"the hunt of {student} in {self.number}: {text}"

    def _check_input(self, given: object) -> None:
        __tracebackhide__ = True
        axes = [f"{value.ndim} axes" if isinstance(value, Tensor) else "None" for value in self.scene.inputs]
        right = f"a list of {counted(len(axes), 'argument')}: {', '.join(axes)}, at most {MOST_NUMBERS:,} numbers each"
        inputs = self._read_input(given)
        expect(bool(inputs), self._about("the input"), right, shown(given))
        [due] = self.run([inputs])
        expect(due is not None, self._about("the input"), "one that your own code takes", "an exception")
        differs = differ(due, *self.run([inputs], self.change.text)) is True
        expect(differs, self._about("the box and your code on this input"), "different results", "the same")

    def _read_input(self, given: Any) -> list[Tensor | None]:
        """Return the arguments as tensors of the example's kinds; none where they are not such."""
        inputs: list[Tensor | None] = []
        try:
            for value, example in zip(given, self.scene.inputs, strict=True):
                if value is None or example is None:
                    inputs.append(None)
                    continue
                inputs.append(tensor := torch.as_tensor(value).detach().to(example.dtype))
                if tensor.ndim != example.ndim or not 0 < tensor.numel() <= MOST_NUMBERS:
                    return []
        except Exception:  # whatever a value that is no number raises
            return []
        return inputs

    def _check_line(self, number: Any, code: Any) -> None:
        """Accept any line with which the code does what the box does: several may explain it."""
        __tracebackhide__ = True
        known = dict(enumerate(self.versions.lines, start=1))
        is_number = isinstance(number, int) and number in known
        expect(is_number, self._about("the line"), f"a whole number from 1 to {len(known)}", shown(number))
        is_code = isinstance(code, str) and "\n" not in code and len(code) <= LONGEST_CODE
        expect(is_code, self._about("its code now"), "one line of Python, as a text", shown(code))
        lines, index = self.versions.text.split("\n"), known[number] - 1
        old = lines[index]
        lines[index] = f"{old[: len(old) - len(old.lstrip())]}{code.strip()}"
        text = "\n".join(lines)
        if isinstance(tree_of(text), SyntaxError):
            fail(self._about("its code now"), f"Python in the place of line {number}", shown(code))
        is_same = self.versions.agree(text, self.change.text)
        changed = self._about(f"your code with this line {number}")
        expect(is_same, changed, "the same results as the box, in every call", "others")


def draw_hunt(versions: Versions, student: str) -> Hunt:
    """Draw a student's hunt in a component.

    Raises: UserError where its tests do not pass, its definition is not found, or no change of it is quiet enough.
    """
    number = versions.task.number
    expect_passed(number, versions.judge(), "the hunt", ": the hunt is made of your own code")
    try:
        lines = versions.lines
    except NotImplementedError as error:  # it is assigned, for instance
        raise UserError(f"{error}, as hunts need it: write `class` or `def` there, or leave {number} out") from None
    word = f"{versions.assignment.term} {''.join(student.lower().split())} {' '.join(lines.values())}"
    draw = random.Random(number_of(versions.name, word))  # noqa: S311  the same at home and where it is graded
    scene: Scene = versions.table("SCENES")(Case(SEED, f"hunts in {versions.name}"))
    for change, *_ in quiet_changes(versions, draw):
        hunt = Hunt(student.strip(), versions, change, scene)
        if hunt.can_be_seen:
            return hunt
    raise UserError(f"no change of your {versions.title} makes a hunt: leave {number} out")


def hunt_question(versions: Versions, draw: random.Random) -> Question | None:
    """A hunt on paper: a changed line, and what is seen of it; None where no change is quiet enough.

    A change that a single call shows, such as that of a fresh layer, cannot be found with a pen.
    """
    for change, missed, differing in quiet_changes(versions, draw):
        if len(differing) < LEAST_SHOWN:
            continue
        returning = [call for call, result in versions.results()[0].items() if result is not None]
        same = [call for call in returning if call not in differing]
        text = (
            f"In your `{versions.title}` one line was changed. {about_random(versions)} "
            "It now returns something else for "
            f"{draw.choice(sorted(differing))}{f', and still the same for {draw.choice(same)}' if same else ''}.",
            "Which line is it? Why does it lead to this? What would be correct? Which other input shows it? "
            "A point for each.",
        )
        tests = dict.fromkeys(f"`{outcome.test.partition('[')[0]}`" for outcome in missed)
        why = (
            f"It was `{change.before}`; any other correction that passes the task's tests is correct as well.",
            f"It shows for: {'; '.join(sorted(differing))}.",
            f"It breaks {', '.join(tests)}.",
        )
        number, lines = versions.number(change.line), [*versions.shown]
        lines[number - 1] = without_comment(change.text.split("\n")[change.line - 1])
        answer = f"Line {number}: `{lines[number - 1].strip()}`"
        return Question("hunt", versions.name, text, answer, lines=tuple(lines), why=why)
    return None


def hunted(assignment: Assignment) -> dict[str, str]:
    """Return the components that hunts are about, by the numbers of their tasks."""
    about = [name for task in assignment.tasks if task.understanding == "hunts" for name in task.asks_about]
    return {task.number: name for name in about for task in assignment.tasks if name in task.components}


def student_of(component: str, sources: Sources) -> str:
    """Read the name in the definition of `findings(hunts, student="anna")`. Raises: NotImplementedError without one."""
    function = definition_of(component, sources)
    if todo := todo_in(function, sources[component.partition(".")[0]][1].split("\n")):
        raise NotImplementedError(todo)
    defaults = function.args.defaults if isinstance(function, ast.FunctionDef) else []
    name = defaults[-1].value if defaults and isinstance(defaults[-1], ast.Constant) else ""
    if not isinstance(name, str) or not (name.strip() and name.isprintable()):
        raise NotImplementedError(f"your name, as `student` of {function.name}")
    return name


def shown(value: object) -> str:
    """Return a value of a submission, cut for a message."""
    return f"a tensor {tuple(value.shape)}" if isinstance(value, Tensor) else ascii(value)[:60]


def check_answer(item: str, hunts: Mapping[str, Hunt | str], answers: object) -> None:
    """Check what an item of the rubric, "1.2: the line", is about; a hunt may be the reason why there is none.

    Raises: CheckFailed; NotImplementedError where there is no answer.
    """
    __tracebackhide__ = True
    number, _, part = item.partition(": ")
    if isinstance(hunt := hunts[number], str):
        raise CheckFailed(hunt)
    if not isinstance(answers, dict):
        fail("your findings", "a dictionary with an entry for each hunt", shown(answers))
    if number not in answers:
        raise NotImplementedError(f"an entry for the hunt in {number}")
    hunt.check(part, answers[number])
