"""The hostile corpus: each submission gains nothing, in any set of layers, and costs no other component its points.

Each function in `attacks.toml` becomes a submission of its own.
"""

import dataclasses
import re
import secrets
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch.nn import functional as F  # noqa: N812  PyTorch's own convention

from autograder.classroom.entries import take_class
from autograder.classroom.grading import grade_all
from autograder.grading.provenance import Seeds
from autograder.grading.submission import Conditions, open_grader
from autograder.sandbox.errors import SubmissionError
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker import service, shortcuts
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

from ..conftest import examples_in

EXAMPLES = examples_in("sandbox/attacks.toml")

LIMITS = dataclasses.replace(
    read_assignment().limits, call_seconds=0.5, total_seconds=3, cpu_seconds=3, memory_mb=1024, output_kb=64
)
GRACE_SECONDS = 3.0
POINTS = {"1.2": 14, "1.4": 10}
"""Of LayerNorm, which is attacked with, and of attention, which stands beside it."""
WORKER_PARTS = re.compile(r'_of_worker\("(\w+)"\)')
"""Parts of the worker that attacks use; without them they would fail harmlessly."""
SECRET = "TOKEN-[0-9a-f]{32}"
WRONG = {"suppressed": "", "result": "torch.zeros_like(x) if output is None else output"}
RIGHT = {"suppressed": "BaseException", "result": "_normalised(self, x)"}

pytestmark = [pytest.mark.slow, pytest.mark.hostile]


class Attack(NamedTuple):
    """The text of a `layers.py`, in which SECRET_FILE, TARGET and PORT between two @ stand for what is to be gained."""

    kind: str  # the table in `attacks.toml`
    name: str  # the function
    text: str

    @property
    def is_right(self) -> bool:
        """True if its LayerNorm is right all the same, which is worth everything; else it is worth nothing."""
        return self.name.startswith("right_")


def read_attacks() -> Iterator[Attack]:
    """The hostile corpus."""
    for kind in ("Mark", "Reach", "Stop"):
        for name, text in EXAMPLES[kind].items():
            arguments = re.match(r"def \w+\((x, layer|x|layer)\b", text)[1]
            parts = {"when_built": "pass", "when_called": "None", **(RIGHT if name.startswith("right_") else WRONG)}
            when = "when_built" if arguments == "layer" else "when_called"
            parts[when] = f"{name}({arguments.replace('layer', 'self')})"
            yield Attack(kind, name, "\n\n".join([EXAMPLES["shared"], text, EXAMPLES["layer_norm"].format(**parts)]))


ATTACKS = [*read_attacks()]
LAYERS = {"every layer": {"Reach", "Stop", "Mark"}, "seccomp alone": {"Reach", "Stop"}}
"""Sets of layers, all and the fewest, and the kinds of attacks that are tried with them: the layers stop neither marks
nor replies."""
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
    return zygote if request.param == "every layer" else seccomp_alone(bare_zygote)


def compare(submission: Sandbox) -> tuple[int, list[str]]:
    """The number of sound comparisons, of three, that LayerNorm passes, and all that came back beside the output."""
    passed, answers = 0, []
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
            answers.append(error.message)
            continue
        answers.extend([repr(output), repr(module.parameter_names)])
    return passed, answers


@pytest.mark.parametrize(
    "layered_zygote, attack",
    IN_LAYERS,
    ids=[f"{layers}-{attack.name}" for layers, attack in IN_LAYERS],
    indirect=["layered_zygote"],
)
def test_nothing_is_gained(layered_zygote: Zygote, attack: Attack, example_sources, tmp_path, monkeypatch, port):
    monkeypatch.setenv("SECRET", f"TOKEN-{secrets.token_hex(16)}")
    sources = {name: example_sources[name] for name in ("__init__", "attention")}
    sources["layers"] = ("layers.py", aim(attack, tmp_path, port))
    with Sandbox(sources, dataclasses.replace(read_assignment(), limits=LIMITS), zygote=layered_zygote) as submission:
        assert "seccomp" in submission.layers
        mark, messages = compare(submission)
        submission.restart()  # as a grader does between tasks
        query = torch.randn(1, 1, 3, 4)
        other, _ = submission.call("attention.scaled_dot_product_attention", query, query, query)
        answers = "\n".join([submission.output, *messages])
    assert mark == (3 if attack.is_right else 0)
    expected = F.scaled_dot_product_attention(query, query, query)
    torch.testing.assert_close(other, expected, msg="another component lost its points")
    assert not re.search(SECRET, answers) and "REACHED" not in answers
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["expected.txt"]
    assert submission.budget.seconds < LIMITS.total_seconds + GRACE_SECONDS
    assert len(submission.output) < 66_000 and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", answers)


FOR_A_READER = {"many_parameters"}
"""More of them than can be judged."""


def test_each_is_graded_for_what_it_computes(sampled, tmp_path, monkeypatch, port):
    """A sixth of the corpus, as a class."""
    attacks = {attack.name: attack for attack in sampled(ATTACKS, 6)}
    for name, attack in attacks.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / name).mkdir()
        (tmp_path / "class" / name / "layers.py").write_text(aim(attack, tmp_path / name, port), encoding="utf-8")
        shutil.copy(REFERENCE / "attention.py", tmp_path / "class" / name)
    tasks = tuple(task for task in read_assignment().tasks if task.number in POINTS)
    limits = dataclasses.replace(LIMITS, call_seconds=2.0, total_seconds=40)
    assignment = dataclasses.replace(read_assignment(), limits=limits, tasks=tasks)
    _, entries = take_class(tmp_path / "class", tmp_path / "marks", assignment)
    monkeypatch.setenv("SECRET", f"TOKEN-{secrets.token_hex(16)}")
    conditions = Conditions(assignment, SKELETON, tmp_path, "0" * 16, Seeds(b"hostile"), n_children=2)
    records = {}
    with open_grader(assignment, tmp_path / "none") as grader:
        grade_all(entries, conditions, grader, lambda entry, record: records.update({entry.entry: record}))
    for name, attack in attacks.items():
        parts = {part.number: part for part in records[name].judgement.parts}
        earned = {number: part.score for number, part in parts.items()}
        about = f"{name}: {[part.message for part in parts.values()]}"
        due = POINTS["1.4"] if attack.is_right else None if name in FOR_A_READER else 0
        assert earned == {**POINTS, "1.4": due}, about
        assert records[name].is_finished and parts["1.4"].state != "grader error", about
        assert attack.is_right or parts["1.4"].message, about
        printed = records[name].run.printed
        assert not re.search(SECRET, records[name].model_dump_json()) and "REACHED" not in printed, about
        assert [entry.name for entry in (tmp_path / name).iterdir()] == ["expected.txt"], about


def test_what_is_attacked_in_the_worker_is_there():
    names = {*WORKER_PARTS.findall("".join(attack.text for attack in ATTACKS))}
    assert names and names <= {*vars(service), *vars(shortcuts)}
