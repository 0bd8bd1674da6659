"""requirements.lock pins what pyproject.toml asks for, and works with any index of packages."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from foundation.places import ROOT

PINS = [
    Requirement(line)
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def asked_for() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(text) for texts in (project["dependencies"], *project["optional-dependencies"].values())
            for text in texts]  # fmt: skip


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
    for requirement in asked_for():
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
