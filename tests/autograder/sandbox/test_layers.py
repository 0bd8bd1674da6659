"""Levels: what is required and missing is refused, what is reached is recorded, and nothing is weakened silently."""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from autograder.sandbox import layers
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.sandbox.layers import LEVELS, Containment, choose_containment
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote, packages_for
from foundation.assignment_file import read_assignment
from foundation.processes import run_forked

from ..conftest import examples_in

PACKAGES = packages_for(read_assignment())


def test_namespaces_that_are_missing_are_refused_where_they_are_required(monkeypatch):
    monkeypatch.setattr(layers.shutil, "which", lambda *arguments, **options: None)
    with pytest.raises(SandboxUnavailableError, match="bwrap is not installed"):
        choose_containment("require-namespaces", PACKAGES)
    assert choose_containment("auto", PACKAGES).bubblewrap == ()


def test_why_there_are_no_namespaces_comes_with_a_remedy(monkeypatch, tmp_path):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setattr(layers.shutil, "which", lambda *arguments, **options: str(tmp_path / "bwrap"))
    reason = layers.why_no_namespaces(PACKAGES)
    assert reason.startswith("bwrap: setting up uid map: Per") and "install bubblewrap, and allow it" in reason


@pytest.mark.parametrize("level", LEVELS)
def test_only_the_unsafe_level_does_without_the_filter(level, monkeypatch):
    monkeypatch.setattr(layers.shutil, "which", lambda *arguments, **options: "/bin/true")
    assert (choose_containment(level, PACKAGES).layers["seccomp"] == "wanted") == (level == "unsafe")


@pytest.fixture
def replan(zygote, monkeypatch) -> Callable[..., None]:
    """Lets workers follow another plan, as on a machine that lacks a layer."""
    plan = zygote.containment.plan()
    return lambda **other: monkeypatch.setattr(Containment, "plan", lambda self: {**plan, **other})


@pytest.mark.parametrize("layer, broken", [("seccomp", "00" * 8), ("uid", None)])
def test_a_worker_refuses_where_a_required_layer_fails(layer, broken, sandbox, replan):
    """The submission is never loaded."""
    replan(**{"layers": {"no_new_privs": "required", layer: "required"}, layer: broken})
    submission = sandbox({"layers": "print('loaded')"})
    with pytest.raises(SandboxUnavailableError, match=f"lacks a required layer: {layer}"):
        submission.build("layers.LayerNorm", 4)
    assert submission.output == ""


def test_a_layer_that_is_only_wanted_is_left_out_and_not_claimed(sandbox, replan):
    replan(seccomp="", layers={"seccomp": "wanted", "no_new_privs": "wanted"})
    submission = sandbox()
    assert "seccomp" not in submission.layers
    assert submission.build("layers.LayerNorm", 4)(torch.zeros(4)).shape == (4,)


def test_a_level_that_falls_while_grading_is_refused(sandbox, replan):
    submission = sandbox()
    assert "seccomp" in submission.layers
    submission.restart()
    replan(layers={})
    with pytest.raises(SandboxUnavailableError, match="fell from"):
        submission.build("layers.LayerNorm", 4)


def test_the_compiled_filters_are_those_of_the_policy():
    filters = layers.read_filters()
    assert filters["policy"] == layers.policy_digest(), "run python -m autograder.sandbox.layers"
    for machine in ("X86_64", "AARCH64"):
        assert len(bytes.fromhex(filters[machine])) % 8 == 0 < len(filters[machine])


def test_every_other_system_call_is_denied_by_the_filter_alone(zygote, seccomp_alone, sandbox):
    pyseccomp = pytest.importorskip("pyseccomp", exc_type=ImportError)
    names = [*layers.POLICY["allowed"].split(), *(name for name, _ in layers.POLICY["allowed_with"])]
    allowed = [pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) for name in names]
    if os.uname().machine == "x86_64":
        allowed += [335, 336]  # uprobes: the kernel ends whoever calls these from elsewhere than a probe
    seccomp_alone(zygote)
    submission = sandbox({"decode": examples_in("sandbox/session.toml")["calls"]["probe"]})
    assert submission.call("decode.greedy_decode", allowed) == ([], (-1, 1))


def end_soon(*pids: int) -> bool:
    """True if processes end within 5 seconds."""
    deadline = time.monotonic() + 5
    while (left := any(Path(f"/proc/{pid}").exists() for pid in pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not left


@pytest.mark.slow
def test_a_worker_ends_when_its_grader_goes_away(bare_zygote, example_sources):
    """Without namespaces, so that process numbers mean the same here and there."""

    def start(job: None) -> Iterator[int]:
        yield Sandbox(example_sources, read_assignment(), zygote=bare_zygote).session("")._worker.pid

    (_, worker), _ = run_forked(deque([None]), start, 60)
    assert end_soon(worker) and not bare_zygote.has_ended


@pytest.mark.slow
def test_a_zygote_and_its_workers_end_when_the_grader_is_killed(monkeypatch):
    monkeypatch.setattr(layers.shutil, "which", lambda *arguments, **options: None)

    def start(job: None) -> Iterator[tuple[int, int]]:
        zygote = Zygote(read_assignment())
        yield zygote._process.pid, zygote.fork().pid
        os.kill(os.getpid(), signal.SIGKILL)

    (_, pids), _ = run_forked(deque([None]), start, 60)
    assert end_soon(*pids)
