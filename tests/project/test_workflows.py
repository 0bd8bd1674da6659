"""The workflows, templates and hooks are well formed, and run what .ci/run and the Makefile offer."""

import re
import subprocess
import tomllib

import pytest
import yaml

from foundation.places import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))
GATE = (ROOT / ".ci/run").read_text(encoding="utf-8")
STAGES = re.findall(r"^stage_(\w+)\(\)", GATE, re.MULTILINE)
TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def stages_of(workflow: dict) -> list[str]:
    lines = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    return [stage for line in lines if line.startswith(".ci/run ") for stage in line.split()[1:]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_bounded_and_runs_stages_of_the_gate(path):
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "://" not in text
    assert stages_of(workflow)
    assert set(stages_of(workflow)) <= set(STAGES)
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/checkout@v4"))
    for expression in re.findall(r"\$\{\{ (\w+)", text):
        assert expression in {"github", "matrix", "vars"}


def test_the_workflows_run_every_stage():
    run = {stage for path in WORKFLOWS for stage in stages_of(yaml.safe_load(path.read_text(encoding="utf-8")))}
    assert run == set(STAGES)


def test_the_gate_is_sound_and_runs_targets_that_exist():
    subprocess.run(["bash", "-n", ROOT / ".ci/run"], check=True)
    listed = re.search(r'^stages="([a-z ]+)"$', GATE, re.MULTILINE)
    assert listed
    assert listed[1].split() == STAGES
    assert set(re.findall(r"\bmake ([a-z-]+)", GATE)) <= set(TARGETS)


def test_the_gate_refuses_an_unknown_stage():
    done = subprocess.run([ROOT / ".ci/run", "tset"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == f".ci/run: no stage tset; there are {' '.join(STAGES)}\n"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_something(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 1
    assert all(field["attributes"]["label"] for field in fields)


def test_hooks_use_the_kits_own_environment():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for repository in hooks["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert hook["language"] == "system"
            program, *arguments = hook["entry"].split()
            assert program in {".venv/bin/python", "make"}
            assert program != "make" or arguments[0] in TARGETS
            assert all((ROOT / argument).exists() for argument in arguments if argument.endswith(".py"))


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == project["version"]
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
