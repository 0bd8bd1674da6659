"""A trip-wire: what students must write themselves raises in a worker, under whatever name it is reached.

PyTorch's kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what PyTorch
writes in Python is stopped in its code object. The stand-ins use none of it. It all works again in calls of components
that may use it, such as a layer with `nn.LayerNorm`. A submission that knows of this can undo it, or copy PyTorch's
source: `rules.py` and `watching.py` list for a reader what such ways need.

The trusted side asks now and then whether the kernels still refuse. Each answers such a question with a hash of the
question and a key, which the replaced kernels alone have: whoever puts PyTorch's own back has no answer.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from types import FunctionType
from typing import Any, NoReturn

import torch

from .failures import ForbiddenShortcut

ALL_KERNELS = tuple(sorted(full.removeprefix("aten::") for full in torch._C._dispatch_get_all_op_names()))
KEYS = """
CPU AutogradCPU NestedTensorCPU AutogradNestedTensor MkldnnCPU QuantizedCPU AutogradOther CompositeImplicitAutograd
FuncTorchVmapMode
"""
"""The kinds of tensors that a worker can make, and two ways around them: an operator's own kernel, and `vmap`."""


def prepare(
    kernels: str, python: Sequence[str], components: Sequence[str], always: Sequence[str], key: str
) -> tuple[Callable[[str], None], Callable[[str], str]]:
    """Returns two functions: one makes what is forbidden in a component raise, the other answers a question with it.

    Called before any submitted code runs: changes to this module then come too late. Nothing here is bound to a name of
    a module; only frames and closures lead to it.

    Args:
        kernels: a pattern for their names.
        python: dotted names of classes and functions.
        components: those in which all this is forbidden, while all else works; none = in all.
        always: dotted names of classes and functions that are forbidden in all components.
        key: for the answers; see `answer`.
    """
    asked: list[str] = []
    replaced = [(name, signed_refusal(name, asked, key)) for name in kernels_named(kernels)]
    stopped = [(find(name), refusal(name.rpartition(".")[2])) for name in python]
    forever = [(find(name), refusal(name.rpartition(".")[2])) for name in always]
    new_library, halt, kinds = torch._C._dispatch_library, stop, KEYS.split()
    libraries: list[Any] = []  # without the library, its kernels go too
    before: list[Callable[[], None]] = []
    calls, guarded, anything = [call_of(name) for name in probed(kernels)], frozenset(components), BaseException

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
            for name, refuse in replaced:
                for kind in kinds:
                    libraries[0].impl(name, kind, refuse)
        before.extend(halt(function, refuse) for function, refuse in stopped)

    def prove(question: str) -> str:
        asked.append(question)
        for call in calls:
            try:
                call()
            except anything:  # noqa: S112  it has refused, or the answer will be another one
                continue
        return asked.pop()

    return forbid, prove


def answer(question: str, key: str, hashed: Callable[..., Any] = blake2b) -> str:
    """The answer of a kernel that refuses to a question, or to the answer of the kernel before it."""
    return str(hashed(question.encode(), key=key.encode(), digest_size=16).hexdigest())


def answer_of_all(question: str, key: str, kernels: str) -> str:
    """The answer if all kernels of a pattern refuse."""
    for _ in probed(kernels):
        question = answer(question, key)
    return question


def probed(kernels: str) -> list[str]:
    """The matching kernels that are asked: those that return their result."""
    return [name for name in kernels_named(kernels) if "out" not in name.partition(".")[2]]


def call_of(name: str) -> Callable[[], object]:
    """A call of a kernel with arguments of the right types."""
    kernel, _, overload = name.partition(".")
    operator, *_ = torch._C._get_operation_overload(f"aten::{kernel}", overload)
    schema = torch._C._get_schema(f"aten::{kernel}", overload)
    values = {"Tensor": torch.zeros(1, 1), "float": 0.0, "int": 1, "bool": False, "List[int]": [1]}
    needed = [argument for argument in schema.arguments if not argument.has_default_value()]
    given = [(argument.kwarg_only, argument.name, values.get(str(argument.type))) for argument in needed]
    named = {name: value for is_named, name, value in given if is_named}
    return partial(operator, *(value for is_named, _, value in given if not is_named), **named)


def kernels_named(pattern: str) -> tuple[str, ...]:
    """The matching kernels of this PyTorch, overloads too: "_native_batch_norm_legit.no_stats"."""
    if not pattern:
        return ()
    names = re.compile(pattern)
    return tuple(k for k in ALL_KERNELS if names.fullmatch(k.partition(".")[0]) and "backward" not in k)


def find(name: str) -> Any:
    """The class or function of a dotted name below `torch`."""
    parts = name.split(".")
    n = max(n for n in range(1, len(parts)) if ".".join(parts[:n]) in sys.modules)  # a function may hide its module
    value: Any = sys.modules[".".join(parts[:n])]
    for part in parts[n:]:
        value = getattr(value, part)
    return inspect.unwrap(value)  # of a decorated function the one inside, which every wrapper calls


def refusal(name: str) -> Callable[..., NoReturn]:
    """A function that takes any arguments and raises."""

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} must not be used in this assignment")

    return refuse


def signed_refusal(name: str, asked: list[str], key: str) -> Callable[..., NoReturn]:
    """A refusal that also answers what is asked, if anything is."""
    refuse, sign = refusal(name.partition(".")[0]), answer

    def refuse_and_answer(*arguments: object, **options: object) -> NoReturn:
        if asked:
            asked[0] = sign(asked[0], key)
        refuse()

    return refuse_and_answer


def stop(function: Any, by: Callable[..., NoReturn]) -> Callable[[], None]:
    """Makes a class or a function call `by`, which raises, whatever name it is called under; returns the way back.

    Of a class that is each method, private and static ones too: each computes a part of what is forbidden.
    """
    if isinstance(function, type):
        methods = (FunctionType, staticmethod, classmethod)
        kept = {name: value for name, value in vars(function).items() if isinstance(value, methods)}
        new: dict[str, Any] = dict.fromkeys(kept, by)
    else:

        def refuse(*arguments: object, refuse_by: Callable[[], NoReturn], **options: object) -> NoReturn:
            refuse_by()

        new = {"__code__": refuse.__code__, "__defaults__": None, "__kwdefaults__": {"refuse_by": by}}
        kept = {name: getattr(function, name) for name in new}

    def put(values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(function, name, value)

    put(new)
    return partial(put, kept)
