"""Puts faults under conditions, as text, and draws a sample of all pairs of fault and condition."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.diagnosis.catalogue import Fault, apply
from foundation.assignment_file import Assignment
from foundation.sources import Source, Sources

SUFFIX = "_with_fault"

SWITCH = """

from validity.conditions.switch import conditional as _conditional
from . import {module}{suffix} as _faulty

for _name in {others!r}:  # both sides of the switch ask the same other components
    if _name in globals():
        setattr(_faulty, _name, globals()[_name])
{name} = _conditional({name}, _faulty.{name}, {component!r}, {condition!r}, {assignment!r})
"""


@dataclass(frozen=True)
class Pair:
    """A fault and the condition under which it shows."""

    fault: Fault
    condition: str
    kind: str

    @property
    def name(self) -> str:
        """For tables and reports."""
        return f"{self.fault.id} if {self.condition}"


def all_pairs(faults: Sequence[Fault], conditions: Mapping[str, Any]) -> list[Pair]:
    """Each fault of a single module under each condition that makes sense for its component."""
    return [
        Pair(fault, name, condition.kind)
        for name, condition in conditions.items()
        for fault in faults
        if fault.component.split(".")[1] in condition.components and can_switch(fault)
    ]


def can_switch(fault: Fault) -> bool:
    """Whether all of the fault is in the module of its component."""
    module = fault.component.split(".")[0]
    return all(edit.within.split(".")[0] == module for edit in fault.edits)


def sample(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """About equally many pairs of each condition, and within a condition of each component."""
    if count >= len(pairs):
        return list(pairs)
    chance = random.Random(seed)  # noqa: S311  a sample for a proof
    queues: dict[str, list[list[Pair]]] = {}
    for condition in dict.fromkeys(pair.condition for pair in pairs):
        by_component: dict[str, list[Pair]] = {}
        for pair in pairs:
            if pair.condition == condition:
                by_component.setdefault(pair.fault.component, []).append(pair)
        for some in by_component.values():
            chance.shuffle(some)
        queues[condition] = list(by_component.values())
        chance.shuffle(queues[condition])
    return [pair for pair, _ in zip(_in_turn(queues), range(count), strict=False)]


def _in_turn(queues: dict[str, list[list[Pair]]]) -> Iterator[Pair]:
    while any(queues.values()):
        for components in queues.values():
            if components:
                some = components.pop(0)
                yield some.pop()
                if some:
                    components.append(some)


def sources_of(pair: Pair, reference: Sources, assignment: Assignment) -> dict[str, Source]:
    """The reference with a switch in the place of the component."""
    module, name = pair.fault.component.split(".")
    path, text = reference[module]
    faulty = apply(pair.fault, reference)[module]
    others = [other for other in assignment.contract.modules[module] if other != name]
    switch = SWITCH.format(
        module=module,
        suffix=SUFFIX,
        others=others,
        name=name,
        component=pair.fault.component,
        condition=pair.condition,
        assignment=str(assignment.path),
    )
    return {
        **reference,
        module: (path, text + switch),
        module + SUFFIX: (path.replace(".py", f"{SUFFIX}.py"), faulty[1]),
    }
