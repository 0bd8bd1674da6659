"""The rubric's weights fit what faults do to a model; the report's tables are made of what was trained."""

import json
import re

import pytest

from autograder.course.catalogue import faults_of
from autograder.intake.sources import read_sources
from benchmarks import trained
from benchmarks.__main__ import main
from benchmarks.rubric import (
    harms_of,
    marks_of,
    mean_difference,
    measured_faults,
    missing_in,
    panel_table,
    read_panel,
    tau_of,
)
from benchmarks.trained import verdict
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from reference.__main__ import main as train

from ..conftest import examples_in

EXAMPLES = examples_in("benchmarks/figures.toml")
LOST, LEFT, TRIVIAL, COSTS = (EXAMPLES[name] for name in ("lost", "left", "trivial", "costs"))

TASKS = ("1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "2.1", "2.2", "2.3", "2.4", "3.1")
EXCEPTIONS = {
    *("multi-head-query-changed-in-place", "feed-forward-in-place", "encoder-layer-dropout-rate-turned-round"),
    *("attention-weights-scaled", "embedding-renormalised", "layer-norm-running-mean"),
}
"""Faults whose marks do not fit what they do to a model; `docs/explanation/rubric.md` says why they stay so."""


@pytest.mark.slow
def test_marks_fit_what_faults_do_to_a_model(sampled):
    faults = {fault.id: fault for fault in measured_faults()}
    assert len(faults) == 137 and {*faults} > EXCEPTIONS and {fault.task for fault in faults.values()} == {*TASKS}
    harms = harms_of([faults[name] for name in {*sampled(faults, 34), *EXCEPTIONS}])
    assert {harm.mark.fault for harm in harms if not harm.fits} == EXCEPTIONS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_drawn", "count", "most", "least"),
    [(False, 20, 12, 0.7), pytest.param(True, 70, 12, 0.6, marks=pytest.mark.nightly)],
)
def test_marks_are_near_those_of_two_readers(is_drawn, count, most, least):
    rows = read_panel(is_drawn)
    assert len(rows) == count
    assert mean_difference(rows) <= most
    assert tau_of(rows) >= least
    assert is_drawn or panel_table(rows) in (ROOT / "docs" / "explanation" / "rubric.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_one_fault_has_one_price():
    tasks = {task.number: {item.name for item in task.items} for task in read_assignment().tasks}
    marks = marks_of([fault for fault in faults_of(read_assignment()) if fault.id in LOST | LEFT])
    assert {mark.fault: [*mark.lost] for mark in marks if mark.fault in LOST} == {name: [LOST[name]] for name in LOST}
    assert {mark.fault: tasks[mark.task] - {*mark.lost} for mark in marks if mark.fault in LEFT} == {
        name: {*items} for name, items in LEFT.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("number", TRIVIAL)
def test_code_that_does_something_else_earns_next_to_nothing(number):
    begins, other, earned = TRIVIAL[number].values()
    task = next(task for task in read_assignment().tasks if task.number == number)
    sources = read_sources(REFERENCE, SKELETON)
    [module] = [name for name, (_, text) in sources.items() if begins in text]
    path, text = sources[module]
    start = text.index(begins)
    text = text[:start] + other + text[text.index("### END SOLUTION", start) - 8 :]
    [missing] = missing_in({"other": (task, {**sources, module: (path, text)})}).values()
    assert {item.name for item in task.items} - {*missing} <= {*earned}


@pytest.mark.slow
def test_results_that_are_wrong_in_float32_alone_earn_next_to_nothing():
    sources = read_sources(REFERENCE, SKELETON)
    for module in ("embedding", "attention", "layers", "model"):
        path, text = sources[module]
        sources = {**sources, module: (path, text + EXAMPLES["zero_in_float32"])}
    tasks = {
        task.number: task
        for task in read_assignment().tasks
        if task.number in TASKS and task.number not in ("1.6", "3.1")
    }
    missing = missing_in({number: (task, sources) for number, task in tasks.items()})
    earned = {item.name for number, task in tasks.items() for item in task.items if item.name not in missing[number]}
    assert earned <= {"refuses other sizes"}


@pytest.mark.slow
def test_a_mistake_costs_no_item_that_it_has_nothing_to_do_with(sampled):
    chosen = sampled(COSTS, 4)
    marks = marks_of([fault for fault in faults_of(read_assignment()) if fault.id in chosen])
    found = {mark.fault: tuple(item for item in COSTS[mark.fault] if item in mark.lost) for mark in marks}
    assert found == {name: (COSTS[name][0],) for name in chosen}


# -- the report's tables --------------------------------------------------------------------------------


def test_the_reports_tables_are_made_of_finished_runs(tmp_path, capsys):
    files = [*(f"data/corpus/fren.{split}.bpe" for split in ("train", "dev")), "None"]
    for name, dev in (("defaults", 0.6), ("epochs-20", 0.7), ("n_heads-2", 0.5)):
        for seed in (0, 1):
            folder = tmp_path / "runs" / name / f"seed-{seed}"
            folder.mkdir(parents=True)
            result = {"dev": dev + seed / 50, "minutes": 2.0, "train": 0.8, "parameters": 12_345}
            (folder / "result.json").write_text(json.dumps({"files": files, "result": result}))
    assert main(["tables", "--tables", "1", "2", "--only", "epochs", "heads", "--show", "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    same = "12,345 | 2 | 0.800 ± 0.000"
    assert f"| 10 epochs | {same} | 0.610 ± 0.014 | 2.0 ± 0.0 | 0.43, 0.44 |" in lines, "the defaults"
    assert f"| 20 epochs | {same} | 0.710 ± 0.014 | 2.0 ± 0.0 | 0.52, 0.51 |" in lines
    assert "| 8 heads | – | not run | – | – | – | 0.47, 0.46 |" in lines and "### Table 2" in "\n".join(lines)
    assert (tmp_path / "tables.md").read_text().splitlines() == lines
    assert main(["tables", "--only", "no such column", "--show", "--output", str(tmp_path)]) == 2


@pytest.mark.slow
def test_a_small_table_is_trained(tmp_path, capsys, monkeypatch):
    """In this process, and for one epoch."""
    monkeypatch.setattr(trained, "run_python", lambda *words: train([*map(str, words[2:]), "--epochs", "1"]))
    pairs = tmp_path / "pairs"
    pairs.write_text("".join(f"je mange {n} .|||i eat {n} .\n" for n in range(8)))
    files = [flag for name in ("train", "dev", "test") for flag in (f"--{name}", str(pairs))]
    only = ["--tables", "3", "--only", "small, no mask", "--seeds", "1", "--output", str(tmp_path)]
    assert main(["tables", *only, *files]) == 0
    head, _, row = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert head.endswith("| the report: train, dev, test |")
    assert re.match(r"\| small, no mask \| \d\d\d,\d\d\d \| 1 \|( \d\.\d{3} \|){3} \d\.\d \| 0\.\d\d, ", row), row


@pytest.mark.parametrize(
    ("differences", "interval", "words"),
    [
        ([0.01, 0.03], "-0.107 to +0.147", "no effect"),
        ([0.02, 0.02], "+0.020 to +0.020", "helps"),
        ([-0.02, -0.03, -0.04], "-0.055 to -0.005", "harms"),
        ([0.02], "–", "one seed"),
    ],
)
def test_the_verdict_follows_students_interval(differences, interval, words):
    """By hand: 0.02 ± 12.706 · 0.01414 / √2, and -0.03 ± 4.303 · 0.01 / √3."""
    shown, conclusion = verdict(differences)
    assert shown == interval and conclusion.startswith(words)
