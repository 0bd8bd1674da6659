"""Which of the tests can a changed function reach?

A component test gets everything but its component from stand-ins, so that it enters few of a submission's functions.
Up to the first changed function that it enters, a test does on the changed submission what it does on the reference;
a test that enters none ends as it does on the reference, and need not run again. What a test enters may depend on its
inputs: reach is recorded with the seed with which it is used.

A change reaches every test where more than the insides of functions differ: the code of a module or a class, a
function's signature, or a function that runs while a module is imported.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType

from foundation.sources import Sources

Place = tuple[str, str]
"""The path of a module, and the qualified name of a function in it."""


class Reach:
    """What the tests of each task entered while they ran on a submission.

    Attributes:
        entered: the functions, by the marker of a task.
        imported: the functions that ran while a module was imported.
    """

    def __init__(self, sources: Sources) -> None:
        """Knows nothing yet of a submission with these modules."""
        self._sources = sources
        self._paths = {path for path, _ in sources.values()}
        self.entered: dict[str, set[Place]] = {}
        self.imported: set[Place] = set()

    @contextmanager
    def recording(self, markers: Iterable[str]) -> Iterator[None]:
        """What is entered in this block is entered by tests with these markers."""
        entered: set[Place] = set()
        importing = 0

        def note(frame: FrameType, event: str, _: object) -> None:
            nonlocal importing
            code = frame.f_code
            if event not in ("call", "return") or code.co_filename not in self._paths:
                return
            if code.co_name == "<module>":
                importing += 1 if event == "call" else -1
            (self.imported if importing else entered).add((code.co_filename, code.co_qualname))

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(before)
            for marker in markers:
                self.entered.setdefault(marker, set()).update(entered)

    def touched(self, sources: Sources) -> set[str]:
        """The markers of all tests that might end differently on other sources of the same modules."""
        changed: set[Place] = set()
        for module in self._sources.keys() | sources.keys():
            if module not in self._sources or module not in sources or self._sources[module][0] != sources[module][0]:
                return set(self.entered)
            path, text = self._sources[module]
            if text != sources[module][1]:
                found = changed_functions(text, sources[module][1])
                if found is None:
                    return set(self.entered)
                changed |= {(path, name) for name in found}
        if changed & self.imported:
            return set(self.entered)
        return {marker for marker, entered in self.entered.items() if changed & entered}


def changed_functions(old: str, new: str) -> set[str] | None:
    """The qualified names of the functions that differ; None where more than the insides of functions differ."""
    try:
        before, after = (list(_parts(compile(text, "module", "exec", dont_inherit=True))) for text in (old, new))
    except SyntaxError:
        return None
    if Counter(map(_outside, before)) != Counter(map(_outside, after)):
        return None
    one, other = (Counter((code.co_qualname, _inside(code)) for code in codes) for codes in (before, after))
    return {name for name, _ in (one - other) + (other - one)}


def _parts(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that it contains."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def _inside(code: CodeType) -> tuple[object, ...]:
    """What a code object does; what it contains counts by name."""
    constants = [part.co_qualname if isinstance(part, CodeType) else repr(part) for part in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, code.co_exceptiontable, tuple(constants), names, _signature(code)


def _outside(code: CodeType) -> tuple[object, ...]:
    """What can be seen of a code object without entering a function: of a function, its name and signature."""
    if "<locals>" in code.co_qualname:
        return ()  # made and seen by the function around it alone
    return code.co_qualname, _signature(code) if code.co_flags & CO_OPTIMIZED else _inside(code)


def _signature(code: CodeType) -> tuple[object, ...]:
    n_named = code.co_argcount + code.co_kwonlyargcount
    return code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_varnames[:n_named]
