"""Mutants: small changes of solutions and of the kit's own code, and which tests judge them."""

import ast
import random

import pytest

from autograder.own_work.operators import mutations
from foundation.places import ROOT
from validity import mutate
from validity.__main__ import main
from validity.mutants import functions_in, make_mutants


@pytest.mark.parametrize(
    "operator, code, expected",
    [
        ("arithmetic", "a / b", {"a * b"}),
        ("arithmetic", "a @ b", {"a * b"}),
        ("operands", "a - b", {"b - a", "a", "b"}),
        ("unary", "~a", {"a"}),
        ("constants", "2", {"3", "1"}),
        ("constants", "0.5", {"2.0", "-0.5"}),
        ("constants", "'text'", set()),
        ("comparisons", "a < b", {"a <= b", "a >= b"}),
        ("conditions", "a if b else 1", {"a if not b else 1", "a if True else 1", "a if False else 1"}),
        ("statements", "a = b", {"pass"}),
        ("arguments", "f(a, b, k=1)", {"f(b, a, k=1)", "f(b, k=1)", "f(a, k=1)", "f(a, b)", "a"}),
        ("arguments", "a.f()", {"a"}),
        ("functions", "a.mean", {"a.sum", "a.median"}),
        ("orders", "(a, b)", {"(b, a)"}),
        ("indices", "a[1]", {"a"}),
        ("wrong_names", "a", {"b"}),
        ("wrong_names", "c", set()),
        ("wrong_names", "self.p", {"self.q"}),
        ("detached", "self.p(a)", {"self.p(a).detach()"}),
    ],
)
def test_operators(operator, code, expected):
    statement = ast.parse(code).body[0]
    node = statement.value if isinstance(statement, ast.Expr) else statement
    found = [other for kind, other in mutations(node, {"a", "b"}, {"p", "q"}) if kind == operator]
    assert {ast.unparse(ast.fix_missing_locations(other)) for other in found} == expected


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
def test_survivors_fail_the_command(tmp_path, capsys, monkeypatch):
    arguments = ["mutate", "--task", "1.2", "--text", "transpose(-1, -2)", "--output", str(tmp_path)]
    assert main(arguments) == 0
    assert "1 equivalent, 0 survivors" in (tmp_path / "mutation.md").read_text()
    monkeypatch.setattr(mutate, "read_equivalents", lambda assignment: {})
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert "SURVIVED attention.py" in printed and "query @ key.transpose(-1, -2)" in printed
    assert "1 survivors" in (tmp_path / "mutation.md").read_text()


def test_a_mutant_of_the_kit_is_one_change_within_a_function():
    file = ROOT / "foundation" / "texts.py"
    text = file.read_text(encoding="utf-8")
    for name, draw in functions_in(file):
        mutant = draw(random.Random(1))
        assert mutant == draw(random.Random(1)), "the same on the same day"
        assert name == f"foundation/texts.py {mutant.function}" and mutant.name.startswith("foundation/texts.py:")
        old, new = ast.parse(text).body, ast.parse(mutant.text).body
        assert sum(ast.dump(a) != ast.dump(b) for a, b in zip(old, new, strict=True)) == 1


@pytest.mark.parametrize(
    "file, tests",
    [
        ("autograder/own_work/hunts.py", ["tests/autograder/own_work/test_hunts.py"]),
        ("data/generator/chance.py", ["tests/data"]),
        ("autograder/__main__.py", []),
        ("grade.py", []),
    ],
)
def test_a_module_has_the_tests_of_its_name_or_of_its_folder(file, tests):
    assert mutate.tests_of(ROOT / file) == tests


def test_every_folder_of_the_kit_has_tests():
    files = [ROOT / name for name in mutate.kit_files() if name.startswith(mutate.KIT) and name.endswith(".py")]
    lonely = {str(file.parent.relative_to(ROOT)) for file in files if not mutate.tests_of(file)}
    assert lonely <= {"autograder", "."}, "CONTRIBUTING.md: tests/ has a folder for each folder of the packages"


@pytest.mark.parametrize("status", [0, 1])
def test_survivors_of_the_kit_are_listed_and_a_third_must_be_found(monkeypatch, capsys, status):
    names = [name for name, _ in functions_in(ROOT / "foundation" / "texts.py")]
    killed = names[: -(-len(names) // 3) - status]

    def fails(mutant, tests):
        assert tests == ["tests/foundation"]
        return "1 failed" if mutant and f"{mutant.module} {mutant.function}" in killed else ""

    monkeypatch.setattr(mutate, "fails", fails)
    assert main(["mutate", "--kit", "--text", "foundation/texts.py"]) == status
    out, n_alive = capsys.readouterr().out, len(names) - len(killed)
    assert out.count("SURVIVED foundation/texts.py:") == n_alive
    assert f"mutants: {len(names)}, killed: {len(killed)}, survivors: {n_alive}" in out
