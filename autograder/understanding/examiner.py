"""Draws questions about one submission: always the same ones in a term, and others for everybody."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Never

from tqdm import tqdm

from ..assignment_code import Understanding, understanding_of
from ..grading.seeds import Seeds, content_hash
from ..intake import Intake
from ..testing.case import Case
from .bench import Bench
from .breaking import breaking_question, hunt_question
from .choosing import drawn_ranks, with_wrong
from .question import N_OPTIONS, Option, Question, Sheet, multiple_choice
from .rewriting import equal_question, order_question
from .student_lines import own_statements
from .values import shape_question, value_question
from .versions import branch_question, input_question, purpose_question, symptom_question

if TYPE_CHECKING:
    from ..grading.judging import Grader

Asker = Callable[[Bench, str, Understanding, random.Random], Question | None]

N_QUESTIONS, N_IN_A_SITTING = 5, 6
CONTENT_CHARACTERS = 12


def choice_question(bench: Bench, component: str, understanding: Understanding, draw: random.Random) -> Question | None:
    """A question of the assignment's own about a component that works."""
    makers = understanding.CHOICES[component]
    for make in draw.sample(makers, len(makers)):
        case = Case(bench.seed, f"a question about {component}")
        choice = bench.look(lambda sandbox, make=make, case=case: make(sandbox, case))  # type: ignore[misc]
        if choice is not None and len(choice.options) >= N_OPTIONS:
            right, *wrong = map(Option, [choice.options[choice.right], *choice.options])
            options = with_wrong(right, [one for one in wrong if one != right], draw, drawn_ranks(draw))
            return multiple_choice("choice", component, tuple(choice.text), right, options, why=(choice.why,))
    return None


KINDS: Mapping[str, tuple[Asker, str]] = {
    "branch": (branch_question, "CALLS"),
    "breaking": (breaking_question, ""),
    "choice": (choice_question, "CHOICES"),
    "equal": (equal_question, "CALLS"),
    "input": (input_question, "CALLS"),
    "order": (order_question, "CALLS"),
    "purpose": (purpose_question, "SYMPTOMS"),
    "shape": (shape_question, "SCENES"),
    "symptom": (symptom_question, "SYMPTOMS"),
    "value": (value_question, "BY_HAND"),
}
"""Who asks each kind of question, and the assignment's table of the components that it can be asked about; "" = all."""
HUNT = {"hunt": (hunt_question, "CALLS")}


class Examiner:
    """Asks about one submission after the other."""

    def __init__(self, grader: Grader, seeds: Seeds, sitting: str = "", is_hunt: bool = False) -> None:
        """Takes an open grader and the term's seeds.

        With the name of a sitting, such as its date, there are other questions. A hunt is one question about a change
        of a component.
        """
        self._grader, self._seeds, self._sitting = grader, seeds, sitting
        self._understanding = understanding_of(grader.assignment)
        self._n_questions = 1 if is_hunt else N_IN_A_SITTING if sitting else N_QUESTIONS
        self._kinds = HUNT if is_hunt else KINDS

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
        reason = "" if len(questions) == total else _reason(bench, components)
        cpu = time.process_time() - started + bench.cpu
        return Sheet(key, name, tuple(questions), reason, content[:CONTENT_CHARACTERS], round(cpu, 2))

    def _draw(self, bench: Bench, components: list[str], draw: random.Random, bar: tqdm[Never]) -> list[Question]:
        own = [component for component in components if own_statements(bench.intake, component)]
        draw.shuffle(own)
        kinds = draw.sample([*self._kinds], len(self._kinds))
        questions: list[Question] = []
        asked: set[tuple[str, str]] = set()
        for kind in kinds * 2:  # once more, about another component, where some kinds do not fit this code
            ask, table = self._kinds[kind]
            # Components about which there is no question yet come first.
            own.sort(key=lambda component: sum(one.component == component for one in questions))
            for component in own:
                if len(questions) == self._n_questions:
                    return questions
                is_possible = not table or component in getattr(self._understanding, table)
                if (kind, component) in asked or not is_possible or not bench.passes(component):
                    continue
                asked.add((kind, component))
                question = ask(bench, component, self._understanding, draw)
                if question is not None:
                    questions.append(question)
                    bar.update()
                    break
        return questions


def _reason(bench: Bench, components: list[str]) -> str:
    """Why there are fewer questions than there should be."""
    absent = [component for component in components if not own_statements(bench.intake, component)]
    if absent == components:
        return "none of the assignment's components is in the submission"
    faulty = [component for component in components if not bench.works.get(component, True)]
    names = {"not all tests pass for": faulty, "not in the submission:": absent}
    told = [f"{what} {', '.join(one.partition('.')[2] for one in some)}" for what, some in names.items() if some]
    return "; ".join(told) or "no more fit this code"
