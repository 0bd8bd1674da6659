"""Lets a package with names and files of its own be judged: `adapters.py` says where the components are.

A course that has its own model hands in its modules as they are, and beside them `adapters.py` with a function, or a
class, for each component that is to be judged. It has the component's name and takes the contract's arguments, which
tests may pass by name:

    def MultiHeadedAttention(d_model, n_heads):
        return mine.AttentionBlock(dim=d_model, heads=n_heads)      # an nn.Module with the contract's forward

Tests find out by themselves which parameter is which. What `adapters.py` does not offer is as it was handed out.
"""

import ast

from foundation.assignment_tables import Contract

from .sources import Source, Sources, parse

ADAPTERS = "adapters"


def adapt(sources: Sources, contract: Contract) -> dict[str, Source]:
    """The modules, where each of the contract's takes from `adapters` the components that stand there."""
    adapted = dict(sources)
    tree = parse(sources[ADAPTERS][1]) if ADAPTERS in sources else None
    names = {name for statement in getattr(tree, "body", ()) for name in _bound_by(statement)}
    for module, components in contract.modules.items():
        if module in sources and (offered := [name for name in components if name in names]):
            path, text = sources[module]
            adapted[module] = (path, f"{text.rstrip()}\n\nfrom .{ADAPTERS} import {', '.join(offered)}\n")
    return adapted


def _bound_by(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top level gives to functions, classes, imports and other values."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []
