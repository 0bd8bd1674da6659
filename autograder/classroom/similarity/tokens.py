"""Code as tokens without the names that its author chose; each token knows its line.

Prefix notation, so that parentheses do not matter: `a * (b + c)` is `* v + v v`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .answers import ModuleNames

OWN = "\0"
"""Begins the token of a name that the author chose; what follows only tells it from the author's other names."""
SKIPPED = {"annotation", "returns", "type_comment", "ctx", "kind", "type_params", "decorator_list", "args", "keywords"}


class Reader(ast.NodeVisitor):
    """Reads statements of one function."""

    def __init__(self, names: ModuleNames, own: frozenset[str]) -> None:
        """Takes the names of the module, and those that the function binds."""
        self.names, self.own = names, own
        self.tokens: list[str] = []
        self.lines: list[int] = []
        self.line = 0

    def read(self, body: Sequence[ast.stmt]) -> tuple[list[str], list[int]]:
        """The tokens of some statements, and their lines."""
        self.tokens, self.lines = [], []
        for statement in body:
            self.visit(statement)
        return self.tokens, self.lines

    def nameless(self, statement: ast.stmt) -> list[str]:
        """The tokens of a statement without any name that the author chose."""
        return [OWN if token.startswith(OWN) else token for token in self.read([statement])[0]]

    def put(self, token: str) -> None:
        """Adds a token at the present line."""
        self.tokens.append(token)
        self.lines.append(self.line)

    def visit(self, node: ast.AST) -> None:
        """Reads a node; its line counts until that of another one."""
        before, self.line = self.line, getattr(node, "lineno", self.line)
        super().visit(node)
        self.line = before

    def generic_visit(self, node: ast.AST) -> None:
        """The kind of the node, then its parts."""
        if not isinstance(node, (ast.Expr, ast.expr_context, ast.keyword, ast.Index, ast.arguments)):
            self.put(type(node).__name__)
        self.parts(node)

    def parts(self, node: ast.AST) -> None:
        """The parts of a node; what follows a block is told from what is in it."""
        for field, value in ast.iter_fields(node):
            if field in SKIPPED:
                continue
            if isinstance(value, list):
                for one in value:
                    if isinstance(one, ast.AST):
                        self.visit(one)
                if value and isinstance(value[0], ast.stmt):
                    self.put("end")
            elif isinstance(value, ast.AST):
                self.visit(value)

    def visit_Assign(self, node: ast.Assign) -> None:  # noqa: N802  ast's names, here and below
        """The value first: what it is called matters less."""
        self.put("=")
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_Name(self, node: ast.Name) -> None:  # noqa: N802
        """A name that somebody else chose, or a mark for one's own."""
        is_own = node.id in self.own or node.id in self.names.own or node.id.startswith("<")
        self.put(OWN + node.id if is_own else self.names.imported.get(node.id, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:  # noqa: N802
        """An attribute of an object, or something of a module."""
        root = root_of(node)
        if root in self.names.imported and root not in self.own:
            self.put(node.attr)
        elif isinstance(node.value, ast.Name) and node.value.id == "self":
            self.put(f"{OWN}self.{node.attr}")
        else:
            self.put(f"{OWN if node.attr in self.names.own else ''}.{node.attr}")
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:  # noqa: N802
        """What is called, then the arguments; those with keywords by their keywords."""
        self.visit(node.func)
        self.put(f"call {len(node.args) + len(node.keywords)}")
        for argument in node.args:
            self.visit(argument)
        for keyword in sorted(node.keywords, key=lambda one: one.arg or ""):
            self.put(f"{keyword.arg}=")
            self.visit(keyword.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:  # noqa: N802
        """The operator, then both sides."""
        self.put(type(node.op).__name__)
        self.visit(node.left)
        self.visit(node.right)

    def visit_Constant(self, node: ast.Constant) -> None:  # noqa: N802
        """Numbers as they are, any text as a text."""
        match node.value:
            case bool() | None as value:
                self.put(repr(value))
            case int() | float() as number:
                self.put(repr(number))
            case other:
                self.put(type(other).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:  # noqa: N802
        """A text, whatever stands in it."""
        self.put("str")


def root_of(node: ast.Attribute) -> str:
    """The name at the beginning of `torch.nn.functional.softmax`; "" where it is something else."""
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else ""
