"""Code that students get beside the skeleton: no part of a solution stands in it, whatever its names."""

import inspect

import pytest

from assignment.stand_ins import components, formulas
from autograder.intake.statements import long_expressions
from autograder.testing.results import judge_task
from foundation.places import ROOT
from validity.run_tests import Version, run_versions

LEAST_SIZE = 10
"""Nodes of an expression that is long enough to be part of a solution: `len(first) == len(second)` has 7."""
NOT_HANDED_OUT = "assignment/proof"


def test_no_expression_of_a_solution_is_handed_out(assignment):
    def expressions(*files):
        texts = (file.read_text(encoding="utf-8") for file in files)
        return set().union(*(long_expressions(text, assignment.contract, LEAST_SIZE) for text in texts))

    solved = {path.name: path for path in ROOT.glob("reference/*.py")}
    skeletons = [ROOT / "student" / name for name in solved]
    in_skeleton = expressions(*(path for path in skeletons if path.exists()))
    solutions = {name: expressions(path) - in_skeleton for name, path in solved.items()}
    assert len(set().union(*solutions.values())) > 100
    folders = "assignment/**", "autograder/testing/**", "given"
    for path in (path for folder in folders for path in ROOT.glob(f"{folder}/*.py")):
        if NOT_HANDED_OUT not in path.as_posix():
            handed_out = expressions(path)
            assert not [name for name, own in solutions.items() if own & handed_out], path


PURE, SMOOTH = {"no side effects"}, {"no side effects", "gradients"}
PASTED = {  # the items that a stand-in earns as any function does, or any that learns as many numbers
    "embedding.InputEmbedding": set(),
    "attention.scaled_dot_product_attention": SMOOTH,
    "attention.MultiHeadedAttention": PURE,
    "layers.LayerNorm": SMOOTH,
    "layers.FeedForward": PURE,
    "layers.EncoderLayer": PURE,
    "layers.DecoderLayer": PURE,
    "model.Encoder": PURE,
    "model.Decoder": PURE,
    "masks.padding_mask": set(),
}


@pytest.mark.slow
@pytest.mark.parametrize("component", PASTED)
def test_a_stand_in_earns_next_to_nothing_as_a_component(component, assignment, reference):
    module = component.partition(".")[0]
    [task] = (task for task in assignment.tasks if component in task.components and not task.extension)
    path, text = reference[module]
    texts = [text, *(inspect.getsource(part) for part in (formulas, components))]
    pasted = "\n".join(texts).replace("from .formulas import", "# ").replace("from . import formulas", "import sys")
    pasted = pasted.replace("from __future__", "# ").replace("formulas.", "sys.modules[__name__].")
    version = Version(component, {**reference, module: (path, pasted)}, [1], (task.marker,))
    [run] = run_versions([version], reference, assignment)
    judged = judge_task(task, run.outcomes[task.marker], "items")
    assert {item.name for item in judged.items if item.score} == PASTED[component]
