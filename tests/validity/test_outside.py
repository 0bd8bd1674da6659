"""The exam of public implementations: its descriptions, its verdicts, and what it says where something is missing."""

import ast
import re
import subprocess

import pytest

from autograder.course.catalogue import apply, faults_of
from autograder.running.in_process import InProcessSubmission
from autograder.testing.results import Outcome, State, judge_task
from foundation.command_line import UserError
from validity import outside
from validity.__main__ import main
from validity.outside import definitions_of, read_repositories

from ..conftest import examples_in

EXAMPLES = examples_in("validity/outside.toml")
FAULTS = EXAMPLES["faults"]


def test_forty_repositories_or_more_are_described_and_on_the_committed_page():
    repositories, page = read_repositories(outside.FOLDER), outside.PAGE.read_text(encoding="utf-8")
    assert len({one.name for one in repositories}) >= 40
    for one in repositories:
        assert re.fullmatch("[0-9a-f]{40}", one.commit) and one.files and ast.parse(one.adapter).body
        assert f"| {one.link} | {one.kind} | {one.licence} |" in page, one.id


@pytest.mark.parametrize("is_present", [True, False])
def test_whether_the_page_is_of_the_present_tests_is_printed(is_present, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(outside, "ROOT", tmp_path)
    monkeypatch.setattr(outside, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(outside, "tests_version", lambda: "0123456789abcdef")
    outside.PAGE.write_text(f"version {'0123456789abcdef' if is_present else 'f' * 16}")
    assert main(["outside"]) == 0
    assert ("older than" in capsys.readouterr().out) is not is_present


def test_a_script_keeps_its_definitions_and_what_can_be_imported():
    text = (
        "import einops\nimport torch\nfrom helpers import soft\nN = 3\nmodel = f(N)\nsize = model.n\n@torch.no_grad()\n"
    )
    text += "def f(x):\n    return x\nclass C:\n    pass\n"
    kept = definitions_of(text, {"helpers"}, ["C"]).split("\n")
    wanted = {2: "import torch", 3: "from helpers import soft", 4: "N = 3", 10: "class C:", 11: "    pass"}
    assert {number: line for number, line in enumerate(kept, 1) if line} == wanted  # lines stay where they are


@pytest.mark.parametrize("line, is_kept", EXAMPLES["imports"].items())
def test_a_script_keeps_imports_of_its_own_modules_and_packages(line, is_kept):
    assert definitions_of(line, {"tools", "a.soft", "tools.parts.hard"}, []) == line * is_kept


@pytest.mark.parametrize("text, message", [("name = 3\nlicence", "Expected '='"), ("name = 'a/b'", "missing")])
def test_a_description_that_cannot_be_read(tmp_path, text, message):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UserError, match=message):
        read_repositories(tmp_path)


@pytest.mark.slow
def test_what_is_missing_costs_its_row_alone(tmp_path, monkeypatch, capsys):
    clone, folder = tmp_path / "clones" / "some+norm", tmp_path / "described"
    clone.mkdir(parents=True)
    folder.mkdir()
    (clone / "my norm.py").write_text(EXAMPLES["theirs"])
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    for name, commit in (("some/norm", head), ("some/other", head), ("some/norm", "0" * 40)):
        (folder / f"{name[5:]}-{commit[:4]}.toml").write_text(EXAMPLES["description"].format(name=name, commit=commit))
    monkeypatch.setattr(outside, "FOLDER", folder)
    assert main(["outside", str(tmp_path / "clones"), "--output", str(tmp_path)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("norm-0000: not examined: fatal:") and "other+" not in told[0]
    assert told[1].startswith(f"norm-{head[:4]}: 7 items, 4 wrong and lost, 3 right and kept")
    assert "other: no such folder; clone https://" in told[2]
    assert "| mean and variance | variance over d - 1 | 1 | norm-" in (tmp_path / "outside.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, *FAULTS])
def test_verdicts_of_the_reference_and_of_faults(assignment, reference, name):
    known = [*faults_of(assignment), *faults_of(assignment, "conditional")]
    faults = [fault for fault in known if fault.id == name]
    submission = InProcessSubmission(apply(faults[0], reference) if faults else reference, assignment)
    for task in assignment.tasks:
        if task.number in [fault.task for fault in faults] or (not faults and task.number in outside.JUDGES):
            verdicts = outside.verdicts_of(task, submission)
            assert {*verdicts} <= {item.name for item in task.items}
            assert {item for item, problem in verdicts.items() if problem} == {*FAULTS.get(name, [])}, verdicts
    submission.close()


def test_a_person_counts_more_and_an_item_is_wrong_without_the_one_that_it_requires(assignment):
    task = next(task for task in assignment.tasks if task.number == "1.4")
    result = judge_task(task, [Outcome("a test", State.FAILED, item="gradients")], "items")
    verdicts = {item.name: "detached" * (item.name == "gradients") for item in task.items}
    rows = {row.item: row for row in outside.rows_of(result, verdicts, {"parameters": "wrong: by hand"})}
    assert rows["gradients"].reason == "detached" and rows["no side effects"].verdict == "right"
    assert (rows["parameters"].verdict, rows["parameters"].reason) == ("wrong", "by hand")
    assert rows["mean and variance"].reason == "counts only with: gradients"
    assert rows["epsilon"].reason == "counts only with: mean and variance"
    assert [row.item for row in rows.values() if row.is_disputed] == [
        name for name, row in rows.items() if (row.kit == "kept") != (row.verdict == "right")
    ]
