"""For the gate that calls every TODO, by the names of parameters."""

from typing import Any

import torch


def sample_arguments() -> list[dict[str, Any]]:
    """One set: 2 examples of 3 features."""
    x = torch.rand(2, 3)
    return [{"d_in": 3, "d_out": 4, "d_hidden": 4, "x": x, "prediction": x, "target": x}]
