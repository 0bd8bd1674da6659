"""Tables of TOML read into dataclasses, and those of `assignment.toml` that stand for themselves.

The type of a field decides what it takes: `points: float`, or `number: Annotated[str, NUMBER]` where a rule narrows it.
Fields of types without a rule are left to the caller. A value that breaks its rule is a UserError that names its place,
the value, and what would be correct.
"""

import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from dataclasses import field as setting
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from .command_line import UserError


@dataclass(frozen=True)
class Rule:
    """The values that a setting may have, in words and as a test; `convert` makes of one what the program uses."""

    expected: str
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value

    def read(self, value: object, place: str) -> Any:
        """The value as the program uses it. Raises: UserError naming the place where it stands."""
        if not self.accepts(value):
            shown = str(value) if isinstance(value, date) else repr(value)
            raise UserError(f"{place} = {shown}: expected {self.expected}")
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


def _are_names(value: Any) -> bool:
    return isinstance(value, dict) and _is_patterns([*value.values()])


def between(low: float, high: float) -> Rule:
    """A number within bounds."""
    return Rule(f"a number between {low} and {high}", lambda value: _is_number(value, low, high), float)


def matching(pattern: str, expected: str, convert: Callable[[str], Any] = str) -> Rule:
    """A text of which a regular expression matches all."""
    return Rule(expected, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None, convert)


POINTS = Rule("a number of at least 0", _is_number, float)
TIME = Rule(
    "a time with its zone, such as 2026-12-18T23:59:00+01:00",
    lambda value: isinstance(value, datetime) and value.tzinfo is not None,
)
TEXTS = Rule("a list of strings", _is_list, tuple)
TEXT = Rule("text in quotes", lambda value: isinstance(value, str))
OF_TYPES: dict[object, Rule] = {
    str: TEXT,
    str | None: TEXT,
    bool: Rule("true or false", lambda value: isinstance(value, bool)),
    int: Rule("a whole number, 0 or more", lambda value: type(value) is int and 0 <= value < 1e9),
    float: POINTS,
    tuple[str, ...]: TEXTS,
    datetime: TIME,
}
"""The rules of fields that name none."""
Line: TypeAlias = Annotated[
    str, Rule("one line of text", lambda value: isinstance(value, str) and bool(value.strip()) and value.isprintable())
]
Above0: TypeAlias = Annotated[float, Rule("a number above 0", lambda value: _is_number(value) and value > 0, float)]
Count: TypeAlias = Annotated[int, Rule("a whole number above 0", lambda value: type(value) is int and 0 < value < 1e9)]
Percent: TypeAlias = Annotated[
    float, Rule("0, or 1 to 100 percent", lambda value: _is_number(value, 0, 100) and not 0 < value < 1, float)
]
Patterns: TypeAlias = Annotated[str, Rule("a list of regular expressions that can be joined", _is_patterns, "|".join)]

NAMES = Rule("a table of modules, each with a regular expression for names", _are_names)


def _rule_of(kind: Any) -> Rule | None:
    if get_origin(kind) is Literal:
        return Rule(" or ".join(map(repr, get_args(kind))), lambda value: value in get_args(kind))
    return next((part for part in getattr(kind, "__metadata__", ()) if isinstance(part, Rule)), OF_TYPES.get(kind))


@cache
def _rules_of(kind: type) -> dict[str, Rule]:
    types = get_type_hints(kind, include_extras=True)
    return {field.name: rule for field in fields(kind) if (rule := _rule_of(types[field.name]))}


def read_table(kind: type, content: object, where: str, others: Iterable[str] = ()) -> dict[str, Any]:
    """The values of the fields of a dataclass that have rules, as far as a table of the file has them.

    Messages begin with `where`, such as "task 1.2: "; the caller reads the `others` among the keys.
    """
    rules = _rules_of(kind)
    values = read_values(rules, content, where, others)
    for field in fields(kind):
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        if field.name in rules and field.name not in values and not has_default:
            raise UserError(f"{where}{field.name} is missing: expected {rules[field.name].expected}")
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


def check_components(names: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raises: UserError for the first component that is not known."""
    known = list(known)
    for name in names:
        if name not in known:
            fault = f"unknown component {name!r}{suggest(name, known)}"
            raise UserError(f"{where}{fault} A new one goes into [contract.components]")


NO_TEXT = "(?!)"  # a regular expression that matches no text


@dataclass(frozen=True)
class Forbidden:
    """The parts of PyTorch that students must write themselves; `[contract.forbidden]` in assignment.toml."""

    classes: Patterns = ""  # "" = none, here and below
    functions: Patterns = ""
    kernels: Patterns = ""  # names of kernels, "native_layer_norm", that a worker replaces
    python: tuple[str, ...] = ()  # dotted names of classes and functions written in Python, which a worker stops
    components: tuple[str, ...] = ()  # those in which kernels and `python` are refused; none = in all
    always: tuple[str, ...] = ()  # as `python`, refused in all components
    internals: Patterns = ""  # dotted names, or ".name" of an attribute, whose uses a person reads
    operations: Patterns = ".*"  # what PyTorch may compute gradients by, such as "Mul"; others are read by a person
    usual: Annotated[Mapping[str, str], NAMES] = setting(default_factory=dict)
    # modules, and which of their names nobody has to read: uses of other names in Python's own modules and in these
    # packages are read, too; none = all are usual

    @cached_property
    def listed(self) -> str:
        """A regular expression for all names whose uses a person reads."""
        modules = {module.rsplit(".", n)[0] for module in self.usual for n in range(module.count(".") + 1)}
        usual = [re.escape(module) for module in sorted(modules)]
        for module, names in self.usual.items():
            inner = "|".join([NO_TEXT, *modules_within(module)])
            usual.append(rf"{re.escape(module)}\.(?!(?:{inner})(?:\.|$))(?:{names})(?:\..*)?")
        packages = "|".join({*sys.stdlib_module_names, *(module.partition(".")[0] for module in modules)})
        others = rf"(?!(?:{'|'.join(usual)})$)(?:{packages})(?:\.\w+)+" if usual else NO_TEXT
        return f"{self.internals or NO_TEXT}|{others}"


def modules_within(package: str) -> list[str]:
    """The modules that lie in a package, none of which is loaded for that; none if it is a module, or missing."""
    first, *others = package.split(".")
    spec = find_spec(first)
    homes = (spec and spec.submodule_search_locations) or ()
    return [module.name for module in iter_modules(str(Path(home, *others)) for home in homes)]


@dataclass(frozen=True)
class Contract:
    """The modules of a submission and their components; `[contract]` in assignment.toml.

    A component is a class or function that tests may ask for, written "module.Name".
    """

    modules: Mapping[str, tuple[str, ...]]  # name of each module -> names of its components, which may be none
    methods: tuple[str, ...] = ()  # what tests may call on an `nn.Module` besides `forward`
    initialised: tuple[str, ...] = ()  # names of components whose first parameter values the contract fixes
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
    forbidden = Forbidden(**read_table(Forbidden, content.get("forbidden", {}), "[contract.forbidden]: "))
    contract = Contract(modules, **values, forbidden=forbidden)
    check_components(contract.initialised, [name for names in modules.values() for name in names], "[contract]: ")
    check_components(forbidden.components, contract.components, "[contract.forbidden]: ")
    return contract


@dataclass(frozen=True)
class Limits:
    """Bounds of one submission; the keys of `[limits]` in assignment.toml, which alone holds the values."""

    call_seconds: Above0  # wall time of a single call
    total_seconds: Above0  # wall time of all calls together; starting a worker is not counted
    cpu_seconds: Count  # CPU time of all its workers together
    memory_mb: Count  # address space on top of the libraries, in MiB
    gradescope_memory_mb: Count  # the same in Gradescope's container, where grader and libraries need up to 620 MB
    output_kb: Count  # what is kept of stdout and stderr together, in KiB
    failures_a_component: Count  # after this many timeouts or crashes the component is skipped


@dataclass(frozen=True)
class LatePolicy:
    """Late days and their price. It decides on what is shown, never on what is stored; `[late]` in assignment.toml.

    Within the grace after `due` nothing counts as late; beyond it, days count from `due` on. Percents are of the points
    earned: for each day that has begun, and at most.
    """

    due: datetime
    grace_hours: float = 0.0
    percent_per_day: Percent = 10.0
    most_percent: Percent = 100.0

    def days_late(self, submitted: datetime) -> int:
        """Days after `due` that have begun; 0 within the grace. A time without a zone is in that of `due`."""
        late = (submitted if submitted.tzinfo else submitted.replace(tzinfo=self.due.tzinfo)) - self.due
        return 0 if late <= timedelta(hours=self.grace_hours) else math.ceil(late / timedelta(days=1))

    def percent(self, days: int) -> float:
        """Return the price of so many late days, in percent of the points earned."""
        return float(min(days * self.percent_per_day, self.most_percent))
