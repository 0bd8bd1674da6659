"""Questions about single syntax nodes."""

import ast
from collections.abc import Iterator

NOT_RUN = ("annotation", "returns", "type_comment")


def changed_by(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement changes: `Name` in `Name.x = …`, `setattr(Name, …)`, `@add_to(Name)`."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            while isinstance(target, (ast.Attribute, ast.Subscript)):
                yield target
                target = target.value
                yield target
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name in ("setattr", "__setattr__"):
            yield from node.value.args[:1]
    for decorator in getattr(node, "decorator_list", ()):
        if isinstance(decorator, ast.Call):
            yield from decorator.args


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are run."""
    for name, part in ast.iter_fields(node):
        if name not in NOT_RUN:
            yield from (one for one in (part if isinstance(part, list) else [part]) if isinstance(one, ast.AST))


def is_name(target: ast.expr) -> bool:
    """Whether an assignment's target consists of plain names."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(is_name, target.elts))
    return isinstance(target, ast.Name)


def listed(body: list[ast.stmt] | ast.expr) -> list[ast.AST]:
    """A function's statements; a lambda's expression as one."""
    return [*body] if isinstance(body, list) else [body]
