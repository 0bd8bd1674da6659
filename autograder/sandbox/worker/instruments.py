"""Compiles submitted text so that a hook hears of its modules: of each attribute, and where one is used as a value.

In place of Python's own, `getattr`, `setattr` and `delattr` raise an event, and so does each attribute of a module:
whatever leads to the module, a name is judged by what it is. No other code can ask for an attribute on a submission's
behalf, since it would have to be handed the module, and that raises an event, too. Names that are bound as by an
import, in a function or a module, are nothing to hear of.
"""

from __future__ import annotations
import __future__

import argparse
import ast
import copy
import dataclasses
import functools
import os
import sys
import tomllib
import warnings
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("audit.toml").read_text(encoding="utf-8"))
BY_NAME = "submission.attribute"
"""The event of a built-in function that reaches an attribute by its name; its arguments are the object and the name."""
OF_CLASS = "submission.class"
"""The event of an attribute that is read from a class, with the same arguments."""
REPLACED = "submission.replaced"
"""The event of an attribute that is written or deleted, with the same arguments."""
VALUE = "submission.value"
"""The event of a module that other code may get, or of a metaclass that is used; it is the argument."""
COMPUTED = "submission.computed"
"""The event of an operation in the graph of a result; its argument is the name."""
NESTED = "submission.nested"
"""The event of a module that cannot be compiled as below; its arguments are the file and the line."""


def telling(function: Callable[..., Any], event: str, audit: Callable[..., None] = sys.audit) -> Callable[..., Any]:
    """A built-in function that reaches an attribute by its name, and raises the event."""
    is_kind, of_type, text, plain = issubclass, type, str, str.__str__

    def reach(owner: object, name: str, *others: object) -> Any:
        name = plain(name) if is_kind(of_type(name), text) else name  # of a kind of string of its own, too
        audit(event, owner, name)
        return function(owner, name, *others)

    return reach


def told(events: Mapping[type, str]) -> Callable[[object, str], object]:
    """A function that returns an object, and raises the event of its kind, if that has one."""
    audit, is_kind, of_type, pairs = sys.audit, issubclass, type, (*events.items(),)

    def tell(owner: object, name: str) -> object:
        for kind, event in pairs:
            if is_kind(of_type(owner), kind):
                audit(event, owner, name)
        return owner

    return tell


def telling_update() -> Callable[..., Any]:
    """`functools.update_wrapper`, which raises an event where it is told what to copy, or copies from a class."""
    audit, is_instance, kind, library, update = sys.audit, isinstance, type, functools, functools.update_wrapper
    usual = functools.WRAPPER_ASSIGNMENTS, functools.WRAPPER_UPDATES

    def update_wrapper(wrapper: Any, wrapped: Any, assigned: Any = usual[0], updated: Any = usual[1]) -> Any:
        if assigned is not usual[0] or updated is not usual[1] or is_instance(wrapped, kind):
            audit(BY_NAME, library, update.__name__)
        return update(wrapper, wrapped, assigned, updated)

    return update_wrapper


BUILTINS = {
    "getattr": telling(getattr, BY_NAME),
    "setattr": telling(setattr, REPLACED),
    "delattr": telling(delattr, REPLACED),
}
"""For a submission's modules, in place of Python's own."""
ASKING = {"hasattr": hasattr, "dir": dir, "print": print, **BUILTINS}
"""Functions that may get a module first: they keep nothing of it, or raise events of their own."""


def hearing() -> tuple[Callable[..., Any], ...]:
    """Functions that return a value, the first argument of a function, or several values, and raise the event."""
    audit, is_kind, of_type, module, asking = sys.audit, issubclass, type, ModuleType, (*ASKING.values(),)

    def hear(value: object) -> object:
        kind = of_type(value)
        # A class of classes reads attributes of any class by names that are data, such as `nn.ParameterDict["name"]`.
        if is_kind(kind, module) or is_kind(kind, of_type) and value is not of_type and is_kind(value, of_type):  # type: ignore[arg-type]
            audit(VALUE, value)
        return value

    def hear_first(function: object, value: object) -> object:
        for each in asking:
            if function is each:
                return value
        return hear(value)

    return hear, hear_first, partial(map, hear)  # which has no frame of its own


READS, WRITES, HEAR, HEAR_FIRST, HEAR_ALL = (os.urandom(16) for _ in range(5))
MARKS = dict(zip((HEAR, HEAR_FIRST, HEAR_ALL), hearing(), strict=True))
MARKS[READS] = told({ModuleType: BY_NAME, type: OF_CLASS})
MARKS[WRITES] = told(dict.fromkeys((ModuleType, type, FunctionType, dataclasses.Field), REPLACED))
"""Stand in a syntax tree for functions: those that are told of attributes that are read and written, and the above."""
VALUES: dict[type[ast.AST], list[str]] = {getattr(ast, kind): fields for kind, fields in TABLES["values"].items()}
"""Where an expression's value may come to other code."""
HEARD = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await)
"""Expressions that may be modules; where one comes out of an operator, code of the submission's has returned it."""
LOADED = ast.Load()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def compile_telling(text: str, path: str, audit: Callable[..., None] = sys.audit) -> CodeType:
    """Compiles a module so that `owner.name` becomes `tell(owner, "name").name`, and `f(x)` `f(hear(x))`.

    Dotted names in patterns, where no call may stand, are left to the search of the text. Annotations stay as they are
    where they are not evaluated.
    """
    code = compile(text, path, "exec", dont_inherit=True)
    is_lazy = bool(code.co_flags & __future__.annotations.compiler_flag)
    try:
        tree = ast.parse(text, path)
        nodes = [*ast.walk(tree)]
        kept = {inner for node in nodes for part in _left_alone(node, is_lazy) for inner in ast.walk(part)}
        in_classes = _in_classes(nodes)
        free = kept.union(*(_bound(node) for node in nodes if node not in in_classes))
        for node in nodes:
            if isinstance(node, ast.Attribute) and node not in kept:
                mark = READS if isinstance(node.ctx, ast.Load) else WRITES
                node.value = _called(mark, node.value, ast.Constant(node.attr))
            is_metaclass = isinstance(node, ast.keyword) and node.arg == "metaclass"  # how abstract classes are written
            for field in VALUES.get(type(node), ()) if node not in kept and not is_metaclass else ():
                value = getattr(node, field)
                is_list = isinstance(value, list)
                setattr(node, field, [_heard(part, free) for part in value] if is_list else _heard(value, free))
            match node:
                case ast.Call(func=ast.Name(id) as function, args=[ast.Call(ast.Constant(value)) as first, *_]):
                    if id in ASKING and value == HEAR:
                        first.func, first.args = _called(HEAR_FIRST, function).func, [function, *first.args]
            if isinstance(node, ast.Call):
                node.func = _heard(node.func, free)
        for node in in_classes.union(node for node in nodes if isinstance(node, ast.ClassDef)):
            for field in ("body", "orelse", "finalbody") if not isinstance(node, (*FUNCTIONS, ast.expr)) else ():
                statements: list[ast.stmt] = getattr(node, field, [])
                setattr(node, field, [part for statement in statements for part in _with_values(statement)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that bytes cannot be called; of other things the text has told above
            return _with_functions(compile(tree, path, "exec", dont_inherit=True))
    except RecursionError:
        audit(NESTED, path, 1)
        return code


def tell_of_libraries() -> None:
    """From now on, the methods that `@dataclass` makes of text raise these events, too: fields may have any names.

    So does what writes attributes on any object that it is given: a parser's namespace, a copy, and a wrapper.
    """
    vars(functools)["update_wrapper"] = telling_update()
    for module in (argparse, copy):
        vars(module)["setattr"] = BUILTINS["setattr"]
    run = exec

    def run_text(text: str, names: dict[str, Any], made: dict[str, Any]) -> None:
        for node in ast.walk(ast.parse(text)):
            match node:  # an attribute of what the method gets, which may be any object
                case ast.Attribute(ast.Name(owner), name) if not owner.startswith("__dataclass_builtins"):
                    sys.audit(BY_NAME, None, name)
        run(compile_telling(text, "<string>"), names, made)

    vars(dataclasses)["exec"] = run_text


def _heard(part: Any, free: Container[ast.AST]) -> Any:
    """An expression, or a call with it that returns its value."""
    if part in free or not isinstance(getattr(part, "ctx", LOADED), ast.Load):
        return part
    if isinstance(part, ast.Starred):
        part.value = _called(HEAR_ALL, part.value)
    return _called(HEAR, part) if isinstance(part, HEARD) else part


def _called(mark: bytes, *parts: ast.expr) -> ast.Call:
    """A call of the function that a mark stands for."""
    call = ast.Call(ast.Constant(mark), [*parts], [])
    for part in (call, call.func, *parts[1:]):
        ast.copy_location(part, parts[0])
    return call


def _in_classes(nodes: Iterable[ast.AST]) -> set[ast.AST]:
    """The nodes that bind names in the namespace of a class, which other code may look into."""
    within = set[ast.AST]()
    waiting: list[ast.AST] = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
    while waiting:
        node: Any = waiting.pop()
        within.add(node)
        body = [node.body] if isinstance(node, ast.Lambda) else getattr(node, "body", ())
        is_inner = isinstance(node, (*FUNCTIONS, ast.ClassDef))
        waiting += (part for part in ast.iter_child_nodes(node) if not (is_inner and part in body))
    return within


def _bound(node: ast.AST) -> list[ast.expr]:
    """The expressions whose values a node binds to plain names, or compares by identity, and does nothing else with."""
    match node:
        case ast.Assign(targets=[*targets], value=value):
            pass
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            targets = [target]
        case ast.Compare(left, ops, others) if all(isinstance(op, (ast.Is, ast.IsNot)) for op in ops):
            return [left, *others]
        case ast.For(target=ast.Name(), iter=ast.Tuple(elts) | ast.List(elts)):
            return elts
        case _:
            return []
    if all(isinstance(target, ast.Name) for target in targets):
        return [value] if value else []
    match targets, value:
        case [ast.Tuple(names)], ast.Tuple(values) if len(names) == len(values):
            return values if all(isinstance(name, ast.Name) for name in names) else []
    return []


def _with_values(statement: ast.stmt) -> list[ast.stmt]:
    """A statement in a class, after an import with those that look at its names."""
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [statement]
    names = [ast.Name(alias.asname or alias.name.partition(".")[0], ast.Load()) for alias in statement.names]
    values = [ast.Expr(_called(HEAR, ast.copy_location(name, statement))) for name in names]
    return [statement, *(ast.copy_location(value, statement) for value in values)]


def _left_alone(node: ast.AST, is_lazy: bool) -> list[ast.AST]:
    """The parts of a syntax tree in which no call may stand, or which are not evaluated."""
    match node:
        case ast.MatchValue(value=part) | ast.MatchClass(cls=part):
            return [part]
        case ast.MatchMapping(keys=parts):
            return [*parts]
        case ast.arg() | ast.AnnAssign() | ast.FunctionDef() | ast.AsyncFunctionDef() if is_lazy:
            text = node.annotation if isinstance(node, (ast.arg, ast.AnnAssign)) else node.returns
            return [text] if text else []
    return []


def _with_functions(code: CodeType) -> CodeType:
    """Code with functions in the place of their marks."""
    constants = (
        _with_functions(part) if isinstance(part, CodeType) else MARKS.get(part, part) if type(part) is bytes else part
        for part in code.co_consts
    )
    return code.replace(co_consts=tuple(constants))


def tell_of_operations(outputs: Iterable[torch.Tensor]) -> None:
    """Raise an event for each kind of operation in the graphs of tensors, by which PyTorch computes their gradients.

    They say what was computed, whatever names the code has used: "LinalgQr", of the node "LinalgQrBackward0". What is
    behind a Python function, which may call itself anything, does not count.
    """
    names, seen = set[str](), set[object]()
    with torch._C.DisableTorchFunctionSubclass():
        left: list[Any] = [tensor.grad_fn for tensor in outputs]
    while left:
        node = left.pop()
        if isinstance(node, BackwardCFunction):
            names.add("autograd.Function")
        elif node is not None and node not in seen:
            seen.add(node)
            names.add(node.name().rpartition("::")[2].partition("Backward")[0])
            left += [inner for inner, _ in node.next_functions]
    for name in sorted(names):
        sys.audit(COMPUTED, name)
