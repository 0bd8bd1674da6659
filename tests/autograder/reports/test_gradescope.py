"""Gradescope: the results that it gets back, and the archive in a container like its own.

The container is made with bubblewrap: its folders, and no bubblewrap in it that could make namespaces.
"""

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.grading.record import new_record
from autograder.grading.scoring import score
from autograder.reports.gradescope import as_markdown, as_results, main
from autograder.testing.results import State, TaskResult
from foundation.places import ROOT
from release.build import Project, make_package
from release.contents import collect_gradescope
from release.gates import write_all

from ..conftest import ASSIGNMENT, MODEL, examples_in, judged

LINES = ["the cat sleeps on the mat ."]


@pytest.mark.parametrize("message", ["plain", "```\n<b>", "a\n`````x``\n*", "`"])
def test_a_message_cannot_leave_its_fence(message: str) -> None:
    head, blank, opening, *inside, closing = as_markdown("failed", message).split("\n")
    assert (head, blank) == ("**failed**", "") and opening == closing + "text" and set(closing) == {"`"}
    assert "\n".join(inside) == message and len(closing) >= 3 and closing not in message


def test_results_are_complete() -> None:
    record = new_record("anna", ASSIGNMENT, "0" * 16).judged(judged({"1.1": State.FAILED}))
    results = as_results(record)
    failed, passed = results["tests"][:2]
    assert failed["output"] == "**failed**\n\n```text\nwhy\n```" and (failed["score"], passed["score"]) == (0, 14)
    assert {(test["output_format"], test["visibility"]) for test in results["tests"]} == {("md", "visible")}
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 96
    results = as_results(record.judged(judged({"E.5": State.NOT_ATTEMPTED, "3.1": State.NOT_ATTEMPTED})))
    left_out = {test["number"]: test.get("status") for test in results["tests"]}
    assert (left_out["E.5"], left_out["3.1"]) == (None, "failed"), "an extension that was skipped has not failed"
    outputs = {test["number"]: test["output"] for test in results["tests"]}
    assert outputs["E.5"] == "**not attempted**\n\n```text\nwhy\n```", "it is read, and nothing was handed in"
    results = as_results(record.judged(judged({"E.9": State.NOT_ATTEMPTED})))
    assert results["tests"][-1]["output"] == "**marked by hand, in class**", "whatever its message"


def test_a_failure_of_ours_is_no_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path)]) == 1  # there is no submission
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert "has not been graded" in results["output"] and "score" not in results and "tests" not in results
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("hidden, tells_bleu", [("1.4", True), ("4.1", False), ("", True)])
def test_nothing_tells_what_hidden_parts_have_earned(hidden, tells_bleu) -> None:
    """Where parts are hidden on Gradescope, nothing else that a student sees reveals it."""
    tasks = [replace(task, visibility="hidden" if task.number == hidden else "visible") for task in ASSIGNMENT.tasks]
    record = new_record("anna", ASSIGNMENT, "0" * 16).judged(bleu=score(LINES, LINES))
    shown = as_results(record.judged(TaskResult(task, State.PASSED, task.points, "") for task in tasks))
    assert bool(shown["leaderboard"]) == tells_bleu


LEVEL = "seccomp+uid+landlock" if os.geteuid() == 0 else "seccomp+landlock"  # a container lets bubblewrap do nothing
OWN = ("proc", "dev", "sys", "tmp", "autograder")
PACKAGES = str(Path(sysconfig.get_path("purelib")).resolve())


def in_container(folder: Path, *command: str) -> tuple[int, str]:
    """Runs a command where `/autograder` is a folder of ours, and all else this machine's; its status and output."""
    wrapped = ["bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
    for path in sorted({*Path("/").iterdir()} - {Path("/", name) for name in OWN}):
        link = path.is_symlink()
        wrapped += ["--symlink", str(path.readlink()), str(path)] if link else ["--ro-bind", str(path), str(path)]
    wrapped += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", str(folder), "/autograder"]
    wrapped += ["--ro-bind", PACKAGES, PACKAGES]  # which may lie in /tmp
    wrapped += ["--ro-bind", "/dev/null", str(shutil.which("bwrap"))]  # as in Docker, it makes no namespaces
    done = subprocess.run([*wrapped, *command], capture_output=True, text=True, timeout=540)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An image of the release's own archive, as `setup.sh` makes it, but with the packages of this Python."""
    source = tmp_path / "source"
    project = Project(ROOT, os.environ.get("TORCH_INDEX", ""))
    write_all(collect_gradescope(project, make_package(project).skeleton), source)
    for path in (source, *source.rglob("*")):
        path.chmod(0o700)
    for name in ("submission", "results"):
        (tmp_path / name).mkdir()
    venv.create(tmp_path / "venv", symlinks=True)
    [packages] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "installed.pth").write_text(f"{PACKAGES}\n")
    program = tmp_path / "run_autograder"  # Gradescope puts it there, and makes it executable
    program.write_bytes((source / "run_autograder").read_bytes())
    program.chmod(0o755)
    return tmp_path


@pytest.mark.slow
@pytest.mark.hostile
def test_an_attack_costs_its_own_tasks_finds_nothing_and_leaves_the_rest_its_marks(folder) -> None:
    files = {f"{name}.py": (ROOT / "reference" / f"{name}.py").read_text() for name in MODEL}
    private = folder / "source" / "data" / "private"
    references = (private / "fren.test.bpe").read_text().splitlines()
    translations = "".join(line.split("|||")[1].strip() + "\n" for line in references)
    attack = examples_in("reports/gradescope.toml")["attack"]
    for name, text in {**files, "layers.py": attack, "translations.txt": translations}.items():
        (folder / "submission" / name).write_text(text)
    status, output = in_container(folder, "/autograder/run_autograder")
    assert status == 0, output
    text = (folder / "results" / "results.json").read_text()
    results = json.loads(text)
    assert results["extra_data"]["sandbox"] == LEVEL and results["execution_time"] < 120

    states = {test["number"]: test["extra_data"]["state"] for test in results["tests"]}
    not_passed = {number for number, state in states.items() if state != "passed"}
    attacked, unanswered = ["1.4", "1.5", "2.1", "2.2", "E.2"], ["E.4", "E.5", "E.6", "E.7", "E.8", "E.9"]
    assert not_passed == {*attacked, *unanswered}
    assert results["score"] == 100 - 10 - 6 - 10 - 10
    secrets = [(private / "grading_secret.txt").read_text().strip(), *references]
    assert "LOOT" in text and not any(secret in text for secret in secrets)
    assert len(text) < 200_000
    assert results["leaderboard"] == [{"name": "BLEU", "value": 1.0, "order": "desc"}]
