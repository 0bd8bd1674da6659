"""Finds the misconceptions that give the same answers as a submission."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch import Size, Tensor

from ..sandbox.tape import Episode
from .answers import Answer, agree
from .budget import Budget
from .catalogue import Fault
from .episodes import components_of, has_answered
from .rehearsal import Rehearsal, UnplayableError
from .workshop import Workshop

Stacks = dict[str, dict[tuple[Size, ...], list[Tensor]]]
"""For each recorded test, and the shapes of our parameters, their values by all recipes."""

MOST_FITTING, MOST_TRIED = 3, 6
"""Recipes that are tried: of those that explain the first call, and of all where no call tells."""
ENOUGH = 0.8
"""The share of the tests whose answers must all be those of a fault, for the fault to be named."""
COST_OF_FITTING = 1
"""In comparisons: trying all recipes on one call."""


@dataclass(frozen=True)
class Match:
    """The faults whose answers are the submission's.

    Attributes:
        fault: the first of them.
        others: the rest; no test tells them apart.
        share: of the tests, those in which all answers are the same.
    """

    fault: Fault
    others: tuple[Fault, ...]
    share: float


class Diagnostician:
    """Compares recorded tests with what the faults of the catalogue give. Close it: it holds a package."""

    def __init__(self, workshop: Workshop) -> None:
        """Takes the workshop, which it closes with itself."""
        self._workshop = workshop
        self._has_optimizers = False

    def close(self) -> None:
        """Forgets the reference's modules."""
        self._workshop.close()

    def prepare(self, components: Sequence[str], task: str) -> None:
        """Does the slow work once: compiles the faults, imports what the first optimizer imports."""
        for fault in self._workshop.faults_of(components, task):
            self._workshop.compiled(fault.component, fault)
        if not self._has_optimizers and not self._workshop.are_nn_modules(components):
            torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)  # imports much of PyTorch
            self._has_optimizers = True

    def diagnose(
        self, components: Sequence[str], task: str, episodes: Sequence[Episode], missed: Sequence[str], budget: Budget
    ) -> Match | None:
        """Names the misconception behind a task's failure; None if none fits.

        Python's warnings are ignored meanwhile, for the whole process: a fault gives many.

        Args:
            components: the components that the task judges.
            task: its number.
            episodes: the recorded tests of the task.
            missed: node ids of those that did not pass.
            budget: the comparisons that may be used.

        Raises:
            TimeoutError: where a time limit strikes.
        """
        usable = [episode for episode in episodes if episode.is_whole and episode.exchanges]
        usable.sort(key=lambda episode: (episode.test not in missed, len(episode.exchanges)))
        if not any(episode.test in missed for episode in usable):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = Search(self._workshop, usable, missed, budget)
            return search.best_of(self._workshop.faults_of(components, task))


class Search:
    """The search for the faults that explain one task's recorded tests."""

    def __init__(self, workshop: Workshop, episodes: Sequence[Episode], missed: Sequence[str], budget: Budget) -> None:
        """Takes episodes that are whole, those that were missed first."""
        self._workshop, self._episodes, self._budget = workshop, episodes, budget
        self._is_missed = [episode.test in missed for episode in episodes]
        self._stacks: Stacks = {}
        self._hides: dict[str, bool] = {}

    def best_of(self, faults: Sequence[Fault]) -> Match | None:
        """The faults that reproduce the most tests, as far as the budget goes."""
        best: list[Fault] = []
        top = (0, 0)
        for fault in faults:
            if self._budget.is_spent():
                break
            for recipe in self._recipes(fault):
                if self._budget.is_spent():
                    break
                score = self._score(fault, recipe)
                if score is None:
                    break
                if score >= top and score > (0, 0):
                    best = [fault] if score > top else list(dict.fromkeys([*best, fault]))
                    top = score
        if not best:
            return None
        return Match(best[0], tuple(best[1:]), top[0] / len(self._episodes))

    def _recipes(self, fault: Fault) -> list[int]:
        """The recipes that are worth a try: those that explain the first call, and the most natural one."""
        count = 1
        about = (e for e in self._episodes if fault.component in components_of(e) and has_answered(e))
        for episode in islice(about, 2):
            rehearsal = self._rehearse(fault.component, fault, 0)
            try:
                found = self._fitting(rehearsal, episode)
            except TimeoutError:
                raise
            except Exception:  # then the next episode may tell
                found = None
            if found is not None:
                return sorted({*found[:MOST_FITTING], 0})
            count = max(count, rehearsal.count)
        return list(range(min(count, MOST_TRIED)))

    def _fitting(self, rehearsal: Rehearsal, episode: Episode) -> list[int] | None:
        """The recipes that explain the first call of a module; None where no call tells."""
        for exchange in episode.exchanges:
            self._budget.spend(COST_OF_FITTING)
            found = rehearsal.fitting(exchange, self._stacks.setdefault(episode.test, {}))
            if found is not None:
                return found
            rehearsal.play(exchange)
        return None

    def _score(self, fault: Fault, recipe: int) -> tuple[int, int] | None:
        """How many tests a fault reproduces, and how many of them with nothing left open.

        (0, 0) if too few are reproduced, of all tests or of the missed ones; None if there is no such recipe.
        """
        may_differ = {
            True: int((1 - ENOUGH) * sum(self._is_missed)),
            False: int((1 - ENOUGH) * len(self._episodes)),
        }
        outcomes: list[str | None] = []
        for episode, is_missed in zip(self._episodes, self._is_missed, strict=True):
            if fault.component in components_of(episode):
                outcome = self._compare(fault, recipe, episode)
            else:
                outcome = "" if is_missed else "exact"
            outcomes.append(outcome)
            if not outcome:
                may_differ[False] -= 1
                may_differ[True] -= is_missed
            if min(may_differ.values()) < 0:
                return None if None in outcomes else (0, 0)
        return sum(map(bool, outcomes)), outcomes.count("exact")

    def _compare(self, fault: Fault, recipe: int, episode: Episode) -> str | None:
        """Returns "exact", "open" where the fault depends on chance, "" where answers differ; None = no such recipe."""
        kind = "exact"
        try:
            for theirs, mine in self._play(fault.component, fault, recipe, episode):
                if agree(mine, theirs):
                    continue
                if mine.error != theirs.error or not self._hides_parameters(fault, recipe, episode):
                    return ""
                kind = "open"
        except UnplayableError:
            return None
        except TimeoutError:
            raise
        except Exception:  # an answer that nobody foresaw: no reason to name this fault
            return ""
        return kind

    def _play(
        self, component: str, fault: Fault | None, recipe: int, episode: Episode, offset: int = 0
    ) -> Iterator[tuple[Answer, Answer]]:
        rehearsal = self._rehearse(component, fault, recipe, offset)
        for exchange in episode.exchanges:
            self._budget.spend()
            yield rehearsal.play(exchange)

    def _hides_parameters(self, fault: Fault, recipe: int, episode: Episode) -> bool:
        """Whether the fault's own answer changes with the seed, because of numbers that no recipe can set."""
        if fault.id not in self._hides:
            with_fault = partial(self._answers, fault.component, fault, recipe, episode)
            first, second = list(with_fault(0)), list(with_fault(1))
            [*whole] = self._answers(fault.component, None, recipe, episode, 0)
            is_random = not all(map(agree, first, second))
            numbers = [max(answer.numbers for answer in answers) for answers in (first, whole)]
            self._hides[fault.id] = is_random and numbers[0] < numbers[1]
        return self._hides[fault.id]

    def _rehearse(self, component: str, fault: Fault | None, recipe: int, offset: int = 0) -> Rehearsal:
        def make(name: str) -> Any:
            return self._workshop.make(name, fault if name == component else None)

        return Rehearsal(self._workshop, make, recipe, offset)

    def _answers(
        self, component: str, fault: Fault | None, recipe: int, episode: Episode, offset: int
    ) -> Iterator[Answer]:
        """The fault's own answers, as far as the recipe goes."""
        with contextlib.suppress(UnplayableError):
            for _, mine in self._play(component, fault, recipe, episode, offset):
                yield mine
