"""The passes and the search for leaks on the kit's own reference."""

import ast
import textwrap
from pathlib import Path

import pytest

from autograder.assignment import read_assignment
from release.gates.leaks import LeakFinder, find_leaks
from release.regions import Region
from release.skeleton import Skeleton, coded_tasks, make_skeleton, read_folder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def real() -> Skeleton:
    return make_skeleton(read_folder(ROOT / "reference"), read_assignment(), "reference")


@pytest.fixture(scope="module")
def finder(real: Skeleton) -> LeakFinder:
    return LeakFinder(real)


def solutions(skeleton: Skeleton) -> list[tuple[Region, str]]:
    """Every region with its code, not indented."""
    return [
        (region, textwrap.dedent("".join(source.lines[region.begin : region.end - 1])))
        for path, source in skeleton.sources.items()
        for region in skeleton.regions[path]
    ]


def test_every_task_has_its_todo(real: Skeleton) -> None:
    numbers = {region.hint.number for region, _ in solutions(real)}
    assert numbers == {task.number for task in coded_tasks(read_assignment())}


def test_the_skeleton_is_tidy(real: Skeleton) -> None:
    for path, content in real.files.items():
        text = content.decode()
        compile(text, path, "exec")
        assert "SOLUTION" not in text, path
        made = set(text.splitlines()) - set(real.sources[path].text.splitlines())
        assert all(len(line) <= 110 for line in made), path
        assert not text.startswith("\n") and "\n\n\n\n" not in text, path


def test_no_import_is_left_over(real: Skeleton) -> None:
    """In files with solutions, every name that is imported is used (or exported by `__init__`)."""
    for path in real.files:
        if not real.regions[path]:
            continue
        tree = ast.parse(real.files[path])
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        bound = {
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        assert bound <= used, path


def test_the_skeleton_holds_no_solution(real: Skeleton, finder: LeakFinder) -> None:
    assert find_leaks(finder, real.files) == []


def test_every_solution_is_found_again(real: Skeleton, finder: LeakFinder) -> None:
    for region, code in solutions(real):
        assert finder.leaks_in("a.md", textwrap.indent(code, "    ").encode()), f"{region.path}:{region.begin}"


class Renaming(ast.NodeTransformer):
    """Gives every variable and every attribute of self a new name."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id not in ("self", "torch", "nn", "math", "len", "range", "zip", "list", "int", "sum", "max"):
            node.id = self.names.setdefault(node.id, f"name_{len(self.names)}")
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.setdefault(node.arg, f"name_{len(self.names)}")
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            node.attr = self.names.setdefault("." + node.attr, f"name_{len(self.names)}")
        return self.generic_visit(node)


def test_solutions_are_found_under_other_names(real: Skeleton, finder: LeakFinder) -> None:
    """All but those that are one short line, which says nothing without its names."""
    for region, code in solutions(real):
        tree = Renaming().visit(ast.parse("def f():\n" + textwrap.indent(code, "    ")))
        renamed = ast.unparse(tree)
        if len(renamed) > 200:
            assert finder.leaks_in("a.py", renamed.encode()), f"{region.path}:{region.begin}\n{renamed}"
