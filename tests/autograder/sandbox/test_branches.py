"""Code that reports its branches does what it did, and reports what it did."""

import ast
import inspect
import linecache
import textwrap
import traceback

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.sandbox.worker import outcomes
from autograder.sandbox.worker.branches import compile_watched
from autograder.sandbox.worker.loading import Package
from autograder.sandbox.worker.outcomes import Kind, find_outcomes

NAME = "@test"


def run(text: str, **names: object) -> tuple[dict[str, object], set[int]]:
    """The globals of code that was run and reports, and the numbers that it has reported so far."""
    reached: set[int] = set()
    code = compile_watched(textwrap.dedent(text), "watched.py", reached, NAME)
    assert code is not None
    exec(code, names)
    return names, reached


def told(text: str, **names: object) -> dict[str, bool]:
    """What each outcome of a text is about, and whether it was reached."""
    _, reached = run(text, **names)
    outcomes = find_outcomes(ast.parse(textwrap.dedent(text)))
    assert outcomes is not None
    return {f"{one.kind.name} {one.line}": number in reached for number, one in enumerate(outcomes)}


class Probe:
    """Notes when its truth is asked for; may refuse to tell."""

    def __init__(self, log: list[str], name: str, truth: bool | None) -> None:
        self.log, self.name, self.truth = log, name, truth

    def __bool__(self) -> bool:
        self.log.append(self.name)
        if self.truth is None:
            raise ValueError(self.name)
        return self.truth


NAMES = "abcd"
EXPRESSIONS = st.recursive(
    st.sampled_from([*NAMES, "1", "''", "(w := b)"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"({two[0]} and {two[1]})"),
        st.lists(inner, min_size=3, max_size=4).map(lambda some: f"({' or '.join(some)})"),
        inner.map(lambda one: f"(not {one})"),
        inner.map(lambda one: f"f({one})"),
        st.tuples(inner, inner, inner).map(lambda three: f"({three[0]} if {three[1]} else {three[2]})"),
        inner.map(lambda one: f"[x for x in (a, b) if {one}]"),
        inner.map(lambda one: f"(lambda: {one})()"),
    ),
    max_leaves=8,
)
FORMS = st.sampled_from(
    [
        "result = {}",
        "result = 1\nif {}: result = 2\nelse: result = 3",
        "result = 0\nwhile {}:\n    result += 1\n    if result > 2: break\nelse: result = 9",
        "assert {}, 'no'\nresult = 1",
        "def g():\n    return {}\nresult = g()",
        "def g():\n    yield {}\nresult = [*g()]",
        "try:\n    result = {}\nexcept ValueError as error:\n    result = str(error)",
        "match 1:\n    case _ if {}: result = 1\n    case 2: result = 2",
    ]
)


@settings(max_examples=150, deadline=None)
@example("(lambda: (not (a and a)))()", "result = {}", [False, True, True, True])
@example("(not (not (a if b else (c or d))))", "result = {}", [False, False, True, True])
@example("(not (a if b else (c or d)))", "if {}: result = 1", [False, False, True, True])
@example("((a and b) or c)", "result = {}", [False, True, True, True])
@example("((c if a else (a or b)) and (not ((a and b) and c)))", "result = {}", [False, True, True, True])
@given(EXPRESSIONS, FORMS, st.lists(st.sampled_from([True, False, None]), min_size=4, max_size=4))
def test_it_does_what_it_did(expression, form, truths):
    """Same value, same exception; each truth is asked for once and in the same order."""
    text = form.format(expression)
    ends = []
    for watched in (False, True):
        log: list[str] = []
        probes = {name: Probe(log, name, truth) for name, truth in zip(NAMES, truths, strict=True)}
        space: dict[str, object] = {**probes, "f": lambda value, log=log: log.append("f") or value}
        code = compile_watched(text, "x.py", set(), NAME) if watched else compile(text, "x.py", "exec")
        assert code is not None
        try:
            exec(code, space)
            end = repr(space.get("result")).replace(" object at 0x", "@").split("@")[0]
            result = space.get("result")
            end = f"the probe {result.name}" if isinstance(result, Probe) else end
        except (ValueError, AssertionError) as error:
            end = f"{type(error).__name__} {error}, line {traceback.extract_tb(error.__traceback__)[-2:][0].lineno}"
        ends.append((end, log))
    assert ends[0] == ends[1], text


@pytest.mark.parametrize(
    "text, reached",
    [
        ("if 1 > 2:\n  x = 1", {"TRUE 1": False, "FALSE 1": True}),
        ("x = 1 if [] else 2", {"TRUE 1": False, "FALSE 1": True}),
        ("if 3 > 2 and\\\n 2 > 3: pass", {"TRUE 1": True, "FALSE 1": False, "TRUE 2": False, "FALSE 2": True}),
        ("x = [] or\\\n 2", {"TRUE 1": False, "FALSE 1": True}),
        ("x = (1 and\\\n 0) or 2", {"TRUE 1": True, "FALSE 1": True}),
        ("x = (0 and\\\n 0) or 2", {"TRUE 1": False, "FALSE 1": True}),
        ("x = [0]\nwhile not x: pass", {"TRUE 2": True, "FALSE 2": False}),
        ("for x in []: pass", {"LOOP 1": False}),
        ("for x in [1]:\n  break\nelse:\n  x = 2", {"LOOP 1": True, "EXHAUSTED 1": False}),
        ("x = [y for y in [1, 2] if y > 2]", {"TRUE 1": False, "FALSE 1": True, "ELEMENT 1": False}),
        ("x = {y: 1 for y in [1]}", {"ELEMENT 1": True}),
        (
            "try:\n  1 / 0\nexcept KeyError:\n  pass\nexcept ArithmeticError:\n  pass",
            {"HANDLER 3": False, "HANDLER 5": True},
        ),
        ("match 3:\n  case 1: pass\n  case int(): pass", {"CASE 2": False, "CASE 3": True, "NO_CASE 1": False}),
        ("match 3:\n  case 1: pass", {"CASE 2": False, "NO_CASE 1": True}),
        ("match 3:\n  case 1 | _: pass", {"CASE 2": True}),
        ("def f(): pass\ndef g():\n  '''Doc.'''\ng()", {"CALLED 1": False, "CALLED 2": True}),
        ("f = lambda: 0\n(lambda: 0)()", {"CALLED 1": False, "CALLED 2": True}),
        ("assert 2 > 1", {"TRUE 1": True, "FALSE 1": False}),
        ("x = {}\nif x.get(1, None): pass", {"TRUE 2": False, "FALSE 2": True}),
        ("if __name__ == '__main__': pass\nif 1: pass\nclass A:\n  def __repr__(self): return 1 or 2", {}),
    ],
)
def test_every_kind_of_outcome(text, reached):
    assert told(text) == reached


def test_what_follows_from_another_is_not_reached_alone():
    outcomes = find_outcomes(ast.parse("def f(x):\n  if x and x > 1:\n    y = 1 if x > 2 else 3\n    return y"))
    assert outcomes is not None
    chain = [(one.kind, one.line, one.parent) for one in outcomes]
    assert chain == [
        (Kind.CALLED, 1, -1),
        (Kind.TRUE, 2, 0),
        (Kind.FALSE, 2, 0),
        (Kind.TRUE, 2, 1),
        (Kind.FALSE, 2, 1),
        (Kind.TRUE, 3, 3),
        (Kind.FALSE, 3, 3),
    ]


@pytest.mark.parametrize(
    "text, stops",
    [
        ("if x:\n  raise ValueError", {"TRUE"}),
        ("if not x:\n  y = 1\n  raise ValueError", {"FALSE"}),
        ("if x:\n  pass\nelse:\n  raise ValueError", {"FALSE"}),
        ("assert x", {"FALSE"}),
        ("if x:\n  y = 1", set()),
        ("def f():\n  '''Doc.'''\n  raise NotImplementedError", {"CALLED"}),
    ],
)
def test_what_only_raises(text, stops):
    assert {one.kind.name for one in find_outcomes(ast.parse(text)) or () if one.only_stops} == stops


def test_both_sides_of_an_and_that_stops():
    outcomes = find_outcomes(ast.parse("if a and b:\n  raise ValueError")) or []
    assert [one.only_stops for one in outcomes] == [False, False, True, False], "only where both are true"


def test_listing_leaves_the_tree_as_it_is():
    text = (
        "x = a and b or c\nassert x, a or b\nf = lambda: [y for y in x if y and z]\nmatch x:\n  case 1 if a or b: pass"
    )
    tree = ast.parse(text)
    before = ast.dump(tree, include_attributes=True)
    find_outcomes(tree)
    assert ast.dump(tree, include_attributes=True) == before


def test_lines_docstrings_source_and_future_stay():
    text = textwrap.dedent('''\
        """Of the module."""
        from __future__ import annotations

        class A:
            """Of the class."""
            kind: int or str = 1

            def f(self, x: B or C) -> D if E else F:
                """Of the function."""
                global y
                y = 1
                for one in x:
                    if one and one > 1:
                        return (1 /
                                0)
        ''')
    linecache.cache["watched.py"] = (len(text), None, text.splitlines(keepends=True), "watched.py")
    space, _ = run(text, __name__="watched")
    kind = space["A"]
    assert (space["__doc__"], kind.__doc__, kind.f.__doc__) == ("Of the module.", "Of the class.", "Of the function.")
    assert kind.f.__annotations__ == {"x": "B or C", "return": "D if E else F"}
    assert inspect.getsource(kind.f).startswith("    def f") and "0)" in inspect.getsource(kind.f)
    with pytest.raises(ZeroDivisionError) as caught:
        kind().f([2])
    assert [(entry.lineno, entry.name) for entry in traceback.extract_tb(caught.value.__traceback__)][1:] == [
        (13 + 1, "f")
    ]
    assert {name for name in space if name.startswith("@")} == set(), "nothing of ours is among the module's names"


def test_tensors_in_tests():
    text = "def f(x):\n    return x or 7\ndef g(x):\n    if x: return 1"
    space, reached = run(text)
    one, several = torch.tensor([3.0]), torch.tensor([1.0, 2.0])
    assert space["f"](one) is one
    for name in "fg":
        with pytest.raises(RuntimeError, match="ambiguous") as caught:
            space[name](several)
        assert traceback.extract_tb(caught.value.__traceback__)[-1].name == name, "no frame of ours"
    assert space["f"](one) is one, "what is left of the exception is not taken for another value"
    assert space["f"](0) == 7 and len(reached) == 4


def test_classes_with_names_of_their_own():
    text = "import enum\nclass Kind(enum.Enum):\n    A = 0 or 1\n    B = [x for x in (2, 3) if x > 2][0]\n"
    space, _ = run(text)
    assert [one.name for one in space["Kind"]] == ["A", "B"]


@pytest.mark.parametrize(
    "text",
    [
        "x = (",
        "return 1",
        "x = 1\n" + "if x: pass\n" * 3000,
        "x = " + " or ".join("ab" * 2000),
        "x = '\ud800'",
        "x = '\0'",
    ],
)
def test_what_cannot_be_watched_is_left_alone(text):
    vars_before = {name for name in vars(__import__("builtins")) if name == "@other"}
    assert compile_watched(text, "x.py", set(), "@other") is None
    assert {name for name in vars(__import__("builtins")) if name == "@other"} == vars_before


def test_the_loader_falls_back():
    text = "a = b = 0\n" + "x = " + " or ".join("ab" * 2000) + "\ndef f(): return 5\n"
    package = Package({"part": ("part.py", text)}, {}, object(), "fallen", watched=["part"])
    try:
        assert package.get("part.f")() == 5
        assert package.reached == {}, "nothing is said about what is not watched"
    finally:
        package.close()


def test_a_module_reports_for_itself():
    sources = {name: (f"{name}.py", f"def f(x): return {x} if x else 0\n") for name, x in (("one", 1), ("two", 2))}
    package = Package(sources, {}, object(), "reporting", watched=["one"])
    try:
        assert (package.get("one.f")(1), package.get("two.f")(1)) == (1, 2)
        assert package.reached == {"one": {0, 1}}
    finally:
        package.close()


def test_a_syntax_error_is_the_texts_own():
    package = Package({"part": ("part.py", "def f(:\n")}, {}, object(), "broken", watched=["part"])
    try:
        with pytest.raises(SyntaxError) as caught:
            package.get("part.f")
        assert (caught.value.filename, caught.value.lineno) == ("part.py", 1)
    finally:
        package.close()


def test_the_limit(monkeypatch):
    monkeypatch.setattr(outcomes, "MAX_OUTCOMES", 3)
    assert find_outcomes(ast.parse("if a: pass\nif b: pass")) is None
    assert compile_watched("if a: pass\nif b: pass", "x.py", set(), NAME) is None
