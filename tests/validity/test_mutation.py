"""Mutation testing: which changes are made, that each is one of a solution, and what becomes of survivors."""

import ast

import pytest

from autograder.understanding import operators
from autograder.understanding.operators import Names
from validity.__main__ import main
from validity.mutants import make_mutants

NAMES = Names(frozenset({"a", "b"}), frozenset({"p", "q"}))


@pytest.mark.parametrize(
    "operator, code, expected",
    [
        (operators.arithmetic, "a / b", {"a * b"}),
        (operators.arithmetic, "a @ b", {"a * b"}),
        (operators.operands, "a - b", {"b - a", "a", "b"}),
        (operators.unary, "~a", {"a"}),
        (operators.constants, "2", {"3", "1"}),
        (operators.constants, "0.5", {"2.0", "-0.5"}),
        (operators.constants, "'text'", set()),
        (operators.comparisons, "a < b", {"a <= b", "a >= b"}),
        (operators.conditions, "a if b else 1", {"a if not b else 1", "a if True else 1", "a if False else 1"}),
        (operators.statements, "a = b", {"pass"}),
        (operators.arguments, "f(a, b, k=1)", {"f(b, a, k=1)", "f(b, k=1)", "f(a, k=1)", "f(a, b)", "a"}),
        (operators.arguments, "a.f()", {"a"}),
        (operators.functions, "a.mean", {"a.sum", "a.median"}),
        (operators.orders, "(a, b)", {"(b, a)"}),
        (operators.indices, "a[1]", {"a"}),
        (operators.wrong_names, "a", {"b"}),
        (operators.wrong_names, "c", set()),
        (operators.wrong_names, "self.p", {"self.q"}),
        (operators.detached, "self.p(a)", {"self.p(a).detach()"}),
    ],
)
def test_operators(operator, code, expected):
    statement = ast.parse(code).body[0]
    node = statement.value if isinstance(statement, ast.Expr) else statement
    assert {ast.unparse(ast.fix_missing_locations(other)) for other in operator(node, NAMES)} == expected


@pytest.fixture(scope="module")
def mutants(reference, assignment):
    return make_mutants(reference, assignment, "1.4")


def test_each_mutant_is_one_change_within_a_solution(mutants, reference, assignment):
    text = reference["layers"][1]
    assert len(mutants) > 50
    assert len({mutant.text for mutant in mutants}) == len({mutant.name for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        ast.parse(mutant.text)
        old, new = text.split("\n"), mutant.text.split("\n")
        assert mutant.function in ("LayerNorm.__init__", "LayerNorm.forward")
        assert [line for line in old if "TODO" in line] == [line for line in new if "TODO" in line]
        assert old[: mutant.line - 1] == new[: mutant.line - 1] and old[-100:] == new[-100:]


@pytest.mark.slow
def test_survivors_and_wrong_entries_fail_the_command(tmp_path, capsys):
    path, output = tmp_path / "equivalents.toml", tmp_path / "pages"
    arguments = ["mutate", "--task", "1.2", "--equivalents", str(path)]
    path.write_text("")
    assert main([*arguments, "--text", "no such text"]) == 2  # nothing to do
    assert main([*arguments, "--text", "transpose(-1, -2)", "--output", str(output)]) == 1
    said = capsys.readouterr().out
    assert "SURVIVED attention.py" in said and "query @ key.transpose(-1, -2)" in said
    assert "1 survivors" in (output / "mutation.md").read_text()
