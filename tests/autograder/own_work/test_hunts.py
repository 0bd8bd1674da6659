"""Bug hunts are made of the student's own code, drawn alike at home and in grading, and judged by what code does."""

from __future__ import annotations

import ast
import random
import re
import shutil
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from autograder.at_home.notebook import as_text, run_task
from autograder.intake.sources import in_module, read_sources
from autograder.intake.submission import take_in
from autograder.own_work import graded
from autograder.own_work.boxes import check_at_home, draw_model, hunt_at_home, hunts_at_home, open_box, tell_hunts
from autograder.own_work.hunts import (
    THE_INPUT,
    check_answer,
    draw_hunt,
    hunt_question,
    hunted,
    quiet_changes,
    student_of,
)
from autograder.own_work.questions import tell
from autograder.own_work.student_lines import Change, with_code
from autograder.running.in_process import InProcessSubmission
from autograder.testing.results import CheckFailed, Outcome, State, judge_task
from foundation.command_line import UserError
from foundation.places import REFERENCE, SKELETON

from ..conftest import ASSIGNMENT, write_submission

SOURCES = read_sources(REFERENCE, REFERENCE)
[TASK] = [task for task in ASSIGNMENT.tasks if task.understanding == "hunts"]
LINE = "the changed line"


@pytest.fixture(scope="module")
def hunts():
    """All hunts of one student, and the last of another."""
    return {
        "anna": [*hunts_at_home("anna", SOURCES, ASSIGNMENT).values()],
        "dora": [hunt_at_home("1.4", "dora", SOURCES, ASSIGNMENT)],
    }


def solution(hunt):
    return {"line": hunt.versions.number(hunt.change.line), "now": hunt.change.after, "input": list(hunt.scene.inputs)}


def test_each_student_has_other_hunts_which_are_about_as_hard(hunts):
    assert [hunt.number for hunt in hunts["anna"]] == [*hunted(ASSIGNMENT)]
    assert len({drawn[-1].change.text for drawn in hunts.values()}) == len(hunts)
    for drawn in hunts.values():
        for hunt in drawn:
            outcomes = hunt.versions.judge(hunt.change.text)
            n_failed = sum(outcome.state is State.FAILED for outcome in outcomes)
            assert 0 < n_failed <= 0.8 * len(outcomes)
            assert all(outcome.state in (State.FAILED, State.PASSED) for outcome in outcomes)
            assert hunt.versions.keeps_shapes(hunt.change.text)


def test_case_and_spaces_of_a_name_do_not_matter_and_a_term_draws_others(hunts):
    component = copy(hunts["anna"][0].versions)
    assert draw_hunt(component, " ANNA").change == hunts["anna"][0].change
    terms = set()
    for number in range(3):
        component.assignment = replace(ASSIGNMENT, term=str(number))
        terms.add(draw_hunt(component, "anna").change)
    assert len(terms) > 1


def test_the_changed_line_and_an_input_that_shows_it_are_an_answer_and_nothing_else_is(hunts):
    for hunt in hunts["anna"]:
        hunt.check(LINE, solution(hunt))
        hunt.check(THE_INPUT, solution(hunt))
        unchanged = replace(hunt, change=replace(hunt.change, text=hunt.versions.text))
        with pytest.raises(CheckFailed, match="expected: different results"):
            unchanged.check(THE_INPUT, solution(hunt))
        for wrong in ({"line": 1, "now": "pass"}, {"now": hunt.change.before}, {"line": 0}, {"now": "x ="}, {"now": 3}):
            with pytest.raises(CheckFailed, match=rf"the hunt of anna in {hunt.number}"):
                hunt.check(LINE, solution(hunt) | wrong)


@pytest.mark.parametrize(
    "given, message",
    [
        ("x", "expected: a list of 1 argument: 3 axes, at most 4,096 numbers each"),
        ([torch.ones(2, 8)], "expected: a list of 1 argument"),
        ([[[[1.0, 2.0]], [[3.0]]]], "expected: a list of 1 argument"),
        ([torch.ones(1, 1, 7)], "expected: one that your own code takes"),
    ],
)
def test_a_wrong_input_gets_one_line(hunts, given, message):
    [hunt] = hunts["dora"]
    with pytest.raises(CheckFailed) as failed:
        hunt.check(THE_INPUT, solution(hunt) | {"input": given})
    assert message in str(failed.value)


def test_a_hunt_without_an_answer_is_named(hunts):
    with pytest.raises(NotImplementedError, match="an entry for the hunt in 1.2"):
        check_answer(f"1.2: {LINE}", {"1.2": hunts["anna"][0]}, {})


def test_an_answer_that_could_not_be_sent_when_graded_is_named_at_home():
    text = "import numpy\ndef findings(hunts, student='anna'):\n    return {'1.2': {'input': [numpy.ones(3)]}}\n"
    submission = InProcessSubmission(SOURCES | {"hunts": ("hunts.py", text)}, replace(ASSIGNMENT, phase=1))
    words = "your findings: ['1.2']['input'][0]: an object of type numpy.ndarray;"
    with pytest.raises(CheckFailed, match=re.escape(words)):
        check_at_home(submission, TASK, f"1.3: {LINE}", replace(ASSIGNMENT, phase=1))
    submission.close()


def test_who_has_left_the_name_out_reads_so(hunts):
    hunt = replace(hunts["anna"][0], student="your name")
    with pytest.raises(CheckFailed, match="the hunt of nobody, since `findings` lacks your name, in 1.2: the line"):
        hunt.check(LINE, solution(hunt) | {"line": 0})


def test_boxes_answer_with_lists_and_differ_from_the_own_code(hunts):
    [hunt] = [hunt for hunt in hunts["anna"] if hunt.number == "1.4"]
    box, right = (open_box("1.4", "anna", SOURCES, ASSIGNMENT, kind) for kind in ("box", "right"))
    assert not torch.allclose(box(*hunt.scene.inputs), right(*hunt.scene.inputs))
    assert box([[[1, 3, 1, 3, 1, 3, 1, 3]]]).shape == (1, 1, 8)


@pytest.mark.parametrize(
    "changes, name, message",
    [
        ({}, " ", "whose hunts?"),
        ({"attention": "def scaled_dot_product_attention(:\n"}, "anna", "pass the tests of 1.2 first"),
        ({"attention": (SKELETON / "attention.py").read_text(encoding="utf-8")}, "anna", "pass the tests of 1.2 first"),
    ],
)
def test_what_is_missing_for_all_hunts_is_one_line(changes, name, message):
    changes = changes and changes | {"layers": "class LayerNorm: pass\n"}
    sources = {**SOURCES, **{module: (f"{module}.py", text) for module, text in changes.items()}}
    with pytest.raises(UserError, match=re.escape(message)) as error:
        tell_hunts(name, sources, ASSIGNMENT)
    assert "\n" not in str(error.value)


def test_hunts_come_with_the_tests_that_they_need():
    told = tell_hunts("anna", SOURCES, replace(ASSIGNMENT, phase=1))
    assert "Handed out later, with the tests of these tasks: the hunts in 1.2, 1.4." in told
    assert 'box("1.3", "anna")' in told and 'box("1.2"' not in told


def test_on_paper_a_change_shows_in_several_calls_and_the_learned_numbers_are_random(hunts, monkeypatch):
    """Not only in a fresh layer, say, of which the sheet could tell next to nothing."""
    [norm] = [hunt.versions for hunt in hunts["anna"] if hunt.number == "1.4"]
    *others, fresh = norm.results()[0]
    first, second = norm.changes[:2]
    quiet = [(first, [], {fresh}), (second, [], {*others})]
    monkeypatch.setattr("autograder.own_work.hunts.quiet_changes", lambda *arguments: quiet)
    question = hunt_question(norm, random.Random(0))
    assert f"It was `{second.before}`" in question.why[0] and question.text[0].endswith(f"the same for {fresh}.")
    assert "does not name, learned ones too, are random, and the same before and after" in question.text[0]


def test_in_a_notebook_nothing_is_promised_for_what_is_handed_out_later():
    result, text = run_task(TASK, SOURCES, 1, replace(ASSIGNMENT, phase=1), in_module)
    assert result.score == 0
    assert text.partition("\n")[0].endswith(" tests pass, the other hunts are handed out later")
    task = ASSIGNMENT.tasks[1]
    text = as_text(judge_task(task, [], "items"), SimpleNamespace(compared={}), "", 1)
    assert text.startswith(f"{task.number} {task.title}\n\nits tests are not here: they are handed out later")


def test_the_name_is_read_and_not_run():
    text = "def findings(hunts, student=print('run')):\n    return {}\n"
    for no_name in ("print('run')", "'\\ud800anna'", "' '"):
        with pytest.raises(NotImplementedError, match="your name"):
            student_of("hunts.findings", {"hunts": ("hunts.py", text.replace("print('run')", no_name))})
    assert student_of("hunts.findings", {"hunts": ("hunts.py", text.replace("print('run')", '"anna"'))}) == "anna"


def test_a_component_is_hunted_and_asked_about_in_the_file_that_has_it(hunts):
    """The same text is drawn alike, wherever it stands, and the given file is not taken for it."""
    text = SOURCES["layers"][1].replace("from .", "from ..") + "\n\nNorm = LayerNorm\n"
    moved = {"parts": ("parts/__init__.py", "from .core import *\n"), "parts.core": ("parts/core.py", text)}
    given = (SKELETON / "layers.py").read_text(encoding="utf-8")
    moved["layers"] = ("layers.py", f"{given}\nfrom .parts.core import *\nfrom .parts import Norm as LayerNorm\n")
    sources = SOURCES | moved
    [other] = [hunt for hunt in hunts["anna"] if hunt.number == "1.4"]
    hunt = hunt_at_home("1.4", "anna", sources, ASSIGNMENT)
    assert hunt.versions.place == "parts.core.LayerNorm"
    assert hunt.content["changed"] == other.content["changed"]
    hunt.check(LINE, solution(other))
    box, right = (open_box("1.4", "anna", sources, ASSIGNMENT, kind) for kind in ("box", "right"))
    assert not torch.allclose(box(*hunt.scene.inputs), right(*hunt.scene.inputs))
    assert tell("1.4", sources, ASSIGNMENT) == tell("1.4", SOURCES, ASSIGNMENT)


def test_a_component_without_a_definition_costs_its_own_hunt_alone():
    text = SOURCES["layers"][1].replace("class LayerNorm(", "class Norm(") + "\n\nLayerNorm = Norm and Norm\n"
    sources = SOURCES | {"layers": ("layers.py", text)}
    told = tell_hunts("anna", sources, ASSIGNMENT)
    assert "Missing: LayerNorm is not defined in layers.py, as hunts need it: write `class` or `def` there" in told
    assert 'box("1.3", "anna")' in told and 'box("1.4"' not in told


FAULT = ("attention", "split_heads(self.project_key(key))", "split_heads(self.project_key(query))")


@pytest.mark.slow
def test_grading_draws_what_home_draws_and_judges_each_answer_by_itself(tmp_path, grader):
    """The gates of a release see that the reference finds all of its hunts."""
    home = hunt_at_home("1.2", "anna", SOURCES, ASSIGNMENT)
    answer = f"return {{'1.2': {solution(home) | {'input': []}}}}"
    changes = [FAULT, ("hunts", "    answers = {}\n", f"    {answer}\n"), ("hunts", '"your name"', '"anna"')]
    folder = write_submission(tmp_path / "anna", *changes, modules=("attention", "hunts"))
    result = graded.judge_own_work(take_in(folder, SKELETON, ASSIGNMENT), TASK, grader, {}, 0)
    told = {end.item: end.message for end in result.outcomes}
    assert [end.item for end in result.outcomes if end.state is State.PASSED] == [f"1.2: {LINE}"]
    assert "expected: a list of" in told[f"1.2: {THE_INPUT}"] and "pass the tests of 1.3 first" in told[f"1.3: {LINE}"]
    assert "LayerNorm was not handed in" in told[f"1.4: {LINE}"]


def test_hunts_without_answers_are_not_drawn_for_it_takes_longer_than_all_else(tmp_path, grader, monkeypatch):
    monkeypatch.setattr(graded, "draw_hunt", lambda *given: pytest.fail("drawn"))
    folder = write_submission(tmp_path / "anna", modules=("attention", "layers"))
    shutil.copy(SKELETON / "hunts.py", folder)
    result = graded.judge_own_work(take_in(folder, SKELETON, ASSIGNMENT), TASK, grader, {}, 0)
    assert result.state is State.NOT_ATTEMPTED


@pytest.mark.slow
def test_who_ends_the_process_that_is_asked_for_answers_gets_one_line(tmp_path, grader):
    end = ("hunts", "    return answers\n", "    import os\n    os._exit(0)\n")
    folder = write_submission(tmp_path / "anna", end, modules=("hunts",))
    result = graded.judge_own_work(take_in(folder, SKELETON, ASSIGNMENT), TASK, grader, {}, 0)
    assert result.score == 0 and result.message.startswith("hunts.py: ") and "\n" not in result.message


def test_an_answer_about_the_trained_model_gets_a_reply():
    description, right = draw_model("anna", ASSIGNMENT)
    assert "trained with one of these mistakes" in description
    for letter in "ABCD":
        reply = tell_hunts("anna", SOURCES, ASSIGNMENT, letter.lower())
        assert (f"{letter} is right" in reply) == (letter == right)
    with pytest.raises(UserError, match="expected one of A, B, C, D"):
        tell_hunts("anna", SOURCES, ASSIGNMENT, "E")


def test_no_figure_fits_two_mistakes_alike():
    """With these three BLEU is about 0.5, and nothing changes with the batch: only an experiment can separate them."""
    mild = (
        "multiplied by the root of the vocabulary",
        "forbids a position to attend to itself",
        "only as many keys as",
    )
    for student in range(60):
        description, right = draw_model(str(student), ASSIGNMENT)
        options = dict(re.findall(r"^([ABCD]): (.+)$", description, re.MULTILINE))
        found = {letter for letter, option in options.items() if any(words in option for words in mild)}
        assert right not in found or found == {right}


def test_a_line_that_does_nothing_is_no_hunt():
    lines = ("pass", "x = x", "x = y", "x = x.detach()")
    stub = SimpleNamespace(
        changes=[Change(n, "x = f(x)", line, line, "") for n, line in enumerate(lines)],
        differing=lambda text: {"a call"},
        keeps_shapes=lambda text: True,
        judge=lambda text: [Outcome("test", state, "") for state in (State.FAILED, State.PASSED)],
    )
    found = {change.after for change, *_ in quiet_changes(stub, random.Random(0))}
    assert found == {"x = y", "x = x.detach()"}


def test_code_is_replaced_in_its_place_alone():
    text = "é = 'ß'; y = f(x,\n  2)  # why\nz = 1"
    [_, statement, _] = ast.parse(text).body
    assert with_code(text, statement, "y = 0") == "é = 'ß'; y = 0  # why\nz = 1"
    assert with_code(text, statement, "y = (") is None
