"""How the tables of `assignment.toml` are read, and those that stand for themselves: contract, limits, late policy.

A table is read into a dataclass whose fields say what they take: `points: float = setting(POINTS)`. A value that is not
what its rule accepts is a UserError that names its place, the value, and what would be correct. All values are in
`assignment.toml`, none here.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from .command_line import UserError

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Rule:
    """The values that a setting may have, in words and as a test; `convert` makes of one what the program uses."""

    expected: str
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value

    def read(self, value: object, place: str) -> Any:
        """The value as the program uses it. Raises: UserError naming the place where it stands."""
        if not self.accepts(value):
            raise UserError(f"{place} = {value!r}: expected {self.expected}")
        return self.convert(value)


def _is_number(value: Any, low: float = 0, high: float = 1e9) -> bool:
    return type(value) in (int, float) and low <= value <= high


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_patterns(value: Any) -> bool:
    try:
        return _is_list(value) and all(value) and all(re.compile(f"(?:{text})") for text in value)
    except re.error:
        return False


def between(low: float, high: float) -> Rule:
    """A number within bounds."""
    return Rule(f"a number between {low} and {high}", lambda value: _is_number(value, low, high), float)


def choice(*values: object) -> Rule:
    """One of several values."""
    return Rule(" or ".join(map(repr, values)), lambda value: value in values)


def matching(pattern: str, expected: str, convert: Callable[[str], Any] = str) -> Rule:
    """A text of which a regular expression matches all."""
    return Rule(expected, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None, convert)


TEXT = Rule("text in quotes", lambda value: isinstance(value, str))
LINE = Rule("one line of text", lambda value: isinstance(value, str) and bool(value.strip()) and value.isprintable())
TEXTS = Rule("a list of strings", _is_list, tuple)
JOINED = Rule("a list of regular expressions that can be joined", _is_patterns, "|".join)
SWITCH = Rule("true or false", lambda value: isinstance(value, bool))
COUNT = Rule("a whole number, 0 or more", lambda value: type(value) is int and value >= 0)
POINTS = Rule("a number of at least 0", _is_number, float)
ABOVE_0 = Rule("a number above 0", lambda value: _is_number(value) and value > 0)
WHOLE_ABOVE_0 = Rule("a whole number above 0", lambda value: type(value) is int and 0 < value < 1e9)
TIME = Rule(
    "a time with its zone, such as 2026-12-18T23:59:00+01:00",
    lambda value: isinstance(value, datetime) and value.tzinfo is not None,
)


def setting(rule: Rule, default: Any = MISSING) -> Any:
    """A field of a dataclass that is read from a table; without a default, the table must have it."""
    return field(default=default, metadata={"rule": rule})


def read_table(kind: type, content: object, where: str, others: Iterable[str] = ()) -> dict[str, Any]:
    """The values of the fields of a dataclass that are settings, as far as a table of the file has them.

    Messages begin with `where`, such as "task 1.2: "; the caller reads the `others` among the keys.
    """
    settings = [item for item in fields(kind) if "rule" in item.metadata]
    values = read_values({item.name: item.metadata["rule"] for item in settings}, content, where, others)
    for item in settings:
        if item.name not in values and item.default is MISSING:
            raise UserError(f"{where}{item.name} is missing: expected {item.metadata['rule'].expected}")
    return values


def read_values(rules: Mapping[str, Rule], content: object, where: str, others: Iterable[str] = ()) -> dict[str, Any]:
    """The values of a table by their rules; arguments as above."""
    if not isinstance(content, dict):
        raise UserError(f"{where}expected a table")
    known = [*rules, *others]
    for key in content:
        if key not in known:
            raise UserError(f"{where}unknown key {key!r}{suggest(key, known)}")
    return {key: rules[key].read(value, f"{where}{key}") for key, value in content.items() if key in rules}


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the name that somebody may have meant, as the end of a message."""
    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


@dataclass(frozen=True)
class Forbidden:
    """The parts of PyTorch that students must write themselves; `[contract.forbidden]` in assignment.toml.

    All but `python` are regular expressions; "" = none.

    Attributes:
        kernels: names of kernels, "native_layer_norm", that a worker replaces.
        python: dotted names of classes and functions written in Python, which a worker stops.
        components: those in which kernels and `python` are refused; none = in all.
        always: dotted names of classes and functions written in Python that are refused in all components.
        internals: dotted names, or ".name" of an attribute, whose uses are allowed and listed for a person to read.
    """

    classes: str = setting(JOINED, "")
    functions: str = setting(JOINED, "")
    kernels: str = setting(JOINED, "")
    python: tuple[str, ...] = setting(TEXTS, ())
    components: tuple[str, ...] = setting(TEXTS, ())
    always: tuple[str, ...] = setting(TEXTS, ())
    internals: str = setting(JOINED, "")


@dataclass(frozen=True)
class Contract:
    """The modules of a submission and their components; `[contract]` in assignment.toml.

    A component is a class or function that tests may ask for, written "module.Name".

    Attributes:
        modules: name of each module -> names of its components, which may be none.
        methods: what tests may call on an `nn.Module` besides `forward`.
        initialised: the names of components whose first parameter values the contract fixes.
        forbidden: what submissions must not use.
    """

    modules: Mapping[str, tuple[str, ...]]
    methods: tuple[str, ...] = setting(TEXTS, ())
    initialised: tuple[str, ...] = setting(TEXTS, ())
    forbidden: Forbidden = Forbidden()

    @cached_property
    def components(self) -> tuple[str, ...]:
        """All components, "module.Name", in the order of the file."""
        return tuple(f"{module}.{name}" for module, names in self.modules.items() for name in names)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file of each module."""
        return tuple(f"{module}.py" for module in self.modules)


def read_contract(content: Any) -> Contract:
    """The contract in the table `[contract]`."""
    values = read_table(Contract, content, "[contract]: ", ["components", "forbidden"])
    tables = content.get("components", {})
    if not isinstance(tables, dict) or not tables:
        raise UserError('[contract.components]: expected at least one module, such as layers = ["LayerNorm"]')
    modules = {module: TEXTS.read(names, f"[contract.components]: {module}") for module, names in tables.items()}
    known = [name for names in modules.values() for name in names]
    for name in values.get("initialised", ()):
        if name not in known:
            raise UserError(f"[contract]: initialised: unknown component {name!r}{suggest(name, known)}")
    forbidden = Forbidden(**read_table(Forbidden, content.get("forbidden", {}), "[contract.forbidden]: "))
    contract = Contract(modules, **values, forbidden=forbidden)
    for name in forbidden.components:
        if name not in contract.components:
            unknown = f"unknown component {name!r}{suggest(name, contract.components)}"
            raise UserError(f"[contract.forbidden]: components: {unknown}")
    return contract


@dataclass(frozen=True)
class Limits:
    """Bounds of one submission; the keys of `[limits]` in assignment.toml, which alone holds the values.

    Attributes:
        call_seconds: wall time of a single call.
        total_seconds: wall time of all calls together; starting a worker is not counted.
        cpu_seconds: CPU time of all its workers together.
        memory_mb: address space on top of the libraries, in MiB.
        gradescope_memory_mb: the same in Gradescope's container, where the grader and the libraries need up to 620 MB.
        output_kb: what is kept of stdout and stderr together, in KiB.
        failures_a_component: after this many timeouts or crashes the component is skipped.
    """

    call_seconds: float = setting(ABOVE_0)
    total_seconds: float = setting(ABOVE_0)
    cpu_seconds: int = setting(WHOLE_ABOVE_0)
    memory_mb: int = setting(WHOLE_ABOVE_0)
    gradescope_memory_mb: int = setting(WHOLE_ABOVE_0)
    output_kb: int = setting(WHOLE_ABOVE_0)
    failures_a_component: int = setting(WHOLE_ABOVE_0)


@dataclass(frozen=True)
class LatePolicy:
    """Late days and their price. It decides on what is shown, never on what is stored; `[late]` in assignment.toml.

    Within the grace after `due` nothing counts as late; beyond it, days count from `due` on. Percents are of the points
    earned: for each day that has begun, and at most.
    """

    due: datetime = setting(TIME)
    grace_hours: float = setting(between(0, 10_000), 0.0)
    percent_per_day: float = setting(between(0, 100), 10.0)
    most_percent: float = setting(between(0, 100), 100.0)

    def days_late(self, submitted: datetime) -> int:
        """Days after `due` that have begun; 0 within the grace. A time without a zone is in that of `due`."""
        late = (submitted if submitted.tzinfo else submitted.replace(tzinfo=self.due.tzinfo)) - self.due
        return 0 if late <= timedelta(hours=self.grace_hours) else math.ceil(late / DAY)

    def percent(self, days: int) -> float:
        """Return the price of so many late days, in percent of the points earned."""
        return float(min(days * self.percent_per_day, self.most_percent))
