"""Reports what a way around `shortcuts.py` needs, with file and line.

Python raises an audit event when code reads frames, tracebacks' frames or code objects, asks the garbage collector for
objects, uses ctypes, or executes text. A hook listens, which no Python code can remove. What Python's own modules and
PyTorch do for a submission does not count: `@dataclass` executes text, too. Submitted text raises further events, of
attributes by name and of modules (`instruments.py`). Other attributes, imports and patterns say in the text what they
are, and are found there (`autograder/intake/names.py`).
"""

import dataclasses
import gc
import json
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch

from .failures import AT_IMPORT, IN_GRAPH, ForbiddenShortcut
from .instruments import BY_NAME, COMPUTED, NESTED, OF_CLASS, REPLACED, TABLES, VALUE
from .messages import MAGIC, PREFIX

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


def watch(files: Iterable[str], internals: str, operations: str, descriptor: int, stand_ins: object) -> None:
    """From now on, writes a notice to the pipe of replies when code of these files does so: file, line, name.

    Attributes count that the pattern of internals matches, functions of others that are replaced, and operations that
    the pattern of these does not match. All that the hook uses is bound here, before submitted code runs and could
    replace it. It does nothing that could run submitted code, such as to compare an object that is no plain string, or
    to collect garbage; and it hears all but the event that it is about to cause itself.
    """
    standard, separator = (sysconfig.get_path("stdlib"), "<frozen "), os.sep
    homes = *map(sysconfig.get_path, ("purelib", "platlib")), str(Path(str(torch.__file__)).parent.parent)
    roots = [f"{home}{os.sep}" for home in homes]
    own_root = f"{str(Path(__file__).parent.parent).rstrip(os.sep)}{os.sep}"
    n_standard, places = len(standard[0]) + 1, [*files]
    of_stand_ins = tuple(f"{folder}{os.sep}" for folder in getattr(stand_ins, "__path__", ()))
    quoted = {file: json.dumps(file) for file in files}
    computed, in_graph, is_usual_operation = COMPUTED, IN_GRAPH, re.compile(operations).fullmatch
    events, by_name, is_internal = {*TABLES["events"].split()}, BY_NAME, re.compile(internals).fullmatch
    read, written = ({*TABLES[kind].split()} for kind in ("read", "written"))
    attributes = {"object.__getattr__": read, "object.__setattr__": written}
    heard = {*events, *attributes, *NAMES, ASKED, VALUE, BY_NAME, REPLACED, OF_CLASS, COMPUTED}
    usual, own, looks_on = (
        {(place, name) for place, names in TABLES[table].items() for name in names.split()}
        for table in ("usual", "own", "looked_on")
    )
    hand_out, reported, most, asked = {*TABLES["hand_out"].split()}, set[tuple[str, int, str]](), MOST, ASKED
    counts, most_of, is_harmless = dict[str, int](), (MOST_OF_ONE, MOST_HARMLESS), re.compile(HARMLESS).fullmatch
    count, is_kind, of_type, text, kind, can_call = len, issubclass, type, str, type, callable
    apply, are_all, is_any = map, all, any
    functions, properties, codes, field = FunctionType, property, CodeType, dataclasses.Field
    uses_none = frozenset(TABLES["by_computed_names"].split()).isdisjoint
    code_of: dict[type, Callable[[object], CodeType]] = {
        FrameType: vars(FrameType)["f_code"].__get__,
        FunctionType: vars(FunctionType)["__code__"].__get__,
    }
    contents: Any = vars(ModuleType)["__dict__"].__get__
    lineage, names_of, home_of, full_name = (
        vars(type)[f"__{name}__"].__get__ for name in ("mro", "dict", "module", "qualname")
    )
    modules = [(name, module) for name, module in sys.modules.items() if isinstance(module, ModuleType)]
    known, names_known = {id(module): name for name, module in modules}, {name for name, _ in modules}
    told_names, replaced, as_value, of_class, identity, number = NAMES, REPLACED, VALUE, OF_CLASS, id, int
    getframe, write = sys._getframe, os.write
    is_collecting, collect_nothing, collect = gc.isenabled, gc.disable, gc.enable
    prefix, magic, expected = PREFIX.pack, MAGIC, ""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal expected
        if event == expected or event not in heard or count(reported) >= most:
            return
        was_collecting = is_collecting()
        collect_nothing()  # which would run finalizers here
        try:
            name = name_of(event, arguments)
            if event == asked:
                send(places[0], 1, name)
                return
            if not name:
                return
            place: Any = (places[0], 0)
            if event != computed:
                expected = "sys._getframe"
                frame = getframe(1)
                expected = ""
                place = arguments if event in told_names else culprit(frame, name)
            kind_of = "harmless" if is_harmless(name) else name
            so_far = counts.get(kind_of, 0)
            if place is not None and (*place, name) not in reported and so_far < most_of[kind_of == "harmless"]:
                file, line = place
                send(file, line, name)
                counts[kind_of] = so_far + 1
                reported.add((*place, name))
        finally:
            expected = ""
            if was_collecting:
                collect()

    def send(file: str, line: int, name: str) -> None:
        notice = f'{{"notice":[{quoted[file]},{line},"{name}"]}}'.encode()
        write(descriptor, prefix(magic, count(notice), 0) + notice)

    def name_of(event: str, arguments: tuple[Any, ...]) -> str:
        """The name that is reported of an event; "" = nothing."""
        if event in events:
            return event
        if event in told_names:
            is_sound = (*apply(of_type, arguments),) == (text, number)
            return told_names[event] if is_sound and arguments[0] in quoted else ""
        if event == asked:
            return arguments[0] if of_type(arguments[0]) is text and arguments[0].isalnum() else ""
        if event == computed:
            operation = plain(arguments[0])
            is_listed = operation.replace(".", "_").isidentifier() and not is_usual_operation(operation)
            return f"{operation}{in_graph}" if is_listed else ""
        if event == as_value:
            is_class = is_kind(of_type(arguments[0]), kind)
            return f"{'a metaclass' if is_class else known.get(identity(arguments[0]), 'an own module')} as a value"
        if of_type(arguments[1]) is not text:
            return ""
        owner, name, *_ = arguments
        is_class = is_kind(of_type(owner), kind)
        if event in (by_name, of_class) and is_class and name != "__init__" and reads_by_name(owner, name):
            return f".{name} of a class"
        if event in attributes or event == of_class or not name.isidentifier():
            return name if name in attributes.get(event, ()) else ""
        full, others = "", list[Mapping[str, Any]]()
        if identity(owner) in known:
            full, others = f"{known[identity(owner)]}.{name}", [contents(owner)]
            if is_internal(full) and full.replace(".", "_").isidentifier():
                return full
        elif is_class and is_plain(names_of(owner)):
            module, outer = home_of(owner), full_name(owner)
            if of_type(module) is of_type(outer) is text and module in names_known:
                full, others = f"{module}.{outer}.{name}", [*apply(names_of, lineage(owner))]
        elif event == replaced and of_type(owner) is functions and plain(code_in(owner).co_filename) not in quoted:
            return f".{name} of a function replaced"
        elif event == replaced and of_type(owner) is field:  # by which `dataclasses.astuple` asks for attributes
            return f".{name} of a field replaced"
        for names in others if event == replaced else ():
            if not is_plain(names) or name in names and (name[:2] == "__" or can_call(names[name])):
                return f"{full} replaced"
        return name if is_internal(f".{name}") else ""

    def reads_by_name(owner: type, name: str) -> bool:
        """True if an attribute of a class is a function or a property of a library that `reaches` others."""
        for names in apply(names_of, lineage(owner)):
            if not is_plain(names):
                return True
            if name in names:
                value = names[name]
                parts = (value.fget, value.fset, value.fdel) if of_type(value) is properties else (value,)
                return is_any(reaches(code_in(part)) for part in parts if of_type(part) is functions)
        return False

    def reaches(code: CodeType) -> bool:
        """True if a library's code reaches attributes by names that it computes."""
        inner = (part for part in code.co_consts if of_type(part) is codes)
        return plain(code.co_filename) not in quoted and (not uses_none(code.co_names) or is_any(apply(reaches, inner)))

    def culprit(frame: FrameType | None, name: str) -> tuple[str, int] | None:
        """The line of a submission that does this, 0 where none is on the stack; None where it is another's doing."""
        inner = outer = called = does = ""
        above: list[tuple[str, str]] = []  # what was made of text stands for whoever calls it
        while frame is not None and (file := plain((code := code_in(frame)).co_filename)) not in quoted:
            above.append((file, plain(code.co_name)))
            frame = frame.f_back
        if above and above[0][0].startswith(of_stand_ins) and (above[0][1], name) in looks_on:
            return None
        named = [(module_of(path), function) for path, function in above]
        for module, function in named:
            if module:
                outer, called = module, function
                inner, does = inner or module, does or f"{module}.{called}"
        is_usual = (inner, name) in usual or (outer, name) in usual or (does, name) in usual
        if frame is not None:
            return None if is_usual and called not in hand_out else (file, frame.f_lineno)
        for module, function in named[:2] if inner == "ctypes" else named[:1]:
            is_usual = is_usual or (module, name) in own or (f"{module}.{function}", name) in own
        return None if is_usual else (places[0], 0)

    def code_in(owner: FrameType | FunctionType) -> CodeType:
        """The code of a frame or a function; looking at it raises an event, too."""
        nonlocal expected
        expected = "object.__getattr__"
        try:
            return code_of[of_type(owner)](owner)
        finally:
            expected = ""

    def is_plain(names: Mapping[str, Any]) -> bool:
        """True if to look up a name runs no code: a kind of string of its own may compare itself with it."""
        return are_all(of_type(name) is text for name in names)

    def plain(value: str) -> str:
        """A string, or "" in the place of one of another type, whose methods may be a submission's."""
        return value if of_type(value) is text else ""

    def module_of(file: str) -> str:
        """The path of a package's module, "torch/nn/functional"; of one of Python's own the first part, "logging"."""
        for root in roots:
            if file.startswith(root):
                return file[count(root) :].removesuffix(".py")
        if file.startswith(standard):
            return file[n_standard:].removesuffix(".py").partition(separator)[0]
        return file[count(own_root) :].removesuffix(".py") if file.startswith(own_root) else ""

    sys.addaudithook(hook)
