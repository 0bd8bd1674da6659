"""A question about a student's own code, at home, on paper or in a conversation; wrong options beside the right one.

Wrong options come from running, too: they are right of another change, another line, another call. Which of them are
taken decides whether the right one is the longest, the one with most digits, the one that has least in common with
the others. So its rank by each of these is drawn first, and options are taken that come close: nothing but the code
reveals the answer.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ..testing.comparison import are_near

if TYPE_CHECKING:  # students have no pages
    from ..reports.html import Excerpt

LETTERS = "ABCD"
N_OPTIONS = len(LETTERS)
NUMBER, WORDS = re.compile(r"-?\d+\.?\d*"), re.compile(r"\w+|[^\w\s]")
TYPED = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
LONGEST_ANSWER = 200
FEATURES = ("length", "digits", "stops", "line", "growth", "what stays", "words in common")
"""By which the right option must not be known."""
MOST_IN_POOL = 12


@dataclass(frozen=True)
class Option:
    """One of several answers: a text, or a changed line of code.

    Attributes:
        text: in words; code in it stands between backquotes.
        place: of the line.
        before: the line as it is.
        after: the line as it would be.
    """

    text: str = ""
    place: str = ""
    before: str = ""
    after: str = ""

    @property
    def shown(self) -> str:
        """Its text, or its line."""
        return self.after or self.text


Split = tuple[Sequence[Option], Sequence[Option]]
"""Options that are right, and options that are wrong."""


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes:
        kind: of question; see `examiner.KINDS`.
        component: that it is about, "layers.LayerNorm".
        text: the question, a paragraph for each item; code in it stands between backquotes.
        excerpts: of the code.
        change: of the code, that the question is about; None = of no change.
        options: the answers to choose from; none where the student finds the answer alone.
        right: the index of the right option; None where there are none.
        answer: the answer in words.
        why: what the examiner should know besides, a paragraph for each item.
        numbers: the numbers of the answer, in their order, where it is typed.
    """

    kind: str
    component: str
    text: tuple[str, ...]
    answer: str
    excerpts: tuple[Excerpt, ...] = ()
    change: Option | None = None
    options: tuple[Option, ...] = ()
    right: int | None = None
    why: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()

    def is_answered(self, typed: str) -> bool:
        """True if the numbers of a typed answer are the right ones, in their order."""
        return len(typed) <= LONGEST_ANSWER and are_near([*map(float, TYPED.findall(typed))], self.numbers)


def multiple_choice(
    kind: str,
    component: str,
    text: tuple[str, ...],
    right: Option,
    options: Sequence[Option],
    excerpts: tuple[Excerpt, ...] = (),
    change: Option | None = None,
    why: tuple[str, ...] = (),
) -> Question:
    """A question with options in this order, of which one is right."""
    index = options.index(right)
    answer = f"{LETTERS[index]}: {right.text}" if right.text else LETTERS[index]
    return Question(kind, component, text, answer, excerpts, change, tuple(options), index, why)


def drawn(splits: Sequence[Split], draw: random.Random) -> Iterator[tuple[int, Option, list[Option]]]:
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


def with_wrong(right: Option, pool: Iterable[Option], draw: random.Random, wanted: Sequence[float]) -> list[Option]:
    """The right option and three wrong ones, in any order; fewer where the pool is small."""
    mixed = draw.sample(different := list(dict.fromkeys(pool)), min(len(different), MOST_IN_POOL))
    several = itertools.combinations(mixed, min(len(mixed), N_OPTIONS - 1))
    chosen = min(several, key=lambda wrong: distance(right, wrong, wanted))
    return draw.sample(options := [right, *chosen], len(options))


def drawn_ranks(draw: random.Random) -> list[int]:
    """Draw how many wrong options shall be below the right one, by each feature."""
    return [draw.randrange(N_OPTIONS) for _ in FEATURES]


def distance(right: Option, options: Iterable[Option], wanted: Sequence[float]) -> float:
    """Return how far the ranks of the right option among others are from those that are wanted."""
    wrong = [option for option in options if option != right]
    own, *others = (features(option, [right, *wrong]) for option in (right, *wrong))
    ranks: Iterable[float] = (sum((a > b) + (a == b) / 2 for b in some) for a, *some in zip(own, *others, strict=True))
    return sum(abs(rank - other) for rank, other in zip(ranks, wanted, strict=True))


def features(option: Option, options: Sequence[Option]) -> tuple[float, ...]:
    """FEATURES of an option: its own, and how much it has in common with the other options."""
    own, words = _alone(option)
    others = [_alone(other)[1] for other in options if other is not option]
    return (*own, sum(len(words & other) / max(1, len(words | other)) for other in others))


@functools.lru_cache(256)
def _alone(option: Option) -> tuple[tuple[float, ...], frozenset[str]]:
    """Length, digits, stops, how far down, how much longer it makes a line, how much of it stays; and its words."""
    before, after = (WORDS.findall(text) for text in (option.before, option.shown))
    number = NUMBER.search(option.place or option.text)
    place, digits = float(number[0]) if number else 0.0, sum(character.isdigit() for character in option.shown)
    stops, growth = sum(word in ".," for word in after) / max(1, len(after)), len(option.after) - len(option.before)
    stays = SequenceMatcher(None, before, after).ratio()
    return (len(option.shown), digits, stops, place, growth, stays), frozenset(after)
