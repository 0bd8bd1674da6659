"""Code that students get beside the skeleton: no part of a solution stands in it, whatever its names."""

import inspect
import json
import re

import pytest

from assignment.expected import layers
from assignment.stand_ins import components, formulas
from assignment.stand_ins.own_tests import attend
from autograder.__main__ import main
from autograder.intake.statements import long_pieces
from autograder.testing.case import earlier_keys
from autograder.testing.results import judge_task
from foundation.places import ROOT
from validity.run_tests import Version, run_versions

from ..conftest import examples_in
from .layouts import replaced

LEAST_SIZE = 10
"""Nodes of an expression that is long enough to be part of a solution: `len(first) == len(second)` has 7."""
NOT_HANDED_OUT = "assignment/proof"


def test_no_expression_of_a_solution_is_handed_out(assignment):
    def expressions(*files):
        texts = (file.read_text(encoding="utf-8") for file in files)
        return set().union(*(long_pieces(text, assignment.contract.methods, LEAST_SIZE) for text in texts))

    solved = {path.name: path for path in ROOT.glob("reference/*.py")}
    skeletons = [ROOT / "student" / name for name in solved]
    in_skeleton = expressions(*(path for path in skeletons if path.exists()))
    solutions = {name: expressions(path) - in_skeleton for name, path in solved.items()}
    assert len(set().union(*solutions.values())) > 100
    for path in handed_out():
        there = expressions(path)
        assert not [name for name, own in solutions.items() if own & there], path


def handed_out():
    folders = "assignment/**", "autograder/testing/**", "given"
    paths = (path for folder in folders for path in ROOT.glob(f"{folder}/*.py"))
    return [path for path in paths if NOT_HANDED_OUT not in path.as_posix()]


SHORT = r"""query @|key\.mT|weights \* mask|@ value|\.diagonal\(|d_model ?\*\* ?0?\.5|arange\(\w+\)(\.lt\(| <)
(x \* centred)|(loss|cost)\.backward\(|loss\.item\(|sum\(losses\) /""".replace("\n", "|")
"""Lines of a solution that are too short to be found by their size, and were handed out once."""


def test_no_short_line_of_a_solution_is_handed_out():
    texts = [*handed_out(), *ROOT.glob("notebooks/prose/*.md")]
    found = ((path, line) for path in texts for line in path.read_text(encoding="utf-8").split("\n"))
    assert [(path.name, line) for path, line in found if re.search(SHORT, line)] == []


TABLES = examples_in("assignment/handed_out.toml")
CASES = [*((name, []) for name in TABLES["pasted"]), *TABLES["reworded"].items()]


def pasted(component, changes, reference):
    """The reference with stand-ins in the place of a component, which may have other names."""
    module = component.partition(".")[0]
    path, text = reference[module]
    texts = [text, *(inspect.getsource(part) for part in (formulas, components))]
    joined = "\n".join(texts).replace("from .formulas import", "# ").replace("from . import formulas", "import sys")
    joined = joined.replace("from __future__", "# ").replace("formulas.", "sys.modules[__name__].")
    return replaced({**reference, module: (path, joined)}, module, changes)


@pytest.mark.slow
def test_a_stand_in_earns_next_to_nothing_as_a_component(assignment, reference):
    versions, expected = [], {}
    for number, (component, changes) in enumerate(CASES):
        [task] = (task for task in assignment.tasks if component in task.components and not task.extension)
        name = f"{number}: {component}"
        versions.append(Version(name, pasted(component, changes, reference), [1], (task.marker,)))
        expected[name] = task, {*TABLES["pasted"][component], *(["gradients"] if changes else [])}
    for run in run_versions(versions, reference, assignment):
        task, earned = expected[run.version]
        judged = judge_task(task, run.outcomes[task.marker], "items")
        assert {item.name for item in judged.items if item.score} == earned, run.version


@pytest.mark.slow
def test_what_the_tests_compute_by_pytorchs_own_is_refused_as_a_component(tmp_path, reference):
    parts = (layers.network_module, layers.network, layers.look_tokens_up, layers.norm_of, attend, earlier_keys)
    parts = (*parts, layers.usual_factor, layers.width_of)
    pasted = TABLES["above"]["imports"] + "".join(map(inspect.getsource, parts)).replace(" scaled_dot", " F.scaled_dot")
    for module, changes in TABLES["by_pytorch"].items():
        (tmp_path / f"{module}.py").write_text(replaced(reference, module, changes)[module][1] + pasted)
    assert main(["grade", str(tmp_path), "--results", str(tmp_path / "results.json")]) == 0
    rows = json.loads((tmp_path / "results.json").read_text())["tests"]
    shown = {row["number"]: row["output"] for row in rows if row["number"] in ("1.1", "1.2", "1.4", "1.5", "1.6")}
    assert all("must not be used" in output for output in shown.values()), shown
