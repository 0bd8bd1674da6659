"""Changes of a component, each tried: which of its task's tests notice it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..reports.html import code_line
from .own_code import own_statements
from .question import Option, place_of
from .slips import Change, changes_of

if TYPE_CHECKING:
    from ..sandbox.tape import Tape
    from .bench import Bench, Trial

MOST_TRIED = 8


@dataclass(frozen=True)
class Tried:
    """A change, and what the tests say about it."""

    change: Change
    trial: Trial

    @property
    def tape(self) -> Tape | None:
        """What the tests asked, and what they were answered."""
        return self.trial.tape

    def option(self, bench: Bench) -> Option:
        """The change as one of several answers."""
        file, number = place_of(bench.intake, self.change.module, self.change.line)
        return Option(
            place=f"{file}, line {number}", before=code_line(self.change.before), after=code_line(self.change.after)
        )


def try_changes(bench: Bench, component: str, draw: random.Random) -> list[Tried]:
    """Some changes of a component, of many lines and kinds; those without a clear result are left out."""
    if component not in bench.tried:
        module = component.partition(".")[0]
        changes = changes_of(bench.intake.sources[module][1], own_statements(bench.intake, component))
        found = []
        for change in _mixed(changes, draw)[:MOST_TRIED]:
            if bench.is_over:
                break
            trial = bench.judge(component, bench.changed(module, change.text), is_taped=True)
            if trial.is_clear:
                found.append(Tried(change, trial))
        bench.tried[component] = found
    return bench.tried[component]


def _mixed(changes: list[Change], draw: random.Random) -> list[Change]:
    """All changes, in an order in which lines and kinds take turns."""
    groups: defaultdict[tuple[int, str], list[Change]] = defaultdict(list)
    for change in changes:
        groups[change.line, change.kind].append(change)
    waiting = list(groups.values())
    for group in waiting:
        draw.shuffle(group)
    draw.shuffle(waiting)
    mixed: list[Change] = []
    times: Counter[int | str] = Counter()
    while waiting:
        waiting.sort(
            key=lambda group: times[group[-1].line] + times[group[-1].kind]
        )  # stable: drawn order among equals
        change = waiting[0].pop()
        mixed.append(change)
        times[change.line] += 1
        times[change.kind] += 1
        waiting = [group for group in waiting if group]
    return mixed
