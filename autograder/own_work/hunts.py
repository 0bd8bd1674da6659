"""Bug hunts: a student's own component with one line changed, to be found by experiment.

The change is drawn by the term, the student's name and the code, among small changes that raise no exception, keep all
shapes and fail some tests of the task: about as many for everybody. Nothing is handed out but what the student has
written. Home (`boxes.py`) and grading (`graded.py`) draw alike; hunts on paper (`behaviour.py`) have the same rule.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from foundation.assignment_file import Assignment

from ..intake.sources import Sources, tree_of
from ..testing.case import Case, SubmissionUnderTest, number_of
from ..testing.comparison import expect, fail
from .student_lines import Change, changes_of, definition_of, lines_of, mixed, statements_in, todo_in
from .traced_questions import Scene
from .versions import Trial, Versions, differ, tensors_of

SEED = 0
"""Of the inputs of tests and calls by which a change is chosen."""
MOST_TRIED = 12
LEAST_TYPICAL, MOST_TYPICAL, MOST_MISSED = 0.1, 0.6, 0.8
"""Share of the tests that a change should fail: so that all hunts are about as hard; and the largest one."""
SCALES = (1.0, 0.01, 30.0)
MOST_NUMBERS, LONGEST_CODE = 4096, 200
THE_INPUT = "an input that shows it"
"""As items of the rubric name it; the other part of an answer is the changed line."""

Inputs = Sequence[Tensor | None]
"""Of a call."""
Quiet = tuple[Change, Trial, set[str]]
"""A change, how the tests ended with it, and the calls on which it differs."""


def quiet_changes(versions: Versions, changes: Iterable[Change]) -> Iterator[Quiet]:
    """Yield the changes that do for a hunt; last those that fail an untypical share of the tests."""
    others: list[tuple[float, Quiet]] = []
    for change in changes:
        differing = versions.differing(change.text)
        if not differing or change.after == "pass" or not versions.keeps_shapes(change.text):
            continue
        trial = versions.judge(change.text)
        if trial.is_clear and 0 < trial.share <= MOST_MISSED and all(trial.rows.values()):
            away = max(LEAST_TYPICAL - trial.share, trial.share - MOST_TYPICAL, 0)
            if away:
                others.append((away, (change, trial, differing)))
            else:
                yield change, trial, differing
    yield from (quiet for _, quiet in sorted(others, key=lambda entry: entry[0]))


@dataclass(frozen=True)
class Hunt:
    """A component of a student with one line changed."""

    number: str  # of the component's task
    student: str  # whose it is
    versions: Versions  # where it is run
    change: Change
    suspects: Sequence[Change]  # all changes that might have been drawn
    lines: Mapping[int, str]  # of the component, by their numbers in its module, as its listing shows them
    scene: Scene  # a call of it, with arguments for the constructor of a class

    def listed(self, line: int) -> int:
        """Return the number in the listing of a line of the module."""
        return list(self.lines).index(line) + 1

    @property
    def content(self) -> dict[str, Any]:
        """Everything from which `Hunt` of the stand-ins makes boxes beside the student's code."""
        first = min(self.lines)
        return {
            "number": self.number,
            "component": self.versions.name,
            "lines": [[line - first, text] for line, text in self.lines.items()],
            "own": self._definition(self.versions.text),
            "changed": self._definition(self.change.text),
            "suspects": [[self.listed(change.line), change.after] for change in self.suspects],
            "made_with": dict(self.scene.made_with) if self.scene.made_with is not None else None,
            "inputs": list(self.scene.inputs),
        }

    def _definition(self, text: str) -> str:
        first, last = min(self.lines), max(self.lines)
        return "\n".join(text.split("\n")[first - 1 : last])

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
        return f"the hunt of {self.student} in {self.number}: {text}"

    def _check_input(self, given: object) -> None:
        __tracebackhide__ = True
        axes = [f"{value.ndim} axes" if isinstance(value, Tensor) else "None" for value in self.scene.inputs]
        right = f"a list of {len(axes)} arguments: {', '.join(axes)}, at most {MOST_NUMBERS:,} numbers each"
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
        known = dict(enumerate(self.lines, start=1))
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


def draw_hunt(number: str, versions: Versions, student: str, assignment: Assignment) -> Hunt | None:
    """Draw a student's hunt in a component whose tests pass; None where no change of it is quiet enough.

    Raises: CheckFailed, NotImplementedError where the component is not there.
    """
    sources = {versions.module: ("", versions.text)}
    definition, lines = definition_of(versions.name, sources), lines_of(versions.name, sources)
    word = f"{assignment.term} {''.join(student.lower().split())} {' '.join(lines.values())}"
    draw = random.Random(number_of(versions.name, word))  # noqa: S311  the same at home and where it is graded
    suspects = [change for change in changes_of(versions.text, list(statements_in(definition))) if change.line in lines]
    scene: Scene = versions.tables["SCENES"][versions.name](Case(SEED, f"hunts in {versions.name}"))
    changes = quiet_changes(versions, mixed(suspects, draw)[:MOST_TRIED])
    hunts = (Hunt(number, student.strip(), versions, change, suspects, lines, scene) for change, _, _ in changes)
    return next((hunt for hunt in hunts if hunt.can_be_seen), None)


def hunted(assignment: Assignment) -> list[tuple[str, str]]:
    """Return the tasks that hunts are about, with their components."""
    about = [name for task in assignment.tasks if task.understanding == "hunts" for name in task.asks_about]
    return [(task.number, name) for name in about for task in assignment.tasks if name in task.components][: len(about)]


def student_of(component: str, sources: Sources) -> str:
    """Read the name in the definition of `findings(hunts, student="anna")`. Raises: NotImplementedError without one."""
    function = definition_of(component, sources)
    if todo := todo_in(function, sources[component.partition(".")[0]][1].split("\n")):
        raise NotImplementedError(todo)
    defaults = function.args.defaults if isinstance(function, ast.FunctionDef) else []
    name = defaults[-1].value if defaults and isinstance(defaults[-1], ast.Constant) else ""
    if not isinstance(name, str) or not name.strip():
        raise NotImplementedError(f"still to do: your name, as `student` of {function.name}")
    return name


def shown(value: object) -> str:
    """Return a value of a submission, cut for a message."""
    return f"a tensor {tuple(value.shape)}" if isinstance(value, Tensor) else ascii(value)[:60]


def answer_of(hunt: Hunt, answers: object) -> object:
    """Return the answer about a hunt. Raises: CheckFailed, NotImplementedError where there is none."""
    __tracebackhide__ = True
    if not isinstance(answers, dict):
        fail("your findings", "a dictionary with an entry for each hunt", shown(answers))
    if hunt.number not in answers:
        raise NotImplementedError(f"still to do: the hunt in {hunt.number}")
    return answers[hunt.number]
