"""The classes of the benchmark: right solutions, copies that compute the same, and what is counted."""

import ast
import random
from pathlib import Path

import pytest

from benchmarks.disguises import KINDS, disguised
from benchmarks.similarity import Planted, draw_class, judged, read_pool
from foundation.assignment_file import read_assignment
from validity.run_tests import Version, run_versions

ASSIGNMENT = read_assignment()
REFERENCE = {
    path.stem: (str(path), path.read_text(encoding="utf-8")) for path in sorted(Path("reference").glob("*.py"))
}
MODULES = {
    ".".join(path.relative_to("reference").with_suffix("").parts).removesuffix(".__init__"): (
        str(path),
        path.read_text(),
    )
    for path in sorted(Path("reference").rglob("*.py"))
}


def drawn(count, seed=0):
    pool = read_pool(ASSIGNMENT.folder / "proof" / "variants", ASSIGNMENT.contract)
    return draw_class(pool, REFERENCE, count, seed)


def without_names(text):
    """The kinds of the nodes of a module, in order."""
    return [type(node).__name__ for node in ast.walk(ast.parse(text))]


@pytest.fixture(scope="module")
def student():
    return drawn(1)[0]


def test_students_differ_and_the_same_seed_gives_the_same_class():
    first, second = drawn(2)
    assert first != second and drawn(2) == [first, second] and drawn(2, seed=1) != [first, second]


@pytest.mark.parametrize("kind", KINDS)
def test_a_disguise_changes_what_it_says(student, kind):
    text, copy = ("\n".join(modules.values()) for modules in (student, disguised(student, [kind], random.Random(1))))
    assert copy != text
    if kind == "renamed":
        assert without_names(copy) == without_names(text)
    if kind == "reordered":
        assert sorted(without_names(copy)) == sorted(without_names(text))
    if kind == "reformatted":
        assert copy.count("#") > text.count("#")


@pytest.mark.slow
def test_students_and_their_copies_pass_all_tests():
    rng = random.Random(2)
    versions = []
    for number, modules in enumerate(drawn(2, seed=5)):
        for what, files in (("own", modules), ("copy", disguised(modules, KINDS, rng))):
            sources = {file.removesuffix(".py"): (file, text) for file, text in files.items()}
            versions.append(Version(f"{number} {what}", MODULES | sources, [1]))
    wrong = []

    def note(run):
        states = {outcome.state.value for outcomes in run.outcomes.values() for outcome in outcomes}
        wrong.extend([run.version] if states != {"passed"} else [])

    run_versions(versions, MODULES, ASSIGNMENT, note)
    assert not wrong


def test_what_is_found_and_what_is_a_false_alarm():
    planted = [Planted(frozenset("ab"), "renamed"), Planted(frozenset("cd"), "loops")]
    outcome = judged([frozenset("ab"), frozenset("ae"), frozenset("ef")], planted, count=10)
    assert outcome.found == {"renamed": 1}
    assert (outcome.false, outcome.accused, outcome.independent) == (2, 3, 6)
