"""Draws questions about one submission: always the same ones in a term, and others for everybody."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from ..course.assignment_code import OwnWork
from ..grading.provenance import Seeds
from ..grading.record import content_hash
from ..intake.submission import Intake
from . import behaviour
from .bench import Bench, Component
from .question import Question
from .sheets import Sheet

N_QUESTIONS, N_IN_A_SITTING = 5, 6
CONTENT_CHARACTERS = 12
KINDS: Mapping[str, tuple[Callable[[Component], Question | None], str]] = {
    "branch": (behaviour.branch_question, "CALLS"),
    "input": (behaviour.input_question, "CALLS"),
    "purpose": (behaviour.purpose_question, "SYMPTOMS"),
    "shape": (behaviour.shape_question, "SCENES"),
    "symptom": (behaviour.symptom_question, "SYMPTOMS"),
    "value": (behaviour.value_question, "BY_HAND"),
}
"""The function of each kind of question, and the table of the components that it can be asked about."""
HUNT = {"hunt": (behaviour.hunt_question, "CALLS")}


class Examiner:
    """Asks about one submission after the other."""

    def __init__(self, bench: Bench, seeds: Seeds, sitting: str = "", is_hunt: bool = False) -> None:
        """Takes an open grader and the term's seeds; the name of a sitting, such as its date, draws other questions."""
        self._bench, self._seeds, self._sitting = bench, seeds, sitting
        self._tables = OwnWork(bench.assignment)
        self._n_questions = 1 if is_hunt else N_IN_A_SITTING if sitting else N_QUESTIONS
        self._kinds = HUNT if is_hunt else KINDS

    def sheet(self, key: str, name: str, intake: Intake) -> Sheet:
        """The questions for whoever has handed this in. Raises: SandboxUnavailableError."""
        content, on = content_hash(intake.hashes), f" on {self._sitting}" if self._sitting else ""
        seed = self._seeds.seed_of(f"questions to {key} about {content}{on}")
        names = [c for task in self._bench.assignment.tasks if not task.extension for c in task.components]
        components = [Component(name, intake, self._bench, seed) for name in names]
        questions = self._draw([component for component in components if component.own], random.Random(seed))  # noqa: S311
        questions.sort(key=lambda question: names.index(question.component))
        reason = "" if len(questions) == self._n_questions else _reason(components)
        return Sheet(key, name, tuple(questions), reason, content[:CONTENT_CHARACTERS])

    def _draw(self, own: list[Component], draw: random.Random) -> list[Question]:
        draw.shuffle(own)
        kinds = draw.sample([*self._kinds], len(self._kinds))
        questions: list[Question] = []
        asked: set[tuple[str, str]] = set()
        for kind in kinds * 3:  # again, about other components, until there are enough
            ask, table = self._kinds[kind]
            # Components about which there is no question yet come first.
            own.sort(key=lambda component: sum(question.component == component.name for question in questions))
            possible = [component for component in own if component.name in self._tables[table]]
            for component in [component for component in possible if (kind, component.name) not in asked]:
                asked.add((kind, component.name))
                if component.works and (question := ask(component)) is not None:
                    questions.append(question)
                    break
            if len(questions) == self._n_questions:
                break
        return questions


def _reason(components: list[Component]) -> str:
    """Return why there are fewer questions than there should be."""
    absent = [component.title for component in components if not component.own]
    if len(absent) == len(components):
        return "none of the assignment's components is in the submission"
    faulty = [component.title for component in components if component.own and not component.works]
    names = {"not all tests pass for": faulty, "not in the submission:": absent}
    return "; ".join(f"{reason} {', '.join(some)}" for reason, some in names.items() if some) or "no more fit this code"
