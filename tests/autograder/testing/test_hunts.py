import ast
import base64
import json
import re
import zlib
from dataclasses import replace

import pytest

from autograder.grading import made_code
from autograder.grading.made_code import SYMPTOMS, make_hunts, pack, read_table
from autograder.sources import read_modules, read_sources
from autograder.testing.collection import Collection, run_in_process
from autograder.testing.comparison import NEAR, are_near
from autograder.testing.hunts import LEVELS, call_of, defined, flat, open_box, opened, read_input, results, seen, tell
from autograder.testing.results import State
from autograder.testing.under_test import InProcessSubmission
from benchmarks.symptoms import trained
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, ROOT, SKELETON
from validity.variants import read_variants

ASSIGNMENT = read_assignment()
HUNTS = make_hunts(ASSIGNMENT)
FINDINGS = defined((REFERENCE / "hunts.py").read_text(encoding="utf-8"), "findings")()


def test_each_hunt_is_whole():
    tables = read_table(ASSIGNMENT, made_code.HUNTS)["hunt"]
    assert len(tables) >= 30 and len({table["id"] for table in tables}) == len(tables)
    assert {table["id"] for table in tables} == {fault.id for fault in made_code.hunted_faults(ASSIGNMENT)}
    assert {kind for table in tables for kind in table["kinds"]} == HUNTS.kinds.keys()
    assert all(table["path"] and table["symptom"] for table in tables)


def test_students_draw_a_hunt_of_each_level_about_three_components():
    drawn = {name: HUNTS.of(name) for name in map(str, range(300))}
    for hunts in drawn.values():
        assert [hunt.level for hunt in hunts] == list(LEVELS) and len({hunt.component for hunt in hunts}) == len(LEVELS)
    assert {hunt.number for hunts in drawn.values() for hunt in hunts} == {hunt.number for hunt in HUNTS.hunts}
    assert len({tuple(hunt.number for hunt in hunts) for hunts in drawn.values()}) > 200
    assert HUNTS.of("Anna  B") == HUNTS.of("annab")


def test_symptoms_of_trained_models_are_measured():
    rows = [json.loads(line) for line in (ASSIGNMENT.folder / SYMPTOMS).read_text(encoding="utf-8").splitlines()]
    assert [(row["fault"], row["settings"]) for row in rows] == trained(ASSIGNMENT), "python -m benchmarks symptoms"
    shown = [hunt for hunt in HUNTS.hunts if hunt.shown]
    assert len(shown) >= 12 and {hunt.level for hunt in shown} == {*LEVELS}
    for hunt in shown:
        wrong, due = hunt.shown
        on_padding = wrong["tokens"][1][-1] == "<pad>" and sum(row[-1] or 0 for row in wrong["attention"]) > 0.1
        assert wrong["bleu"] < due["bleu"] - 0.03 or wrong["batch"] > 0.03 or on_padding, hunt.number
        assert len(seen(hunt)) == 2 + len(wrong["samples"]) + len(wrong["example"])


@pytest.mark.slow  # all boxes, which makes no mark
@pytest.mark.parametrize("hunt", HUNTS.hunts, ids=lambda hunt: str(hunt.number))
def test_the_path_leads_to_the_mistake(hunt):
    found = FINDINGS[hunt.number]
    box, due = (flat(results(hunt, text, found["input"], ASSIGNMENT)) for text in (hunt.code, hunt.right))
    assert not are_near(box, due, 2 * NEAR) and are_near(flat(found["right"]), due) and found["kind"] in hunt.kinds


def test_what_students_get_tells_neither_kind_nor_solution():
    packed = zlib.decompress(base64.b85decode(pack(ASSIGNMENT, "students"))).decode()
    assert all(not hunt["kinds"] and not hunt["right"] for hunt in json.loads(packed)["hunts"])
    secrets = [table[name] for table in read_table(ASSIGNMENT, made_code.HUNTS)["hunt"] for name in ("id", "path")]
    assert "def " not in packed and not any(secret in packed for secret in secrets)


def opened_with(hunt, **changes):
    sources = read_sources(REFERENCE, REFERENCE) | {module: (f"{module}.py", text) for module, text in changes.items()}
    return opened(made_code._locked(hunt, ASSIGNMENT), InProcessSubmission(sources, ASSIGNMENT), ASSIGNMENT)


def test_a_box_opens_once_the_own_component_is_right():
    [hunt, *_] = [one for one in HUNTS.hunts if one.name == "scaled_dot_product_attention"]
    assert opened_with(hunt) == replace(hunt, kinds=())
    text = (REFERENCE / "attention.py").read_text(encoding="utf-8")
    for other in (text.replace("/ math.sqrt", "* math.sqrt"), (SKELETON / "attention.py").read_text(encoding="utf-8")):
        with pytest.raises(
            UserError, match="opens once your scaled_dot_product_attention is right: pass the tests of 1.2"
        ):
            opened_with(hunt, attention=other)


UNUSUAL = {"bias_rows", "einsum_with_bias", "raw_by_head_and_role", "stacked"}
"""Biases are in matrices, or weights in vectors."""


@pytest.mark.slow  # some hundred ways to write a component
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # one saves memory in training
def test_right_components_open_their_boxes_however_they_are_written():
    reference = read_modules(REFERENCE)
    locked = {hunt.component: made_code._locked(hunt, ASSIGNMENT) for hunt in HUNTS.hunts}
    closed = []
    for variant in read_variants(ASSIGNMENT.folder / "proof" / "variants", reference, ASSIGNMENT.contract):
        submission = InProcessSubmission(variant.sources, ASSIGNMENT)
        for component in set(variant.components) & locked.keys():
            try:
                opened(locked[component], submission, ASSIGNMENT)
            except UserError:
                closed.append(f"{variant.name}: {component}")
        submission.close()
    assert {name.partition(":")[0] for name in closed} == UNUSUAL


@pytest.mark.parametrize(
    "component, given, told",
    [
        ("layers.LayerNorm", [[[1, 2, 3, 4]]], r"x: expected the shape \(b, s, 4\), axes of 1 to 8, got \(1, 4\)"),
        ("layers.LayerNorm", [[[[1, 2], [3]]]], "x: expected numbers in lists that are equally long"),
        ("layers.LayerNorm", [], r"expected a list of the arguments: x float \(b, s, 4\)"),
        ("embedding.InputEmbedding", [[[0.5]]], "tokens: expected whole numbers from 0 to 7"),
        ("embedding.InputEmbedding", [[[1] * 9]], r"tokens: expected the shape \(b, s\), axes of 1 to 8"),
    ],
)
def test_a_wrong_input_gets_one_line(component, given, told):
    with pytest.raises(ValueError, match=told):
        read_input(call_of(component, ASSIGNMENT), given)


EASY = HUNTS.of("anna")[0]
KNOWN = {part: FINDINGS[EASY.number][part] for part in ("input", "right", "kind")}


@pytest.mark.parametrize(
    "findings, states, told",
    [
        ({"name": "anna", EASY.number: KNOWN}, ["passed"] * 3, ""),
        ({"name": "anna", EASY.number: KNOWN | {"kind": "typo"}}, ["passed", "passed", "failed"], "one of scale, axis"),
        ({"name": "anna", EASY.number: KNOWN | {"right": "x"}}, ["passed", "failed", "passed"], "lists of numbers"),
        ({"name": "anna", EASY.number: KNOWN | {"input": "x"}}, ["failed", "failed", "passed"], "a list of the arg"),
        ({"name": "anna", EASY.number: 7}, ["failed"] * 3, 'a dictionary with "input", "right" and "kind"'),
        ({"name": "anna"}, ["not attempted"] * 3, f"TODO E.7: hunt {EASY.number} of anna"),
        ([1], ["failed"] * 3, 'a dictionary with your "name"'),
    ],
)
def test_findings_are_judged(tests, findings, states, told):
    sources = read_sources(REFERENCE, REFERENCE)
    sources["hunts"] = ("hunts.py", f"def findings():\n    return {findings!r}\n")
    [task] = [task for task in ASSIGNMENT.tasks if task.understanding == "hunts"]
    run_in_process(tests, InProcessSubmission(sources, ASSIGNMENT), task, 1)
    outcomes = [one for one in tests.outcomes.values() if one.item.startswith("easy")]
    assert [one.state for one in outcomes] == [State(state) for state in states]
    assert any(told in one.message for one in outcomes)


@pytest.fixture(scope="module")
def tests():
    return Collection(ASSIGNMENT)


def test_a_student_reads_what_to_do():
    text = tell("anna", ASSIGNMENT)
    assert all(f"hunt {hunt.number} ({hunt.level}): {hunt.name}" in text for hunt in HUNTS.of("anna"))
    with pytest.raises(UserError, match="whose hunts"):
        tell(" ", ASSIGNMENT)


@pytest.mark.parametrize("path", ["reference/hunts.py", "notebooks/prose/4_extensions.md"])
def test_the_calls_that_students_are_shown_work(path):
    shown = re.findall(r"^ *(box|right)\((\d+)\)(\(\[.*?\))(?:$|  )", (ROOT / path).read_text(encoding="utf-8"), re.M)
    sources = read_sources(REFERENCE, REFERENCE)
    for name, number, arguments in shown:
        assert open_box(int(number), sources, ASSIGNMENT, name == "right")(*ast.literal_eval(arguments))
    assert len(shown) == 2
    with pytest.raises(UserError, match="there is no hunt 99"):
        open_box(99, sources, ASSIGNMENT, is_right=False)
