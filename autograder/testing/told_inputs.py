"""Adds to a failed check the inputs of the last call: each argument by the submission's own name, with its shape."""

import ast
from collections.abc import Iterator

import torch
from torch import Tensor

from ..intake.python_source import parse
from ..sandbox.proxy.last_call import LastCall
from .case import Case
from .errors import CheckFailed

MOST_NUMBERS = 6
"""A tensor with no more is written out where a test runs with the smallest sizes."""
NOT_NAMED = (torch.float64, torch.int64, torch.bool)
"""The usual dtypes."""


def tell_inputs(error: BaseException | None, submission: object) -> None:
    """Adds a line with the inputs to the message of a failed check that does not tell them yet.

    Args:
        error: that ended a test.
        submission: under test; its `last_call` is what the check is about.
    """
    call = getattr(submission, "last_call", None)
    if isinstance(error, CheckFailed) and call is not None:
        what, *rest = str(error).split("\n")
        inputs = describe(call)
        if ", called with " in what:
            return
        error.masks = call.masks
        if inputs:
            error.args = ("\n".join([what, f"  inputs:   {inputs}", *rest]),)


def describe(call: LastCall) -> str:
    """The arguments in words; "" where one is neither a tensor nor left out."""
    names = [*parameters_of(call), *[""] * len(call.args)]
    arguments = [*zip(names, call.args, strict=False), *call.kwargs.items()]
    values = [value for _, value in arguments if value is not None]
    if not values or not all(isinstance(value, Tensor) for value in values):
        return ""
    return ", ".join(f"{name} {describe_argument(value)}".lstrip() for name, value in arguments)


def describe_argument(value: object) -> str:
    """A tensor's shape, its dtype if that is unusual, and in the smallest cases the numbers of a small one."""
    if not isinstance(value, Tensor):
        return "None"
    text = f"{tuple(value.shape)}"
    if value.dtype not in NOT_NAMED:
        text += f" {str(value.dtype).removeprefix('torch.')}"
    if Case.spare is None or value.dtype == torch.bool or value.numel() > MOST_NUMBERS:
        return text
    return f"{text} = {[round(number, 3) for number in value.detach().double().flatten().tolist()]}"


def parameters_of(call: LastCall) -> list[str]:
    """The names that the submission's text gives to a component's parameters; none where it is not defined there."""
    module, _, name = call.component.partition(".")
    found = [node for node in definitions_in(parse(call.sources.get(module, ("", ""))[1])) if node.name == name]
    if found and call.method:
        found = [node for node in definitions_in(found[-1]) if node.name == call.method]
    if not found or isinstance(found[-1], ast.ClassDef):
        return []
    arguments = found[-1].args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return names[1:] if call.method else names


def definitions_in(node: ast.AST | SyntaxError) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes directly within a module or a class."""
    if isinstance(node, (ast.Module, ast.ClassDef)):
        yield from (part for part in node.body if isinstance(part, (ast.FunctionDef, ast.ClassDef)))
