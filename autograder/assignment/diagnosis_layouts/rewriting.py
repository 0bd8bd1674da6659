"""Other layouts of a (faulty) reference: what it computes stays, parameters and names are others.

They show whether a diagnosis recognises a fault in code that is not laid out as the reference is.
"""

import ast
from collections.abc import Callable
from pathlib import Path

from autograder.sources import Source, Sources

CLASSES = {
    "embedding": ("InputEmbedding",),
    "attention": ("MultiHeadedAttention",),
    "layers": ("LayerNorm", "FeedForward", "EncoderLayer", "DecoderLayer"),
    "model": ("Encoder", "Decoder"),
}
RELAYOUT = Path(__file__).with_name("relayout.py")


def fused(sources: Sources) -> dict[str, Source]:
    """One matrix for query, key and value; raw matrices on the right of x; parts of a layer in reversed order."""
    return _with_layout(sources, "fused")


def per_head(sources: Sources) -> dict[str, Source]:
    """A small layer for each head and projection; matrices with one more axis; norms before all other parts."""
    return _with_layout(sources, "per_head")


def _with_layout(sources: Sources, layout: str) -> dict[str, Source]:
    made = {**sources, "relayout": (str(RELAYOUT), RELAYOUT.read_text(encoding="utf-8"))}
    for module, classes in CLASSES.items():
        path, text = made[module]
        calls = "".join(f"lay_out({name}, {layout!r})\n" for name in classes)
        made[module] = (path, f"{text}\n\nfrom .relayout import lay_out\n\n{calls}")
    return made


def renamed(sources: Sources) -> dict[str, Source]:
    """Every attribute that a constructor sets and every local name is another one; parts are made in reversed order."""
    made = dict(sources)
    for module in ("embedding", "attention", "layers", "model", "masks", "train", "decode"):
        path, text = sources[module]
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name != "PositionalEncoding":
                _rename_attributes(node)
                _reverse_parts(node)
            elif isinstance(node, ast.FunctionDef):
                _rename_locals(node)
        made[module] = (path, ast.unparse(ast.fix_missing_locations(tree)))
    return made


def _rename_attributes(node: ast.ClassDef) -> None:
    own = [a for a in ast.walk(node) if isinstance(a, ast.Attribute) and ast.unparse(a.value) == "self"]
    stored = dict.fromkeys(a.attr for a in own if isinstance(a.ctx, ast.Store))
    names = {name: f"part_{number}" for number, name in enumerate(stored) if name not in ("training",)}
    for attribute in own:
        attribute.attr = names.get(attribute.attr, attribute.attr)


def _reverse_parts(node: ast.ClassDef) -> None:
    """The assignments of layers that stand next to each other and do not use one another, last one first."""
    for function in node.body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            body: list[ast.stmt] = []
            run: list[ast.Assign] = []
            for statement in [*function.body, ast.Pass()]:
                makes_part = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
                if isinstance(statement, ast.Assign) and makes_part and "self." not in ast.unparse(statement.value):
                    run.append(statement)
                    continue
                uses_run = any(ast.unparse(part.targets[0]) in ast.unparse(statement) for part in run)
                body += run if uses_run else run[::-1]
                body.append(statement)
                run = []
            function.body = body


def _rename_locals(node: ast.FunctionDef) -> None:
    """Names that the function assigns, where no inner function sees them."""
    if any(isinstance(inner, (ast.FunctionDef, ast.Lambda)) for inner in ast.walk(node) if inner is not node):
        return
    arguments = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    shared = {name for n in ast.walk(node) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)} - arguments - shared
    for name in names:
        if name.id in own:
            name.id = f"{name.id}_here"


LAYOUTS: dict[str, Callable[[Sources], dict[str, Source]]] = {
    "fused": fused,
    "per-head": per_head,
    "renamed": renamed,
}
