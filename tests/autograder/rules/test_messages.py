"""What is refused has been told to students beforehand."""

import re

import torch.nn.functional as F  # noqa: N812  PyTorch's own convention
from torch import nn

from autograder.rules.names import ForbiddenNames
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT

NAMES = ForbiddenNames(read_assignment().contract.forbidden)
HANDOUT = (ASSIGNMENT / "handout.md").read_text(encoding="utf-8")


def family(name: str) -> str:
    """LazyBatchNorm1d, SyncBatchNorm and BatchNorm2d are told as one; so is all that begins with Transformer."""
    return re.sub("^Transformer.*", "Transformer", re.sub("^(Lazy|Sync)|[123]d$", "", name.removesuffix("…")))


def test_the_handout_names_what_is_forbidden():
    told = {f"{package}.{family(name)}" for package, name in re.findall(r"`(nn|F)\.(\w+…?)`", HANDOUT)}
    forbidden = [name for name in dir(nn) if NAMES.has(f"torch.nn.{name}")]
    classes = {f"nn.{family(name)}" for name in forbidden if isinstance(getattr(nn, name), type)}
    functions = {f"F.{name}" for name in dir(F) if NAMES.has(f"torch.nn.functional.{name}") and name[0] != "_"}
    assert told == classes | functions and len(classes) > 6 and len(functions) > 5


def test_what_the_handout_names_is_forbidden():
    long = {"nn": "torch.nn", "F": "torch.nn.functional"}
    for package, name in re.findall(r"`(nn|F)\.(\w+)…?`", HANDOUT):
        assert NAMES.has(f"{long[package]}.{name}") or NAMES.has(f"{long[package]}.{name}1d"), name
    assert NAMES.has("torch.native_layer_norm") and NAMES.has("torch.nn.attention.flex_attention")
