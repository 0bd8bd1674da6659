"""Independent right solutions: each component is drawn from the right variants, and spelled by a student's habits.

Honest limits: the variants come from one repository. Two students who draw the same variant of a component have the
same text there, but for their habits; most of a class that has heard the same lecture is less alike than that.
"""

import ast
import random
from collections.abc import Mapping
from pathlib import Path

from foundation.contract import Contract
from foundation.sources import Sources

from .habits import Habits

REFERENCE = "reference"
WEIGHT_OF_REFERENCE = 3
"""What the handout suggests is more frequent than any other way."""
NEEDS = {
    ("model.Transformer", "tied"): ("embedding.InputEmbedding", REFERENCE),
    ("model.Transformer", "tied_functional"): ("embedding.InputEmbedding", "tied_functional"),
    ("layers.DecoderLayer", "decoder_from_encoder"): ("layers.EncoderLayer", REFERENCE),
}
"""Ways to write a component that look into a certain way to write another one."""

Pool = Mapping[str, Mapping[str, ast.Module]]
"""By component, "layers.LayerNorm": the modules that define it, by the variant's name."""


def read_pool(folder: Path, reference: Sources, contract: Contract) -> Pool:
    """All ways to write each component that students write."""
    pool: dict[str, dict[str, ast.Module]] = {}
    for path in sorted(folder.glob("*/*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in contract.modules[path.parent.name]:
                pool.setdefault(f"{path.parent.name}.{node.name}", {})[path.stem] = tree
    for component in pool:
        pool[component][REFERENCE] = ast.parse(reference[component.partition(".")[0]][1])
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
    return [draw(pool, reference, Habits(rng, signatures), rng) for _ in range(count)]


def draw(pool: Pool, reference: Sources, habits: Habits, rng: random.Random) -> dict[str, str]:
    """A student's modules."""
    names: dict[str, str] = {}
    for component, ways in pool.items():
        weights = [WEIGHT_OF_REFERENCE if way == REFERENCE else 1 for way in ways]
        names[component] = rng.choices([*ways], weights)[0]
    names |= dict(NEEDS[one] for one in names.items() if one in NEEDS)
    modules = dict.fromkeys(component.partition(".")[0] for component in pool)
    return {f"{module}.py": write_module(module, names, pool, reference[module][1], habits) for module in modules}


def write_module(module: str, names: Mapping[str, str], pool: Pool, text: str, habits: Habits) -> str:
    """A module in which the chosen definitions take the place of the reference's; their helpers come before them."""
    imports: dict[str, ast.stmt] = {"": ast.parse("import torch").body[0]}  # habits need it
    defined: dict[str, ast.stmt] = {}
    rest: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        place_in(imports if isinstance(node, (ast.Import, ast.ImportFrom)) else defined, node)
    for component, way in names.items():
        of, _, name = component.partition(".")
        if of != module:
            continue
        for node in pool[component][way].body if way != REFERENCE else ():
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if getattr(node, "module", "") != module:  # what it would import from itself
                    place_in(imports, node)
            elif getattr(node, "name", "") == name or not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                place_in(defined if hasattr(node, "name") else rest, node)
            elif node.name not in defined:
                place_in(rest, node)
        defined[name] = habits.visit(ast.parse(ast.unparse(defined[name]))).body[0]
    made = ast.Module([*imports.values(), *rest.values(), *defined.values()], [])
    return ast.unparse(ast.fix_missing_locations(made)) + "\n"


def place_in(nodes: dict[str, ast.stmt], node: ast.stmt) -> None:
    """Adds a statement, in the place of a definition of the same name; leaves out what only stands there as text."""
    if not isinstance(node, ast.Expr):
        nodes[getattr(node, "name", "") or ast.dump(node)] = node
