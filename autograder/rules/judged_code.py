"""Lists the branch outcomes in judged code, and those among them that no test has reached.

Judged is the code of a component and what it calls in any module of the submission; text that is as it was handed out
is not. What was not reached may hide a fault from every test: it costs no points, and a person should read it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from foundation.sources import Sources

from ..intake.python_source import dump, statements_of
from ..sandbox.worker.outcomes import Kind, Outcome, find_outcomes
from .names import Binding, Evaluator

MAX_CODE = 100
WORDS = {
    Kind.TRUE: "{} was never true",
    Kind.FALSE: "{} was never false",
    Kind.LOOP: "the loop over {} never ran",
    Kind.EXHAUSTED: "the loop over {} never came to its else",
    Kind.ELEMENT: "{} never had an element",
    Kind.HANDLER: "except {} never caught anything",
    Kind.CASE: "case {} never fitted",
    Kind.NO_CASE: "a case of match {} always fitted",
    Kind.CALLED: "{} was never called",
}


@dataclass(frozen=True)
class Branch:
    """A branch outcome in judged code.

    Attributes:
        component: the first one whose code it stands in.
        module: that contains it.
        outcome: line, kind, and what must have been reached before.
        is_seen: whether it was reached.
        is_open: whether it was not, although all that leads to it was.
    """

    component: str
    module: str
    outcome: Outcome
    is_seen: bool
    is_open: bool

    @property
    def what(self) -> str:
        """In words: "x.size(1) > 100 was never true"."""
        return WORDS[self.outcome.kind].format(code_of(self.outcome))


@dataclass(frozen=True)
class JudgedCode:
    """The branch outcomes of the judged components of one submission; see `find_judged_code`."""

    _modules: Mapping[str, JudgedModule] = field(default_factory=dict)

    @property
    def modules(self) -> list[str]:
        """The modules to be watched."""
        return [name for name, module in self._modules.items() if module.component_of]

    def branches(self, reached: Mapping[str, Collection[int]], components: Collection[str]) -> Iterator[Branch]:
        """The outcomes in the code of some components, by module and line; none of modules that reported nothing."""
        for name, module in self._modules.items():
            seen = reached.get(name)
            if seen is None:
                continue
            for number, component in sorted(module.component_of.items()):
                if component in components:
                    outcome = module.outcomes[number]
                    is_open = number not in seen and (outcome.parent < 0 or outcome.parent in seen)
                    yield Branch(component, name, outcome, number in seen, is_open)


class JudgedModule:
    """The branch outcomes of a module.

    Attributes:
        outcomes: all, by number.
        component_of: the first component in whose code an outcome stands, by the outcome's number.
    """

    def __init__(self, tree: ast.Module, given: str | None) -> None:
        """Takes the module's tree, and the text that was handed out; None = not known."""
        self.outcomes = find_outcomes(tree) or []
        self.component_of: dict[int, str] = {}
        handed_out = statements_of(given or "")
        statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt)) if handed_out else ()
        given_lines = {n for node in statements if dump(node) in handed_out for n in lines_of(node)}
        self._numbers: dict[int, list[int]] = {}  # of outcomes, by line
        for number, outcome in enumerate(self.outcomes):
            if outcome.line not in given_lines and (given is not None or outcome.kind != Kind.CALLED):
                self._numbers.setdefault(outcome.line, []).append(number)

    def add(self, node: ast.AST, component: str) -> None:
        """What stands in this node belongs to this component, unless it belongs to another already."""
        for line in lines_of(node):
            for number in self._numbers.get(line, ()):
                self.component_of.setdefault(number, component)


def find_judged_code(
    code: Mapping[str, Iterable[Binding]],
    release: Sources | None,
    evaluator: Evaluator,
    submitted: Collection[str] | None = None,
) -> JudgedCode:
    """The branch outcomes in the code of judged components.

    Args:
        code: of each component, as `find_short_cuts` has found it.
        release: the modules that were handed out. None = they are not known any more: then helpers do not count, which
            may have been given, nor does what was never called.
        evaluator: of the submission's modules.
        submitted: names of those that the submission brings; None = all.
    """
    modules: dict[str, JudgedModule] = {}
    for component, bindings in code.items():
        for binding in bindings:
            name, names = binding.module, evaluator.module(binding.module)
            is_own = submitted is None or name in submitted
            if release is None:
                is_own = is_own and f"{name}.{binding.name}" == component
            if is_own and names.tree is not None:
                if name not in modules:
                    given = None if release is None else release.get(name, ("", ""))[1]
                    modules[name] = JudgedModule(names.tree, given)
                modules[name].add(binding.node, component)
    return JudgedCode(modules)


def lines_of(node: ast.AST) -> range:
    """The numbers of a node's lines."""
    first = getattr(node, "lineno", 0)
    return range(first, getattr(node, "end_lineno", first) + 1)


def code_of(outcome: Outcome) -> str:
    """The code that an outcome is about, in one line."""
    match outcome.node:
        case ast.For(iter=node) | ast.AsyncFor(iter=node) | ast.Match(subject=node):
            text = ast.unparse(node)
        case ast.ExceptHandler(type=None):
            text = "(of any kind)"
        case ast.ExceptHandler(type=ast.expr() as node):
            text = ast.unparse(node)
        case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text):
            pass
        case node:
            text = ast.unparse(node)
    text = " ".join(text.split())
    return text if len(text) <= MAX_CODE else f"{text[: MAX_CODE - 1]}…"
