"""The possible values of an expression, as far as the text tells."""

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scopes import Scope


@dataclass(frozen=True)
class Library:
    """Something that is imported, or an attribute of it: `path` is "torch.nn.LayerNorm", "builtins.getattr"."""

    path: str


@dataclass(frozen=True)
class Namespace:
    """A mapping from names to the attributes of a library object: `vars(nn)`, `nn.__dict__`."""

    path: str


@dataclass(frozen=True)
class Getter:
    """A function that takes an attribute or item of its argument: `operator.attrgetter("LayerNorm")`."""

    name: str


@dataclass(frozen=True)
class Text:
    """A string."""

    text: str


@dataclass(frozen=True)
class Items:
    """A collection, by the possible values of its elements or, for a dictionary, of its values."""

    values: "Values"


@dataclass(frozen=True)
class OwnModule:
    """A module of the submission, or its `globals()`."""

    name: str


@dataclass(eq=False)
class Binding:
    """One place at the top level of a module where a name gets a value.

    Attributes:
        module: that contains it.
        name: that is bound; "*" for `from … import *`.
        node: the statement.
        value: an expression, an alias of an import, or None for a definition.
        position: in the order of execution.
        is_certain: whether it happens whenever the module is imported.
        line: for messages.
        changes: statements elsewhere that change the bound object, each with its scope.
    """

    module: str
    name: str
    node: ast.stmt
    value: ast.expr | ast.alias | None
    position: int
    is_certain: bool
    line: int
    changes: list[tuple[ast.AST, "Scope"]] = field(default_factory=list)


Value = Library | Namespace | Getter | Text | Items | OwnModule | Binding
Values = frozenset[Value]
NOTHING: Values = frozenset()
MAX_VALUES = 40


def joined(*several: Values) -> Values:
    """The union; where it grows too large, strings are dropped."""
    union = NOTHING.union(*several)
    return union if len(union) <= MAX_VALUES else frozenset(v for v in union if not isinstance(v, Text))
