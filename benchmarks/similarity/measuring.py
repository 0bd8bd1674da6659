"""Classes with planted copies: which are found, which pairs are false alarms, and the CPU seconds of a comparison."""

import json
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tqdm import tqdm

from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON
from reference.data import DataError

from ..output import print_table
from ..processes import run
from ..submissions import VARIANTS
from .copies import KINDS, disguised
from .solutions import draw_class, read_pool

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
    """What became of one class."""

    found: Counter[str]  # planted copies that are listed, by disguise
    false: int  # pairs that are listed and not planted
    accused: int  # independent submissions in such a pair
    independent: int  # submissions that no other one was copied from or to


def measure(count: int, copies: int, seeds: int) -> int:
    """Prints a table; the exit status.

    Raises:
        DataError: where such a class cannot be made.
    """
    if not 0 <= copies <= count // 2:
        raise DataError(f"--copies {copies}: expected at most half of the {count} submissions")
    outcomes, planted, seconds = [], Counter[str](), []
    for seed in tqdm(range(seeds), unit="class", disable=None):
        with tempfile.TemporaryDirectory() as folder:
            in_class = write_class(Path(folder, "class"), count, copies, seed)
            done = run("-m", "autograder", "similar", Path(folder, "class"), "--output", Path(folder, "marks"))
            pairs = json.loads(Path(folder, "marks", "similar.json").read_text(encoding="utf-8"))["pairs"]
        listed = [frozenset((pair["left"]["key"], pair["right"]["key"])) for pair in pairs]
        outcomes.append(judged(listed, in_class, count))
        planted.update(one.disguise for one in in_class)
        seconds.append(done.cpu)
    found = sum((one.found for one in outcomes), Counter[str]())
    accused, independent = (sum(getattr(one, name) for one in outcomes) for name in ("accused", "independent"))
    rows = [[f"found: {disguise}", found[disguise], planted[disguise]] for disguise in (*KINDS, ALL)]
    rows += [["found in all", found.total(), planted.total()], ["independent submissions named", accused, independent]]
    print_table([f"{seeds} classes of {count}, {copies} of them copies", "", "of"], rows)
    print(f"pairs that are false alarms: {sum(one.false for one in outcomes)}")
    print(f"CPU seconds a class: {median(seconds):.1f}")
    return 0


def judged(listed: Sequence[frozenset[str]], planted: Sequence[Planted], count: int) -> Outcome:
    """What the listed pairs of a class of so many submissions are worth."""
    known = {one.names for one in planted}
    false = [pair for pair in listed if pair not in known]
    return Outcome(
        found=Counter(one.disguise for one in planted if one.names in listed),
        false=len(false),
        accused=len({name for pair in false for name in pair}),
        independent=count - len({name for pair in known for name in pair}),
    )


def write_class(folder: Path, count: int, copies: int, seed: int) -> list[Planted]:
    """Writes a class, a folder for each student, `student000` and so on; returns the copies."""
    assignment, reference = read_assignment(), read_sources(REFERENCE, SKELETON)
    pool = read_pool(assignment.folder / VARIANTS, assignment.contract)
    class_ = draw_class(pool, reference, count - copies, seed)
    rng = random.Random(f"copies {seed}")  # noqa: S311  no secret
    planted = []
    for number, original in enumerate(rng.sample(range(len(class_)), copies)):
        kinds = WAYS[number % len(WAYS)]
        names = frozenset(f"student{one:03d}" for one in (original, len(class_)))
        planted.append(Planted(names, kinds[0] if len(kinds) == 1 else ALL))
        class_.append(disguised(class_[original], kinds, rng))
    for number, modules in enumerate(class_):
        own = folder / f"student{number:03d}"
        own.mkdir(parents=True)
        for file, text in modules.items():
            (own / file).write_text(text, encoding="utf-8")
    return planted
