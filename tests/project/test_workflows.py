"""Workflows and hooks run what .ci/run and the Makefile offer; requirements.lock pins what pyproject.toml asks for."""

import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from foundation.places import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
GATE = (ROOT / ".ci/run").read_text(encoding="utf-8")
STAGES = re.findall(r"^stage_(\w+)\(\)", GATE, re.MULTILINE)
TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_workflows_may_only_read_and_run_every_stage_for_a_bounded_time():
    run = set()
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        jobs = workflow["jobs"].values()
        assert workflow["permissions"] == {"contents": "read"}
        assert all(job["timeout-minutes"] <= 90 for job in jobs)
        lines = [step.get("run", "") for job in jobs for step in job["steps"]]
        run |= {stage for line in lines if line.startswith(".ci/run ") for stage in line.split()[1:]}
    assert run == set(STAGES)


def test_the_gate_has_every_stage_and_targets_that_exist():
    assert re.search(r'^stages="([a-z ]+)"$', GATE, re.MULTILINE)[1].split() == STAGES
    assert set(re.findall(r"\bmake ([a-z-]+)", GATE)) <= set(TARGETS)
    done = subprocess.run([ROOT / ".ci/run", "tset"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f".ci/run: no stage tset; there are {' '.join(STAGES)}\n")


def test_hooks_use_the_kits_own_environment():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for hook in (hook for repository in hooks["repos"] for hook in repository["hooks"]):
        program, *arguments = hook["entry"].split()
        assert program in {".venv/bin/python", ".ci/subjects", "make"}
        assert program != "make" or arguments[0] in TARGETS
        assert all((ROOT / argument).exists() for argument in arguments if argument.endswith(".py"))


@pytest.mark.parametrize("subject", ["tests: x", "Added x", "Adds x", "Fixing x", "Fix x.", "Say " + "x" * 70])
def test_a_subject_is_a_command(subject, tmp_path):
    for text, status in ((subject, 1), ("Pass masks to every layer", 0)):
        (tmp_path / "message").write_text(f"{text}\n\nWhy\n")
        done = subprocess.run([ROOT / ".ci/subjects", tmp_path / "message"], capture_output=True)
        assert done.returncode == status


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]


LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINS = [Requirement(line) for line in LOCK.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("python", "platform"), [("3.11.2", "linux"), ("3.12.0", "darwin"), ("3.13.0", "win32")])
def test_each_requirement_has_one_pin_that_it_allows(python, platform):
    version = {"python_version": python.rpartition(".")[0], "python_full_version": python}
    machine = {**version, "sys_platform": platform, "platform_machine": "x86_64"}
    pins: dict[str, str] = {}
    for pin in PINS:
        (exact,) = pin.specifier
        assert pin.url is None and exact.operator == "==" and "+" not in exact.version, "a place, or a build"
        assert not re.match(r"(cuda|nvidia|triton)\b", pin.name), pin
        if pin.marker is None or pin.marker.evaluate(machine):
            assert canonicalize_name(pin.name) not in pins, pin.name
            pins[canonicalize_name(pin.name)] = exact.version
    for requirement in map(Requirement, sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"])):
        version = pins.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} has no pin: make lock"
        assert requirement.specifier.contains(version), f"{requirement} excludes {version}: make lock"
