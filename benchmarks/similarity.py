"""How well `autograder similar` tells copies from independent solutions: what is found, what is a false alarm.

Independent right solutions are made of components, each drawn from the right variants and spelled by a student's
habits. Copies are renamed and reordered, with a little of other habits. Honest limits: the variants come from one
repository, and two students who draw the same variant of a component have the same text there, but for their habits;
most of a class that has heard the same lecture is less alike than that. No copy is rewritten further.
"""

import ast
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.assignment_code import Cell, read_cells
from autograder.sources import Sources, read_sources
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import Contract
from foundation.places import REFERENCE, SKELETON
from validity.variants import splice

from .processes import print_table, run

COUNT, COPIES, SEEDS = 300, 50, 3
WEIGHT_OF_REFERENCE = 3
"""What the handout suggests is more frequent than any other way."""
NEEDS = {
    "model/tied": ("embedding.InputEmbedding", None),
    "model/tied_functional": ("embedding.InputEmbedding", "embedding/tied_functional"),
    "layers/decoder_from_encoder": ("layers.EncoderLayer", None),
}
"""Variants that look into a certain way to write another component; None = the reference's."""
FIXED = {"forward", "generate", "encode", "decode", "get_predictions", "training", "weight", "bias", "self"}
WORDS = ("out", "tmp", "value", "thing", "part", "item", "res", "cur", "block", "piece", "aux", "inner", "proj", "val")
LEANINGS = (0, 0, 0.3, 0.6, 0.9)
"""How often a student does something in one way; copies mix in other habits as often as COPIERS."""
COPIERS = (0.1,)
FUNCTIONS = ("softmax", "mean", "transpose", "relu", "sqrt", "flatten", "unflatten", "log_softmax")
MODULES = ("nn", "F", "torch", "math")

Pool = Mapping[str, Mapping[str, Cell]]
"""By component, "layers.LayerNorm": its variants by name, "layers/norm_flat"."""
Names = frozenset[str]
"""Both of a pair."""


def measure() -> int:
    """Prints a table; the exit status."""
    found, false, seconds = 0, 0, 0.0
    accused: set[tuple[int, str]] = set()
    for seed in tqdm(range(SEEDS), unit="class", disable=None):
        with tempfile.TemporaryDirectory() as folder:
            copies = write_class(Path(folder, "class"), COUNT, COPIES, seed)
            _, cpu = run("-m", "autograder", "similar", Path(folder, "class"), "--output", Path(folder, "marks"))
            pairs = json.loads(Path(folder, "marks", "similar.json").read_text(encoding="utf-8"))["pairs"]
        listed = {frozenset((pair["left"], pair["right"])) for pair in pairs}
        found += len(listed & copies)
        false += len(listed - copies)
        accused |= {(seed, name) for pair in listed - copies for name in pair}
        seconds += cpu
    rows = [
        ["copies that are found", found, SEEDS * COPIES],
        ["independent submissions named", len(accused), SEEDS * (COUNT - 2 * COPIES)],
    ]
    print_table([f"{SEEDS} classes of {COUNT}, {COPIES} of them copies", "", "of"], rows)
    print(f"pairs that are false alarms: {false}")
    print(f"CPU seconds a class: {seconds / SEEDS:.1f}")
    return 0


def write_class(folder: Path, count: int, copies: int, seed: int) -> set[Names]:
    """Writes a class, a folder for each student, `student000` and so on; returns who has copied from whom."""
    assignment, reference = read_assignment(), read_sources(REFERENCE, SKELETON)
    pool = read_pool(assignment.folder / "proof" / "variants", assignment.contract)
    rng = random.Random(seed)  # noqa: S311  no secret
    class_ = [draw(pool, reference, rng) for _ in range(count - copies)]
    planted = set()
    for original in rng.sample(range(len(class_)), copies):
        planted.add(frozenset(f"student{one:03d}" for one in (original, len(class_))))
        class_.append(disguised(class_[original], rng))
    for number, modules in enumerate(class_):
        own = folder / f"student{number:03d}"
        own.mkdir(parents=True)
        for module, text in modules.items():
            (own / f"{module}.py").write_text(text, encoding="utf-8")
    return planted


def read_pool(folder: Path, contract: Contract) -> Pool:
    """All variants of each component that students write."""
    pool: dict[str, dict[str, Cell]] = {}
    for cell in (cell for path in sorted(folder.glob("*.py")) for cell in read_cells(path)):
        for node in ast.parse(cell.text).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in contract.modules[cell.module]:
                pool.setdefault(f"{cell.module}.{node.name}", {})[f"{cell.module}/{cell.name}"] = cell
    return pool


def draw(pool: Pool, reference: Sources, rng: random.Random) -> dict[str, str]:
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
    habits, found = Habits(rng, LEANINGS), {}
    for module, text in texts.items():
        tree = ast.parse(f"import torch\n{text}")  # habits need it
        found[module] = ast.unparse(ast.fix_missing_locations(habits.visit(tree))) + "\n"
    return found


def disguised(modules: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    """A copy of a submission, the text of each module, with other names, order and layout."""
    trees = {name: ast.parse(text) for name, text in modules.items()}
    rename([*trees.values()], rng)
    habits = Habits(rng, COPIERS)
    for tree in trees.values():
        habits.visit(tree)
    for node in nodes_of([*trees.values()]):
        if isinstance(node, ast.ClassDef):
            rng.shuffle(node.body)
        elif isinstance(node, ast.FunctionDef):
            for place in 2 * [*range(len(node.body) - 1)]:
                pair = node.body[place : place + 2]
                if all(assigns_attribute(one) for one in pair) and rng.random() < 0.5:
                    node.body[place : place + 2] = pair[::-1]
    return {name: ast.unparse(ast.fix_missing_locations(tree)) + "\n" for name, tree in trees.items()}


def nodes_of(trees: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of some trees."""
    return (node for tree in trees for node in ast.walk(tree))


def rename(trees: Sequence[ast.Module], rng: random.Random) -> None:
    """Gives other names to what the author has named in classes: locals, attributes of `self`, and methods."""
    own, others = set[str](), set(FIXED)
    classes = [one for tree in trees for one in tree.body if isinstance(one, ast.ClassDef)]
    for node in nodes_of(classes):
        match node:
            case ast.Name(name, ast.Store()) | ast.Attribute(ast.Name("self"), name, ast.Store()):
                own.add(name)
            case ast.FunctionDef(name):
                own.add(name)
    for node in nodes_of(trees):
        match node:
            case ast.arg(name) | ast.Constant(str(name)):  # a text may name an attribute, as in `hasattr`
                others.add(name)
            case ast.Attribute(value, name) if not (isinstance(value, ast.Name) and value.id == "self"):
                others.add(name)
    chosen = sorted(name for name in own - others if not name.startswith("__"))
    names = {name: f"{rng.choice(WORDS)}_{number}" for number, name in enumerate(chosen)}
    for node in nodes_of(classes):
        match node:
            case ast.Name(name):
                node.id = names.get(name, name)
            case ast.Attribute(ast.Name("self"), name):
                node.attr = names.get(name, name)
            case ast.FunctionDef(name):
                node.name = names.get(name, name)


def assigns_attribute(statement: ast.stmt) -> bool:
    """Whether a statement is `self.name = …`, and uses no other attribute of `self`."""
    match statement:
        case ast.Assign([ast.Attribute(ast.Name("self"))], value):
            return not any(isinstance(one, ast.Name) and one.id == "self" for one in ast.walk(value))
    return False


class Habits(ast.NodeTransformer):
    """Rewrites code by a student's habits: each has a leaning, and is followed here and there, as people do."""

    def __init__(self, rng: random.Random, leanings: Sequence[float]) -> None:
        """Draws a leaning for each habit."""
        self.rng, self.choices = rng, leanings
        self.leanings: dict[str, float] = {}

    def has(self, habit: str) -> bool:
        """Whether the student follows a habit this time."""
        return self.rng.random() < self.leanings.setdefault(habit, self.rng.choice(self.choices))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:  # noqa: N802  ast's names, here and below
        """`dropout(y) + x`, `torch.matmul(a, b)`."""
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Name() as left, ast.Add(), ast.Call() as right) if self.has("turned sums"):
                return ast.BinOp(right, ast.Add(), left)
            case ast.BinOp(left, ast.MatMult(), right) if self.has("matmul"):
                return called("torch.matmul", [left, right])
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:  # noqa: N802
        """Roots, sizes, and functions of tensors."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(ast.Name("math"), "sqrt"), [inner]) if self.has("powers for roots"):
                return ast.BinOp(inner, ast.Pow(), ast.Constant(0.5))
            case ast.Call(ast.Attribute(value, "size"), [index]) if self.has("shape for size"):
                return ast.Subscript(ast.Attribute(value, "shape", ast.Load()), index, ast.Load())
            case ast.Call(ast.Attribute(value, method), values) if (
                method in FUNCTIONS
                and not any(isinstance(part, ast.Name) and part.id in MODULES for part in ast.walk(value))
                and self.has("functions for methods")
            ):
                return called(f"torch.{method}", [value, *values], node.keywords)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:  # noqa: N802
        """`x = f(g(y))` in two steps."""
        self.generic_visit(node)
        body: list[ast.stmt] = []
        for statement in node.body:
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(args=[ast.Call() as first, *_]) as made) if self.has(
                    "steps"
                ):
                    body.append(ast.Assign([ast.Name(name, ast.Store())], first))
                    made.args[0] = ast.Name(name, ast.Load())
            body.append(statement)
        node.body = body
        return node


def called(name: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    """A call of a function that is named with its module."""
    return ast.Call(ast.parse(name, mode="eval").body, [*arguments], [*keywords])
