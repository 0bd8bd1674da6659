"""What `similar` says about translations of real runs: false alarms, and what is found of references and copies.

Classes are drawn from files of translations that independent runs have written, with seeds or settings of their own.
To find out what is found, references take the place of some lines or half lines of one file of a class, or a class gets
a copy of one with some words changed. BLEU is left out: it finds only the boldest.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tqdm import tqdm

from autograder.classroom.similarity import BY_CHANCE
from autograder.classroom.similarity.translations import (
    FEW_MODELS,
    Translated,
    TranslationFindings,
    compare_translations,
    halves_of,
    translated,
)
from autograder.scoring import read_references
from foundation.places import TEST_REFERENCES
from reference.data import DataError, read_lines

COPY = "copy"
SHARES = (0.05, 0.1, 0.2, 0.5)
CHANGED = (0.0, 0.05, 0.1, 0.2)


@dataclass
class Counts:
    """Classes in which what was planted is found, and in which somebody else is named, of so many."""

    found: int = 0
    false: int = 0
    classes: int = 0


def measure(paths: Sequence[Path], classes: int, seed: int) -> int:
    """Prints the figures.

    Args:
        paths: files of translations of the test split.
        classes: to try of each kind.
        seed: of the draws.
    """
    references = read_references(TEST_REFERENCES)
    texts = {str(path): read_lines(path) for path in paths}
    files = {name: read for name, lines in texts.items() if (read := as_file(lines, references))}
    if len(files) < FEW_MODELS or len(files) < len(paths):
        raise DataError(
            f"{len(files)} of {len(paths)} files are translations; expected {FEW_MODELS} or more, all readable"
        )
    draw = random.Random(seed)  # noqa: S311  for a measurement
    copies = {
        what: {name: changed for name, lines in texts.items() if (changed := as_file(change(lines, draw), references))}
        for what, change in changes()
    }
    print(f"{len(files)} files, {classes} classes of each kind, of {FEW_MODELS} to {len(files)} files")
    print(f"{'':<34}{'found':>8}{'others named':>14}")
    with tqdm(total=(1 + 2 * len(SHARES) + len(copies)) * classes, unit="class", leave=False) as bar:

        def show(what: str, outcomes: Iterator[Counts]) -> None:
            total = Counts()
            for one in outcomes:
                total = Counts(total.found + one.found, total.false + one.false, total.classes + 1)
                bar.update()
            found = "" if what == "independent runs" else f"{total.found / total.classes:.1%}"
            bar.write(f"{what:<34}{found:>8}{total.false / total.classes:>14.1%}")

        show("independent runs", (outcome(files_of(files, draw), "") for _ in range(classes)))
        for share in SHARES:
            for unit in (1, 2):
                what = f"references in {share:.0%} of {'half lines' if unit == 1 else 'lines'}"
                show(
                    what,
                    (with_references(files_of(files, draw), share, unit, draw, references) for _ in range(classes)),
                )
        for what, others in copies.items():
            show(f"a copy, {what}", (with_copy(files_of(files, draw), others, draw) for _ in range(classes)))
    return 0


def as_file(lines: Sequence[str], references: Sequence[str]) -> Translated | None:
    """Lines as `similar` reads them, without BLEU."""
    read = translated("".join(f"{line}\n" for line in lines).encode(), references)
    return Translated(read.halves, read.equal) if read else None


def files_of(files: Mapping[str, Translated], draw: random.Random) -> dict[str, Translated]:
    """A class."""
    names = draw.sample(sorted(files), draw.randint(FEW_MODELS, len(files)))
    return {name: files[name] for name in names}


def outcome(files: Mapping[str, Translated], planted: str, original: str = "") -> Counts:
    """Whether `planted` is found, as close to the references or, where it has an original, as a copy of that."""
    findings = compare_translations(files, BY_CHANCE)
    named = {frozenset((key,)) for key in findings.close_to_references} | pairs_of(findings)
    right = frozenset((planted, original) if original else (planted,))
    return Counts(int(right in named), int(bool(named - {right})))


def pairs_of(findings: TranslationFindings) -> set[frozenset[str]]:
    """The pairs that are listed."""
    return {frozenset((one.left, one.right)) for one in findings.same}


def with_references(
    files: dict[str, Translated], share: float, unit: int, draw: random.Random, references: Sequence[str]
) -> Counts:
    """A class in which somebody has taken a share of lines (unit 2) or of half lines (unit 1) from the references."""
    name = draw.choice(list(files))
    own, right = files[name], halves_of(references)
    taken = [take for _ in range(len(right) // unit) for take in unit * [draw.random() < share]]
    halves = tuple(b if take else a for a, b, take in zip(own.halves, right, taken, strict=True))
    equal = tuple(a or take for a, take in zip(own.equal, taken, strict=True))
    return outcome({**files, name: Translated(halves, equal)}, name)


def with_copy(files: dict[str, Translated], copies: Mapping[str, Translated], draw: random.Random) -> Counts:
    """A class in which somebody has copied another one's file."""
    name = draw.choice(list(files))
    return outcome({**files, COPY: copies[name]}, COPY, name)


def changes() -> Iterator[tuple[str, partial[list[str]]]]:
    """Ways to change a copy."""
    for share in CHANGED:
        yield f"{share:.0%} of the words changed", partial(with_other_words, share=share)
    yield "one word in each line changed", partial(with_other_words, share=None)


def with_other_words(lines: Sequence[str], draw: random.Random, share: float | None) -> list[str]:
    """Lines in which a share of the words, or one in each, are other words of the file."""
    everything = [word for line in lines for word in line.split()]
    found = []
    for line in lines:
        words = line.split()
        one = draw.randrange(len(words)) if words else 0
        found.append(
            " ".join(
                draw.choice(everything) if (number == one if share is None else draw.random() < share) else word
                for number, word in enumerate(words)
            )
        )
    return found
