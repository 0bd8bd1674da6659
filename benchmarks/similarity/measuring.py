"""Classes with planted copies: which are found, which pairs are false alarms, and the CPU seconds of a comparison."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tqdm import tqdm

from foundation.assignment_file import read_assignment
from reference.data import DataError

from ..grading import fresh
from .copies import KINDS, disguised
from .solutions import draw_class, read_pool

REFERENCE = Path("reference")
ALL = "all four"
WAYS = tuple(way for kind in KINDS for way in ((kind,), KINDS))
"""Disguises in turn: half of the copies have all."""


@dataclass(frozen=True)
class Planted:
    """A copy: both names, and its disguise."""

    names: frozenset[str]
    disguise: str


@dataclass(frozen=True)
class Outcome:
    """What became of one class.

    Attributes:
        found: planted copies that are listed, by disguise.
        planted: all of them, likewise.
        false: pairs that are listed and not planted.
        accused: independent submissions in such a pair.
        independent: submissions that no other one was copied from or to.
        seconds: of CPU, child processes included.
    """

    found: Counter[str]
    planted: Counter[str]
    false: int
    accused: int
    independent: int
    seconds: float


def measure(count: int, n_copies: int, n_seeds: int) -> int:
    """Prints a table; the exit status.

    Raises:
        DataError: where such a class cannot be made.
    """
    if not 0 <= n_copies <= count // 2:
        raise DataError(f"--copies {n_copies}: expected at most half of the {count} submissions")
    outcomes = [try_class(count, n_copies, seed) for seed in tqdm(range(n_seeds), unit="class", disable=None)]
    found, planted = (sum((getattr(one, name) for one in outcomes), Counter[str]()) for name in ("found", "planted"))
    accused, independent = (sum(getattr(one, name) for one in outcomes) for name in ("accused", "independent"))
    print(f"{n_seeds} classes of {count} submissions, {n_copies} of them copies in disguise\n")
    for disguise in (*KINDS, ALL):
        print(f"  found: {disguise:<12} {found[disguise]:>5} of {planted[disguise]}")
    print(f"  found in all        {sum(found.values()):>5} of {sum(planted.values())}")
    print(f"  false alarms        {accused:>5} of {independent} submissions, in {sum(o.false for o in outcomes)} pairs")
    print(f"  CPU seconds a class {median(one.seconds for one in outcomes):>7.1f}")
    return 0


def try_class(count: int, n_copies: int, seed: int) -> Outcome:
    """Compares one class with planted copies by the command, as a person does."""
    with tempfile.TemporaryDirectory() as folder:
        class_ = Path(folder, "class")
        planted = write_class(class_, count, n_copies, seed)
        output = Path(folder, "marks")
        seconds, _ = fresh("-m", "autograder", "similar", str(class_), "--output", str(output))
        pairs = json.loads((output / "similar.json").read_text(encoding="utf-8"))["pairs"]
    return judged([frozenset((pair["left"]["key"], pair["right"]["key"])) for pair in pairs], planted, count, seconds)


def judged(listed: Sequence[frozenset[str]], planted: Sequence[Planted], count: int, seconds: float) -> Outcome:
    """What the listed pairs of a class are worth."""
    known = {one.names for one in planted}
    false = [pair for pair in listed if pair not in known]
    involved = {name for pair in known for name in pair}
    accused = {name for pair in false for name in pair}
    return Outcome(
        found=Counter(one.disguise for one in planted if one.names in listed),
        planted=Counter(one.disguise for one in planted),
        false=len(false),
        accused=len(accused),
        independent=count - len(involved),
        seconds=seconds,
    )


def write_class(folder: Path, count: int, n_copies: int, seed: int) -> list[Planted]:
    """Writes a class, a folder for each student; returns the copies."""
    assignment = read_assignment()
    reference = {path.stem: (str(path), path.read_text(encoding="utf-8")) for path in sorted(REFERENCE.glob("*.py"))}
    pool = read_pool(assignment.folder / "proof" / "variants", reference, assignment.contract)
    class_ = list(draw_class(pool, reference, count - n_copies, seed))
    rng = random.Random(f"copies {seed}")  # noqa: S311  no secret
    planted = []
    for number, original in enumerate(rng.sample(range(len(class_)), n_copies)):
        kinds = WAYS[number % len(WAYS)]
        names = frozenset((name_of(original), name_of(len(class_))))
        planted.append(Planted(names, kinds[0] if len(kinds) == 1 else ALL))
        class_.append(disguised(class_[original], kinds, rng))
    for number, modules in enumerate(class_):
        for file, text in modules.items():
            path = folder / name_of(number) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return planted


def name_of(number: int) -> str:
    """A student."""
    return f"student{number:03d}"
