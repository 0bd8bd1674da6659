"""The tables of `assignment.toml` that stand for themselves: the contract, the limits, what handing in late costs.

All values are in `assignment.toml`, none here. Each is as it should be, or a UserError names its place, the value, and
what would be correct.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from .command_line import UserError

DAY = timedelta(days=1)


def read_text(value: object, where: str) -> str:
    """Text in quotes."""
    if not isinstance(value, str):
        raise UserError(f"{where} = {value!r}: expected text in quotes")
    return value


def read_line(value: object, where: str) -> str:
    """Text that stands in headings and tables."""
    text = read_text(value, where)
    if not text.strip() or not text.isprintable():
        raise UserError(f"{where} = {value!r}: expected one line of text")
    return text


def read_texts(value: object, where: str) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UserError(f"{where} = {value!r}: expected a list of strings")
    return value


def read_choice(value: object, choices: Sequence[str], where: str) -> str:
    """One of several texts."""
    if value not in choices:
        raise UserError(f"{where} = {value!r}: expected {' or '.join(map(repr, choices))}")
    return str(value)


def is_number(value: object) -> bool:
    """Whether it is a finite number; TOML also has `inf` and `nan`, and whole numbers of any length."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def read_table(content: object, known: Iterable[str] | None, where: str) -> dict[str, Any]:
    """The content, checked to be a table that has no other than the known keys; None = any."""
    if not isinstance(content, dict):
        raise UserError(f"{where}: expected a table")
    names = list(content if known is None else known)
    for key in content:
        if key not in names:
            raise UserError(f"{where}: unknown key {key!r}{suggest(key, names)}")
    return content


def suggest(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, as the end of a message."""
    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


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


@dataclass(frozen=True)
class Limits:
    """What one submission may use; the keys of `[limits]` in assignment.toml, which alone holds the values.

    Attributes:
        call_seconds: wall time of a single call.
        total_seconds: wall time of all calls together; starting a worker is not counted.
        cpu_seconds: CPU time of all its workers together.
        memory_mb: address space on top of the libraries, in MiB.
        gradescope_memory_mb: the same in Gradescope's container, where the grader and the libraries need up to 620 MB.
        output_kb: what is kept of stdout and stderr together, in KiB.
        failures_a_component: after this many timeouts or crashes the component is skipped.
    """

    call_seconds: float
    total_seconds: float
    cpu_seconds: int
    memory_mb: int
    gradescope_memory_mb: int
    output_kb: int
    failures_a_component: int

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            kind, expected = (int, "a whole number") if item.type == "int" else (int | float, "a number")
            if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < 1e9:
                raise UserError(f"[limits] {item.name} = {value!r}: expected {expected} above 0")


def read_limits(content: object) -> Limits:
    """The limits in the table `[limits]`, which has all of them."""
    keys = [item.name for item in fields(Limits)]
    table = read_table(content, keys, "[limits]")
    if missing := [key for key in keys if key not in table]:
        raise UserError(f"[limits]: expected every limit; missing: {', '.join(missing)}")
    return Limits(**table)


@dataclass(frozen=True)
class LatePolicy:
    """Late days and their price. It decides on what is shown, never on what is stored.

    Attributes:
        due: when submissions have to be in, with its time zone.
        grace_hours: within this time after `due`, nothing counts as late; beyond it, days count from `due` on.
        percent_per_day: of the points earned, for each day that has begun.
        most_percent: of the points earned, however late.
    """

    due: datetime
    grace_hours: float = 0.0
    percent_per_day: float = 10.0
    most_percent: float = 100.0

    def __post_init__(self) -> None:
        if not isinstance(self.due, datetime) or self.due.tzinfo is None:
            raise UserError(
                f"[late] due = {self.due!s}: expected a time with its zone, such as 2026-12-18T23:59:00+01:00"
            )
        bounds = {"grace_hours": 10_000, "percent_per_day": 100, "most_percent": 100}
        for name, highest in bounds.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= highest:
                raise UserError(f"[late] {name} = {value!r}: expected a number from 0 to {highest}")

    def days_late(self, submitted: datetime) -> int:
        """Days after `due` that have begun; 0 within the grace.

        Args:
            submitted: without a zone, in that of `due`.
        """
        late = (submitted if submitted.tzinfo else submitted.replace(tzinfo=self.due.tzinfo)) - self.due
        return 0 if late <= timedelta(hours=self.grace_hours) else math.ceil(late / DAY)

    def percent(self, days: int) -> float:
        """What so many late days cost, in percent of the points earned."""
        return float(min(days * self.percent_per_day, self.most_percent))


def read_late(content: object) -> LatePolicy:
    """The policy in the table `[late]`."""
    table = read_table(content, [item.name for item in fields(LatePolicy)], "[late]")
    if "due" not in table:
        raise UserError("[late]: due is missing; write, for example, due = 2026-12-18T23:59:00+01:00")
    return LatePolicy(**table)
