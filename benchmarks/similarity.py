"""How well `autograder similar` tells copies from independent solutions: what is found, what is a false alarm.

Independent right solutions are made of components, each drawn from the right variants and spelled by a student's
habits. Honest limits: the variants come from one repository. Two students who draw the same variant of a component have
the same text there, but for their habits; most of a class that has heard the same lecture is less alike than that.
"""

import ast
import json
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tqdm import tqdm

from autograder.assignment_parts import Cell, read_cells
from autograder.sources import Sources, read_sources
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import Contract
from foundation.places import REFERENCE, SKELETON
from reference.data import DataError
from validity.variants import splice

from .disguises import KINDS, Habits, disguised
from .processes import print_table, run
from .submissions import VARIANTS

WEIGHT_OF_REFERENCE = 3
"""What the handout suggests is more frequent than any other way."""
NEEDS = {
    "model/tied": ("embedding.InputEmbedding", None),
    "model/tied_functional": ("embedding.InputEmbedding", "embedding/tied_functional"),
    "layers/decoder_from_encoder": ("layers.EncoderLayer", None),
}
"""Variants that look into a certain way to write another component; None = the reference's."""

Pool = Mapping[str, Mapping[str, Cell]]
"""By component, "layers.LayerNorm": its variants by name, "layers/norm_flat"."""
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
        listed = [frozenset((pair["left"], pair["right"])) for pair in pairs]
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


def read_pool(folder: Path, contract: Contract) -> Pool:
    """All variants of each component that students write."""
    pool: dict[str, dict[str, Cell]] = {}
    for cell in (cell for path in sorted(folder.glob("*.py")) for cell in read_cells(path)):
        for node in ast.parse(cell.text).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in contract.modules[cell.module]:
                pool.setdefault(f"{cell.module}.{node.name}", {})[f"{cell.module}/{cell.name}"] = cell
    return pool


def draw_class(pool: Pool, reference: Sources, count: int, seed: int) -> list[dict[str, str]]:
    """The modules of independent students: for each the text by file name."""
    rng = random.Random(f"solutions {seed}")  # noqa: S311  no secret
    signatures = {
        node.name: [argument.arg for argument in method.args.args[1:]]
        for _, text in reference.values()
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    }
    return [draw(pool, reference, signatures, rng) for _ in range(count)]


def draw(pool: Pool, reference: Sources, signatures: Mapping[str, Sequence[str]], rng: random.Random) -> dict[str, str]:
    """A student's modules."""
    names: dict[str, str | None] = {
        component: rng.choice([*variants, *WEIGHT_OF_REFERENCE * [None]]) for component, variants in pool.items()
    }
    names |= dict(NEEDS[name] for name in names.values() if name in NEEDS)
    texts = {module: reference[module][1] for module in dict.fromkeys(one.partition(".")[0] for one in pool)}
    for component, name in names.items():
        if name is not None:
            cell = pool[component][name]
            texts[cell.module], _ = splice(texts[cell.module], cell.text, cell.path)
    habits, found = Habits(rng, signatures), {}
    for module, text in texts.items():
        tree = ast.parse(f"import torch\n{text}")  # habits need it
        tree.body = [node for node in tree.body if getattr(node, "module", "") != module]  # an import from itself
        found[f"{module}.py"] = ast.unparse(ast.fix_missing_locations(habits.visit(tree))) + "\n"
    return found
