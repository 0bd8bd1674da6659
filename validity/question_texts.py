"""Ways to choose an answer without reading code: by the texts of the options, or by what was right before."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from autograder.understanding.question import Option, Question

Feature = Callable[[Option, Question], float]


def words_of(text: str) -> list[str]:
    """Words, numbers and signs."""
    return re.findall(r"\w+|[^\w\s]", text)


def length(option: Option, question: Question) -> float:
    """Characters."""
    return len(option.shown)


def digits(option: Option, question: Question) -> float:
    """How many of them are digits."""
    return sum(one.isdigit() for one in option.shown)


def common(option: Option, question: Question) -> float:
    """How much it has in common with the other options."""
    own = set(words_of(option.shown))
    others = [set(words_of(one.shown)) for one in question.options if one is not option]
    return sum(len(own & other) / max(1, len(own | other)) for other in others)


def told(option: Option, question: Question) -> float:
    """How much of it stands in the question."""
    own, asked = words_of(option.shown), set(words_of(" ".join(question.text)))
    return sum(one in asked for one in own) / max(1, len(own))


def change(option: Option, question: Question) -> float:
    """How much of a line it changes."""
    return 1 - SequenceMatcher(None, words_of(option.before), words_of(option.after)).ratio() if option.after else 0.0


def longer(option: Option, question: Question) -> float:
    """How much longer it makes a line."""
    return len(option.after) - len(option.before)


def line(option: Option, question: Question) -> float:
    """How far down its line stands."""
    number = re.search(r"\d+", option.place or option.text)
    return float(number.group()) if number else 0.0


def number(option: Option, question: Question) -> float:
    """The first number in it."""
    found = re.search(r"-?\d+\.?\d*", option.shown)
    return float(found.group()) if found else 0.0


FEATURES: dict[str, Feature] = {
    "length": length,
    "digits": digits,
    "words in common": common,
    "words of the question": told,
    "size of the change": change,
    "length of the change": longer,
    "line": line,
    "first number": number,
}


def by_features(questions: Sequence[Question]) -> dict[str, float]:
    """The expected share of right answers of each way to choose; equal options are chosen by chance."""
    shares = {
        f"position {letter}": _share([float(q.right == index) for q in questions])
        for index, letter in enumerate("ABCD")
    }
    for name, feature in FEATURES.items():
        for sign, word in ((1, "most"), (-1, "least")):
            hits = []
            for question in questions:
                values = [sign * feature(one, question) for one in question.options]
                best = [index for index, value in enumerate(values) if value == max(values)]
                hits.append((question.right in best) / len(best))
            shares[f"{name}: {word}"] = _share(hits)
    return shares


def by_experience(questions: Sequence[Question]) -> float:
    """The share of whoever knows which texts were right in all other questions of the kind, by pattern.

    The pattern of a change is the words that it takes away and adds, of another option its words without numbers.
    """
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        for index, one in enumerate(question.options):
            seen[f"{question.kind} {question.component} {pattern(one)}"][
                "right" if index == question.right else "wrong"
            ] += 1
    hits = []
    for question in questions:
        values = []
        for index, one in enumerate(question.options):
            counts = seen[f"{question.kind} {question.component} {pattern(one)}"]
            right, wrong = counts["right"] - (index == question.right), counts["wrong"] - (index != question.right)
            values.append((right + 1) / (right + wrong + 4))
        best = [index for index, value in enumerate(values) if value == max(values)]
        hits.append((question.right in best) / len(best))
    return _share(hits)


def pattern(option: Option) -> str:
    """What is alike in similar options."""
    if not option.after:
        return re.sub(r"\d+", "0", option.text)
    before, after = Counter(words_of(option.before)), Counter(words_of(option.after))
    return f"-{sorted((before - after).elements())} +{sorted((after - before).elements())}"


def _share(hits: Sequence[float]) -> float:
    return sum(hits) / len(hits) if hits else 0.0
