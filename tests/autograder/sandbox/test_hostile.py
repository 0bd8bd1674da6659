"""The hostile corpus: each submission gains nothing, in any set of layers, and costs no other component its points.

Each function in `attacks.py` becomes a submission of its own.
"""

import dataclasses
import importlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812  PyTorch's own convention

from autograder.classroom.entries import take_class
from autograder.classroom.grading import grade_all
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
from autograder.grading.submission import Conditions, open_grader
from autograder.sandbox.errors import SubmissionError
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

LIMITS = dataclasses.replace(
    read_assignment().limits, call_seconds=0.5, total_seconds=3, cpu_seconds=3, memory_mb=1024, output_kb=64
)
GRACE_SECONDS = 3.0
POINTS = {"1.2": 14, "1.4": 10}
"""Of LayerNorm, which is attacked with, and of attention, which stands beside it."""
WORKER_PARTS = re.compile(r'modules\["(worker\.\w+)"\]\.(\w+)')
"""Parts of the worker that attacks use; without them they would fail harmlessly."""
SECRET = "TOKEN-[0-9a-f]{32}"
LAYER_NORM = """

import contextlib


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon
        {when_built}

    def forward(self, x):
"""
WRONG = """\
        output = {when_called}
        return torch.zeros_like(x) if output is None else output
"""
RIGHT = """\
        with contextlib.suppress(BaseException):
            {when_called}
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
"""

pytestmark = [pytest.mark.slow, pytest.mark.hostile]


@dataclasses.dataclass(frozen=True)
class Attack:
    """A submission's `layers.py` that attacks the grader."""

    kind: str  # the class in `attacks.py`
    name: str  # the function
    text: str  # in which SECRET_FILE, TARGET and PORT between two @ stand for what there is to be gained

    @property
    def is_right(self) -> bool:
        """True if its LayerNorm is right all the same, which is worth everything; else it is worth nothing."""
        return self.name.startswith("right_")


def read_attacks() -> Iterator[Attack]:
    """The hostile corpus."""
    corpus = Path(__file__).with_name("attacks.py").read_text(encoding="utf-8")
    shared, *kinds = re.split(r"^class (\w+):\n", corpus, flags=re.MULTILINE)
    for kind, body in zip(kinds[::2], kinds[1::2], strict=True):
        _, *attacks = re.split(r"^(?=def )", textwrap.dedent(body), flags=re.MULTILINE)
        for text in attacks:
            name, arguments = re.match(r"def (\w+)\((x, layer|x|layer)\b", text).groups()
            moments = {"when_built": "pass", "when_called": "None"}
            when = "when_built" if arguments == "layer" else "when_called"
            moments[when] = f"{name}({arguments.replace('layer', 'self')})"
            layer_norm = LAYER_NORM + (RIGHT if name.startswith("right_") else WRONG)
            yield Attack(kind, name, shared + text + layer_norm.format(**moments))


ATTACKS = [*read_attacks()]
LAYERS = {"every layer": {"Reach", "Stop", "Mark"}, "no namespaces": {"Reach"}, "seccomp alone": {"Reach", "Stop"}}
"""Sets of layers, and the kinds of attacks that are tried with them: the layers stop neither marks nor replies."""
IN_LAYERS = [(layers, attack) for layers, kinds in LAYERS.items() for attack in ATTACKS if attack.kind in kinds]


def aim(attack: Attack, folder: Path, port: int) -> str:
    """The source of a submission that may gain a secret file in a folder, make a target there, or reach a port."""
    file = folder / "expected.txt"
    file.write_text(f"TOKEN-{secrets.token_hex(16)}", encoding="utf-8")
    text = attack.text.replace("@SECRET_FILE@", str(file)).replace("@PORT@", str(port))
    return text.replace("@TARGET@", str(folder / "target"))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A port that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def layered_zygote(request, zygote: Zygote, bare_zygote: Zygote, seccomp_alone: Callable) -> Zygote:
    """A zygote for a set of layers."""
    if request.param == "seccomp alone":
        return seccomp_alone(bare_zygote)
    return zygote if request.param == "every layer" else bare_zygote


def comparisons_passed(submission: Sandbox) -> int:
    """Number of sound comparisons that LayerNorm passes, as a grader would make them."""
    passed = 0
    for attempt in range(3):
        try:
            module = submission.build("layers.LayerNorm", 6, dtype=torch.float64)
            x = torch.randn(2, 6, dtype=torch.float64, requires_grad=True)
            expected = F.layer_norm(x.detach(), (6,), eps=1e-6)
            output = module(x)
            if attempt == 1:  # a grader that computes from the same tensor after the call
                expected = F.layer_norm(x.detach(), (6,), eps=1e-6)
            if isinstance(output, torch.Tensor) and output.requires_grad:
                output.sum().backward()
            is_tensor = isinstance(output, torch.Tensor) and output.shape == expected.shape
            passed += bool(is_tensor and output.isfinite().all() and torch.allclose(output, expected))
        except SubmissionError as error:
            assert not re.search(SECRET, error.student_traceback)  # else it quotes the source, REACHED and all
            MESSAGES.append(error.message)
            continue
        MESSAGES.extend([repr(output), repr(module.parameter_names)])
    return passed


MESSAGES: list[str] = []
"""All that came back beside the output."""


@pytest.mark.parametrize(
    "layered_zygote, attack",
    IN_LAYERS,
    ids=[f"{layers}-{attack.name}" for layers, attack in IN_LAYERS],
    indirect=["layered_zygote"],
)
def test_nothing_is_gained(layered_zygote: Zygote, attack: Attack, example_sources, tmp_path, port):
    MESSAGES.clear()
    os.environ["SECRET"] = f"TOKEN-{secrets.token_hex(16)}"
    sources = {name: example_sources[name] for name in ("__init__", "attention")}
    sources["layers"] = ("layers.py", aim(attack, tmp_path, port))
    with Sandbox(sources, dataclasses.replace(read_assignment(), limits=LIMITS), zygote=layered_zygote) as submission:
        assert "seccomp" in submission.layers
        mark = comparisons_passed(submission)
        submission.restart()  # as a grader does between tasks
        query = torch.randn(1, 1, 3, 4)
        other, _ = submission.call("attention.scaled_dot_product_attention", query, query, query)
        answers = "\n".join([submission.output, *MESSAGES])
    del os.environ["SECRET"]
    assert mark == (3 if attack.is_right else 0)
    expected = F.scaled_dot_product_attention(query, query, query)
    torch.testing.assert_close(other, expected, msg="another component lost its points")
    assert not re.search(SECRET, answers) and "REACHED" not in answers
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["expected.txt"]
    assert submission.budget.seconds < LIMITS.total_seconds + GRACE_SECONDS
    assert len(submission.output) < 66_000 and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", answers)


UNPROTECTED = """
import json, os, sys, threading, time, traceback
import torch

SECRET = os.environ["SECRET"]
for job in json.load(open(sys.argv[1])):
    pid = os.fork()
    if pid == 0:
        descriptor = os.open(job["output"], os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, 1), os.dup2(descriptor, 2)
        left_open, scope = open(job["secret_file"]), {}
        try:
            exec(compile(job["source"], "layers.py", "exec"), scope)
            scope["LayerNorm"](6)(torch.ones(2, 6))
        except BaseException:
            traceback.print_exc()
        for thread in {*threading.enumerate()} - {threading.main_thread()}:
            thread.join(5)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
time.sleep(1)  # for a process that was left behind
"""
"""Runs submissions as a naive grader does, each in a fork of a process that knows the secret."""


def test_without_a_sandbox_each_of_them_reaches_something(tmp_path, port):
    jobs = {}
    for attack in (attack for attack in ATTACKS if attack.kind == "Reach"):
        folder = tmp_path / attack.name
        folder.mkdir()
        source = aim(attack, folder, port)
        files = {"secret_file": str(folder / "expected.txt"), "output": str(folder / "output")}
        jobs[attack.name] = {"source": source, **files}
    (tmp_path / "jobs.json").write_text(json.dumps([*jobs.values()]))
    command = [sys.executable, "-c", UNPROTECTED, str(tmp_path / "jobs.json")]
    environment = {**os.environ, "SECRET": f"TOKEN-{secrets.token_hex(16)}", "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, timeout=120, cwd=tmp_path, env=environment)
    for name, job in jobs.items():
        printed = Path(job["output"]).read_text(encoding="utf-8", errors="replace")
        is_there = os.path.lexists(tmp_path / name / "target")
        assert "REACHED" in printed or re.search(SECRET, printed) or is_there, f"{name}: {printed[-500:]}"


@pytest.fixture(scope="module")
def graded(zygote, sampled, tmp_path_factory, port) -> dict[str, tuple[Attack, Path, Record]]:
    """A third of the corpus, graded as a class: attacks with the folders that they aim at, and records."""
    folder, output = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("marks")
    attacks = {attack.name: attack for attack in sampled(ATTACKS, 3)}
    targets = {name: tmp_path_factory.mktemp(name) for name in attacks}
    for name, attack in attacks.items():
        (folder / name).mkdir()
        (folder / name / "layers.py").write_text(aim(attack, targets[name], port), encoding="utf-8")
        shutil.copy(REFERENCE / "attention.py", folder / name)
    tasks = tuple(task for task in read_assignment().tasks if task.number in POINTS)
    limits = dataclasses.replace(LIMITS, call_seconds=2.0, total_seconds=40)
    assignment = dataclasses.replace(read_assignment(), limits=limits, tasks=tasks)
    _, entries = take_class(folder, output, assignment)
    os.environ["SECRET"] = f"TOKEN-{secrets.token_hex(16)}"
    try:
        conditions = Conditions(assignment, SKELETON, folder, "0" * 16, Seeds(b"hostile"), n_children=2)
        with open_grader(assignment, folder) as grader:
            records: dict[str, Record] = {}
            grade_all(entries, conditions, grader, lambda entry, record: records.update({entry.entry: record}))
    finally:
        del os.environ["SECRET"]
    return {name: (attack, targets[name], records[name]) for name, attack in attacks.items()}


def test_each_is_graded_for_what_it_computes(graded):
    for name, (attack, target, record) in graded.items():
        parts = {part.number: part for part in record.judgement.parts}
        earned = {number: part.score for number, part in parts.items()}
        about = f"{name}: {[part.message for part in parts.values()]}"
        assert earned == {**POINTS, "1.4": POINTS["1.4"] if attack.is_right else 0}, about
        assert record.is_finished and parts["1.4"].state != "grader error", about
        assert attack.is_right or parts["1.4"].message, about
        assert not re.search(SECRET, record.model_dump_json()) and "REACHED" not in record.run.printed, about
        assert [entry.name for entry in target.iterdir()] == ["expected.txt"], about


@pytest.mark.parametrize("module, name", sorted({*WORKER_PARTS.findall("".join(attack.text for attack in ATTACKS))}))
def test_what_is_attacked_in_the_worker_is_there(module: str, name: str):
    assert hasattr(importlib.import_module(f"autograder.sandbox.{module}"), name)
