"""Has code report which outcomes of its branches were reached.

    code = compile_watched(text, "layers.py", reached, "name of a built-in")     in the worker, before it runs

The walk of `outcomes` numbers them; here it rewrites the syntax tree, too:

    if a and b:           both operands report how they turned out       (report(7) or True) if a else …
    x = a or b            so does `a`; its value stays what it is        see `Rewriting.deciding`
    for x in xs:          the body begins with a report; so do functions, `except`, `case` and `else` of a loop
    [f(x) for x in xs]    as does the element                            report(9) or f(x)

`report` is the method `add` of a set, which returns None: no frame of ours is on the stack when a test is evaluated,
each test is evaluated once, in its own place, and no line moves. Standard library alone.
"""

from __future__ import annotations

import ast
import builtins
from threading import local
from types import CodeType
from typing import TypeVar

from .outcomes import Walk

KEPT = "@kept"
"""Name of the built-in that keeps operands of `and` and `or`; no identifier, so that no code can mean it by chance."""

Node = TypeVar("Node", bound=ast.AST)


class Kept(local):
    """A stack in each thread: operands between being evaluated and being tested."""

    def __init__(self) -> None:
        self.stack: list[object] = []


def compile_watched(text: str, path: str, reached: set[int], name: str) -> CodeType | None:
    """The code of a module that reports its outcomes.

    Args:
        text: of the module.
        path: for tracebacks.
        reached: takes the numbers of outcomes while the code runs.
        name: of the built-in by which the code finds this set; another one for each module.

    Returns:
        The code; None where it cannot be watched, or cannot be compiled at all.
    """
    try:
        tree = ast.parse(text, path)
        Rewriting(name).module(tree)
        code = compile(tree, path, "exec", dont_inherit=True)
    except Exception:  # whatever there is to be said about the text, compiling it as it is will say
        return None
    vars(builtins)[name] = reached.add
    vars(builtins).setdefault(KEPT, Kept())
    return code


class Rewriting(Walk):
    """The walk that changes the tree."""

    rewrites = True

    def __init__(self, name: str) -> None:
        """Takes the name of the built-in that reports."""
        super().__init__()
        self._name = name

    def leaf(self, test: ast.expr, numbers: tuple[int, int]) -> ast.expr:
        """`not report(1) if test else report(2)`."""
        true, false = (self._report(number) for number in numbers)
        return located(ast.IfExp(test, ast.UnaryOp(ast.Not(), true), false), test)

    def deciding(self, operator: ast.boolop, left: ast.expr, right: ast.expr, numbers: tuple[int, int]) -> ast.expr:
        """The left operand waits on a stack while its truth is tested, since its value may be the result.

        `((pop(), report(1)) and right) if (append(left) or stack[-1]) else (report(2) or pop())` for `and`.
        """
        stack = ast.Attribute(ast.Name(KEPT, ast.Load()), "stack", ast.Load())

        def method(name: str, *arguments: ast.expr) -> ast.expr:
            return ast.Call(ast.Attribute(stack, name, ast.Load()), [*arguments], [])

        test = ast.BoolOp(ast.Or(), [method("append", left), ast.Subscript(stack, ast.Constant(-1), ast.Load())])
        is_or = isinstance(operator, ast.Or)
        noted = ast.Tuple([method("pop"), self._report(numbers[is_or])], ast.Load())
        goes_on = ast.BoolOp(ast.And(), [noted, right])
        decided = ast.BoolOp(ast.Or(), [self._report(numbers[not is_or]), method("pop")])
        return located(ast.IfExp(test, decided, goes_on) if is_or else ast.IfExp(test, goes_on, decided), left)

    def element(self, expression: ast.expr, number: int) -> ast.expr:
        """`report(1) or expression`."""
        return located(ast.BoolOp(ast.Or(), [self._report(number), expression]), expression)

    def begin(self, body: list[ast.stmt], number: int, place: ast.AST, after: int = 0) -> None:
        """The report is a statement of its own, on the line of the next one."""
        body.insert(after, located(ast.Expr(self._report(number)), place))

    def add_case(self, node: ast.Match, number: int) -> None:
        """`case _` at the end."""
        node.cases.append(located(ast.match_case(ast.MatchAs(), None, [ast.Expr(self._report(number))]), node))

    def _report(self, number: int) -> ast.expr:
        return ast.Call(ast.Name(self._name, ast.Load()), [ast.Constant(number)], [])


def located(new: Node, place: ast.AST) -> Node:
    """The node; it and what is new in it stand where another one stands."""
    waiting: list[ast.AST] = [new]
    while waiting:
        node = waiting.pop()
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, place)
        elif node is not new and "lineno" in node._attributes:
            continue  # the submission's own
        waiting += ast.iter_child_nodes(node)
    return new
