"""The proofs: they fail for a survivor, wrong blame, and rejected code that is correct; other layouts."""

from pathlib import Path

import pytest
import torch

from autograder.course.catalogue import Fault, read_catalogue
from autograder.testing.results import Outcome, State
from foundation.places import ASSIGNMENT, REFERENCE, ROOT
from validity import run_tests
from validity.__main__ import main
from validity.prove import verdict_of
from validity.report import Proof, write_pages
from validity.run_tests import Run, Version, run_versions
from validity.variants import Variant, VariantError, choose_faults, read_cells, read_variants, splice

CATALOGUE = """
component = "{component}"
task = "{task}"
[[fault]]
id = "{id}"
when = "does so"
hint = "Look there."
severity = "subtle"
find = "{find}"
replace = "{replace}"
within = "{within}"
"""
NORM = {"component": "layers.LayerNorm", "task": "1.4", "within": "layers.LayerNorm"}
FAULTS = {
    "probe-found": {**NORM, "find": "variance + self.epsilon", "replace": "variance * 2"},
    "probe-harmless": {**NORM, "find": "x - x.mean(dim=-1", "replace": "x - x.mean(dim=x.dim() - 1"},
    "probe-elsewhere": {**NORM, "find": "self.contract(", "replace": "-self.contract(", "within": "layers.FeedForward"},
}
NO_RELU = """
# %% probe_no_relu
# Without the nonlinearity.
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.first, self.second = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.second(self.first(x))
"""


@pytest.mark.slow
def test_a_survivor_wrong_blame_and_a_rejection_are_told(tmp_path, capsys):
    for kind in ("catalogue", "variants"):
        (tmp_path / kind).mkdir()
    for name, fault in FAULTS.items():
        (tmp_path / "catalogue" / f"{name}.toml").write_text(CATALOGUE.format(id=name, **fault))
    (tmp_path / "variants" / "layers.py").write_text(NO_RELU)
    arguments = ["--catalogue", str(tmp_path / "catalogue"), "--variants", str(tmp_path / "variants")]
    pages = tmp_path / "pages"
    assert main(["prove", *arguments, "--fault", "probe", "--tests", "all", "--output", str(pages)]) == 1
    said = capsys.readouterr().out
    costs = {row.split("`")[1]: row.split(" | ")[-1] for row in said.splitlines() if row.startswith("| `probe-")}
    assert costs["probe-found"].startswith("1.4 (-") and "," not in costs["probe-found"]
    assert costs["probe-harmless"].startswith("SURVIVED") and "WRONG BLAME 1.5" in costs["probe-elsewhere"]
    assert "REJECTED probe_no_relu" in said
    page = (pages / "README.md").read_text()
    assert "3 known faults" in page and "wrongly rejected: 1" in page and "`probe_no_relu`" in page
    [row] = [line for line in page.splitlines() if line.startswith("| LayerNorm ")]
    assert row.replace("|", " ").split() == ["LayerNorm", "3", "1", "33%", "33%"], "faults, found, 1.4, 1.5"
    assert "| `probe-harmless` | does so | subtle | nothing |" in (pages / "faults.md").read_text()


@pytest.mark.parametrize("flaw", [None, "survivor", "wrong blame", "broken test", "rejection"])
def test_each_flaw_alone_fails_the_proof(assignment, flaw):
    failed = {"survivor": [], "wrong blame": ["1.4", "1.5"]}.get(flaw, ["1.4"])
    verdict = verdict_of(fault(), [run(failed=failed)], assignment)
    verdict.grader_errors = ["test_a: broke"] if flaw == "broken test" else []
    wrong = {"variant": ["seed 0, test_a: failed"]} if flaw == "rejection" else {}
    assert Proof(assignment, [verdict], [], wrong=wrong).holds is (flaw is None)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["prove", "--component", "layers.Nothing"], "nothing matches --component and --fault"),
        (["prove", "--catalogue", "{tmp}"], "no faults"),
        (["mutate", "--task", "9.9"], "no mutant matches"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(tmp_path, capsys, arguments, message):
    assert main([argument.format(tmp=tmp_path) for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def fault(component="layers.LayerNorm", task="1.4"):
    return Fault("one", component, task, "it is so", "Look.", "subtle", (), "layer_norm.toml")


def run(seed=0, failed=(), state="failed"):
    """A run in which one test each of these tasks does not pass."""
    numbers = ("1.4", "1.5", "2.1", "E.2")
    outcomes = {
        "task_" + number.replace(".", "_").lower(): [
            Outcome("test_a", State(state) if number in failed else State.PASSED),
            Outcome("test_b", State.PASSED),
        ]
        for number in numbers
    }
    return Run("fault one", seed, outcomes)


@pytest.mark.parametrize(
    "of, runs, is_killed, wrongly",
    [
        (fault(), [run(failed=["1.4"]), run(1, failed=["1.4"])], True, []),
        (fault(), [run(failed=["1.4"]), run(1)], False, []),
        (fault(), [run(failed=["1.4", "1.5"])], True, ["1.5"]),
        (fault("layers.EncoderLayer", "2.1"), [run(failed=["2.1", "E.2"])], True, []),
        (fault("layers.EncoderLayer", "E.2"), [run(failed=["2.1", "E.2"])], True, ["2.1"]),
        (fault("layers.EncoderLayer", "E.2"), [run(failed=["2.1"])], False, ["2.1"]),
    ],
)
def test_verdicts(assignment, of, runs, is_killed, wrongly):
    verdict = verdict_of(of, runs, assignment)
    assert verdict.is_killed is is_killed
    assert verdict.wrongly_blamed == wrongly
    assert verdict.is_good is (is_killed and not wrongly)


def test_there_are_variants_of_every_component(reference, assignment):
    variants = read_variants(ASSIGNMENT / "proof" / "variants", reference, assignment.contract)
    assert len(variants) >= 40
    assert all(variant.difference for variant in variants)
    changed = {component for variant in variants if not variant.is_same_code for component in variant.components}
    assert changed >= {
        component for task in assignment.tasks if not task.understanding for component in task.components
    }


@pytest.mark.parametrize(
    "path, text, message",
    [
        ("layer.py", "x = 1", "layer is not a module of the contract"),
        ("layers.py", "x = 1", "defines none of the contract's components"),
        ("layers_norm.py", "def x(:", "layers_norm.py:3: "),
    ],
)
def test_a_variant_that_is_none_is_an_error(tmp_path, reference, assignment, path, text, message):
    (tmp_path / path).write_text(f"# %% a\n# What it is.\n{text}\n")
    with pytest.raises(VariantError) as error:
        read_variants(tmp_path, reference, assignment.contract)
    assert message in str(error.value)


def test_the_files_in_which_a_submission_is_called_are_there():
    folders = [ROOT / "assignment", ROOT / "autograder", Path(torch.__file__).parents[1]]
    assert [name for name in run_tests.CALLS if not any((folder / name).is_file() for folder in folders)] == []


def test_an_exception_of_the_engine_finds_no_fault(reference, assignment, monkeypatch):
    """It is reported, and the fault counts as missed."""
    run_here = run_tests.run_here

    def break_off(recorder, version):
        if version.name == "probe":
            raise RuntimeError("ours")
        return run_here(recorder, version)

    monkeypatch.setattr(run_tests, "run_here", break_off)
    runs = run_versions([Version("probe", reference, [0], ("task_1_4",))], reference, assignment)
    fault = next(fault for fault in read_catalogue() if fault.task == "1.4")
    verdict = verdict_of(fault, runs, assignment)
    assert (verdict.is_killed, verdict.lost, verdict.killers) == (False, {}, [])
    assert verdict.grader_errors == ["all tests: the tests' process was lost: RuntimeError: ours"]
    assert not verdict.is_good


def test_a_page_has_a_row_for_each_variant(assignment, tmp_path):
    write_pages(Proof(assignment, [], [Variant("turned", "Keys first.", {}, ("layers.LayerNorm",))]), tmp_path)
    assert "| `turned` | Keys first | `LayerNorm` |\n" in (tmp_path / "README.md").read_text()


@pytest.mark.slow  # a new fault need not wait for `make proof`
def test_the_committed_pages_are_of_this_catalogue(assignment, reference):
    docs = REFERENCE.parent / "docs" / "proof"
    listed = [line.split("`")[1] for line in (docs / "faults.md").read_text().splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted(fault.id for fault in choose_faults(assignment)), "make proof"
    proof = (docs / "README.md").read_text()
    variants = read_variants(ASSIGNMENT / "proof" / "variants", reference, assignment.contract)
    assert all(f"| `{variant.name}` |" in proof for variant in variants), "make proof"
    assert "wrongly rejected: 0" in proof


IN_OTHER_LAYOUTS = {
    ("inline_attention", "2.1"): {
        "query as key": ("(q, k, v, mask)", "(q, q, v, mask)"),
        "heads not joined in order": ("context.transpose(1, 2).flatten(2)", "context.reshape(y.shape)"),
    },
    ("decoder_all_inline", "2.2"): {
        "no scale": (" / math.sqrt(q.size(-1))", ""),
        "no first residual": ("x = x + self.dropout(out)", "x = self.dropout(out) + (x if number else 0)"),
        "one gain for all": ("self.gains[number]", "self.gains[0]"),
        "masks swapped": ("(self.own, y, y, tgt_mask)", "(self.own, y, y, None)"),
        "no question to the source": ("(self.cross, y, memory, src_mask)", "(self.cross, y, y, None)"),
        "no relu": (".relu()", ""),
    },
}


@pytest.mark.slow
def test_a_fault_costs_points_in_any_layout(reference, assignment):
    markers = {task.number: task.marker for task in assignment.tasks}
    cells = {c.name: c for path in (ASSIGNMENT / "proof" / "variants").glob("*.py") for c in read_cells(path)}
    versions = []
    for (name, task), faults in IN_OTHER_LAYOUTS.items():
        for what, (old, new) in faults.items():
            cell = cells[name]
            assert old in cell.text, f"{name}: {old}"
            spliced, _ = splice(reference[cell.module][1], cell.text.replace(old, new), cell.path)
            sources = {**reference, cell.module: (f"{cell.module}.py", spliced)}
            versions.append(Version(f"{name}, {what}", sources, [0], (markers[task],), until_failure=True))
    runs = [*run_versions(versions, reference, assignment)]
    # A person reads what no test can read.
    states = {run.version: {one.state for some in run.outcomes.values() for one in some} for run in runs}
    missed = [version for version, ends in states.items() if ends == {State.PASSED}]
    assert len(runs) == len(versions) and not missed
