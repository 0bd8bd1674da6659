"""The catalogue of misconceptions: sound data, patches that apply, hints that lead and tell nothing."""

from dataclasses import replace

import pytest

from autograder.course.catalogue import apply, faults_of, is_left_out
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE
from release.leaks import LeakFinder
from release.skeleton import make_skeleton, read_folder

from ..conftest import examples_in


@pytest.fixture(scope="module")
def faults(assignment):
    return faults_of(assignment)


def test_every_component_has_faults_of_every_kind(faults, assignment):
    assert len(faults) >= 150
    assert len({fault.id for fault in faults}) == len(faults)
    for task in assignment.tasks:
        for component in () if task.understanding else task.components:
            assert any(fault.component == component and fault.task == task.number for fault in faults), component
    assert {fault.severity for fault in faults} == {"blatant", "subtle", "edge"}


def test_every_patch_applies_and_no_two_are_the_same(faults, reference):
    patched = {}
    for fault in faults:
        sources = apply(fault, reference)
        changed = tuple(sorted((name, text) for name, (_, text) in sources.items() if text != reference[name][1]))
        assert changed, f"{fault.id} changes nothing"
        assert changed not in patched, f"{fault.id} is the same as {patched.get(changed)}"
        patched[changed] = fault.id


def test_descriptions_complete_the_sentence_and_hints_are_sentences_without_a_solution(faults, assignment):
    """What faulty code does follows "Your code behaves exactly like code that …": a verb in the third person."""
    finder = LeakFinder(make_skeleton(read_folder(REFERENCE), assignment))
    for fault in faults:
        verb = fault.when.removeprefix("always ").removeprefix("never ").split()[0]
        assert verb == "cannot" or (verb[-1] == "s" and verb.islower()), f"{fault.id}: code that {fault.when}"
        assert not fault.when.endswith((".", "?")), fault.id
        assert fault.hint[-1] in ".?", fault.id
        for code in (edit.find.strip(" ,\n") for edit in fault.edits):
            assert code.isidentifier() or code not in fault.hint, fault.id
    page = "\n\n".join(f"{fault.when}\n{fault.hint}" for fault in faults)
    assert finder.leaks_in("hints.md", page.encode()) == []


EXAMPLES = examples_in("course/mistakes.toml")


@pytest.mark.parametrize("case", EXAMPLES["mistakes"], ids=lambda case: case["message"])
def test_mistakes_say_where_they_are(tmp_path, reference, case):
    text = EXAMPLES["text"]
    text = text.replace(case["old"], case["new"]) if "old" in case else text + case["more"]
    for name in ("misconceptions", "tests"):
        (tmp_path / name).mkdir()
    (tmp_path / "misconceptions" / "layer_norm.toml").write_text(text)
    with pytest.raises(UserError, match="layer_norm.toml") as error:
        apply(*faults_of(replace(read_assignment(), path=tmp_path / "assignment.toml")), reference)
    assert case["message"] in str(error.value) and "\n" not in str(error.value)


def test_grading_with_fewer_tasks_skips_the_others_faults(assignment):
    """An instructor leaves a task out; the catalogue keeps its faults."""
    fewer = replace(assignment, tasks=tuple(task for task in assignment.tasks if task.number != "1.4"))
    kept = faults_of(fewer)
    assert kept == [fault for fault in faults_of(assignment) if fault.task != "1.4"]
    assert 0 < len(kept) < len(faults_of(assignment))
    mistyped = "1.41", "1_3", "e.1"
    assert not any(is_left_out(number, fewer) for number in mistyped)
