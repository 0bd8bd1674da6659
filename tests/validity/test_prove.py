"""The proof: it fails for a survivor, wrong blame, and rejected code that is correct."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.course.catalogue import Edit, Fault, apply, faults_of
from autograder.testing.results import Outcome, State
from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.places import ROOT
from validity import prove, run_tests
from validity.__main__ import main
from validity.prove import Proof, verdict_of
from validity.run_tests import Run, Version, run_versions
from validity.variants import Variant, choose_faults, read_variants

NORM, NETWORK = "layers.LayerNorm", "layers.FeedForward"
FAULTS = [
    ("probe-found", Edit("variance + self.epsilon", "variance * 2", NORM)),
    ("probe-harmless", Edit("x - x.mean(dim=-1", "x - x.mean(dim=x.dim() - 1", NORM)),
    ("probe-elsewhere", Edit("self.contract(", "-self.contract(", NETWORK)),
]


@pytest.mark.slow
def test_a_survivor_wrong_blame_and_a_rejection_are_told(tmp_path, capsys, monkeypatch, assignment, reference):
    faults = [Fault(name, NORM, "1.4", "does so", "Look there.", "subtle", (edit,)) for name, edit in FAULTS]
    monkeypatch.setattr(prove, "choose_faults", lambda *chosen: faults)
    tasks = tuple(task for task in assignment.tasks if task.number in ("1.4", "1.5"))
    monkeypatch.setattr(prove, "read_assignment", lambda path: replace(assignment, tasks=tasks))
    [no_relu] = (fault for fault in faults_of(assignment) if fault.id == "feed-forward-no-relu")
    variant = Variant("probe_no_relu", "No relu.", apply(no_relu, reference), (NETWORK,))
    monkeypatch.setattr(prove, "choose_variants", lambda *chosen: [variant])
    pages = tmp_path / "pages"
    assert main(["prove", "--fault", "probe", "--tests", "all", "--output", str(pages)]) == 1
    printed = capsys.readouterr().out
    costs = {row.split("`")[1]: row.split(" | ")[-1] for row in printed.splitlines() if row.startswith("| `probe-")}
    assert costs["probe-found"].startswith("1.4 (-") and "," not in costs["probe-found"]
    assert costs["probe-harmless"].startswith("SURVIVED") and "WRONG BLAME 1.5" in costs["probe-elsewhere"]
    assert "REJECTED probe_no_relu" in printed
    page = (pages / "README.md").read_text()
    assert "3 known faults" in page and "with 1 seed: 1 are found" in page and "2 cost points only" in page
    assert "wrongly rejected: 1" in page and "| `probe_no_relu` | No relu | `FeedForward` |" in page
    [row] = [line for line in page.splitlines() if line.startswith("| 1.4 | LayerNorm ")]
    assert row.replace("|", " ").split()[2:] == ["3", "1", "33%", "33%"], "faults, found, 1.4, 1.5"
    assert "| `probe-harmless` | does so | subtle | nothing |" in (pages / "faults.md").read_text()


@pytest.mark.slow
def test_no_seed_sees_what_a_submission_kept_of_another(assignment, reference):
    [fault] = (fault for fault in faults_of(assignment) if fault.id == "attention-keeps-first-weights")
    sources, markers = apply(fault, reference), ("task_1_2",)
    versions = [Version("alone", sources, (4,), markers), Version("after another", sources, (3, 4), markers)]
    alone, _, later = run_versions(versions, reference, assignment)
    assert [outcome.message for outcome in alone.all_outcomes] == [outcome.message for outcome in later.all_outcomes]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["prove", "--component", "layers.Nothing"], "nothing matches --component and --fault"),
        (["mutate", "--task", "9.9"], "no mutant matches"),
        (["same", "--text", "no such name"], "nothing matches --component and --text"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(capsys, arguments, message):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def run(*failed, seed=0):
    """A run in which one test each of these tasks does not pass."""
    numbers = ("1.4", "1.5", "2.1", "E.2")
    outcomes = {
        "task_" + number.replace(".", "_").lower(): [
            Outcome("test_a", State.FAILED if number in failed else State.PASSED),
            Outcome("test_b", State.PASSED),
        ]
        for number in numbers
    }
    return Run("fault one", seed, outcomes)


NORM_FAULT, LAYER_FAULT = (NORM, "1.4"), ("layers.EncoderLayer", "2.1")
PRE_NORM_FAULT = ("layers.EncoderLayer", "E.2")


@pytest.mark.parametrize(
    "place, runs, is_killed, wrongly",
    [
        (NORM_FAULT, [run("1.4"), run("1.4", seed=1)], True, []),
        (NORM_FAULT, [run("1.4"), run(seed=1)], False, []),
        (NORM_FAULT, [run("1.4", "1.5")], True, ["1.5"]),
        (LAYER_FAULT, [run("2.1", "E.2")], True, []),
        (PRE_NORM_FAULT, [run("2.1", "E.2")], True, ["2.1"]),
        (PRE_NORM_FAULT, [run("2.1")], False, ["2.1"]),
    ],
)
def test_verdicts(assignment, place, runs, is_killed, wrongly):
    verdict = verdict_of(Fault("one", *place, "it is so", "Look.", "subtle"), runs, assignment)
    assert verdict.is_killed is is_killed
    assert verdict.wrongly_blamed == wrongly
    assert verdict.is_good is (is_killed and not wrongly)
    assert Proof(assignment, [verdict], []).holds is verdict.is_good
    verdict.grader_errors = ["test_a: broke"]
    assert not Proof(assignment, [verdict], []).holds
    assert not Proof(assignment, [], [], wrong={"variant": ["seed 0, test_a: failed"]}).holds


def test_there_are_variants_of_every_component(reference, assignment):
    variants = read_variants(assignment, reference)
    assert all(variant.difference for variant in variants)
    changed = {component for variant in variants for component in variant.components}
    assert changed >= {
        component for task in assignment.tasks if not task.understanding for component in task.components
    }


@pytest.mark.parametrize(
    "path, text, message",
    [
        ("layer.py", "x = 1", "layer is not a module of the contract"),
        ("layers.py", "x = 1", "defines none of the contract's components"),
        ("layers.py", "def x(:", "layers.py:3: "),
    ],
)
def test_a_variant_that_is_none_is_an_error(tmp_path, monkeypatch, reference, assignment, path, text, message):
    monkeypatch.setattr(Assignment, "folder", tmp_path)
    folder = tmp_path / "proof" / "variants"
    folder.mkdir(parents=True)
    (folder / path).write_text(f"# %% a\n# What it is.\n{text}\n")
    with pytest.raises(UserError) as error:
        read_variants(assignment, reference)
    assert message in str(error.value)


def test_the_files_in_which_a_submission_is_called_are_there():
    folders = [ROOT / "assignment", ROOT / "autograder", Path(torch.__file__).parents[1]]
    assert [name for name in run_tests.CALLS if not any((folder / name).is_file() for folder in folders)] == []


def test_an_exception_of_the_engine_finds_no_fault(reference, assignment, monkeypatch):
    """It is reported, and the fault counts as missed."""
    run = run_tests.Recorder.run

    def break_off(recorder, version):
        if version.name == "probe":
            raise RuntimeError("ours")
        return run(recorder, version)

    monkeypatch.setattr(run_tests.Recorder, "run", break_off)
    runs = run_versions([Version("probe", reference, [0], ("task_1_4",))], reference, assignment)
    fault = next(fault for fault in faults_of(assignment) if fault.task == "1.4")
    verdict = verdict_of(fault, runs, assignment)
    assert (verdict.is_killed, verdict.lost, verdict.killers) == (False, {}, [])
    assert verdict.grader_errors == ["all tests: the tests' process was lost: RuntimeError: ours"]
    assert not verdict.is_good


@pytest.mark.slow  # a new fault need not wait for `make proof`
def test_the_committed_pages_are_of_this_catalogue(assignment, reference):
    docs = ROOT / "docs" / "proof"
    listed = [line.split("`")[1] for line in (docs / "faults.md").read_text().splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted(fault.id for fault in choose_faults(assignment)), "make proof"
    page = (docs / "README.md").read_text()
    assert all(f"| `{variant.name}` |" in page for variant in read_variants(assignment, reference)), "make proof"
    assert "wrongly rejected: 0" in page
