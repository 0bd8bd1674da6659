"""What students must write themselves raises in a worker.

PyTorch's kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what PyTorch
writes in Python is stopped in its code objects, which every name and every bound method leads to. The stand-ins use
none of it. It all works again in calls of components that may use it, such as a layer with `nn.LayerNorm`. After each
component the trusted side asks whether the dispatcher's tables are as they should be, and the worker's own functions as
they were. The answer is a hash of the question and a key, which the check alone has, and the question must come by the
hook of `audit.py`, too, which reports what a way around all this needs.
"""

from __future__ import annotations

import inspect
import operator
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from types import FunctionType, MappingProxyType
from typing import Any, NoReturn

import torch

from .failures import ForbiddenShortcut

ALL_KERNELS = tuple(sorted(full.removeprefix("aten::") for full in torch._C._dispatch_get_all_op_names()))
KEYS = """
CPU AutogradCPU NestedTensorCPU AutogradNestedTensor MkldnnCPU QuantizedCPU AutogradOther CompositeImplicitAutograd
FuncTorchVmapMode
"""
"""The kinds of tensors that a worker can make, and two ways around them: an operator's own kernel, and `vmap`."""
IMPORT = "import"
"""In the place of a component while modules are imported, when all is refused; for "" all works."""


def prepare(
    kernels: str,
    python: Sequence[str],
    components: Sequence[str],
    always: Sequence[str],
    key: str,
    guard: Sequence[Mapping[str, Any]],
) -> tuple[Callable[[str], str], Callable[[str, str], str]]:
    """Returns two functions: one makes what is forbidden in a component raise, the other proves that it still does.

    The first returns for which component it was called before; the second answers a question about a component.

    Called before any submitted code runs: changes to this module then come too late. Nothing here is bound to a name of
    a module; only frames and closures lead to it.

    Args:
        kernels: a pattern for their names.
        python: dotted names of classes and functions.
        components: those in which all this is forbidden, while all else works; none = in all.
        always: dotted names of classes and functions that are forbidden in all components.
        key: for the answers to questions.
        guard: namespaces whose functions must stay what they are.
    """
    replaced = [(name, refusal(name.partition(".")[0])) for name in kernels_named(kernels)]
    somewhere, everywhere = ([stopping(find(name), name) for name in names] for names in (python, always))
    new_library, kinds, table_of, hashed = torch._C._dispatch_library, KEYS.split(), torch._C._dispatch_dump, blake2b
    libraries: list[Any] = []  # without the library, its kernels go too
    guarded, in_force, now, turn = frozenset(components), list[Any](), "", exchange
    contents, at_first, same, audit, of_type, text = contents_of, list[Any](), operator.is_, sys.audit, type, str
    codes = [function for functions in (*somewhere, *everywhere) for function in functions]

    def is_refused(component: str) -> bool:
        return bool(component) and (not guarded or component == IMPORT or component in guarded)

    def state() -> list[Any]:
        return [*(table_of(f"aten::{name}") for name, _ in replaced), *(function.__code__ for function in codes)]

    def forbid(component: str) -> str:
        nonlocal now
        if of_type(component) is not text or component != now:  # no other kind of string, which may be equal to all
            audit("refusals.switched")
        at_first[:] = at_first or contents(guard)
        before, now = now, component
        if bool(before) != bool(component):
            turn(everywhere)
        if is_refused(before) == is_refused(component):
            return before
        turn(somewhere)
        if libraries:
            libraries.pop().reset()
            return before
        libraries.append(new_library("IMPL", "aten", ""))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of replaced kernels
            for name, refuse in replaced:
                for kind in kinds:
                    libraries[0].impl(name, kind, refuse)
        in_force[:] = state()
        return before

    def prove(question: str, component: str) -> str:
        audit("refusals.asked", question)
        present = contents(guard)
        is_whole = now == component and len(present) == len(at_first) and all(map(same, present, at_first))
        if not is_whole or is_refused(component) and state() != in_force:
            return ""
        return hashed(question.encode(), key=key.encode()).hexdigest()

    return forbid, prove


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


def contents_of(namespaces: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The members of classes, and the functions of modules and objects, with their code."""
    members = list[Any]()
    for names in namespaces:
        for value in names.values():
            if isinstance(names, MappingProxyType) or callable(value):
                members += [value, value.__code__ if type(value) is FunctionType else None]
    return members


def refusal(name: str) -> Callable[..., NoReturn]:
    """A function that takes any arguments and raises."""

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} must not be used in this assignment")

    return refuse


Stopped = dict[FunctionType, tuple[Any, ...]]
"""Functions, and the code, defaults and keyword defaults that they get next."""


def stopping(value: Any, name: str) -> Stopped:
    """A function, or each method of a class, with what makes it raise.

    Private and static methods, too: each computes a part of what is forbidden. Their code is exchanged, so that a
    method that was taken from its class while the submission was imported raises as well.
    """
    by = {"refuse_by": refusal(name.rpartition(".")[2])}

    def refuse(*arguments: object, refuse_by: Callable[[], NoReturn], **options: object) -> NoReturn:
        refuse_by()

    members = vars(value).values() if isinstance(value, type) else [value]
    functions = [getattr(member, "__func__", member) for member in members]
    others: Stopped = {}
    for function in functions:
        if isinstance(function, FunctionType):
            free = function.__code__.co_freevars  # that of a method with `super()` has one
            others[function] = refuse.__code__.replace(co_freevars=free), None, by
    return others


def exchange(stopped: list[Stopped]) -> None:
    """Makes functions raise, and the next time work again."""
    for others in stopped:
        for function, parts in others.items():
            others[function] = function.__code__, function.__defaults__, function.__kwdefaults__
            function.__code__, function.__defaults__, function.__kwdefaults__ = parts
    stopped.reverse()  # a function that two names lead to gets its own code back last
