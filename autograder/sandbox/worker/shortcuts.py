"""Two trip-wires: what students must write themselves raises in a worker, and what a way around that needs is reported.

PyTorch's kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what PyTorch
writes in Python is stopped in its code objects, which every name and every bound method leads to. The stand-ins use
none of it. It all works again in calls of components that may use it, such as a layer with `nn.LayerNorm`. The trusted
side asks now and then whether the dispatcher's tables still have these kernels. The answer is a hash of the question
and a key, which the check alone has: whoever puts PyTorch's own back, or others before them, gets none.

Python raises an audit event when code reads frames, tracebacks' frames or code objects, asks the garbage collector for
objects, uses ctypes, or executes text. A hook listens, which no Python code can remove. What Python's own modules and
PyTorch do for a submission does not count: `@dataclass` executes text, too. A submission's own `getattr`, `setattr` and
`delattr` raise an event as well, so that a name that was computed is judged by what it is. No event is raised for
`f_back`, `f_globals`, `__globals__`, `__closure__`, `__subclasses__` and `sys.modules`; the search of the text
(`autograder/intake/names.py`) looks for these.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

import torch

from .failures import ForbiddenShortcut
from .messages import MAGIC, PREFIX

ALL_KERNELS = tuple(sorted(full.removeprefix("aten::") for full in torch._C._dispatch_get_all_op_names()))
KEYS = """
CPU AutogradCPU NestedTensorCPU AutogradNestedTensor MkldnnCPU QuantizedCPU AutogradOther CompositeImplicitAutograd
FuncTorchVmapMode
"""
"""The kinds of tensors that a worker can make, and two ways around them: an operator's own kernel, and `vmap`."""


def prepare(
    kernels: str, python: Sequence[str], components: Sequence[str], always: Sequence[str], key: str
) -> tuple[Callable[[str], None], Callable[[str], str]]:
    """Returns two functions: one makes what is forbidden in a component raise, the other proves that it still does.

    Called before any submitted code runs: changes to this module then come too late. Nothing here is bound to a name of
    a module; only frames and closures lead to it.

    Args:
        kernels: a pattern for their names.
        python: dotted names of classes and functions.
        components: those in which all this is forbidden, while all else works; none = in all.
        always: dotted names of classes and functions that are forbidden in all components.
        key: for the answers to questions.
    """
    replaced = [(name, refusal(name.partition(".")[0])) for name in kernels_named(kernels)]
    stopped, forever = ([stopping(find(name), name.rpartition(".")[2]) for name in names] for names in (python, always))
    new_library, kinds, table_of, hashed = torch._C._dispatch_library, KEYS.split(), torch._C._dispatch_dump, blake2b
    libraries: list[Any] = []  # without the library, its kernels go too
    guarded, in_force = frozenset(components), list[str]()  # the tables when the kernels were last replaced

    def tables() -> list[str]:
        return [table_of(f"aten::{name}") for name, _ in replaced]

    def forbid(component: str) -> None:
        while forever:
            forever.pop()()
        if (not guarded or component in guarded) == bool(libraries):
            return
        for exchange in stopped:
            exchange()
        stopped.reverse()  # a function that two names lead to gets its own code back last
        if libraries:
            libraries.pop().reset()
            return
        libraries.append(new_library("IMPL", "aten", ""))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of replaced kernels
            for name, refuse in replaced:
                for kind in kinds:
                    libraries[0].impl(name, kind, refuse)
        in_force[:] = tables()

    def prove(question: str) -> str:
        return hashed(question.encode(), key=key.encode()).hexdigest() if tables() == in_force else ""

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


def refusal(name: str) -> Callable[..., NoReturn]:
    """A function that takes any arguments and raises."""

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} must not be used in this assignment")

    return refuse


def stopping(value: Any, name: str) -> Callable[[], None]:
    """A function that makes a function, or each method of a class, raise, and when it is called again, work again.

    Private and static methods, too: each computes a part of what is forbidden. Their code is exchanged, so that a
    method that was taken from its class while the submission was imported raises as well.
    """
    by = {"refuse_by": refusal(name)}

    def refuse(*arguments: object, refuse_by: Callable[[], NoReturn], **options: object) -> NoReturn:
        refuse_by()

    members = vars(value).values() if isinstance(value, type) else [value]
    functions = [getattr(member, "__func__", member) for member in members]
    others: dict[FunctionType, tuple[Any, ...]] = {}
    for function in functions:
        if isinstance(function, FunctionType):
            free = function.__code__.co_freevars  # that of a method with `super()` has one
            others[function] = refuse.__code__.replace(co_freevars=free), None, by

    def exchange() -> None:
        for function, parts in others.items():
            others[function] = function.__code__, function.__defaults__, function.__kwdefaults__
            function.__code__, function.__defaults__, function.__kwdefaults__ = parts

    return exchange


EVENTS = """
sys._getframe sys._current_frames sys._current_exceptions sys.settrace sys.setprofile sys.addaudithook
sys.monitoring.register_callback code.__new__ function.__new__ compile exec marshal.load marshal.loads pickle.find_class
gc.get_objects gc.get_referrers gc.get_referents ctypes.addressof ctypes.call_function ctypes.cdata ctypes.cdata/buffer
ctypes.dlopen ctypes.dlsym ctypes.dlsym/handle ctypes.string_at ctypes.wstring_at ctypes.PyObj_FromPtr
"""
"""Of Python 3.11 to 3.13."""
READ = "tb_frame f_code gi_frame gi_code cr_frame cr_code ag_frame ag_code __code__ __defaults__ __kwdefaults__"
WRITTEN = "__code__ __defaults__ __kwdefaults__ __class__ __bases__"
"""Attributes whose reading and writing raises `object.__getattr__` and `object.__setattr__`; others are harmless."""
USUAL = {
    "dataclasses": "compile exec __code__ __defaults__ __kwdefaults__",
    "collections": "compile exec sys._getframe __defaults__",
    "typing": "compile sys._getframe __defaults__ __bases__",
    "enum": "sys._getframe",
    "logging": "sys._getframe f_code tb_frame compile",
    "warnings": "sys._getframe f_code",
    "traceback": "f_code tb_frame compile",
}
"""Events of modules of Python's own, and of others that they let act, when ordinary code calls them."""
LOOKED_ON = {"f_code", "compile", "exec"}
"""Events of a stand-in that looks on while submitted code runs, as a debugger does, for questions about it."""
HAND_OUT_FRAMES = ("walk_tb", "currentframe", "<lambda>")
"""Functions of these modules that ordinary code does not call."""
BY_NAME = "submission.attribute"
"""The event of a built-in function that reaches an attribute by its name; its arguments are the object and the name."""
MOST = 40
"""So many places are reported; a reader needs no more."""


def telling(function: Callable[..., Any], audit: Callable[..., None] = sys.audit) -> Callable[..., Any]:
    """A built-in function that reaches an attribute by its name, and raises the event."""

    def reach(owner: object, name: str, *others: object) -> Any:
        audit(BY_NAME, owner, name)
        return function(owner, name, *others)

    return reach


BUILTINS = {function.__name__: telling(function) for function in (getattr, setattr, delattr)}
"""For a submission's modules, in place of Python's own."""


def watch(files: Iterable[str], internals: str, descriptor: int, stand_ins: object) -> None:
    """From now on, writes a notice to the pipe of replies when code of these files does so: file, line, name.

    Of attributes that are reached by a name, those count that the pattern of internals matches. All that the hook uses
    is bound here, before submitted code runs and could replace it.
    """
    own, standard, separator = __file__, (sysconfig.get_path("stdlib"), "<frozen "), os.sep
    n_standard, makes_kernels = len(standard[0]) + 1, f"{os.sep}torch{os.sep}library.py"
    folders = [str(Path(file).parent) for file in (own, str(torch.__file__))]
    packages = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *folders)
    looks_on, of_stand_ins = LOOKED_ON, tuple(f"{folder}{os.sep}" for folder in getattr(stand_ins, "__path__", ()))
    quoted = {file: json.dumps(file) for file in files}
    events, by_name, is_internal = {*EVENTS.split()}, BY_NAME, re.compile(internals).fullmatch
    attributes = {"object.__getattr__": {*READ.split()}, "object.__setattr__": {*WRITTEN.split()}}
    usual = {(module, name) for module, names in USUAL.items() for name in names.split()}
    hand_out, reported, is_busy, most = {*HAND_OUT_FRAMES}, set[tuple[str, int, str]](), False, MOST
    count, is_kind, of_type, text, package = len, issubclass, type, str, ModuleType
    contents: Any = vars(ModuleType)["__dict__"].__get__
    getframe, write = sys._getframe, os.write
    prefix, magic = PREFIX.pack, MAGIC

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal is_busy
        if is_busy or count(reported) >= most:  # this function's own look at frames raises events, too
            return
        is_busy = True
        try:
            name = name_of(event, arguments)
            place = culprit(getframe(1), name) if name else None
            if place is not None and (*place, name) not in reported:
                reported.add((*place, name))
                notice = f'{{"notice":[{quoted[place[0]]},{place[1]},"{name}"]}}'.encode()
                write(descriptor, prefix(magic, count(notice), 0) + notice)
        finally:
            is_busy = False

    def name_of(event: str, arguments: tuple[Any, ...]) -> str:
        """The name that is reported of an event; "" = nothing."""
        if event in events:
            return event
        if event in attributes and arguments[1] in attributes[event]:
            return text(arguments[1])
        if event != by_name or of_type(arguments[1]) is not text or not arguments[1].isidentifier():
            return ""
        owner, name = arguments
        if is_kind(of_type(owner), package):
            full = f"{contents(owner)['__name__']}.{name}"
            if is_internal(full) and full.replace(".", "_").isidentifier():
                return full
        return name if is_internal(f".{name}") else ""

    def culprit(frame: FrameType | None, name: str) -> tuple[str, int] | None:
        """The line of a submission that does this; None where it is somebody else's doing."""
        inner = outer = called = ""
        if frame is not None and name in looks_on and frame.f_code.co_filename.startswith(of_stand_ins):
            return None
        while frame is not None:
            file = frame.f_code.co_filename
            if file in quoted:
                is_usual = ((inner, name) in usual or (outer, name) in usual) and called not in hand_out
                return None if is_usual else (file, frame.f_lineno)
            if file.startswith(packages) and file != own and not file.endswith(makes_kernels):
                return None
            if file.startswith(standard):
                outer, called = file[n_standard:].removesuffix(".py").partition(separator)[0], frame.f_code.co_name
                inner = inner or outer
            frame = frame.f_back  # code that was made of text stands for whoever calls it
        return None

    sys.addaudithook(hook)
