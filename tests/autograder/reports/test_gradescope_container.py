"""The Gradescope archive in a container like Gradescope's: good, broken and hostile submissions."""

import json
import os
from pathlib import Path

import pytest
from jsonschema import validate

from foundation.places import ROOT

SCHEMA = json.loads(Path(__file__).with_name("results.schema.json").read_text())
MODULES = ("embedding", "attention", "layers", "model", "masks", "train", "decode")
MEMORY_MB = 768 * 1.048576
LEVEL = "seccomp+uid+landlock" if os.geteuid() == 0 else "seccomp+landlock"  # a container lets bubblewrap do nothing

pytestmark = [pytest.mark.slow, pytest.mark.hostile]

LATE = {
    "id": 77,
    "created_at": "2026-11-21T10:30:00.000000+01:00",
    "assignment": {"due_date": "2026-11-21T08:25:00.000000+01:00", "late_due_date": None},
    "submission_method": "upload",
    "users": [{"id": 1, "name": "Anna", "email": "anna@example.org"}],
    "previous_submissions": [{"submission_time": "2026-11-20T10:00:00+01:00", "score": 40.5, "results": {}}],
}

ATTACK = '''
import ctypes
import glob
import os

import torch
from torch import nn

LOOT = ["/autograder/source/data/private/grading_secret.txt", "/autograder/source/data/private/fren.test.bpe"]


class LayerNorm(nn.Module):
    """Reads what it should not, and tells it in an error message."""

    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        found = []
        for name in LOOT + glob.glob("/proc/*/environ"):
            try:
                found.append(open(name).read(200))
            except OSError as error:
                found.append(str(error.errno))
        raise ValueError("LOOT" + repr(found))


class FeedForward(nn.Module):
    """Writes its own results."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        with open("/autograder/results/results.json", "w") as file:
            file.write('{"score": 1000}')


class EncoderLayer(nn.Module):
    """Takes all the memory there is."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.held = []
        while True:
            self.held.append(torch.ones(4_000_000))


class DecoderLayer(nn.Module):
    """Ends every process that it can reach, then itself."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        for pid in range(1, 60):
            try:
                os.kill(pid, 9)
            except OSError:
                pass
        ctypes.CDLL(None).kill(-1, 9)
        print("x" * 10_000_000)
        os._exit(0)
'''


@pytest.fixture
def reference() -> dict[str, str]:
    """What a student who has solved everything hands in."""
    return {f"{name}.py": (ROOT / "reference" / f"{name}.py").read_text() for name in MODULES}


@pytest.fixture
def grade(container):
    """Grades; asserts what holds for any submission."""

    def call(files: dict[str, str], metadata: dict | None = None) -> tuple[dict, str]:
        results, run = container.grade(files, metadata)
        assert run.status == 0, run.output
        validate(results, SCHEMA)
        assert run.peak_mb < MEMORY_MB
        assert results["extra_data"]["sandbox"] == LEVEL
        assert results["execution_time"] < 120
        return results, json.dumps(results)

    return call


def states(results: dict) -> dict[str, str]:
    return {test["number"]: test["extra_data"]["state"] for test in results["tests"]}


def test_a_good_submission_earns_all_and_its_circumstances_are_passed_on(grade, reference) -> None:
    lines = (ROOT / "data" / "private" / "fren.test.bpe").read_text().splitlines()
    translations = "".join(line.split("|||")[1].strip() + "\n" for line in lines)
    results, _ = grade({**reference, "translations.txt": translations}, LATE)
    assert results["score"] == 100
    assert set(states(results).values()) == {"passed"}
    assert results["leaderboard"] == [{"name": "BLEU", "value": 1.0, "order": "desc"}]
    assert results["output"].startswith("handed in 2 h 5 min after the due date\nattempt 2; points before: 40.5")
    assert results["extra_data"]["handed_in"]["late_seconds"] == 7500


def test_numbers_in_right_code_lead_to_larger_inputs_that_still_fit(grade, reference) -> None:
    for name in ("embedding", "attention", "layers", "model"):
        start = "super().__init__()\n"
        assert start in reference[name + ".py"]
        numbers = start + "        self.limits = [16384, 512, 400, 260, 20000 - 1]\n"
        reference[name + ".py"] = reference[name + ".py"].replace(start, numbers)
    results, _ = grade(reference)
    assert results["score"] == 90
    lost = {number for number, state in states(results).items() if state != "passed"}
    assert lost == {"4.1", "4.2"}


def test_a_broken_file_costs_its_own_tasks_each_time_the_same(grade, reference) -> None:
    results, _ = grade({**reference, "layers.py": "class LayerNorm(\n"})
    lost = {number for number, state in states(results).items() if state == "error"}
    assert lost == {"1.4", "1.5", "2.1", "2.2", "E.2"}
    assert results["score"] == 90 - 10 - 6 - 10 - 10
    assert "layers.py" in results["tests"][3]["output"]
    again, _ = grade({**reference, "layers.py": "class LayerNorm(\n"})
    assert again["tests"] == results["tests"]
    assert again["extra_data"]["seed_id"] == results["extra_data"]["seed_id"]


def test_an_attack_costs_its_own_tasks_and_finds_nothing(grade, container, reference) -> None:
    results, text = grade({**reference, "layers.py": ATTACK})
    assert results["score"] == 90 - 10 - 6 - 10 - 10
    assert states(results)["2.1"] == "out of memory"
    secrets = [(container.folder / "source" / "data" / "private" / "grading_secret.txt").read_text().strip()]
    secrets += (container.folder / "source" / "data" / "private" / "fren.test.bpe").read_text().splitlines()
    assert "LOOT" in text and not any(secret in text for secret in secrets)
    assert len(text) < 200_000
