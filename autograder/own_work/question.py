"""A question about a student's own code, at home, on paper or in a conversation; wrong options beside the right one.

Wrong options come from running, too: they are right of another change, another line, another call. Which of them are
taken decides whether the right one is the longest, the one with most digits, the one that has least in common with
the others. So its rank by each of these is drawn first, and options are taken that come close: nothing but the code
reveals the answer.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..testing.comparison import are_near

if TYPE_CHECKING:  # students have no pages
    from ..reports.html import Excerpt

LETTERS = "ABCD"
N_OPTIONS = len(LETTERS)
NUMBER, WORDS = re.compile(r"-?\d+\.?\d*"), re.compile(r"\w+|[^\w\s]")
TYPED = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
LONGEST_ANSWER = 200
FEATURES = ("length", "digits", "stops", "number", "words in common")
"""By which the right option must not be known."""
MOST_IN_POOL = 12


Split = tuple[Sequence[str], Sequence[str]]
"""Options that are right, and options that are wrong; code in an option stands between backquotes."""


@dataclass(frozen=True)
class ChangedLine:
    """A line of code with its place, as it is and as it would be."""

    place: str
    before: str
    after: str


@dataclass(frozen=True)
class Question:
    """A question; code in its text stands between backquotes."""

    kind: str  # see `examiner.KINDS`
    component: str  # "layers.LayerNorm"
    text: tuple[str, ...]  # paragraphs
    answer: str  # in words
    excerpts: tuple[Excerpt, ...] = ()  # of the code
    change: ChangedLine | None = None  # that the question is about
    options: tuple[str, ...] = ()  # the answers to choose from; none where the student finds the answer alone
    right: int | None = None  # the index of the right option
    why: tuple[str, ...] = ()  # what the examiner should know besides, in paragraphs
    numbers: tuple[float, ...] = ()  # of an answer that is typed, in their order

    def is_answered(self, typed: str) -> bool:
        """True if the numbers of a typed answer are the right ones, in their order."""
        return len(typed) <= LONGEST_ANSWER and are_near([*map(float, TYPED.findall(typed))], self.numbers)


def multiple_choice(
    kind: str,
    component: str,
    text: tuple[str, ...],
    right: str,
    options: Sequence[str],
    excerpts: tuple[Excerpt, ...] = (),
    change: ChangedLine | None = None,
    why: tuple[str, ...] = (),
) -> Question:
    """A question with options in this order, of which one is right."""
    index = options.index(right)
    answer = f"{LETTERS[index]}: {right}"
    return Question(kind, component, text, answer, excerpts, change, tuple(options), index, why)


def drawn(splits: Sequence[Split], draw: random.Random) -> Iterator[tuple[int, str, list[str]]]:
    """Yield what may be asked about: the index of a split, a right option of it, and four options.

    Each option that is right in some split is once, with wrong ones that are right in another, as far as there are
    enough: whoever knows what is often right, or never, must not know the answer.
    """
    clear = [(index, *split) for index, split in enumerate(splits) if split[0] and len(split[1]) >= N_OPTIONS - 1]
    somewhere = list(dict.fromkeys(option for _, right, _ in clear for option in right))
    wanted, asked = drawn_ranks(draw), []
    for option in draw.sample(somewhere, len(somewhere)):
        index, _, wrong = draw.choice([split for split in clear if option in split[1]])
        pool = [other for other in wrong if other in somewhere]
        options = with_wrong(option, pool if len(pool) >= N_OPTIONS - 1 else wrong, draw, wanted)
        asked.append((distance(option, options, wanted), index, option, options))
    yield from (entry[1:] for entry in sorted(asked, key=lambda entry: entry[0]))


def with_wrong(right: str, pool: Iterable[str], draw: random.Random, wanted: Sequence[float]) -> list[str]:
    """The right option and three wrong ones, in any order; fewer where the pool is small."""
    mixed = draw.sample(different := list(dict.fromkeys(pool)), min(len(different), MOST_IN_POOL))
    several = itertools.combinations(mixed, min(len(mixed), N_OPTIONS - 1))
    chosen = min(several, key=lambda wrong: distance(right, wrong, wanted))
    return draw.sample(options := [right, *chosen], len(options))


def drawn_ranks(draw: random.Random) -> list[int]:
    """Draw how many wrong options shall be below the right one, by each feature."""
    return [draw.randrange(N_OPTIONS) for _ in FEATURES]


def distance(right: str, options: Iterable[str], wanted: Sequence[float]) -> float:
    """Return how far the ranks of the right option among others are from those that are wanted."""
    wrong = [option for option in options if option != right]
    own, *others = (features(option, [right, *wrong]) for option in (right, *wrong))
    ranks: Iterable[float] = (sum((a > b) + (a == b) / 2 for b in some) for a, *some in zip(own, *others, strict=True))
    return sum(abs(rank - other) for rank, other in zip(ranks, wanted, strict=True))


def features(option: str, options: Sequence[str]) -> tuple[float, ...]:
    """FEATURES of an option: its own, and how many words it has in common with the other options."""
    words, number = WORDS.findall(option), NUMBER.search(option)
    digits, stops = sum(character.isdigit() for character in option), sum(word in ".," for word in words)
    others = [{*WORDS.findall(other)} for other in options if other != option]
    common = sum(len({*words} & other) / max(1, len({*words} | other)) for other in others)
    return (len(option), digits, stops / max(1, len(words)), float(number[0]) if number else 0.0, common)
