"""Draws questions about one submission: always the same ones in a term, and others for everybody."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Never

from tqdm import tqdm

from ..assignment_parts import Choice, Understanding, understanding_of
from ..diagnosis.explaining import make_diagnostician
from ..grading.seeds import Seeds, content_hash
from ..intake import Intake
from ..testing.case import Case
from .bench import Bench
from .breaking import breaking_question
from .hunting import hunt_question
from .question import LETTERS, N_OPTIONS, Option, Question, Sheet, multiple_choice
from .shapes import shape_question
from .student_lines import own_statements
from .symptoms import purpose_question, symptom_question
from .values import value_question
from .versions import branch_question, equal_question, input_question, order_question

if TYPE_CHECKING:
    from ..diagnosis.matching import Diagnostician
    from ..grading.judging import Grader

Asker = Callable[[Bench, str, Understanding, random.Random], Question | None]

N_QUESTIONS, N_IN_A_SITTING = 5, 6
ASKERS: Mapping[str, Asker] = {
    "branch": branch_question,
    "breaking": breaking_question,
    "equal": equal_question,
    "input": input_question,
    "order": order_question,
    "purpose": purpose_question,
    "shape": shape_question,
    "value": value_question,
}
"""The kinds of questions, but for those of the assignment's own, "choice", and of the catalogue's, "symptom"."""
KINDS = ("choice", "symptom", *ASKERS)
HUNT = "hunt"
CONTENT_CHARACTERS = 12


class Examiner:
    """Asks about one submission after the other; used in a with-block of `open_examiner`."""

    def __init__(
        self,
        grader: Grader,
        seeds: Seeds,
        understanding: Understanding,
        diagnostician: Diagnostician | None,
        sitting: str = "",
        is_hunt: bool = False,
    ) -> None:
        """Takes an open grader, the term's seeds, the assignment's part, and the catalogue's, if there is one.

        With the name of a sitting, such as its date, there are other questions, each with four options. A hunt is one
        question about a change of a component.
        """
        self._grader, self._seeds, self._sitting = grader, seeds, sitting
        self._understanding, self._diagnostician = understanding, diagnostician
        self._n_questions = 1 if is_hunt else N_IN_A_SITTING if sitting else N_QUESTIONS
        self._kinds = (HUNT,) if is_hunt else KINDS

    def seed_of(self, key: str, intake: Intake) -> int:
        """The seed from which a student's questions are drawn, and the inputs of their calls."""
        on = f" on {self._sitting}" if self._sitting else ""
        return self._seeds.seed_of(f"questions to {key} about {content_hash(intake.hashes)}{on}")

    def sheet(self, key: str, name: str, intake: Intake, show_progress: bool = False) -> Sheet:
        """The questions for the student, or for the partners, who have handed this in.

        Raises:
            SandboxUnavailableError: where the machine cannot contain the submission.
        """
        started = time.process_time()
        content, seed = content_hash(intake.hashes), self.seed_of(key, intake)
        bench = Bench(intake, self._grader, seed)
        components = [c for task in self._grader.assignment.tasks if not task.extension for c in task.components]
        total = self._n_questions
        with tqdm(desc="questions", unit="question", total=total, disable=not show_progress, leave=False) as bar:
            questions = self._draw(bench, components, random.Random(seed), bar)  # noqa: S311  must be repeatable
        questions.sort(key=lambda one: components.index(one.component))
        reason = "" if len(questions) == total else self._reason(bench, components)
        cpu = time.process_time() - started + bench.cpu
        return Sheet(key, name, tuple(questions), reason, content[:CONTENT_CHARACTERS], round(cpu, 2))

    def _draw(self, bench: Bench, components: list[str], draw: random.Random, bar: tqdm[Never]) -> list[Question]:
        own = [component for component in components if own_statements(bench.intake, component)]
        draw.shuffle(own)
        kinds = draw.sample(self._kinds, len(self._kinds))
        questions: list[Question] = []
        asked: set[tuple[str, str]] = set()
        for kind in kinds * 2:  # once more, about another component, where some kinds do not fit this code
            # Components about which there is no question yet come first.
            own.sort(key=lambda component: sum(one.component == component for one in questions))
            for component in own:
                if len(questions) == self._n_questions or bench.is_over:
                    return questions
                if (kind, component) in asked or not self._has(kind, component) or not bench.works(component):
                    continue
                asked.add((kind, component))
                question = self._ask(kind, component, bench, draw)
                if question is not None:
                    questions.append(question)
                    bar.update()
                    break
        return questions

    def _has(self, kind: str, component: str) -> bool:
        """Whether there can be such a question about a component."""
        known = {
            "shape": self._understanding.SCENES,
            "choice": self._understanding.CHOICES,
            "symptom": self._understanding.SYMPTOMS if self._diagnostician else {},
            "purpose": self._understanding.SYMPTOMS,
            "value": self._understanding.BY_HAND,
            **dict.fromkeys(("branch", "equal", "input", "order", HUNT), self._understanding.CALLS),
        }
        return kind not in known or component in known[kind]

    def _ask(self, kind: str, component: str, bench: Bench, draw: random.Random) -> Question | None:
        understanding = self._understanding
        if kind == "symptom" and self._diagnostician is not None:
            question = symptom_question(bench, component, understanding, self._diagnostician, draw)
        elif kind == "choice":
            question = choice_question(bench, component, understanding, draw)
        elif self._sitting and kind in ("shape", "breaking"):
            make = shape_question if kind == "shape" else breaking_question
            question = make(bench, component, understanding, draw, N_OPTIONS)
        else:
            ask = hunt_question if kind == HUNT else ASKERS[kind]
            question = ask(bench, component, understanding, draw)
        return with_four_options(question, draw) if self._sitting and question is not None else question

    def _reason(self, bench: Bench, components: list[str]) -> str:
        """Why there are fewer questions than there should be."""
        if not any(own_statements(bench.intake, component) for component in components):
            return "none of the assignment's components is in the submission"
        if bench.is_over:
            return "the code is too slow to try more changes of it"
        faulty = [component.partition(".")[2] for component in components if component in bench.known_faulty]
        others = [c.partition(".")[2] for c in components if not own_statements(bench.intake, c)]
        reasons = [f"not all tests pass for {', '.join(faulty)}"] if faulty else []
        reasons += [f"not in the submission: {', '.join(others)}"] if others else []
        return "; ".join(reasons) or "no more fit this code"


def with_four_options(question: Question, draw: random.Random) -> Question | None:
    """The question with one right and three wrong options; None where it has fewer."""
    if question.right is None or len(question.options) < N_OPTIONS:
        return None
    if len(question.options) == N_OPTIONS:
        return question
    wrong = [one for index, one in enumerate(question.options) if index != question.right]
    options = draw.sample([question.options[question.right], *draw.sample(wrong, N_OPTIONS - 1)], N_OPTIONS)
    right = options.index(question.options[question.right])
    answer = f"{LETTERS[right]}{question.answer[1:]}"
    return replace(question, options=tuple(options), right=right, answer=answer)


def choice_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question of the assignment's own about a component that works."""
    makers = list(understanding.CHOICES.get(component, ()))
    draw.shuffle(makers)
    for make in makers:
        choice = bench.look(partial(_made, make, Case(bench.seed, f"a question about {component}")))
        if choice is not None:
            options = [Option(one) for one in choice.options]
            right, mixed = options[choice.right], draw.sample(options, len(options))
            return multiple_choice("choice", component, tuple(choice.text), right, mixed, why=(choice.why,))
    return None


def _made(make: Callable[[Any, Any], Choice | None], case: Case, sandbox: object) -> Choice | None:
    return make(sandbox, case)


@contextmanager
def open_examiner(grader: Grader, seeds: Seeds, sitting: str = "", is_hunt: bool = False) -> Iterator[Examiner]:
    """Whoever asks, with the catalogue where the reference is there."""
    assignment = grader.assignment
    diagnostician = make_diagnostician(assignment.reference, assignment) if assignment.reference.is_dir() else None
    try:
        if diagnostician is not None:  # once, before any student's sheet is drawn in a fork of this process
            for task in assignment.tasks:
                if not task.extension and task.components:
                    diagnostician.prepare(task.components, task.number)
        yield Examiner(grader, seeds, understanding_of(assignment), diagnostician, sitting, is_hunt)
    finally:
        if diagnostician is not None:
            diagnostician.close()
