"""Asks about changes of a student's code: which breaks a test, and which leaves all results equal; and a hunt on paper.

Each function makes a question about a component that works, or None where none fits. Each version is run: by the tests
of the component's task, or on the same calls as the code itself.

A hunt shows the student's own component with one line changed, and what is seen of it. Asked for are the line, the
cause, a correction, and an input that shows the fault. Changes are chosen as for hunts at home (`hunts.py`).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from foundation.texts import first_of

from .bench import Component
from .hunts import MOST_MISSED, quiet_changes
from .question import LETTERS, Option, Question, drawn, multiple_choice
from .student_lines import Change, Statement, calls_in, expressions_in, lines_of, makes, with_code
from .versions import Trial, function_of

MOST_NAMED = 4
"""Tests that the answer names for each change."""
MOST_CHECKED, MOST_OTHERS = 2, 6
"""Questions that are tried with other inputs; and the inputs with which the right change must break the test, too."""
MOST_REWRITTEN, MOST_PAIRS, MOST_WRONG = 16, 10, 8
"""Versions that are tried, and so many of those that are not equal, to choose from."""

Pair = tuple[Statement, Statement]


def breaking_question(component: Component) -> Question | None:
    """Ask for the change that breaks a test in some of its cases; None where no test distinguishes so many changes.

    What no test notices may stand in code that this task does not run: it is no option. Nor is what breaks other cases
    of the same test: nobody could tell from the page.
    """
    tried = {component.option(change.line, change.text): (change, trial) for change, trial in component.tried}
    noticed = {option: trial for option, (_, trial) in tried.items() if trial.missed}
    words = component.tables["TESTS"]
    tests = sorted({test for trial in noticed.values() for test in trial.missed if not words or test in words})
    failed = {
        option: {function_of(row) for row, is_failure in trial.rows.items() if is_failure}
        for option, trial in noticed.items()
        if trial.share <= MOST_MISSED
    }
    splits = [
        (
            [option for option in failed if test in failed[option]],
            [option for option, trial in noticed.items() if test not in trial.missed],
        )
        for test in tests
    ]
    for index, right, options in itertools.islice(drawn(splits, component.draw), MOST_CHECKED):
        test, trials = tests[index], [noticed[option] for option in options]
        if not all(_does_again(component, *tried[option], test) for option in options):
            continue
        checks = f"the test that checks {words[test]}" if words else f"`{test}`"
        text = (
            f"Here are four changes of your `{component.title}`, each of one line and each made by itself. "
            f"Only one of them breaks {checks}. Which one, and why?",
            "Why do the others pass this test?",
        )
        named = (first_of([f"`{name}`" for name in trial.missed], MOST_NAMED) for trial in trials)
        why = tuple(f"{letter} breaks {names}." for letter, names in zip(LETTERS, named, strict=True))
        return multiple_choice("breaking", component.name, text, right, options, why=why)
    return None


def _does_again(component: Component, change: Change, trial: Trial, test: str) -> bool:
    """True if a change breaks a test, or does not, with other inputs too."""
    breaks = test in trial.missed
    others = range(1, MOST_OTHERS + 1) if breaks else (1, 2)  # what is wrong may fail a test of gradients by chance
    return all((test in component.judge(change.text, other).missed) == breaks for other in others)


def hunt_question(component: Component) -> Question | None:
    """A hunt; None where no change is quiet enough."""
    asked = "Which line is it? Why does it lead to this? What would be correct? Which input shows it? A point for each."
    for change, trial, differing in quiet_changes(component, component.changes):
        seen, _ = component.seen(change.text)
        if not seen:
            continue
        text = (
            f"In your `{component.title}` one line was changed, and this is seen: {component.draw.choice(seen).text}",
            asked,
        )
        why = (
            f"It was `{change.before}`; any other correction that passes the task's tests is correct as well.",
            f"It shows for: {'; '.join(sorted(differing))}.",
            f"It breaks {', '.join(f'`{test}`' for test in trial.missed)}.",
        )
        answer = f"Line {component.number(change.line)}: `{change.after.partition('  #')[0]}`"
        # Docstrings and comments could tell what was there.
        lines = {
            n: line.partition("  #")[0]
            for n, line in lines_of(component.name, {component.module: ("", change.text)}).items()
        }
        return Question("hunt", component.name, text, answer, (component.lines(lines),), why=why)
    return None


def equal_question(component: Component) -> Question | None:
    """Ask for the only one of four rewritten lines that leaves all results equal.

    The others are rewritten in the same ways, as far as there are enough, and by slips.
    """
    rewritten = list(_rewritten(component.text, component.own))
    equal: list[Option] = []
    wrong: list[Option] = []
    texts: dict[Option, str] = {}
    for line, text in component.draw.sample(rewritten, min(len(rewritten), MOST_REWRITTEN)):
        differing, option = component.differing(text), component.option(line, text)
        if differing is not None:
            texts[option] = text
            (wrong if differing else equal).append(option)
    for change, _ in component.tried if equal else ():
        if len(wrong) < MOST_WRONG and component.differing(change.text):
            wrong.append(component.option(change.line, change.text))
    for _, right, options in itertools.islice(drawn([(equal, wrong)], component.draw), MOST_CHECKED):
        if not _passes(component, texts[right]):
            continue
        asked = "Only one of these changes leaves all of its results as they are. Which one?"
        paragraphs = (f"Here are four changes of your `{component.title}`, each made by itself. {asked}",)
        return multiple_choice("equal", component.name, paragraphs, right, options)
    return None


def order_question(component: Component) -> Question | None:
    """Ask for two lines that may change places, or must not."""
    possible = list(neighbours(component.own, component.text))
    pairs: dict[Option, tuple[Pair, str]] = {}
    harmless: list[Option] = []
    harmful: list[Option] = []
    for pair, swapped in component.draw.sample(possible, min(len(possible), MOST_PAIRS)):
        differing = component.differing(swapped)
        if differing is not None and (differing or _runs(component, pair[0])):
            option = Option(f"lines {' and '.join(component.number(statement.node.lineno) for statement in pair)}")
            pairs[option] = pair, swapped
            (harmful if differing else harmless).append(option)
    splits = [(harmless, harmful), (harmful, harmless)]
    for index, right, options in itertools.islice(drawn(splits, component.draw), MOST_CHECKED):
        if not all(_passes(component, pairs[option][1]) for option in options if option in harmless):
            continue
        asked = "changes a result if its lines are swapped" if index else "may be swapped without any effect"
        text = (f"Of these pairs of lines of your `{component.title}`, only one {asked}. Which?",)
        lines = sorted({statement.node.lineno for option in options for statement in pairs[option][0]})
        firsts = {first.function: first for (first, _), _ in (pairs[option] for option in options)}
        excerpts = tuple(component.excerpt(first, lines) for first in firsts.values())
        return multiple_choice("order", component.name, text, right, options, excerpts)
    return None


def _runs(component: Component, statement: Statement) -> bool:
    """Return whether any call runs a statement: what other components use of a helper is no question about this one."""
    return bool(component.differing(with_code(component.text, statement.node, "raise RuntimeError") or ""))


def _passes(component: Component, text: str) -> bool:
    """Return whether a version passes all tests, those of gradients and train mode included."""
    return not component.judge(text).missed


def neighbours(own: Sequence[Statement], text: str) -> Iterator[tuple[Pair, str]]:
    """Yield statements on lines of their own, at most one between them; and the text in which they change places."""
    # Where layers are made, the order decides which parameter is which.
    computing = [line for line in own if line.function.name != "__init__" and not any(map(makes, calls_in(line.node)))]
    single = [line for line in computing if len(line.lines) == 1 and not isinstance(line.node, ast.Return)]
    for index, first in enumerate(single):
        for second in single[index + 1 : index + 3]:
            lines, a, b = text.split("\n"), first.node.lineno - 1, second.node.lineno - 1
            is_level = first.function is second.function and first.node.col_offset == second.node.col_offset
            if is_level and lines[a] != lines[b]:
                lines[a], lines[b] = lines[b], lines[a]
                yield (first, second), "\n".join(lines)


SAID = {
    "exp": (),
    "masked_fill": (),
    "matmul": ("a @ b", "b @ a"),
    "mean": (),
    "relu": ("a.clamp(min=0)", "a.clamp(max=0)"),
    "softmax": (),
    "sqrt": ("a ** 0.5", "a ** -0.5"),
    "square": ("a * a", "a ** 2", "a * 2"),
    "sum": (),
    "transpose": ("a.transpose(c, b)", "a.transpose(b, b)"),
}
"""Functions of PyTorch that tensors have as methods, and what else may be written for `f(a, b, c)` or `a.f(b, c)`."""


def _rewritten(text: str, own: Sequence[Statement]) -> Iterator[tuple[int, str]]:
    """Versions with a line, by its number, that may say the same in another way: running them tells which do."""
    for statement in own:
        for part in expressions_in(statement.node) if len(statement.lines) == 1 else ():
            for other in _said_otherwise(part):
                changed = with_code(text, statement.node, statement.with_expression(part, other))
                if changed is not None and changed != text:
                    yield statement.node.lineno, changed


def _said_otherwise(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what is sometimes equal to an expression: `b + a` is to `a + b`, `b - a` is not to `a - b`."""
    match node:
        case ast.BinOp(left=ast.BinOp(left=a, op=op, right=b), op=other, right=c):
            yield ast.BinOp(a, op, ast.BinOp(b, other, c))
    match node:
        case ast.BinOp(left=a, op=op, right=b):
            yield ast.BinOp(b, op, a)
            if isinstance(op, ast.Div):
                yield from (_filled(form, a, b) for form in ("a * (1 / b)", "1 / a * b"))
            if isinstance(op, ast.MatMult):
                yield from (_filled(form, a, b) for form in ("torch.matmul(a, b)", "torch.matmul(b, a)"))
        case ast.UnaryOp(op=ast.Invert(), operand=a):
            yield from (_filled(form, a) for form in ("torch.logical_not(a)", "a == 0", "a != 0"))
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=args) if name in SAID:
            is_function = isinstance(of, ast.Name) and of.id in ("torch", "math")
            a, *rest = args if is_function else [of, *args]
            if not is_function:
                yield ast.Call(ast.Attribute(ast.Name("torch"), name), [a, *rest], node.keywords)
            elif ast.unparse(of) == "torch":
                yield ast.Call(ast.Attribute(a, name), rest, node.keywords)
            yield from (_filled(form, a, *rest) for form in SAID[name])


def _filled(form: str, *parts: ast.expr) -> ast.expr:
    """An expression with these parts for its `a`, `b` and `c`."""
    named = dict(zip("abc", parts, strict=False))

    class Filling(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
            return named.get(node.id, node)

    filled: ast.expr = Filling().visit(ast.parse(form, mode="eval").body)
    return filled
