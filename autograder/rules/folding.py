"""Evaluates strings built from constants: "Layer" + "Norm", "".join([...]), f"{name}Norm", "mroNreyaL"[::-1]."""

import ast
from collections.abc import Callable, Iterator
from itertools import islice, product

from .values import NOTHING, Text, Values

MAX_LENGTH = 300
MAX_CODE = 200_000
MAX_COMBINATIONS = 40
PLAIN_METHODS = ("lower", "upper", "title", "capitalize", "swapcase", "casefold", "strip", "lstrip", "rstrip")
WITH_TEXTS = ("replace", "removeprefix", "removesuffix", "strip", "lstrip", "rstrip")

Evaluate = Callable[[ast.expr], Values]
TextsOf = Callable[[ast.expr], list[str]]


def fold(node: ast.expr, evaluate: Evaluate) -> Values:
    """The possible strings of an expression; nothing where they are not constant."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and len(node.value) <= MAX_CODE:
            return frozenset([Text(node.value)])
        return NOTHING
    return frozenset(Text(text) for text in islice(_fold(node, evaluate), MAX_COMBINATIONS) if len(text) <= MAX_CODE)


def texts(values: Values) -> list[str]:
    """The short strings among some values."""
    return sorted(value.text for value in values if isinstance(value, Text) and len(value.text) <= MAX_LENGTH)


def _fold(node: ast.expr, evaluate: Evaluate) -> Iterator[str]:
    def of(part: ast.expr) -> list[str]:
        return texts(evaluate(part))

    match node:
        case ast.BinOp(left, ast.Add(), right):
            yield from (a + b for a, b in product(of(left), of(right)))
        case ast.BinOp(left, ast.Mod(), right):
            parts = right.elts if isinstance(right, ast.Tuple) else [right]
            for template in of(left):
                yield from _fill(template.replace("%s", "{}").replace("%r", "{}"), parts, of)
        case ast.JoinedStr(values):
            yield from ("".join(chosen) for chosen in product(*(_pieces(part, of) for part in values)))
        case ast.Subscript(value, ast.Slice() as cut):
            bounds = [bound for bound in (cut.lower, cut.upper, cut.step) if bound is not None]
            if all(_integer(bound) is not None for bound in bounds) and (cut.step is None or _integer(cut.step) != 0):
                lower, upper, step = (
                    None if bound is None else _integer(bound) for bound in (cut.lower, cut.upper, cut.step)
                )
                yield from (text[lower:upper:step] for text in of(value))
        case ast.Subscript(value, index) if (number := _integer(index)) is not None:
            yield from (text[number] for text in of(value) if -len(text) <= number < len(text))
        case ast.Call(ast.Name("chr"), [ast.Constant(int() as number)]) if 0 <= number < 0x110000:
            yield chr(number)
        case ast.Call(ast.Name("str"), [part]):
            yield from of(part)
        case ast.Call(ast.Attribute(receiver, method), arguments):
            yield from _call(receiver, method, arguments, of)


def _call(receiver: ast.expr, method: str, arguments: list[ast.expr], of: TextsOf) -> Iterator[str]:
    if method == "join" and len(arguments) == 1:
        elements = arguments[0]
        if isinstance(elements, (ast.List, ast.Tuple)) and len(elements.elts) <= MAX_LENGTH:
            pieces = [of(element) for element in elements.elts]
        else:
            pieces = [[character] for text in of(elements)[:1] for character in text]
        for separator in of(receiver):
            yield from (separator.join(chosen) for chosen in product(*pieces) if pieces)
    elif method == "format":
        for template in of(receiver):
            yield from _fill(template, arguments, of)
    elif method in PLAIN_METHODS and not arguments:
        yield from (getattr(text, method)() for text in of(receiver))
    elif method in WITH_TEXTS and all(of(argument) for argument in arguments):
        for text, *chosen in product(of(receiver), *map(of, arguments)):
            if len(chosen) == (2 if method == "replace" else 1):
                yield getattr(text, method)(*chosen)


def _fill(template: str, parts: list[ast.expr], of: TextsOf) -> Iterator[str]:
    """The results of a template whose fields are all plain `{}`."""
    if template.count("{}") == len(parts) and template.replace("{}", "").count("{") == 0:
        for chosen in product(*map(of, parts)):
            pieces = template.split("{}")
            yield "".join(a + b for a, b in zip(pieces, [*chosen, ""], strict=True))


def _pieces(part: ast.expr, of: TextsOf) -> list[str]:
    if isinstance(part, ast.FormattedValue):
        return of(part.value) if part.format_spec is None else []
    return of(part)


def _integer(node: ast.expr) -> int | None:
    """The value of an integer constant; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if number is None else -number
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) <= MAX_CODE:
        return node.value
    return None
