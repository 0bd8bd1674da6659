"""A condition: what a fault can be put under."""

from collections.abc import Callable
from dataclasses import dataclass

from .moment import Moment


@dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        kind: such as "sizes that coincide".
        components: names of those that it makes sense for.
        holds: whether it holds for a call.
    """

    kind: str
    components: tuple[str, ...]
    holds: Callable[[Moment], bool]


def under(kind: str, components: list[str], **conditions: Callable[[Moment], bool]) -> dict[str, Condition]:
    """Conditions of one kind for the same components, by what holds: their names with spaces."""
    return {name.replace("_", " "): Condition(kind, tuple(components), holds) for name, holds in conditions.items()}
