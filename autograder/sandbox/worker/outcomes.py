"""Lists all outcomes of a module's branches, in a fixed order.

    find_outcomes(ast.parse(text))     on the trusted side, to read reports

`branches.Rewriting` takes the same walk in the worker, so that a number means the same on both sides. Standard library
alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

MAX_OUTCOMES = 5_000
"""Of one module; code with more is not watched."""
NOT_RUN = {"annotation", "returns", "type_comment", "type_params", "pattern", "ctx", "op", "ops"}
FOR_DISPLAY = {"__repr__", "__str__", "extra_repr"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NESTED = (*FUNCTIONS, ast.ClassDef)
CHOICES = (ast.BoolOp, ast.IfExp)


class Kind(Enum):
    """What an outcome is."""

    TRUE = "true"
    FALSE = "false"
    LOOP = "the loop runs"
    EXHAUSTED = "the loop ends without break"
    ELEMENT = "the comprehension has an element"
    HANDLER = "the exception is caught"
    CASE = "the case fits"
    NO_CASE = "no case fits"
    CALLED = "the function is called"


@dataclass(frozen=True)
class Outcome:
    """One of the ways on from a branch.

    Attributes:
        kind: of outcome.
        node: the test, or what else the branch is about; it has the line.
        parent: the number of the outcome without which this one cannot be reached; -1 = none.
        only_stops: what follows does nothing but raise an exception.
    """

    kind: Kind
    node: ast.AST
    parent: int
    only_stops: bool = False

    @property
    def line(self) -> int:
        """The line of the module."""
        return int(getattr(self.node, "lineno", 0))


class TooManyError(Exception):
    """More outcomes than are watched."""


def find_outcomes(tree: ast.Module) -> list[Outcome] | None:
    """All outcomes, by number; the tree stays as it is. None where the module cannot be watched."""
    walk = Walk()
    try:
        walk.module(tree)
    except (TooManyError, RecursionError):
        return None
    return walk.outcomes


class Walk:
    """Numbers the outcomes of a module, and leaves its tree as it is.

    Attributes:
        outcomes: by number.
        rewrites: whether the tree is changed.
    """

    rewrites = False

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self._parent = -1

    def module(self, tree: ast.Module) -> None:
        """Visits all code."""
        self._statements(tree.body)

    # What `Rewriting` overrides.

    def leaf(self, test: ast.expr, numbers: tuple[int, int]) -> ast.expr:
        """A test, whose value is not used beyond its truth, that reports how it turned out."""
        return test

    def deciding(self, operator: ast.boolop, left: ast.expr, right: ast.expr, numbers: tuple[int, int]) -> ast.expr:
        """`left and right` or `left or right`, where the value is used, that reports the truth of `left`."""
        return ast.BoolOp(operator, [left, right])

    def element(self, expression: ast.expr, number: int) -> ast.expr:
        """An expression that reports that it is evaluated."""
        return expression

    def begin(self, body: list[ast.stmt], number: int, place: ast.AST, after: int = 0) -> None:
        """Has a block report that it runs, after so many of its statements."""

    def add_case(self, node: ast.Match, number: int) -> None:
        """Has a `match` report that no case fits."""

    # The walk.

    def _add(self, kind: Kind, node: ast.AST, only_stops: bool = False) -> int:
        if len(self.outcomes) == MAX_OUTCOMES:
            raise TooManyError
        self.outcomes.append(Outcome(kind, node, self._parent, only_stops))
        return len(self.outcomes) - 1

    @contextmanager
    def _under(self, parent: int) -> Iterator[None]:
        before, self._parent = self._parent, parent
        yield
        self._parent = before

    def _statements(self, body: list[ast.stmt]) -> None:
        for statement in [*body]:
            self._statement(statement)

    def _block(self, body: list[ast.stmt], parent: int) -> None:
        with self._under(parent):
            self._statements(body)

    def _reporting(self, kind: Kind, node: ast.AST, body: list[ast.stmt], after: int = 0) -> None:
        """A block that reports that it runs."""
        number = self._add(kind, node, only_raises(body[after:]))
        self._block(body, number)
        self.begin(body, number, body[min(after, len(body) - 1)], after)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, NESTED):
            self._definition(node)
        elif isinstance(node, (ast.If, ast.While)):
            stops = (only_raises(node.body), only_raises(node.orelse))
            node.test, if_true, if_false = self._test(node.test, stops if isinstance(node, ast.If) else (False, False))
            self._block(node.body, if_true)
            self._block(node.orelse, if_false)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._fields(node, ("target", "iter"))
            self._reporting(Kind.LOOP, node, node.body)
            if node.orelse:
                self._reporting(Kind.EXHAUSTED, node, node.orelse)
        elif isinstance(node, ast.Assert):
            node.test, _, if_false = self._test(node.test, (False, True))
            with self._under(if_false):
                self._fields(node, ("msg",))
        elif isinstance(node, ast.Match):
            self._match(node)
        else:
            self._fields(node)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._fields(node, ("decorator_list", "args", "bases", "keywords"))
        if isinstance(node, ast.ClassDef):
            self._statements(node.body)
        elif node.name not in FOR_DISPLAY:
            self._reporting(Kind.CALLED, node, node.body, after=int(ast.get_docstring(node, clean=False) is not None))

    def _match(self, node: ast.Match) -> None:
        node.subject = self._value(node.subject)
        for case in node.cases:
            parent = self._parent
            if case.guard is not None:
                case.guard, parent, _ = self._test(case.guard, (False, False))
            with self._under(parent):
                self._reporting(Kind.CASE, case.pattern, case.body)
        if not any(case.guard is None and is_irrefutable(case.pattern) for case in node.cases):
            self.add_case(node, self._add(Kind.NO_CASE, node))

    def _fields(self, node: ast.AST, names: tuple[str, ...] | None = None) -> None:
        """Visits the parts of a node that are run."""
        for name in node._fields if names is None else names:
            part = getattr(node, name, None)
            if name in NOT_RUN or part is None:
                continue
            if isinstance(part, ast.expr):
                setattr(node, name, self._value(part))
            elif isinstance(part, list):
                for index, one in enumerate([*part]):
                    if isinstance(one, ast.expr):
                        part[index] = self._value(one)
                    elif isinstance(one, ast.AST):
                        self._other(one)
            elif isinstance(part, ast.AST):
                self._other(part)

    def _other(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._statement(node)
        elif isinstance(node, ast.ExceptHandler):
            self._fields(node, ("type",))
            self._reporting(Kind.HANDLER, node, node.body)
        else:
            self._fields(node)

    def _value(self, node: ast.expr) -> ast.expr:
        """An expression whose value is used."""
        kind = type(node)
        if kind in (ast.Name, ast.Constant):
            return node
        if isinstance(node, ast.BoolOp):
            if any(isinstance(operand, CHOICES) for operand in node.values[:-1]):
                return self._nested(node)
            rewritten = self._operands(node, node.values)
            return rewritten if self.rewrites else node
        if isinstance(node, ast.IfExp):
            return self._choice(node, self._value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            if isinstance(
                node.operand, (ast.BoolOp, ast.IfExp, ast.UnaryOp)
            ):  # Python asks what is left of them once more
                node.operand = self._value(node.operand)
            else:
                node.operand, _, _ = self._test(node.operand, (False, False))
        elif isinstance(node, ast.Lambda):
            self._fields(node, ("args",))
            number = self._add(Kind.CALLED, node)
            with self._under(number):
                node.body = self.element(self._value(node.body), number)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            self._comprehension(node)
        else:
            self._fields(node)
        return node

    def _choice(self, node: ast.IfExp, visit: Callable[[ast.expr], ast.expr]) -> ast.expr:
        node.test, if_true, if_false = self._test(node.test, (False, False))
        with self._under(if_true):
            node.body = visit(node.body)
        with self._under(if_false):
            node.orelse = visit(node.orelse)
        return node

    def _nested(self, node: ast.expr) -> ast.expr:
        """`(a and b) or c`, where Python asks each operand once: only operands after the first report, being evaluated.

        A value on a stack would have to be asked twice.
        """
        if isinstance(node, ast.IfExp):
            return self._choice(node, self._nested)
        if not isinstance(node, ast.BoolOp):
            return self._value(node)
        with self._under(self._parent):
            kind = Kind.FALSE if isinstance(node.op, ast.Or) else Kind.TRUE
            before = node.values[0]
            for index, operand in enumerate(node.values):
                if index:
                    self._parent = self._add(kind, before)
                before = operand
                inner = self._nested(operand)
                node.values[index] = self.element(inner, self._parent) if index else inner
        return node

    def _operands(self, node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
        first, *rest = values
        left = self._value(first)
        if not rest:
            return left
        numbers = self._add(Kind.TRUE, first), self._add(Kind.FALSE, first)
        with self._under(numbers[isinstance(node.op, ast.Or)]):
            right = self._operands(node, rest)
        return ast.copy_location(self.deciding(node.op, left, right, numbers), node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        with self._under(self._parent):
            for generator in node.generators:
                generator.iter = self._value(generator.iter)
                for index, test in enumerate(generator.ifs):
                    generator.ifs[index], self._parent, _ = self._test(test, (False, False))
            number = self._parent = self._add(Kind.ELEMENT, node)
            if isinstance(node, ast.DictComp):
                node.key, node.value = self.element(self._value(node.key), number), self._value(node.value)
            else:
                node.elt = self.element(self._value(node.elt), number)

    def _test(self, node: ast.expr, stops: tuple[bool, bool]) -> tuple[ast.expr, int, int]:
        """An expression of which only the truth is used.

        Args:
            node: the expression.
            stops: whether nothing but an exception follows where it is true, and where it is false.

        Returns:
            The expression that reports, and the outcomes without which it is not true, and not false.
        """
        here = self._parent
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand, if_false, if_true = self._test(node.operand, (stops[1], stops[0]))
            return node, if_true, if_false
        if isinstance(node, ast.BoolOp):
            is_or = isinstance(node.op, ast.Or)
            last = len(node.values) - 1
            for index, operand in enumerate(node.values):
                goes_on = index < last
                own = (stops[0] and (is_or or not goes_on), stops[1] and (not is_or or not goes_on))
                node.values[index], *ways = self._test(operand, own)
                self._parent = ways[is_or]
            decided, self._parent = self._parent, here
            return (node, here, decided) if is_or else (node, decided, here)
        if isinstance(node, ast.IfExp):
            return self._choice(node, lambda one: self._test(one, stops)[0]), here, here
        if is_settled(node):
            return node, here, here
        value = self._value(node)
        numbers = self._add(Kind.TRUE, node, stops[0]), self._add(Kind.FALSE, node, stops[1])
        return self.leaf(value, numbers), *numbers


def only_raises(body: list[ast.stmt]) -> bool:
    """Whether a block does nothing but raise an exception."""
    simple = (ast.Assign, ast.Expr, ast.Raise)
    return bool(body) and isinstance(body[-1], ast.Raise) and all(isinstance(one, simple) for one in body)


def is_settled(test: ast.expr) -> bool:
    """Whether a test has one outcome in all gradings: a constant, `TYPE_CHECKING`, `__name__ == "__main__"`."""
    match test:
        case ast.Constant() | ast.Name("TYPE_CHECKING" | "__debug__") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.Compare(ast.Name("__name__"), [_], [ast.Constant()]):
            return True
    return False


def is_irrefutable(pattern: ast.pattern) -> bool:
    """Whether a pattern fits anything."""
    match pattern:
        case ast.MatchAs(None):
            return True
        case ast.MatchAs(ast.pattern() as inner):
            return is_irrefutable(inner)
        case ast.MatchOr(patterns):
            return any(map(is_irrefutable, patterns))
    return False
