"""Independent right solutions: each component is drawn from the right variants, and spelled by a student's habits.

Honest limits: the variants come from one repository. Two students who draw the same variant of a component have the
same text there, but for their habits; most of a class that has heard the same lecture is less alike than that.
"""

import ast
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from foundation.contract import Contract
from foundation.sources import Sources
from validity.proof.reading_variants import splice

from .habits import Habits

WEIGHT_OF_REFERENCE = 3
"""What the handout suggests is more frequent than any other way."""
NEEDS = {
    "model/tied": ("embedding.InputEmbedding", None),
    "model/tied_functional": ("embedding.InputEmbedding", "embedding/tied_functional"),
    "layers/decoder_from_encoder": ("layers.EncoderLayer", None),
}
"""Variants that look into a certain way to write another component; None = the reference's."""

Pool = Mapping[str, Mapping[str, Path]]
"""By component, "layers.LayerNorm": the files of its variants by name, "layers/norm_flat"."""


def read_pool(folder: Path, contract: Contract) -> Pool:
    """All variants of each component that students write."""
    pool: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.glob("*/*.py")):
        module = path.parent.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in contract.modules[module]:
                pool.setdefault(f"{module}.{node.name}", {})[f"{module}/{path.stem}"] = path
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
            module, path = component.partition(".")[0], pool[component][name]
            texts[module], _ = splice(texts[module], path.read_text(encoding="utf-8"), path)
    habits, found = Habits(rng, signatures), {}
    for module, text in texts.items():
        tree = ast.parse(f"import torch\n{text}")  # habits need it
        tree.body = [node for node in tree.body if getattr(node, "module", "") != module]  # an import from itself
        found[f"{module}.py"] = ast.unparse(ast.fix_missing_locations(habits.visit(tree))) + "\n"
    return found
