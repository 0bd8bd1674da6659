"""Statements that are the same in other words, and copies of the tests' code."""

import ast

import pytest

from autograder.intake.sources import read_sources
from autograder.intake.statements import code_of_tests, find_copied, statements_in
from autograder.intake.submission import Intake, take_in
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON
from validity.variants import read_variants

ASSIGNMENT = read_assignment()
CONTRACT = ASSIGNMENT.contract
FOLDER = ASSIGNMENT.folder
RELEASE = read_sources(SKELETON, SKELETON)


@pytest.fixture(scope="module")
def of_tests() -> dict[int, str]:
    return code_of_tests(FOLDER, CONTRACT)


def copied(sources: dict[str, tuple[str, str]], of_tests: dict[int, str]) -> list[str]:
    own = sources.keys() - ASSIGNMENT.own_tests
    return find_copied(Intake("anna", sources, release=RELEASE), own, CONTRACT, of_tests)


def texts(code: str) -> set[int]:
    return {statement.text for statement in statements_in({"layers": ("layers.py", code)}, CONTRACT)}


CODE = """
class A:
    def f(self, x):
        y = self.w @ x
        return torch.relu(y)
"""
OTHER_WORDS = """
class B:
    def g(self, a):
        '''Doc.'''
        return torch.relu(
            b)
    def h(self, q):
        c: int = self.m @ q
"""


def test_names_layout_and_order_do_not_count():
    assert texts(CODE) == texts(OTHER_WORDS) != texts(CODE.replace("relu", "tanh"))


class Wrapped(ast.NodeTransformer):
    """Each value stands in a loop of its own, as somebody might write who knows how statements are compared."""

    def visit_Assign(self, node):
        return ast.For(node.targets[0], ast.Tuple([node.value], ast.Load()), [ast.Pass()], [], lineno=node.lineno)

    def visit_Return(self, node):
        return ast.copy_location(ast.Expr(ast.Yield(ast.Tuple([node.value], ast.Load()))), node)


@pytest.mark.parametrize("name", ["flows", "layers", "trainings"])
def test_a_file_of_expected_results_is_found_in_a_submission(name, of_tests):
    tree = ast.parse((FOLDER / "expected" / f"{name}.py").read_text())
    text = ast.unparse(ast.fix_missing_locations(Wrapped().visit(tree)))
    [note] = copied({"layers": ("layers.py", text), "model": ("model.py", "x = 1\n")}, of_tests)
    assert f"expected/{name}.py" in note and "layers.py, line" in note


def test_right_submissions_repeat_nothing(of_tests, reference):
    intake = take_in(REFERENCE, SKELETON, ASSIGNMENT)
    assert copied(intake.sources, of_tests) == []
    for variant in read_variants(ASSIGNMENT, reference):
        changed = {name: source for name, source in variant.sources.items() if source != reference.get(name)}
        assert changed and copied(changed, of_tests) == [], variant.name


def test_code_that_is_nested_too_deeply_is_listed(of_tests):
    [note] = copied({"layers": ("layers.py", "x = " + "+".join(["1"] * 1000) + "\n")}, of_tests)
    assert note == "layers.py, line 1: nested too deeply to be compared with the tests"
