"""What students must write themselves raises in a worker.

PyTorch's kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what PyTorch
writes in Python is stopped in its code objects, which every name and every bound method leads to. The stand-ins use
none of it. A process refuses for good: components that may use it, such as a layer with `nn.LayerNorm`, have another
process. After each component the trusted side asks whether the dispatcher's tables are as they should be, and the
worker's own functions as they were. The answer is a hash of the question and a key, and the question must come by the
hook of `audit.py`, too, which reports what a way around all this needs.
"""

import ctypes
import inspect
import linecache
import operator
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from types import FunctionType, MappingProxyType
from typing import Any, NoReturn

import torch

from .failures import ForbiddenShortcut

ALL_KERNELS = tuple(sorted(torch._C._dispatch_get_all_op_names()))
KEYS = """
CPU AutogradCPU NestedTensorCPU AutogradNestedTensor MkldnnCPU QuantizedCPU AutogradOther CompositeImplicitAutograd
FuncTorchVmapMode
"""
"""The kinds of tensors that a worker can make, and two ways around them: an operator's own kernel, and `vmap`.

All others for which an operator has a kernel are replaced, too: `OpOverload._op_dk` and its like call it by its key.
"""
OWN_KEYS = re.compile(r"^(?!debug)(\w+)(?:\[alias\])?: registered", re.MULTILINE)
"""In the dispatcher's table of an operator."""
CONSTANT = MappingProxyType, tuple, frozenset
"""Kinds of values that only somebody replaces who wants the worker to do something else."""
BELOW_THE_DISPATCHER = {
    torch._C: (
        *("_jit_to_static_module", "_fuse_to_static_module", "parse_ir", "_create_function_from_graph"),
        "_dispatch_get_computed_kernel_for_dispatch_key",
    ),
    torch._C.Graph: ("create",),
    torch._C.Node: ("g_", "gs_"),
    ctypes: ("memmove", "memset"),
}
"""What makes code that calls kernels without the dispatcher; and what writes into memory unheard by audit hooks."""

hold = ctypes.pythonapi.Py_IncRef
"""Found here, since that raises an event."""
NORMS = r"\w*(norm|std|var|attention|softmax|corrcoef|cov)\w*"
WHOLE = ("torch.ao", "torch.masked", "torch.onnx", "torch._numpy", "torch.nn.utils._expanded_weights")
COPIES = {**dict.fromkeys(WHOLE, ".*"), "torch._refs": NORMS, "torch._decomp": NORMS}
"""Packages in which PyTorch has its layers again, with a pattern for the names of what no submission needs."""


def refuse(
    kernels: str,
    python: Sequence[str],
    key: str,
    guard: Sequence[Mapping[str, Any]],
    keep: Callable[[Callable[[str], str]], None],
) -> None:
    """Make what is forbidden raise, for as long as this process lives.

    The code of PyTorch's functions is gone afterwards, and nothing that Python code could find holds the kernels that
    took the place of others.

    Args:
        kernels: a pattern for their names.
        python: dotted names of classes and functions.
        key: for the answers to questions.
        guard: namespaces whose functions must stay what they are.
        keep: gets a function that answers a question by proving that all still refuses.
    """
    replaced = [(name, refusal(base_of(name))) for name in kernels_named(kernels)]
    functions = [function for name in python for function in stop(find(name), name)]
    namespaces = {name.partition("::")[0] for name, _ in replaced}
    libraries = {namespace: torch._C._dispatch_library("IMPL", namespace, "") for namespace in namespaces}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of replaced kernels
        for name, refusing in replaced:
            namespace, _, kernel = name.partition("::")
            for kind in {*KEYS.split(), *OWN_KEYS.findall(torch._C._dispatch_dump(name))}:
                libraries[namespace].impl(kernel, kind, refusing)
    for library in libraries.values():  # without it its kernels would go, too
        hold(ctypes.py_object(library))
    for owner, names in BELOW_THE_DISPATCHER.items() if replaced else ():
        for name in filter(partial(hasattr, owner), names):
            delattr(owner, name)
    linecache.clearcache()  # it has the text of PyTorch's own files
    table_of, hashed, audit = torch._C._dispatch_dump, blake2b, sys.audit
    contents, same, count, apply, are_all = contents_of, operator.is_, len, map, all

    def state() -> list[Any]:
        return [*(table_of(name) for name, _ in replaced), *(function.__code__ for function in functions)]

    in_force, at_first = state(), list[Any]()

    def prove(question: str) -> str:
        audit("refusals.asked", question)
        present = contents(guard)
        is_whole = count(present) == count(at_first) and are_all(apply(same, present, at_first)) and state() == in_force
        return hashed(question.encode(), key=key.encode()).hexdigest() if is_whole else ""

    keep(prove)  # which is one of the functions that must stay
    at_first[:] = contents(guard)


def kernels_named(pattern: str) -> tuple[str, ...]:
    """The matching kernels of this PyTorch, overloads too: "aten::_native_batch_norm_legit.no_stats"."""
    if not pattern:
        return ()
    names = re.compile(pattern)
    return tuple(k for k in ALL_KERNELS if names.fullmatch(base_of(k)))


def base_of(kernel: str) -> str:
    """The name of a kernel without namespace and overload: "native_layer_norm" of "aten::native_layer_norm.out"."""
    return kernel.partition("::")[2].partition(".")[0]


def find(name: str) -> Any:
    """The class or function of a dotted name below `torch`."""
    parts = name.split(".")
    n = max(n for n in range(1, len(parts)) if ".".join(parts[:n]) in sys.modules)  # a function may hide its module
    value: Any = sys.modules[".".join(parts[:n])]
    for part in parts[n:]:
        value = getattr(value, part)
    return inspect.unwrap(value)  # of a decorated function the one inside, which every wrapper calls


def contents_of(namespaces: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The members of classes, and the functions and constants of modules and objects, with functions' code."""
    members = list[Any]()
    for names in namespaces:
        for value in names.values():
            if isinstance(names, MappingProxyType) or callable(value) or type(value) in CONSTANT:
                members += [value, value.__code__ if type(value) is FunctionType else None]
    return members


def refusal(name: str) -> Callable[..., NoReturn]:
    """A function that takes any arguments and raises."""

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} must not be used in this assignment")

    return refuse


def stop_copies() -> None:
    """Make all functions raise that the loaded modules of COPIES define.

    It is for the zygote: in each worker it would take as long as all else. A class has functions of other packages,
    too, such as an enumeration's: these stay.
    """
    for name, pattern in COPIES.items():
        modules = [module for at, module in [*sys.modules.items()] if f"{at}.".startswith(f"{name}.")]
        parts = {id(part): part for module in modules for part in vars(module).values()}.values()
        for part in parts:
            is_own = isinstance(part, (type, FunctionType)) and part.__module__.startswith(name)
            if is_own and re.fullmatch(pattern, part.__name__):
                stop(part, part.__name__, f"{os.sep}{name.replace('.', os.sep)}{os.sep}")


def stop(value: Any, name: str, within: str = "") -> list[FunctionType]:
    """Make a function, or each method of a class, raise if its file is within a folder; return these functions.

    Private and static methods, too: each computes a part of what is forbidden. Their code is replaced, so that a method
    that was taken from its class raises as well.
    """
    by = {"refuse_by": refusal(name.rpartition(".")[2])}

    def refuse_any(*arguments: object, refuse_by: Callable[[], NoReturn], **options: object) -> NoReturn:
        refuse_by()

    members = vars(value).values() if isinstance(value, type) else [value]
    functions = [getattr(member, "__func__", member) for member in members]
    functions = [f for function in functions if isinstance(function, FunctionType) for f in unwrapped(function)]
    functions = [function for function in functions if within in function.__code__.co_filename]
    for function in functions:
        free = function.__code__.co_freevars  # that of a method with `super()` has one
        function.__code__ = refuse_any.__code__.replace(co_freevars=free)
        function.__defaults__, function.__kwdefaults__ = None, by
    return functions


def unwrapped(function: Any) -> list[FunctionType]:
    """A function, and all that its decorators say they wrap."""
    chain = [function]
    while (function := getattr(function, "__wrapped__", None)) is not None and function not in chain:
        chain.append(function)
    return [each for each in chain if isinstance(each, FunctionType)]
