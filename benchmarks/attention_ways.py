"""The same attention, four ways: how their weights correspond, and how long each one takes.

`docs/four-attentions.md` shows them to instructors. The first is the reference's; the others are variants that the
component tests must accept.
"""

import importlib.util
import time
from collections.abc import Callable
from statistics import median
from typing import Never

import torch
from torch import Tensor, nn
from tqdm import tqdm

from foundation.places import ASSIGNMENT, REFERENCE

VARIANTS = ASSIGNMENT / "proof" / "variants" / "attention"
FILES = {
    "one matrix a role": REFERENCE / "attention.py",
    "a module for each head": VARIANTS / "head_modules_with_bias.py",
    "fused matrices": VARIANTS / "fused.py",
    "einsum": VARIANTS / "einsum_with_bias.py",
}
ROLES = ("query", "key", "value")

State = dict[str, Tensor]
"""Parameters by name. Those of the reference are the common form: every way is mapped to it and from it."""


def load(name: str) -> Callable[[int, int], nn.Module]:
    """Returns the class of one way. As in a submission, its relative imports lead to the package's `attention.py`."""
    spec = importlib.util.spec_from_file_location(f"reference.{FILES[name].stem}", FILES[name])
    if spec is None or spec.loader is None:
        raise ImportError(f"{FILES[name]}: not a module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    way: Callable[[int, int], nn.Module] = module.MultiHeadedAttention
    return way


def map_weights(state: State, source: str, target: str, n_heads: int) -> State:
    """Converts the parameters of one way into those with which another computes the same.

    Args:
        state: of a `MultiHeadedAttention` of the first way.
        source: its name, one of FILES.
        target: the name of the other.
        n_heads: heads of both.

    Returns:
        New tensors, by the names of the other way.
    """
    return TO[target](FROM[source](state, n_heads), n_heads)


def to_reference(state: State, n_heads: int) -> State:
    """One matrix a role: `nn.Linear` has its weight as (outputs, inputs), so each head owns d_head rows of it."""
    return {name: tensor.clone() for name, tensor in state.items()}


def to_heads(state: State, n_heads: int) -> State:
    """A module for each head: each takes its rows of the matrix of a role."""
    found = {f"project_output.{part}": state[f"project_output.{part}"].clone() for part in ("weight", "bias")}
    for role in ROLES:
        for part in ("weight", "bias"):
            for head, rows in enumerate(state[f"project_{role}.{part}"].chunk(n_heads)):
                found[f"heads.{head}.project_{role}.{part}"] = rows.clone()
    return found


def from_heads(state: State, n_heads: int) -> State:
    """The other way round: the heads' rows, one head below the other."""
    found = {f"project_output.{part}": state[f"project_output.{part}"].clone() for part in ("weight", "bias")}
    for role in ROLES:
        for part in ("weight", "bias"):
            rows = [state[f"heads.{head}.project_{role}.{part}"] for head in range(n_heads)]
            found[f"project_{role}.{part}"] = torch.cat(rows)
    return found


def to_fused(state: State, n_heads: int) -> State:
    """Fused: the three matrices, one below the other."""
    found = {f"project_output.{part}": state[f"project_output.{part}"].clone() for part in ("weight", "bias")}
    for part in ("weight", "bias"):
        found[f"project_inputs.{part}"] = torch.cat([state[f"project_{role}.{part}"] for role in ROLES])
    return found


def from_fused(state: State, n_heads: int) -> State:
    """The other way round: a third for each role."""
    found = {f"project_output.{part}": state[f"project_output.{part}"].clone() for part in ("weight", "bias")}
    for part in ("weight", "bias"):
        for role, third in zip(ROLES, state[f"project_inputs.{part}"].chunk(3), strict=True):
            found[f"project_{role}.{part}"] = third.clone()
    return found


def to_einsum(state: State, n_heads: int) -> State:
    """Einsum: inputs before outputs, and an axis for the heads: (h, d, d_head), and (h, d_head, d) for the output."""
    weight = state["project_output.weight"]  # (d, h * d_head)
    found = {
        "output_weight": weight.T.unflatten(0, (n_heads, -1)).clone(),
        "output_bias": state["project_output.bias"].clone(),
    }
    for role in ROLES:
        weight, bias = (state[f"project_{role}.{part}"].unflatten(0, (n_heads, -1)) for part in ("weight", "bias"))
        found |= {f"{role}_weight": weight.mT.clone(), f"{role}_bias": bias[:, None].clone()}
    return found


def from_einsum(state: State, n_heads: int) -> State:
    """The other way round."""
    weight = state["output_weight"].flatten(0, 1).T
    found = {"project_output.weight": weight.clone(), "project_output.bias": state["output_bias"].clone()}
    for role in ROLES:
        found[f"project_{role}.weight"] = state[f"{role}_weight"].mT.flatten(0, 1).clone()
        found[f"project_{role}.bias"] = state[f"{role}_bias"].flatten().clone()
    return found


TO = dict(zip(FILES, (to_reference, to_heads, to_fused, to_einsum), strict=True))
FROM = dict(zip(FILES, (to_reference, from_heads, from_fused, from_einsum), strict=True))

SHAPES = ((32, 20, 128, 4, 50), (32, 20, 128, 8, 50), (8, 100, 512, 8, 5))
"""Batch, positions, width, heads, and repeats a round: the course's size, more heads, and the width of the paper."""


def measure(rounds: int) -> int:
    """Prints the CPU time of a training step of self-attention and of cross-attention for each way.

    Each round runs all ways in turn; times and ratios to the reference are medians over the rounds.
    """
    print("CPU time of forward and backward, milliseconds, and its ratio to one matrix a role")
    with tqdm(total=len(SHAPES) * 2 * rounds, unit="round", leave=False, disable=None) as bar:
        for b, n, d, h, repeats in SHAPES:
            for is_cross in (False, True):
                times = time_ways((b, n, d, h), is_cross, repeats, rounds, bar)
                kind = "cross" if is_cross else "self"
                bar.write(f"\n{kind}-attention: batch {b}, {n} positions, width {d}, {h} heads")
                base, *_ = times
                for name, seconds in times.items():
                    ratio = median(one / other for one, other in zip(seconds, times[base], strict=True))
                    bar.write(f"  {name:<24}{median(seconds) * 1e3:9.2f} {ratio:7.2f} x")
    return 0


def time_ways(
    sizes: tuple[int, int, int, int], is_cross: bool, repeats: int, rounds: int, bar: "tqdm[Never]"
) -> dict[str, list[float]]:
    """Returns the CPU seconds of one forward and backward pass of each way, a figure for each round."""
    b, n, d, h = sizes
    models = {name: load(name)(d, h) for name in FILES}
    state = models["one matrix a role"].state_dict()
    for name, model in models.items():
        model.load_state_dict(map_weights(state, "one matrix a role", name, h))
    query = torch.randn(b, n, d, requires_grad=True)
    memory = torch.randn(b, n, d, requires_grad=True) if is_cross else query
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(rounds):
        for name, model in models.items():
            start = time.process_time()
            for _ in range(repeats):
                output, _ = model(query, memory, memory, mask)
                output.sum().backward()
            times[name].append((time.process_time() - start) / repeats)
        bar.update()
    return times
