"""The hostile corpus: each submission beats a naive grader, and gains nothing here, in any set of layers.

`attacks/` holds one function for each; `snippets.Attack` tells how it becomes a submission, and what it may gain.
"""

import dataclasses
import importlib
import json
import operator
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812  PyTorch's own convention

from autograder.classroom.entries import take_class
from autograder.classroom.grading import Conditions, grade_all
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
from autograder.grading.submission import open_grader
from autograder.sandbox.errors import SubmissionError
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

from .snippets import Attack, read_attacks

ATTACKS = read_attacks()
AGAINST_ANY_GRADER = [attack for attack in ATTACKS if attack.bites != "protocol"]
BY_NAME = operator.attrgetter("name")
NAIVE = Path(__file__).with_name("naive_grader.py")
LIMITS = dataclasses.replace(
    read_assignment().limits, call_seconds=0.5, total_seconds=3, cpu_seconds=3, memory_mb=1024, output_kb=64
)
GRACE_SECONDS = 3.0
POINTS = {"1.2": 14, "1.4": 10}
"""Of LayerNorm, which is attacked with, and of attention, which stands beside it."""
WORKER_PARTS = re.compile(r'modules\["(worker\.\w+)"\]\.(\w+)')
"""What attacks use of the worker; without it they would fail harmlessly."""
SECRET = "TOKEN-[0-9a-f]{32}"
LAYERS = {
    "every layer": ("loot", "mark", "protocol", "reach", "stop", "write"),
    "no namespaces": ("loot", "reach", "write"),
    "seccomp alone": ("loot", "reach", "stop", "write"),
}
"""Sets of layers, and the kinds of attacks that are tried with them: the layers stop neither marks nor replies."""
IN_LAYERS = [(layers, attack) for layers, kinds in LAYERS.items() for attack in ATTACKS if attack.bites in kinds]

pytestmark = [pytest.mark.slow, pytest.mark.hostile]


@dataclasses.dataclass(frozen=True)
class Scene:
    """What there is to be gained: a secret in a file, in memory and in the environment, a target, a port."""

    folder: Path
    secret: str
    port: int

    @property
    def secret_file(self) -> Path:
        return self.folder / "expected.txt"

    @property
    def target(self) -> Path:
        return self.folder / "target"

    def fill_in(self, attack: Attack) -> str:
        """The source of a submission, aimed at this scene."""
        return attack.aim(SECRET_FILE=self.secret_file, FOLDER=self.folder, TARGET=self.target, PORT=self.port)


def make_scene(folder: Path, port: int) -> Scene:
    scene = Scene(folder, f"TOKEN-{secrets.token_hex(16)}", port)
    scene.secret_file.write_text(scene.secret, encoding="utf-8")
    return scene


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A port that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def layered_zygote(request, zygote: Zygote, bare_zygote: Zygote, monkeypatch) -> Zygote:
    """A zygote for a set of layers."""
    if request.param == "every layer":
        return zygote
    if request.param == "seccomp alone":
        layers = dict.fromkeys(("no_new_privs", "seccomp"), "required")
        monkeypatch.setattr(bare_zygote, "containment", dataclasses.replace(bare_zygote.containment, layers=layers))
    return bare_zygote


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
            SAID.append(error.message)
            continue
        SAID.extend([repr(output), repr(module.parameter_names)])
    return passed


SAID: list[str] = []
"""All that came back beside the output."""


@pytest.mark.parametrize(
    "layered_zygote, attack",
    IN_LAYERS,
    ids=[f"{layers}-{attack.name}" for layers, attack in IN_LAYERS],
    indirect=["layered_zygote"],
)
def test_nothing_is_gained(layered_zygote: Zygote, attack: Attack, example_sources, tmp_path, port):
    SAID.clear()
    scene = make_scene(tmp_path, port)
    os.environ["SECRET"] = scene.secret
    sources = {name: example_sources[name] for name in ("__init__", "attention")}
    sources["layers"] = ("layers.py", scene.fill_in(attack))
    with Sandbox(sources, dataclasses.replace(read_assignment(), limits=LIMITS), zygote=layered_zygote) as submission:
        assert "seccomp" in submission.layers
        started = time.monotonic()
        mark = comparisons_passed(submission)
        submission.restart()  # as a grader does between tasks
        query = torch.randn(1, 1, 3, 4)
        other, _ = submission.call("attention.scaled_dot_product_attention", query, query, query)
        said = "\n".join([submission.output, *SAID])
    del os.environ["SECRET"]
    assert mark == (3 if attack.is_right else 0)
    assert torch.equal(other, torch.tanh(query @ query.transpose(-2, -1)) @ query), "another component lost its points"
    assert not re.search(SECRET, said) and "REACHED" not in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["expected.txt"]
    assert time.monotonic() - started < LIMITS.total_seconds + GRACE_SECONDS
    assert len(submission.output) < 66_000 and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said)


@pytest.fixture(scope="module")
def naive_results(tmp_path_factory, port: int) -> dict[str, tuple[Scene, str]]:
    """What each submission does to the naive grader: its scene afterwards, and what was printed."""
    scenes, outputs, jobs = {}, {}, []
    printed = tmp_path_factory.mktemp("printed")
    for attack in AGAINST_ANY_GRADER:
        scenes[attack.name] = scene = make_scene(tmp_path_factory.mktemp(attack.name), port)
        outputs[attack.name] = printed / attack.name
        job = {"source": scene.fill_in(attack), "secret": scene.secret, "secret_file": str(scene.secret_file)}
        jobs.append({**job, "output": str(printed / attack.name), "seconds": 1 if attack.bites == "stop" else 10})
    file = tmp_path_factory.mktemp("jobs") / "jobs.json"
    file.write_text(json.dumps(jobs))
    subprocess.run([sys.executable, NAIVE, file], check=True, timeout=300, cwd=file.parent)
    return {name: (scenes[name], output.read_text(errors="replace")) for name, output in outputs.items()}


@pytest.mark.parametrize("attack", AGAINST_ANY_GRADER, ids=BY_NAME)
def test_a_naive_grader_is_beaten(attack: Attack, naive_results):
    scene, printed = naive_results[attack.name]
    has_mark = re.search(r"MARK (\d) of 3", printed)
    beaten = {
        "loot": re.search(SECRET, printed),
        "mark": bool(has_mark) and has_mark[1] != "0",
        "write": os.path.lexists(scene.target) or scene.target.exists(),
        "reach": "REACHED" in printed,
        "stop": not has_mark,
    }
    assert beaten[attack.bites], printed[-2000:]


@pytest.fixture(scope="module")
def graded(zygote, sampled, tmp_path_factory, port) -> dict[str, tuple[Attack, Scene, Record]]:
    """A third of the corpus, graded as a class: attacks with their scenes and records."""
    folder, output = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("marks")
    attacks = {attack.name: attack for attack in sampled(ATTACKS, 3)}
    scenes = {name: make_scene(tmp_path_factory.mktemp(name), port) for name in attacks}
    for name, attack in attacks.items():
        (folder / name).mkdir()
        (folder / name / "layers.py").write_text(scenes[name].fill_in(attack), encoding="utf-8")
        (folder / name / "attention.py").write_text((REFERENCE / "attention.py").read_text(encoding="utf-8"))
    assignment = read_assignment()
    limits = dataclasses.replace(LIMITS, call_seconds=2.0, total_seconds=40)
    tasks = tuple(task for task in assignment.tasks if task.number in POINTS)
    assignment = dataclasses.replace(assignment, limits=limits, tasks=tasks)
    _, entries = take_class(folder, output, assignment)
    os.environ["SECRET"] = secret = f"TOKEN-{secrets.token_hex(16)}"
    try:
        conditions = Conditions(assignment, SKELETON, folder, "0" * 16, Seeds(b"hostile"), n_children=2)
        with open_grader(assignment, folder) as grader:
            found: dict[str, Record] = {}
            grade_all(entries, conditions, grader, lambda entry, record: found.update({entry.entry: record}))
    finally:
        del os.environ["SECRET"]
    assert secret not in "".join(record.model_dump_json() for record in found.values())
    return {name: (attack, scenes[name], found[name]) for name, attack in attacks.items()}


def test_each_is_graded_for_what_it_computes(graded):
    for name, (attack, scene, record) in graded.items():
        parts = {part.number: part for part in record.judgement.parts}
        earned = {number: part.score for number, part in parts.items()}
        told = f"{name}: {[part.message for part in parts.values()]}"
        assert earned == {**POINTS, "1.4": POINTS["1.4"] if attack.is_right else 0}, told
        assert record.is_finished and parts["1.4"].state != "grader error", told
        assert attack.is_right or parts["1.4"].message, told
        assert scene.secret not in record.model_dump_json() and "REACHED" not in record.run.printed, told
        assert [entry.name for entry in scene.folder.iterdir()] == ["expected.txt"], told


def test_the_corpus_is_large_and_described():
    assert len(ATTACKS) >= 75
    assert 4 < sum(attack.is_right for attack in ATTACKS) < 20
    for attack in ATTACKS:
        assert re.search(r'^    """[A-Z].{5,}\."""$', attack.text, re.MULTILINE), attack.name


@pytest.mark.parametrize("module, name", sorted({*WORKER_PARTS.findall("".join(attack.text for attack in ATTACKS))}))
def test_what_is_attacked_in_the_worker_is_there(module: str, name: str):
    assert hasattr(importlib.import_module(f"autograder.sandbox.{module}"), name)
