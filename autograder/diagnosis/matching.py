"""Finds the misconceptions that give the same answers as a submission."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import torch
from torch import Size, Tensor

from ..sandbox.session import Episode
from ..sandbox.worker.messages import Decoder
from .answers import Answer, agree
from .catalogue import Budget, Fault
from .recipes import Plan
from .rehearsal import MAKING, Rehearsal, UnplayableError, Workshop

Stacks = dict[str, dict[tuple[Size, ...], list[Tensor]]]
"""For each recorded test, and the shapes of our parameters, their values by all recipes."""

MOST_ASKED = 3
"""Tests that are asked for plans, those first in whose objects the fewest parameters are of one shape."""
MOST_TRIED = 6
"""Plans that are tried where no call tells which one explains it."""
ENOUGH = 0.8
"""The share of the tests whose answers must all be those of a fault, for the fault to be named."""
NEAR, FAR = math.log(1.25), math.log(1.6)
"""First values of one size, and of two."""
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
        self._apart: dict[str, list[float]] = {}  # by fault: how far first values are from the submission's, as logs

    def best_of(self, faults: Sequence[Fault]) -> Match | None:
        """The faults that reproduce the most tests, as far as the budget goes."""
        best: list[Fault] = []
        top = (0, 0)
        for fault in faults:
            if self._budget.is_spent():
                break
            for plan in self._plans(fault):
                if self._budget.is_spent():
                    break
                score = self._score(fault, plan)
                if score is None:
                    break
                if score >= top and score > (0, 0):
                    best = [fault] if score > top else list(dict.fromkeys([*best, fault]))
                    top = score
        if not best:
            return None
        best = self._told_apart(best)
        return Match(best[0], tuple(best[1:]), top[0] / len(self._episodes))

    def _told_apart(self, faults: Sequence[Fault]) -> list[Fault]:
        """Of faults that no answer tells apart, those whose objects begin with values of the submission's size, if any.

        Submissions may begin with other values than the reference; then all faults stay.
        """
        apart = {fault.id: median(self._apart.get(fault.id) or [0.5 * (NEAR + FAR)]) for fault in faults}
        is_any_near = any(apart[fault.id] < NEAR for fault in faults)
        return [fault for fault in faults if not is_any_near or apart[fault.id] < FAR]

    def _plans(self, fault: Fault) -> list[Plan | None]:
        """The plans that are worth a try: those that explain the first call, and the most natural one."""
        possible: list[Plan] = []
        about = [e for e in self._episodes if fault.component in components_of(e) and has_answered(e)]
        about.sort(key=lambda episode: -different_sizes(episode, fault.component))
        for episode in about[:MOST_ASKED]:
            rehearsal = self._rehearse(fault.component, fault, None)
            try:
                found = self._fitting(rehearsal, episode)
            except TimeoutError:
                raise
            except Exception:  # then the next episode may tell
                found = None
            if found is not None:
                return list(found)
            possible = max(possible, rehearsal.plans(MOST_TRIED), key=len)
        return list(possible) or [None]

    def _fitting(self, rehearsal: Rehearsal, episode: Episode) -> list[Plan] | None:
        """The plans that explain the first call of a module; None where no call tells."""
        for exchange in episode.exchanges:
            self._budget.spend(COST_OF_FITTING)
            found = rehearsal.fitting(exchange, self._stacks.setdefault(episode.test, {}))
            if found is not None:
                return found
            rehearsal.play(exchange)
        return None

    def _score(self, fault: Fault, plan: Plan | None) -> tuple[int, int] | None:
        """How many tests a fault reproduces, and how many of them with nothing left open.

        (0, 0) if too few are reproduced, of all tests or of the missed ones; None if the parameters have no place.
        """
        may_differ = {
            True: int((1 - ENOUGH) * sum(self._is_missed)),
            False: int((1 - ENOUGH) * len(self._episodes)),
        }
        outcomes: list[str | None] = []
        for episode, is_missed in zip(self._episodes, self._is_missed, strict=True):
            if fault.component in components_of(episode):
                outcome = self._compare(fault, plan, episode)
            else:
                outcome = "" if is_missed else "exact"
            outcomes.append(outcome)
            if not outcome:
                may_differ[False] -= 1
                may_differ[True] -= is_missed
            if min(may_differ.values()) < 0:
                return None if None in outcomes else (0, 0)
        return sum(map(bool, outcomes)), outcomes.count("exact")

    def _compare(self, fault: Fault, plan: Plan | None, episode: Episode) -> str | None:
        """Returns "exact", "" where answers differ, "open" where chance or a guess may be why; None = no place."""
        kind = "exact"
        try:
            for theirs, mine, is_guess in self._play(fault.component, fault, plan, episode):
                if mine.first_size and theirs.first_size:
                    self._apart.setdefault(fault.id, []).append(abs(math.log(mine.first_size / theirs.first_size)))
                if agree(mine, theirs):
                    continue
                if is_guess and not mine.error and not theirs.error:
                    kind = "open"
                    continue
                if mine.error != theirs.error or not self._hides_parameters(fault, plan, episode):
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
        self, component: str, fault: Fault | None, plan: Plan | None, episode: Episode, offset: int = 0
    ) -> Iterator[tuple[Answer, Answer, bool]]:
        rehearsal = self._rehearse(component, fault, plan, offset)
        for exchange in episode.exchanges:
            self._budget.spend()
            theirs, mine = rehearsal.play(exchange)
            yield theirs, mine, rehearsal.is_guess(exchange)

    def _hides_parameters(self, fault: Fault, plan: Plan | None, episode: Episode) -> bool:
        """Whether the fault's own answer changes with the seed, because of numbers that no plan can set."""
        if fault.id not in self._hides:
            self._hides[fault.id] = self._learns_less(fault, plan, episode) and self._is_random(fault, plan, episode)
        return self._hides[fault.id]

    def _learns_less(self, fault: Fault, plan: Plan | None, episode: Episode) -> bool:
        """Whether the largest object that is made has fewer parameters with the fault than without."""
        made = replace(episode, exchanges=[one for one in episode.exchanges if one.request["verb"] in MAKING])
        least, most = (
            max((answer.numbers for answer in self._answers(fault.component, one, plan, made)), default=0)
            for one in (fault, None)
        )
        return least < most

    def _is_random(self, fault: Fault, plan: Plan | None, episode: Episode) -> bool:
        first, second = (self._answers(fault.component, fault, plan, episode, offset) for offset in (0, 1))
        return not all(map(agree, first, second))

    def _rehearse(self, component: str, fault: Fault | None, plan: Plan | None, offset: int = 0) -> Rehearsal:
        def make(name: str) -> Any:
            return self._workshop.make(name, fault if name == component else None)

        return Rehearsal(self._workshop, make, plan, offset)

    def _answers(
        self, component: str, fault: Fault | None, plan: Plan | None, episode: Episode, offset: int = 0
    ) -> Iterator[Answer]:
        """The fault's own answers, as far as the plan goes."""
        with contextlib.suppress(UnplayableError):
            for _, mine, _ in self._play(component, fault, plan, episode, offset):
                yield mine


def components_of(episode: Episode) -> set[str]:
    """The components of the submission that a test has used."""
    requests = [exchange.request for exchange in episode.exchanges]
    built = {request["component"] for request in requests if request["verb"] == "build"}
    return built | {request["target"].get("function", "") for request in requests if request["verb"] == "call"}


def has_answered(episode: Episode) -> bool:
    """Whether an object has answered a call in this test."""
    return any(
        exchange.request["verb"] == "call" and "object" in exchange.request["target"] and "error" not in exchange.reply
        for exchange in episode.exchanges
    )


def different_sizes(episode: Episode, component: str) -> int:
    """How many sizes but one the parameters of the first object of a component have: the more, the clearer they are."""
    for exchange in episode.exchanges:
        if exchange.request["verb"] == "build" and exchange.request["component"] == component:
            if "error" in exchange.reply:
                continue
            tensors = Decoder(exchange.reply["tensors"], exchange.reply_body).tensors
            return len({size for tensor in tensors for size in tensor.shape} - {1})
    return 0
