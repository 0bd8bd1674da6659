"""Finds the misconceptions that give what a submission gave."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice

import torch

from ..sandbox.tape import Episode
from .catalogue import Fault
from .rehearsal import Answer, Rehearsal, Unplayable, components_of, has_answered, is_same
from .workshop import Workshop

MOST_FITTING, MOST_TRIED = 3, 6
ENOUGH = 0.8
"""The share of the tests whose answers must all be those of a fault, for the fault to be named."""


@dataclass(frozen=True)
class Diagnosis:
    """What a failure looks like.

    Attributes:
        fault: the first of the faults that give what the submission gave.
        others: the rest of them: no test tells them apart.
        share: of the tests, those whose answers are all the same.
    """

    fault: Fault
    others: tuple[Fault, ...]
    share: float


class Diagnostician:
    """Compares recorded tests with what the faults of the catalogue give."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._hides: dict[str, bool] = {}

    def prepare(self, components: Sequence[str], task: str) -> None:
        """Does what takes its time once in a process: compiles the faults, imports what the first optimizer imports."""
        for fault in self._workshop.faults_of(components, task):
            self._workshop.compiled(fault.component, fault)
        if "train.train_epoch" in components:
            import_optimizers()

    def explain(
        self,
        components: Sequence[str],
        task: str,
        episodes: Sequence[Episode],
        missed: Sequence[str],
        seconds: float = 0.9,
    ) -> Diagnosis | None:
        """Names the misconception behind a task's failure; None where none fits.

        Args:
            components: that the task judges.
            task: its number.
            episodes: the recorded tests of the task.
            missed: names of those that did not pass.
            seconds: of CPU time that may be used.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a fault does wrong
            return self._explain(components, task, episodes, missed, time.process_time() + seconds)

    def _explain(
        self,
        components: Sequence[str],
        task: str,
        episodes: Sequence[Episode],
        missed: Sequence[str],
        deadline: float,
    ) -> Diagnosis | None:
        usable = [episode for episode in episodes if episode.is_whole and episode.exchanges]
        usable.sort(key=lambda episode: (episode.name not in missed, len(episode.exchanges)))
        if not any(episode.name in missed for episode in usable):
            return None
        best: list[Fault] = []
        top = (0, 0)
        faults = self._workshop.faults_of(components, task)
        stacks: dict[str, dict] = {}
        for fault in faults:
            for recipe in self._recipes(fault, usable, stacks):
                if time.process_time() > deadline:
                    break
                score = self._score(fault, recipe, usable, missed)
                if score is None:
                    break
                if score >= top and score > (0, 0):
                    best = [fault] if score > top else list(dict.fromkeys([*best, fault]))
                    top = score
        if not best:
            return None
        return Diagnosis(best[0], tuple(best[1:]), top[0] / len(usable))

    def _recipes(self, fault: Fault, episodes: Sequence[Episode], stacks: dict[str, dict]) -> list[int]:
        """The recipes that are worth a try: those that explain the first call, and the most natural one."""
        count = 1
        about = (e for e in episodes if fault.component in components_of(e) and has_answered(e))
        for episode in islice(about, 2):
            rehearsal = self._rehearse(fault.component, fault, 0)
            with contextlib.suppress(Exception):  # then the next episode may tell
                for exchange in episode.exchanges:
                    found = rehearsal.fitting(exchange, stacks.setdefault(episode.name, {}))
                    if found is not None:
                        return sorted({*found[:MOST_FITTING], 0})
                    rehearsal.play(exchange)
            count = max(count, rehearsal.count)
        return list(range(min(count, MOST_TRIED)))

    def _score(
        self, fault: Fault, recipe: int, episodes: Sequence[Episode], missed: Sequence[str]
    ) -> tuple[int, int] | None:
        """How many tests a fault reproduces, and how many of them with nothing left open.

        (0, 0) where too few are reproduced, of all tests or of those that were missed; None where there is no such
        recipe.
        """
        is_missed = [episode.name in missed for episode in episodes]
        may_differ = {True: int((1 - ENOUGH) * sum(is_missed)), False: int((1 - ENOUGH) * len(episodes))}
        outcomes = []
        for episode, counts in zip(episodes, is_missed, strict=True):
            if fault.component in components_of(episode):
                outcome = self._compare(fault, recipe, episode)
            else:
                outcome = "" if counts else "exact"
            outcomes.append(outcome)
            if not outcome:
                may_differ[False] -= 1
                may_differ[True] -= counts
            if min(may_differ.values()) < 0:
                return None if None in outcomes else (0, 0)
        return sum(map(bool, outcomes)), outcomes.count("exact")

    def _compare(self, fault: Fault, recipe: int, episode: Episode) -> str | None:
        """"exact", "open" where the fault's answers depend on chance, "" where they differ; None = no such recipe."""
        kind = "exact"
        try:
            for theirs, mine in self._play(fault.component, fault, recipe, episode):
                if agree(mine, theirs):
                    continue
                if mine.error != theirs.error or not self._hides_parameters(fault, recipe, episode):
                    return ""
                kind = "open"
        except Unplayable:
            return None
        except Exception:  # an answer that nobody foresaw: no reason to name this fault
            return ""
        return kind

    def _play(
        self, component: str, fault: Fault | None, recipe: int, episode: Episode, offset: int = 0
    ) -> Iterator[tuple[Answer, Answer]]:
        rehearsal = self._rehearse(component, fault, recipe, offset)
        for exchange in episode.exchanges:
            yield rehearsal.play(exchange)

    def _hides_parameters(self, fault: Fault, recipe: int, episode: Episode) -> bool:
        """Whether the fault's own answer is another one with another seed, for numbers that nobody can set."""
        if fault.id not in self._hides:
            with_fault = partial(self._answers, fault.component, fault, recipe, episode)
            first, second = list(with_fault(0)), list(with_fault(1))
            [*whole] = self._answers(fault.component, None, recipe, episode, 0)
            is_random = not all(map(agree, first, second))
            numbers = [max(answer.numbers for answer in answers) for answers in (first, whole)]
            self._hides[fault.id] = is_random and numbers[0] < numbers[1]
        return self._hides[fault.id]

    def _rehearse(self, component: str, fault: Fault | None, recipe: int, offset: int = 0) -> Rehearsal:
        def make(name: str) -> object:
            return self._workshop.make(name, fault if name == component else None)

        return Rehearsal(make, recipe, offset)

    def _answers(
        self, component: str, fault: Fault | None, recipe: int, episode: Episode, offset: int
    ) -> Iterator[Answer]:
        """The fault's own answers, as far as the recipe goes."""
        with contextlib.suppress(Unplayable):
            for _, mine in self._play(component, fault, recipe, episode, offset):
                yield mine


@cache
def import_optimizers() -> None:
    """The first optimizer of a process imports much of PyTorch."""
    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)


def agree(mine: Answer, theirs: Answer) -> bool:
    """Whether two answers are the same but for layout and rounding."""
    if mine.error or theirs.error:
        return mine.error == theirs.error
    return is_same(mine.value, theirs.value) and is_same(mine.gradient_size, theirs.gradient_size)
