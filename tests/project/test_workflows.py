"""Workflows and hooks run what .ci/run and the Makefile offer; requirements.lock pins what pyproject.toml asks for."""

import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from foundation.places import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
GATE = (ROOT / ".ci/run").read_text(encoding="utf-8")
STAGES = re.findall(r"^stage_(\w+)\(\)", GATE, re.MULTILINE)
TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def stages_of(workflow: dict) -> list[str]:
    lines = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    return [stage for line in lines if line.startswith(".ci/run ") for stage in line.split()[1:]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_runs_for_a_bounded_time(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 90 for job in workflow["jobs"].values())


def test_the_workflows_run_every_stage_and_the_gate_targets_that_exist():
    run = {stage for path in WORKFLOWS for stage in stages_of(yaml.safe_load(path.read_text(encoding="utf-8")))}
    assert run == set(STAGES)
    assert re.search(r'^stages="([a-z ]+)"$', GATE, re.MULTILINE)[1].split() == STAGES
    assert set(re.findall(r"\bmake ([a-z-]+)", GATE)) <= set(TARGETS)
    done = subprocess.run([ROOT / ".ci/run", "tset"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f".ci/run: no stage tset; there are {' '.join(STAGES)}\n")


def test_hooks_use_the_kits_own_environment():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for hook in (hook for repository in hooks["repos"] for hook in repository["hooks"]):
        program, *arguments = hook["entry"].split()
        assert program in {".venv/bin/python", "make"}
        assert program != "make" or arguments[0] in TARGETS
        assert all((ROOT / argument).exists() for argument in arguments if argument.endswith(".py"))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]


PINS = [
    Requirement(line)
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("python", "platform"), [("3.11.2", "linux"), ("3.12.0", "darwin"), ("3.13.0", "win32")])
def test_each_requirement_has_one_pin_that_it_allows(python, platform):
    machine = {
        "python_version": python.rpartition(".")[0],
        "python_full_version": python,
        "sys_platform": platform,
        "platform_machine": "x86_64",
    }
    pins: dict[str, str] = {}
    for pin in PINS:
        if pin.marker is None or pin.marker.evaluate(machine):
            (exact,) = pin.specifier
            assert normal(pin.name) not in pins, pin.name
            pins[normal(pin.name)] = exact.version
    for requirement in map(Requirement, sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"])):
        version = pins.get(normal(requirement.name))
        assert version, f"{requirement.name} has no pin: make lock"
        assert requirement.specifier.contains(version), f"{requirement} excludes {version}: make lock"


def test_no_pin_names_a_place_or_a_build():
    for pin in PINS:
        assert pin.url is None, pin
        (exact,) = pin.specifier
        assert exact.operator == "=="
        assert "+" not in exact.version, pin
        assert not re.match(r"(cuda|nvidia|triton)\b", pin.name), pin
