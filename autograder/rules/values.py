"""What an expression may come to, as far as it can be told from the text."""

import ast
from dataclasses import dataclass, field


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
    """A function that takes an attribute or item of what it is given: `operator.attrgetter("LayerNorm")`."""

    name: str


@dataclass(frozen=True)
class Text:
    """A string."""

    text: str


@dataclass(frozen=True)
class Items:
    """A collection: what its elements, or a dictionary's values, may be."""

    values: frozenset


@dataclass(frozen=True)
class OwnModule:
    """A module of the submission; `globals()` of it is the same here."""

    name: str


@dataclass(eq=False)
class Binding:
    """One place at the top level of a module where a name gets a value.

    Attributes:
        module: in which it stands.
        name: that is bound; "*" for `from … import *`.
        node: the statement, or the import's statement.
        value: what the name is set to: an expression, an alias of an import, or None for a definition.
        position: in the order of execution.
        is_certain: whether it happens whenever the module is imported.
        line: for messages.
        changes: statements elsewhere that change what is bound here, each with the scope it stands in.
    """

    module: str
    name: str
    node: ast.stmt
    value: ast.expr | ast.alias | None
    position: int
    is_certain: bool
    line: int
    changes: list[tuple[ast.AST, object]] = field(default_factory=list)


Value = Library | Namespace | Getter | Text | Items | OwnModule | Binding
Values = frozenset[Value]
NOTHING: Values = frozenset()
MAX_VALUES = 40


def joined(*several: Values) -> Values:
    """The union; cut off where text grows without bounds."""
    union = frozenset().union(*several)
    return union if len(union) <= MAX_VALUES else frozenset(v for v in union if not isinstance(v, Text))
