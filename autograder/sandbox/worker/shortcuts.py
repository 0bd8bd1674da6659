"""A trip-wire: what students must write themselves raises in a worker, under whatever name it is reached.

PyTorch's kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what PyTorch
writes in Python is stopped in its code object. The stand-ins use none of it. A submission that knows of this can undo
it, or copy PyTorch's source: `rules.py` lists for a reader what such ways need.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NoReturn

import torch

from .failures import ForbiddenShortcut

ALL_KERNELS = tuple(sorted(full.removeprefix("aten::") for full in torch._C._dispatch_get_all_op_names()))
KEYS = (
    "CPU",
    "AutogradCPU",
    "NestedTensorCPU",
    "AutogradNestedTensor",
    "MkldnnCPU",
    "QuantizedCPU",
    "AutogradOther",
    "CompositeImplicitAutograd",
    "FuncTorchVmapMode",
)
"""The kinds of tensors that a worker can make, and two ways around them: an operator's own kernel, and `vmap`."""


def prepare(kernels: str, python: Sequence[str]) -> Callable[[], None]:
    """Returns a function that makes all of this raise: kernels by a pattern, Python's classes and functions by name.

    Called before any submitted code runs: changes to this module then come too late.
    """
    replaced = [(name, key, refusal(name.partition(".")[0])) for name in kernels_named(kernels) for key in KEYS]
    stopped = [(find(name), refusal(name.rpartition(".")[2])) for name in python]
    library = torch.library.Library("aten", "IMPL")
    _KEPT.append(library)  # without it, its kernels would go too
    override: Callable[..., None] = library.impl
    halt, is_class = stop, isinstance

    def forbid() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of replaced kernels
            for name, key, refuse in replaced:
                override(name, refuse, key, allow_override=True)
        for found, refuse in stopped:
            if is_class(found, type):
                found.__init__ = found.forward = refuse
            else:
                halt(found, refuse)

    return forbid


def kernels_named(pattern: str) -> tuple[str, ...]:
    """The matching kernels of this PyTorch, overloads too: "_native_batch_norm_legit.no_stats"."""
    if not pattern:
        return ()
    names = re.compile(pattern)
    return tuple(k for k in ALL_KERNELS if names.fullmatch(k.partition(".")[0]) and "backward" not in k)


def find(name: str) -> Any:
    """The class or function of a dotted name below `torch`."""
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return inspect.unwrap(found)  # of a decorated function the one inside, which every wrapper calls


def refusal(name: str) -> Callable[..., NoReturn]:
    """A function that takes any arguments and raises."""

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} must not be used in this assignment")

    return refuse


def stop(function: FunctionType, by: Callable[..., NoReturn]) -> None:
    """Makes a function call `by`, which raises, whatever name it is called under."""

    def refuse(*arguments: object, refuse_by: Callable[[], NoReturn], **options: object) -> NoReturn:
        refuse_by()

    function.__code__, function.__defaults__ = refuse.__code__, None
    function.__kwdefaults__ = {"refuse_by": by}


_KEPT: list[torch.library.Library] = []
