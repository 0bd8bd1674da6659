"""One submission, from its folder to its points."""

from dataclasses import replace

import pytest

from autograder.assignment import read_assignment
from autograder.grading import Record, grade_translations
from autograder.intake import Intake
from autograder.report import as_results, as_table

from .conftest import REFERENCE, SKELETON

PERFECT = "".join(f"the cat number {i} sleeps on the mat .\n" for i in range(4))


def points(record):
    return {result.task.number: result.score for result in record.results}


def states(record):
    return {result.task.number: result.state for result in record.results}


FULL = {task.number: task.points for task in read_assignment().tasks if task.judges}


def test_the_reference_earns_every_point(grade_folder, copy_reference):
    folder = copy_reference()
    (folder / "translations.txt").write_text(PERFECT)
    record = grade_folder(folder)
    assert set(states(record).values()) == {"passed"}
    assert record.score == record.assignment.max_score == 100
    assert record.bleu.bleu == pytest.approx(1)


def test_the_skeleton_earns_nothing_and_says_what_to_do(grade_folder):
    record = grade_folder(SKELETON)
    assert record.score == 0
    for result in record.results:
        if result.task.judges and not result.task.extension:
            assert result.state == "not attempted"
            assert result.message.startswith(f"TODO {result.task.number}: ")
            assert "\n" not in result.message


@pytest.mark.parametrize(
    "number, changes",
    [
        ("1.1", {"embedding": ("* math.sqrt(self.d_model)", "")}),
        ("1.2", {"attention": (" / math.sqrt(query.size(-1))", "")}),
        ("1.3", {"attention": ("split_heads(self.project_key(key))", "split_heads(self.project_key(query))")}),
        ("1.4", {"layers": ("torch.sqrt(variance + self.epsilon)", "(torch.sqrt(variance) + self.epsilon)")}),
        ("1.5", {"layers": ("torch.relu(self.expand(x))", "self.expand(x)")}),
        ("2.3", {"model": ("            x, weights = layer(x, mask)\n", "            _, weights = layer(x, mask)\n")}),
        ("3.1", {"train": ("        optimizer.zero_grad()\n", "")}),
    ],
)
def test_a_fault_costs_the_points_of_its_own_task_only(grade_folder, copy_reference, number, changes):
    record = grade_folder(copy_reference(changes))
    assert states(record)[number] in ("failed", "error")
    lost = {task for task, full in FULL.items() if points(record)[task] < full}
    assert lost == {number}


def test_a_module_with_a_syntax_error_costs_its_own_tasks_only(grade_folder, copy_reference):
    folder = copy_reference()
    (folder / "layers.py").write_text("def broken(:\n")
    record = grade_folder(folder)
    lost = {task for task, full in FULL.items() if full and points(record)[task] < full}
    assert lost == {"1.4", "1.5", "2.1", "2.2"}
    assert states(record)["1.4"] == "error"
    message = next(result.message for result in record.results if result.task.number == "1.4")
    assert "SyntaxError" in message and "layers.py" in message


def test_a_module_without_stand_ins_that_fails_costs_its_own_task_only(grade_folder, copy_reference):
    folder = copy_reference()
    (folder / "train.py").write_text("raise RuntimeError('oops')\n")
    record = grade_folder(folder)
    assert {task for task, full in FULL.items() if points(record)[task] < full} == {"3.1"}


def test_missing_files_are_taken_from_the_release(grade_folder, copy_reference):
    record = grade_folder(copy_reference(modules=("attention",)))
    earned = {task for task, got in points(record).items() if got}
    assert earned == {"1.2", "1.3"}


def test_an_endless_loop_is_stopped_and_the_rest_is_judged(grade_folder, copy_reference):
    changes = {
        "layers": (
            "        centred = x - x.mean",
            "        while True:\n            pass\n        centred = x - x.mean",
        )
    }
    assignment = read_assignment()
    assignment = replace(assignment, limits=replace(assignment.limits, call_seconds=1.0))
    record = grade_folder(copy_reference(changes), assignment=assignment)
    assert states(record)["1.4"] == "timeout"
    assert {task for task, full in FULL.items() if points(record)[task] < full} == {"1.4"}


def test_the_same_seed_gives_the_same_results(grade_folder, copy_reference):
    folder = copy_reference({"attention": ("scores.masked_fill(~mask, torch", "scores.masked_fill(mask, torch")})
    first, second = (as_results(grade_folder(folder, seed=11)) for _ in range(2))
    for result in (first, second):
        result.pop("execution_time")
    assert first == second


@pytest.mark.parametrize(
    "content, state, message",
    [
        (PERFECT, "passed", "BLEU 1.00 reaches"),
        ("nothing like it\n" * 4, "failed", ""),
        (PERFECT * 2, "error", "8 lines"),
        ("", "error", "empty"),
        (None, "not attempted", "no translations.txt"),
    ],
)
def test_translations(tmp_path, content, state, message):
    (tmp_path / "test.bpe").write_text("".join(f"a|||{line}\n" for line in PERFECT.splitlines()))
    intake = Intake("anna", {}, translations=None if content is None else content.encode())
    record = Record("anna", read_assignment(), [])
    results = grade_translations(intake, record.assignment, tmp_path / "test.bpe", record)
    assert [result.task.threshold for result in results] == ["beginner", "advanced"]
    for result in results:
        assert result.state == state
        assert result.score == (result.task.points if state == "passed" else 0)
        assert message in result.message


def test_results_have_gradescopes_shape_and_the_table_every_task(grade_folder):
    record = grade_folder(REFERENCE)
    results = as_results(record)
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 90
    tasks = {task.number: task for task in record.assignment.tasks}
    assert [test["number"] for test in results["tests"]] == list(tasks)
    for test in results["tests"]:
        task = tasks[test["number"]]
        assert test["max_score"] == task.points
        assert test["status"] in ("passed", "failed")
        assert test["tags"] == (list(task.judges) or ["BLEU"])
        assert isinstance(test["output"], str)
        assert task.title in as_table(record)
    assert record.sandbox and record.sandbox == results["extra_data"]["sandbox"]
