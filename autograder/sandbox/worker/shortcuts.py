"""A trip-wire: what students must write themselves raises in a worker, under whatever name it is reached.

PyTorch's kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what PyTorch
writes in Python is stopped in its code object. The stand-ins use none of it. It all works again in calls of components
that may use it, such as a layer with `nn.LayerNorm`. A submission that knows of this can undo it, or copy PyTorch's
source: `rules.py` lists for a reader what such ways need.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Sequence
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


def prepare(
    kernels: str, python: Sequence[str], components: Sequence[str], always: Sequence[str]
) -> Callable[[str], None]:
    """Returns a function that makes what is forbidden in a component raise, and all else work.

    Called before any submitted code runs: changes to this module then come too late.

    Args:
        kernels: a pattern for their names.
        python: dotted names of classes and functions written in Python.
        components: those in which all this is forbidden; none = in all.
        always: dotted names of classes and functions that are forbidden in all components.
    """
    replaced = [(name, key, refusal(name.partition(".")[0])) for name in kernels_named(kernels) for key in KEYS]
    stopped = [(find(name), refusal(name.rpartition(".")[2])) for name in python]
    forever = [(find(name), refusal(name.rpartition(".")[2])) for name in always]
    new_library, halt, undone = torch._C._dispatch_library, stop, restored
    libraries: list[Any] = []  # without the library, its kernels go too
    before: list[Callable[[], None]] = []
    guarded = frozenset(components)

    def forbid(component: str) -> None:
        while forever:
            halt(*forever.pop())
        if (not guarded or component in guarded) == bool(libraries):
            return
        if libraries:
            libraries.pop().reset()
            while before:
                before.pop()()
            return
        libraries.append(new_library("IMPL", "aten", ""))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of replaced kernels
            for name, key, refuse in replaced:
                libraries[0].impl(name, key, refuse)
        for found, refuse in stopped:
            before.append(undone(found))
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


def stop(function: Any, by: Callable[..., NoReturn]) -> None:
    """Makes a class or a function call `by`, which raises, whatever name it is called under."""
    if isinstance(function, type):
        function.__init__ = function.forward = by  # type: ignore[misc, attr-defined]
        return

    def refuse(*arguments: object, refuse_by: Callable[[], NoReturn], **options: object) -> NoReturn:
        refuse_by()

    function.__code__, function.__defaults__ = refuse.__code__, None
    function.__kwdefaults__ = {"refuse_by": by}


def restored(function: Any) -> Callable[[], None]:
    """A function that undoes what `stop` is about to do."""
    names = ("__init__", "forward") if isinstance(function, type) else ("__code__", "__defaults__", "__kwdefaults__")
    kept = [(name, getattr(function, name)) for name in names]

    def restore() -> None:
        for name, value in kept:
            setattr(function, name, value)

    return restore
