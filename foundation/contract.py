"""The contract: what every submission to an assignment must offer, by name, and what it must not use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from .command_line import UserError
from .toml_tables import read_table, read_texts, suggest


@dataclass(frozen=True)
class Forbidden:
    """The parts of PyTorch that students must write themselves; `[contract.forbidden]` in assignment.toml.

    Attributes:
        classes: a regular expression for names of classes; "" = none.
        functions: one for names of functions.
        modules: dotted names of modules, nothing of which may be used.
        kernels: a regular expression for the names of kernels, "native_layer_norm", that a worker replaces.
        python: dotted names of classes and functions written in Python, which a worker stops.
        internals: a regular expression for dotted names, or ".name" of an attribute of anything, whose uses are
            allowed and listed for a person to read.
    """

    classes: str = ""
    functions: str = ""
    modules: tuple[str, ...] = ()
    kernels: str = ""
    python: tuple[str, ...] = ()
    internals: str = ""


@dataclass(frozen=True)
class Contract:
    """The modules of a submission and their components; `[contract]` in assignment.toml.

    A component is a class or function that tests may ask for, written "module.Name".

    Attributes:
        modules: name of each module -> names of its components, which may be none.
        nn_modules: the names among them of classes derived from `nn.Module`.
        methods: what tests may call on an `nn.Module` besides `forward`.
        initialised: the names of components whose first parameter values the contract fixes.
        forbidden: what submissions must not use.
    """

    modules: Mapping[str, tuple[str, ...]]
    nn_modules: frozenset[str] = frozenset()
    methods: tuple[str, ...] = ()
    initialised: frozenset[str] = frozenset()
    forbidden: Forbidden = Forbidden()

    @cached_property
    def components(self) -> tuple[str, ...]:
        """All components, "module.Name", in the order of the file."""
        return tuple(f"{module}.{name}" for module, names in self.modules.items() for name in names)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file of each module."""
        return tuple(f"{module}.py" for module in self.modules)


def read_contract(content: object) -> Contract:
    """The contract in the table `[contract]`."""
    keys = ["components", "nn_modules", "methods", "initialised", "forbidden"]
    table = read_table(content, keys, "[contract]")
    modules = table.get("components", {})
    if not isinstance(modules, dict) or not modules:
        raise UserError('[contract.components]: expected at least one module, such as layers = ["LayerNorm"]')
    known: list[str] = []
    for module, names in modules.items():
        known += _names(names, f"[contract.components] {module}")
        if not module.isidentifier():
            raise UserError(f"[contract.components] {module!r}: expected the name of a module, without .py")
    for name in known:
        if known.count(name) > 1:
            raise UserError(f"[contract.components] {name!r} occurs twice: each component needs its own name")
    groups = {key: _names(table.get(key, []), f"[contract] {key}") for key in ("nn_modules", "initialised")}
    for key, names in groups.items():
        for name in names:
            if name not in known:
                raise UserError(f"[contract] {key}: unknown component {name!r}{suggest(name, known)}")
    return Contract(
        modules={module: tuple(names) for module, names in modules.items()},
        nn_modules=frozenset(groups["nn_modules"]),
        methods=tuple(_names(table.get("methods", []), "[contract] methods")),
        initialised=frozenset(groups["initialised"]),
        forbidden=_forbidden(table.get("forbidden", {})),
    )


def _names(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name.isidentifier() for name in value):
        raise UserError(f"{where} = {value!r}: expected a list of Python names")
    return value


def _forbidden(content: object) -> Forbidden:
    keys = [item.name for item in fields(Forbidden)]
    table = read_table(content, keys, "[contract.forbidden]")
    lists = {key: read_texts(table.get(key, []), f"[contract.forbidden] {key}") for key in keys}
    for key, texts in lists.items():
        _check_patterns(texts, f"[contract.forbidden] {key}")
    return Forbidden(
        classes="|".join(lists["classes"]),
        functions="|".join(lists["functions"]),
        modules=tuple(lists["modules"]),
        kernels="|".join(lists["kernels"]),
        python=tuple(lists["python"]),
        internals="|".join(lists["internals"]),
    )


def _check_patterns(texts: Sequence[str], where: str) -> None:
    """Regular expressions, which are used joined by `|`: each by itself, and all in one."""
    try:
        for text in texts:
            if not text:
                raise UserError(f"{where}: '' would match nothing; remove it")
            what = f"{text!r} is not a regular expression that can stand among others"
            re.compile(f"(?:{text})")
        what = "these regular expressions cannot be joined"
        re.compile("|".join(texts))
    except re.error as error:
        raise UserError(f"{where}: {what}: {error}") from None
