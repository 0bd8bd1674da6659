"""Independent right solutions: each component is drawn from the right variants, and spelled by a student's habits.

Honest limits: the variants come from one repository. Two students who draw the same variant of a component have the
same text there, but for their habits; most of a class that has heard the same lecture is less alike than that.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from pathlib import Path

from foundation.contract import Contract
from foundation.sources import Sources

from .habits import Habits, signatures_in

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


def draw(pool: Pool, reference: Sources, rng: random.Random) -> dict[str, str]:
    """A student's modules: the text by file name."""
    names: dict[str, str] = {}
    for component, ways in pool.items():
        weights = [WEIGHT_OF_REFERENCE if way == REFERENCE else 1 for way in ways]
        names[component] = rng.choices([*ways], weights)[0]
    for component, way in [*names.items()]:
        if (component, way) in NEEDS:
            other, needed = NEEDS[component, way]
            names[other] = needed
    habits = Habits(rng, signatures_in([ast.parse(text) for _, text in reference.values()]))
    modules = dict.fromkeys(component.partition(".")[0] for component in pool)
    return {f"{module}.py": module_of(module, names, pool, reference, habits) for module in modules}


def module_of(module: str, names: Mapping[str, str], pool: Pool, reference: Sources, habits: Habits) -> str:
    """A module in which the chosen definitions take the place of the reference's."""
    chosen = {one.partition(".")[2]: name for one, name in names.items() if one.startswith(f"{module}.")}
    tree = ast.parse(reference[module][1])
    torch = ast.parse("import torch").body[0]  # habits need it
    imports: dict[str, ast.stmt] = {ast.dump(torch): torch}
    defined: dict[str, ast.stmt] = {}
    rest: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports[ast.dump(node)] = node
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            defined[node.name] = node
        else:
            rest.append(node)
    helpers: dict[str, ast.stmt] = {}
    for name, way in chosen.items():
        if way == REFERENCE:
            continue
        for node in pool[f"{module}.{name}"][way].body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if getattr(node, "module", "") != module:  # what it would import from itself
                    imports[ast.dump(node)] = node
            elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                if node.name == name:
                    defined[name] = node
                elif node.name not in defined:
                    helpers[node.name] = node
            elif not isinstance(node, ast.Expr):
                helpers[ast.dump(node)] = node
    rest = [one for one in rest if not is_docstring(one)]
    own = [spelled(node, habits) if name in chosen else node for name, node in defined.items()]
    made = ast.Module([*imports.values(), *rest, *(spelled(node, habits) for node in helpers.values()), *own], [])
    return ast.unparse(ast.fix_missing_locations(made)) + "\n"


def spelled(node: ast.stmt, habits: Habits) -> ast.stmt:
    """A definition by a student's habits; the variant's own stays as it is."""
    made: ast.Module = habits.visit(ast.parse(ast.unparse(node)))
    return made.body[0]


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def draw_class(pool: Pool, reference: Sources, count: int, seed: int) -> list[dict[str, str]]:
    """The modules of independent students."""
    rng = random.Random(f"solutions {seed}")  # noqa: S311  no secret
    return [draw(pool, reference, rng) for _ in range(count)]
