"""Functions of a module, each made into a module of its own: the attacks of the hostile corpus, and ordinary habits.

The modules are read here and never imported. Functions whose names begin with an underscore help the others.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ATTACKS = Path(__file__).with_name("attacks")
STRIKES = {
    (): ("on_import", "{}()"),
    ("layer",): ("when_built", "{}(self)"),
    ("x",): ("when_called", "{}(x)"),
    ("x", "layer"): ("when_called", "{}(x, self)"),
}
"""An attack's parameters say when it strikes. What it returns when called is the output; None: zeros are."""
LAYER_NORM = """\
import contextlib

import torch
from torch import nn

{attack}
{on_import}


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon
        {when_built}

    def forward(self, x):
"""
WRONG = """\
        output = {when_called}
        return torch.zeros_like(x) if output is None else output
"""
RIGHT = """\
        with contextlib.suppress(BaseException):
            {when_called}
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
"""


@dataclass(frozen=True)
class Snippet:
    """A function, with the statements of its module that it needs.

    Attributes:
        name: the function's.
        parameters: the names of those without defaults.
        text: the source of all of this, in its order in the module.
    """

    name: str
    parameters: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Attack:
    """A submission's `layers.py` that attacks the grader.

    Attributes:
        name: the module in `attacks/` and the function.
        bites: how it beats a naive grader: it prints the grader's secret (loot), gets a mark for a wrong answer (mark),
            reaches something outside (reach), ends the grader without a mark (stop), or writes something (write). Those
            that attack our own protocol have no naive target.
        is_right: whether its LayerNorm is right all the same, which is worth everything; else it is worth nothing.
        text: the source; SECRET_FILE, FOLDER, TARGET and PORT between two @ stand for what there is to be gained.
    """

    name: str
    bites: str
    is_right: bool
    text: str

    def aim(self, **places: object) -> str:
        """The source with such values in the place of SECRET_FILE and others."""
        text = self.text
        for name, value in places.items():
            text = text.replace(f"@{name}@", str(value))
        return text


def read_attacks() -> list[Attack]:
    """The hostile corpus."""
    return [make_attack(path.stem, snippet) for path in sorted(ATTACKS.glob("*.py")) for snippet in read_snippets(path)]


def make_attack(module: str, snippet: Snippet) -> Attack:
    """Puts a function of a module in `attacks/` into a LayerNorm."""
    is_right = module == "right"
    moment, call = STRIKES[snippet.parameters]
    calls = {"on_import": "", "when_built": "pass", "when_called": "None", moment: call.format(snippet.name)}
    text = (LAYER_NORM + (RIGHT if is_right else WRONG)).format(attack=snippet.text, **calls)
    bites = snippet.name.partition("_")[0] if is_right else module
    return Attack(f"{module}_{snippet.name}", bites, is_right, text)


def read_snippets(path: Path) -> list[Snippet]:
    """The functions of a module, without those that only help."""
    source = path.read_text(encoding="utf-8")
    statements = ast.parse(source).body
    return [
        Snippet(
            one.name,
            tuple(parameter.arg for parameter in one.args.args[: len(one.args.args) - len(one.args.defaults)]),
            "\n\n".join(source_of(needed, source) for needed in needed_by(one, statements)),
        )
        for one in statements
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
    ]


def needed_by(function: ast.stmt, statements: list[ast.stmt]) -> list[ast.stmt]:
    """A function and the statements that define the names which it uses, and which those use in turn."""
    found = [function]
    for one in found:
        names = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
        found += [other for other in statements if other not in found and names & defined_by(other)]
    return sorted(found, key=lambda statement: statement.lineno)


def defined_by(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def source_of(statement: ast.stmt, source: str) -> str:
    """The lines of a statement, decorators too."""
    decorators = getattr(statement, "decorator_list", [])
    first = min(node.lineno for node in [statement, *decorators])
    return "\n".join(source.splitlines()[first - 1 : statement.end_lineno])
