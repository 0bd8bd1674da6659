"""What a module sets for the whole process while it is imported changes nothing for other modules."""

import random
import sys
import warnings

import pytest
import torch

from autograder.sandbox.worker import settings
from autograder.sandbox.worker.settings import kept

SETTINGS = {
    "dtype": "torch.set_default_dtype(torch.float64)",
    "gradients": "torch.set_grad_enabled(False)",
    "seed": "torch.manual_seed(0)",
    "python's seed": "import random; random.seed(0)",
    "threads": "torch.set_num_threads(3)",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "device": "torch.set_default_device('meta')",
    "anomalies": "torch.autograd.set_detect_anomaly(True)",
    "warnings": "import warnings; warnings.simplefilter('error')",
    "autocast": "torch.autocast('cpu', dtype=torch.bfloat16).__enter__()",
    "inference": "MODE = torch.inference_mode(); MODE.__enter__()",
    "a device in a block": "torch.device('meta').__enter__()",
    "output": "import io, sys; sys.stdout = sys.stderr = io.StringIO()",
    "recursion": "import sys; sys.setrecursionlimit(150)",
}


def everything() -> tuple[object, ...]:
    return (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_rng_state().tolist(),
        random.getstate(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.zeros(1).device.type,
        torch.is_anomaly_enabled(),
        list(warnings.filters),
        settings.autocast(),
        torch.is_inference_mode_enabled(),
        (torch.ones(2, 2) @ torch.ones(2, 2)).dtype,
        torch.ones(1).requires_grad_().sum().is_inference(),
        (sys.stdout, sys.stderr),
        sys.getrecursionlimit(),
    )


@pytest.mark.parametrize("line", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_is_taken_back(line):
    before = everything()
    with kept():
        exec(line, {"torch": torch})
    assert everything() == before


@pytest.mark.parametrize("line", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_of_one_module_costs_no_other_component(sandbox, example_sources, line):
    path, text = example_sources["train"]
    submission = sandbox({"train": f"import torch\n{line}\n{text}"})
    norm = submission.build("layers.LayerNorm", 4)
    assert norm.p0.dtype == torch.float32
    x = torch.randn(2, 4, requires_grad=True)
    norm(x).sum().backward()
    assert x.grad is not None and norm.p0.grad is not None
