"""Reports what a way around `shortcuts.py` needs, with file and line.

Python raises an audit event when code reads frames, tracebacks' frames or code objects, asks the garbage collector for
objects, uses ctypes, or executes text. A hook listens, which no Python code can remove. What Python's own modules and
PyTorch do for a submission does not count: `@dataclass` executes text, too. Submitted text raises further events, of
attributes by name and of modules (`instruments.py`). Other attributes, imports and patterns say in the text what they
are, and are found there (`autograder/intake/names.py`).
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch

from .failures import AT_IMPORT, ForbiddenShortcut
from .instruments import BY_NAME, NESTED, OF_CLASS, REPLACED, VALUE
from .messages import MAGIC, PREFIX

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
    "collections.namedtuple": "compile exec sys._getframe __defaults__",
    "typing": "compile sys._getframe __defaults__ __bases__",
    "enum": "sys._getframe",
    "logging": "sys._getframe f_code tb_frame compile",
    "warnings": "sys._getframe f_code",
    "traceback": "f_code tb_frame compile",
    "traceback.format_stack": "sys._getframe",
    "ast": "compile",
    "inspect._has_code_flag": "__code__",
    "inspect._signature_from_function": "__code__ __defaults__ __kwdefaults__",
    "worker/instruments": "compile code.__new__",
    "worker/audit": "exec",
}
"""Events of modules, or a function, when ordinary code calls them, and of others that Python's own modules let act.

A module that calls what it was given, as many of PyTorch's do, has no place here.
"""
LOOKED_ON = {"f_code", "compile", "exec"}
"""Events of a stand-in that looks on while submitted code runs, as a debugger does, for questions about it."""
HAND_OUT = ("walk_tb", "currentframe", "<lambda>", "compile_telling", "run_telling", "exec_module")
"""Functions of these modules that ordinary code does not call."""
IMPORTS = "worker/loading"
"""Has text compiled and executed by others only."""
BY_COMPUTED_NAMES = {"getattr", "setattr", "delattr", "vars", "__dict__", "attrgetter", "__getattribute__"}
"""What a function of a library must not use that is taken from its class, since it can get any object as its own."""
HARMLESS = r"torch\._[a-z]\w*"
"""Names of which there are hundreds: many of these use up nobody else's places."""
MOST, MOST_OF_ONE, MOST_HARMLESS = 400, 3, 40
"""So many places are reported: in all, of one name, and of harmless ones."""
IMPORTED = "submission.imported"
"""The event of a module that uses what is forbidden while it is imported; its arguments are the file and the line."""
ASKED = "refusals.asked"
"""The event that shows that the hook still hears; its argument is a question, with which it answers."""
NAMES = {IMPORTED: AT_IMPORT, NESTED: "nested too deeply to be watched"}


def run_telling(code: CodeType, names: dict[str, Any]) -> None:
    """Run a module's code; raise an event, too, where it uses what is forbidden: the trusted side may let it.

    A module that compares itself with PyTorch's while it is imported is right, and what it records then is listed.
    """
    try:
        exec(code, names)  # noqa: S102  what this is for
    except ForbiddenShortcut as error:
        inside = error.__traceback__ and error.__traceback__.tb_next
        sys.audit(IMPORTED, code.co_filename, inside.tb_lineno if inside else 1)
        raise


def watch(files: Iterable[str], internals: str, descriptor: int, stand_ins: object) -> None:
    """From now on, writes a notice to the pipe of replies when code of these files does so: file, line, name.

    Attributes count that the pattern of internals matches, and functions of others that are replaced. All that the hook
    uses is bound here, before submitted code runs and could replace it. It does nothing that could run submitted code,
    such as to compare an object: no event is heard meanwhile.
    """
    standard, separator = (sysconfig.get_path("stdlib"), "<frozen "), os.sep
    homes = *map(sysconfig.get_path, ("purelib", "platlib")), str(Path(str(torch.__file__)).parent.parent)
    roots = [f"{home}{os.sep}" for home in homes]
    own_root = f"{str(Path(__file__).parent.parent).rstrip(os.sep)}{os.sep}"
    n_standard, has_text, imports, places = len(standard[0]) + 1, {"compile", "exec"}, IMPORTS, [*files]
    looks_on, of_stand_ins = LOOKED_ON, tuple(f"{folder}{os.sep}" for folder in getattr(stand_ins, "__path__", ()))
    quoted = {file: json.dumps(file) for file in files}
    events, by_name, is_internal = {*EVENTS.split()}, BY_NAME, re.compile(internals).fullmatch
    attributes = {"object.__getattr__": {*READ.split()}, "object.__setattr__": {*WRITTEN.split()}}
    usual = {(module, name) for module, names in USUAL.items() for name in names.split()}
    hand_out, reported, is_busy, most, asked = {*HAND_OUT}, set[tuple[str, int, str]](), False, MOST, ASKED
    counts, most_of, is_harmless = dict[str, int](), (MOST_OF_ONE, MOST_HARMLESS), re.compile(HARMLESS).fullmatch
    count, is_kind, of_type, text, kind, can_call = len, issubclass, type, str, type, callable
    functions, properties, codes, field = FunctionType, property, CodeType, dataclasses.Field
    code_of, uses_none = vars(FunctionType)["__code__"].__get__, frozenset(BY_COMPUTED_NAMES).isdisjoint
    contents: Any = vars(ModuleType)["__dict__"].__get__
    lineage, names_of, home_of, full_name = (
        vars(type)[f"__{name}__"].__get__ for name in ("mro", "dict", "module", "qualname")
    )
    modules = [(name, module) for name, module in sys.modules.items() if isinstance(module, ModuleType)]
    known, names_known = {id(module): name for name, module in modules}, {name for name, _ in modules}
    told_names, replaced, as_value, of_class, identity, number = NAMES, REPLACED, VALUE, OF_CLASS, id, int
    getframe, write = sys._getframe, os.write
    prefix, magic = PREFIX.pack, MAGIC

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal is_busy
        if is_busy or count(reported) >= most:  # this function's own look at frames raises events, too
            return
        is_busy = True
        try:
            name = name_of(event, arguments)
            if event == asked:
                send(places[0], 1, name)
                return
            place = None if not name else arguments if event in told_names else culprit(getframe(1), name)
            kind_of = "harmless" if is_harmless(name) else name
            so_far = counts.get(kind_of, 0)
            if place is not None and (*place, name) not in reported and so_far < most_of[kind_of == "harmless"]:
                counts[kind_of] = so_far + 1
                reported.add((*place, name))
                file, line = place
                send(file, line, name)
        finally:
            is_busy = False

    def send(file: str, line: int, name: str) -> None:
        notice = f'{{"notice":[{quoted[file]},{line},"{name}"]}}'.encode()
        write(descriptor, prefix(magic, count(notice), 0) + notice)

    def name_of(event: str, arguments: tuple[Any, ...]) -> str:
        """The name that is reported of an event; "" = nothing."""
        if event in events:
            return event
        if event in told_names:
            is_sound = of_type(arguments[0]) is text and of_type(arguments[1]) is number
            return told_names[event] if is_sound and arguments[0] in quoted else ""
        if event == asked:
            return arguments[0] if of_type(arguments[0]) is text and arguments[0].isalnum() else ""
        if event == as_value:
            return f"{known.get(identity(arguments[0]), 'an own module')} as a value"
        if event not in attributes and event not in (by_name, replaced, of_class) or of_type(arguments[1]) is not text:
            return ""
        owner, name, *_ = arguments
        if event == of_class:
            return f".{name} of a class" if name != "__init__" and reads_by_name(owner, name) else ""
        if event in attributes or not name.isidentifier():
            return name if name in attributes.get(event, ()) else ""
        full, others = "", list[Mapping[str, Any]]()
        if identity(owner) in known:
            full, others = f"{known[identity(owner)]}.{name}", [contents(owner)]
            if is_internal(full) and full.replace(".", "_").isidentifier():
                return full
        elif is_kind(of_type(owner), kind):
            module, outer = home_of(owner), full_name(owner)
            if of_type(module) is of_type(outer) is text and module in names_known:
                full, others = f"{module}.{outer}.{name}", [*map(names_of, lineage(owner))]
        elif event == replaced and of_type(owner) is functions and code_of(owner).co_filename not in quoted:
            return f".{name} of a function replaced"
        elif event == replaced and of_type(owner) is field:  # by which `dataclasses.astuple` asks for attributes
            return f".{name} of a field replaced"
        if event == replaced and any(name[:2] == "__" or can_call(names[name]) for names in others if name in names):
            return f"{full} replaced"
        return name if is_internal(f".{name}") else ""

    def reads_by_name(owner: type, name: str) -> bool:
        """True if an attribute of a class is a function or a property of a library that `reaches` others."""
        for names in map(names_of, lineage(owner)):
            if name in names:
                value = names[name]
                parts = (value.fget, value.fset, value.fdel) if of_type(value) is properties else (value,)
                return any(reaches(code_of(part)) for part in parts if of_type(part) is functions)
        return False

    def reaches(code: CodeType) -> bool:
        """True if a library's code reaches attributes by names that it computes."""
        inner = (part for part in code.co_consts if of_type(part) is codes)
        return code.co_filename not in quoted and (not uses_none(code.co_names) or any(map(reaches, inner)))

    def culprit(frame: FrameType | None, name: str) -> tuple[str, int] | None:
        """The line of a submission that does this; None where it is somebody else's doing."""
        inner = outer = called = does = ""
        if name in looks_on and frame is not None and frame.f_code.co_filename.startswith(of_stand_ins):
            return None
        above: list[CodeType] = []  # what was made of text stands for whoever calls it
        while frame is not None and frame.f_code.co_filename not in quoted:
            above.append(frame.f_code)
            frame = frame.f_back
        if frame is None and name not in has_text:
            return None
        for code in above:
            if module := module_of(code.co_filename):
                outer, called = module, code.co_name
                inner, does = inner or module, does or f"{module}.{called}"
        if frame is None:
            return (places[0], 1) if inner == imports else None
        is_usual = (inner, name) in usual or (outer, name) in usual or (does, name) in usual
        return None if is_usual and called not in hand_out else (frame.f_code.co_filename, frame.f_lineno)

    def module_of(file: str) -> str:
        """The path of a package's module, "torch/nn/functional"; of one of Python's own the first part, "logging"."""
        for root in roots:
            if file.startswith(root):
                return file[count(root) :].removesuffix(".py")
        if file.startswith(standard):
            return file[n_standard:].removesuffix(".py").partition(separator)[0]
        return file[count(own_root) :].removesuffix(".py") if file.startswith(own_root) else ""

    sys.addaudithook(hook)
