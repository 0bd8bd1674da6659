"""Mutants: small changes of solutions and of the kit's own code, and which tests judge them."""

import ast

import pytest

from autograder.own_work.operators import mutations
from validity import mutate
from validity.__main__ import main
from validity.mutate import make_mutants

from ..conftest import examples_in


@pytest.mark.parametrize("operator, code, expected", examples_in("validity/mutate.toml")["operators"])
def test_operators(operator, code, expected):
    statement = ast.parse(code).body[0]
    node = statement.value if isinstance(statement, ast.Expr) else statement
    found = [other for kind, other in mutations(node, {"a", "b"}, {"p", "q"}) if kind == operator]
    assert {ast.unparse(ast.fix_missing_locations(other)) for other in found} == {*expected}


def test_each_mutant_is_one_change_within_a_solution(reference, assignment):
    mutants, text = make_mutants(reference, assignment, "1.4"), reference["layers"][1]
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


@pytest.mark.parametrize("n_missed, status", [(0, 0), (1, 1)])
def test_a_third_of_the_kits_mutants_must_be_found(monkeypatch, capsys, n_missed, status):
    """Each is one change of one function of the committed kit."""
    names, due, texts, changed = [], 0, [], []

    def run_tests(clone, tests):
        nonlocal due
        assert tests == "tests/foundation"
        path = clone / "foundation" / "texts.py"
        texts.append(ast.parse(path.read_text()).body)
        if len(texts) == 1:  # without a mutant
            names[:] = [region.function for _, region in mutate.functions_in(path, clone)]
            due = -(-len(names) // 3) - n_missed
        changed.append(sum(ast.dump(a) != ast.dump(b) for a, b in zip(texts[0], texts[-1], strict=True)))
        return "1 failed" * (changed[-1] > 0 and sum(changed) <= due)

    monkeypatch.setattr(mutate, "run_tests", run_tests)
    assert main(["mutate", "--kit", "--text", "foundation/texts.py"]) == status
    assert set(changed[1:]) == {1} and f"mutants of the kit: {len(names)}, killed: {due}" in capsys.readouterr().out
