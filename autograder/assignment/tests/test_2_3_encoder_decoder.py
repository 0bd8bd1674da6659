"""Task 2.3: encoder and decoder; with norm_first, extension E.2. The layers inside are stand-ins of known formulas."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.assignment.expected.layers import Sizes, stacks
from autograder.assignment.expected.parts import take_census
from autograder.assignment.expected.readings import expect_plain
from autograder.assignment.stand_ins.formulas import trace
from autograder.testing.arguments import Inputs
from autograder.testing.calls import (
    DTYPES,
    Candidates,
    Computation,
    attempt,
    expect_computes,
    expect_no_state,
    in_dtypes,
    leaves_of,
    rows_of,
)
from autograder.testing.case import Case
from autograder.testing.comparison import expect, expect_gradients
from autograder.testing.results import CheckFailed, OtherPartsError
from autograder.testing.under_test import SubmissionUnderTest

STACKS = [
    pytest.param("Encoder", False, marks=pytest.mark.task_2_3, id="Encoder"),
    pytest.param("Decoder", False, marks=pytest.mark.task_2_3, id="Decoder"),
    pytest.param("Encoder", True, marks=pytest.mark.task_e_2, id="Encoder, norm_first"),
    pytest.param("Decoder", True, marks=pytest.mark.task_e_2, id="Decoder, norm_first"),
]
each_stack = pytest.mark.parametrize("kind, norm_first", STACKS)
PARTS = {"Encoder": ("x", "weights"), "Decoder": ("x", "self_weights", "cross_weights")}
RULES = {
    False: "what does each layer get, from which layer, with which masks and settings? what follows the last one?",
    True: "what does each layer get, from which layer, with which masks and settings? what follows the last one?",
}


def draw(case: Case, kind: str, sizes: Sizes, axes: tuple[int, int, int], dtype: torch.dtype, masked: bool) -> Inputs:
    """Random x (b, t, d), memory (b, s, d) and masks."""
    b, t, s = axes
    x, memory = case.normal(b, t, sizes.d_model, dtype=dtype), case.normal(b, s, sizes.d_model, dtype=dtype)
    own, cross = (case.mask(b, 1, t, t), case.padding_mask(b, s)) if masked else (None, None)
    if own is not None:
        own[..., -1, :] = True  # nothing is forbidden to the last query
    if kind == "Encoder":
        return {"x": x, "mask": own}
    return {"x": x, "memory": memory, "src_mask": cross, "tgt_mask": own}


def make(
    submission: SubmissionUnderTest, case: Case, kind: str, sizes: Sizes, n_layers: int, dtype: torch.dtype
) -> tuple[nn.Module, list[tuple[Tensor, Tensor]], Candidates]:
    """A stack with random parameters in eval mode; these with their leaves; what it may compute with them."""
    dropout = case.number(0.2, 0.7)
    settings: dict[str, Any] = {"n_heads": sizes.n_heads, "d_ff": sizes.d_ff, "n_layers": n_layers, "dropout": dropout}
    settings |= {"norm_first": True} if sizes.norm_first else {}
    module = submission.build(f"model.{kind}", sizes.d_model, **settings, dtype=dtype).eval()
    expect_plain(module)
    case.randomise(module.parameters())
    parameters = list(module.parameters())
    leaves = leaves_of(parameters)

    def read() -> list[Computation]:
        expect_own_layers(parameters, kind, n_layers, sizes)
        settings = trace(sizes.d_ff, dropout, sizes.norm_first)
        return list(stacks(leaves, kind == "Decoder", n_layers, sizes, settings))

    return module, list(zip(parameters, leaves, strict=True)), attempt(read)


def expect_own_layers(parameters: list[nn.Parameter], kind: str, n_layers: int, sizes: Sizes) -> None:
    """There are n_layers different layers, and nothing else is learned but the LayerNorm of a pre-norm stack."""
    census = take_census(parameters, sizes.d_model)
    found = census.decoder_layers if kind == "Decoder" else census.encoder_layers
    what = "how many layers with parameters of their own the stack has"
    look_at = "an nn.ModuleList of n_layers new layers; a plain list hides them from parameters()"
    failure = OtherPartsError if 2 * len(found) > n_layers else CheckFailed
    expect(len(found) == n_layers, what, f"{n_layers}", f"{len(found)}", look_at, failure)
    beside = sum(p.numel() for p in parameters) - sum(p.numel() for p in found)
    wanted = 2 * sizes.d_model if sizes.norm_first else 0
    what, look_at = "how many numbers the stack learns besides its layers", "a LayerNorm ends it only with norm_first"
    expect(beside == wanted, what, f"{wanted}", f"{beside}", look_at, OtherPartsError)


CASES = {  # n_heads, d_head, d_ff and n_layers; b, t and s; with masks
    "three layers": ((2, 3, 11, 3), (3, 4, 5), True),
    "one layer": ((3, 2, 13, 1), (2, 5, 4), True),
    "four layers, no masks": ((2, 2, 10, 4), (2, 3, 4), False),
    "many positions": ((2, 2, 9, 2), (1, 66, 70), True),
}


ROWS = in_dtypes(CASES, ["three layers"])
OF_EXTENSIONS = [("three layers", torch.float32), ("one layer", torch.float64)]


@pytest.mark.item("layers in order")
@pytest.mark.parametrize("kind, norm_first, name, dtype", rows_of(STACKS, ROWS, OF_EXTENSIONS))
def test_stack(
    submission: SubmissionUnderTest, case: Case, name: str, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    (n_heads, d_head, d_ff, n_layers), axes, masked = CASES[name]
    sizes = Sizes(n_heads * d_head, n_heads, d_ff, norm_first)
    module, _, candidates = make(submission, case, kind, sizes, n_layers, dtype)
    inputs = draw(case, kind, sizes, axes, dtype, masked)
    expect_computes(module, candidates, inputs, PARTS[kind], RULES[norm_first], about=["x"])


@pytest.mark.item("returned weights")
@each_stack
def test_weights(submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool) -> None:
    sizes = Sizes(6, 2, 11, norm_first)
    module, _, candidates = make(submission, case, kind, sizes, 3, torch.float64)
    inputs = draw(case, kind, sizes, (3, 4, 5), torch.float64, masked=True)
    look_at = "a list of the weights of each layer, the first layer first, for each attention"
    expect_computes(module, candidates, inputs, PARTS[kind], look_at, about=PARTS[kind][1:])


@pytest.mark.item("layers in order")
@pytest.mark.task_2_3
@pytest.mark.parametrize("kind", PARTS)
def test_same_in_train_mode(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    sizes = Sizes(6, 2, 11)
    module, _, candidates = make(submission, case, kind, sizes, 2, torch.float64)
    inputs = draw(case, kind, sizes, (3, 4, 5), torch.float64, masked=True)
    look_at = "where does dropout belong? the layers are stand-ins without it here"
    expect_computes(module.train(), candidates, inputs, PARTS[kind], look_at, about=["x"])


@pytest.mark.item("gradients")
@pytest.mark.parametrize("kind, norm_first, dtype", rows_of(STACKS, [(dtype,) for dtype in DTYPES], [(torch.float64,)]))
def test_gradients(
    submission: SubmissionUnderTest, case: Case, kind: str, norm_first: bool, dtype: torch.dtype
) -> None:
    sizes = Sizes(6, 2, 11, norm_first)
    module, pairs, candidates = make(submission, case, kind, sizes, 3, dtype)
    inputs = draw(case, kind, sizes, (3, 4, 5), dtype, masked=True)
    options: dict[str, Any] = {"parameters": pairs, "case": case, "about": ["x"], "apart": True}
    if expect_computes(module, candidates, inputs, PARTS[kind], RULES[norm_first], **options):
        expect_gradients([parameter for parameter, _ in pairs], "the gradients of the parameters", RULES[norm_first])


@pytest.mark.item("no side effects")
@pytest.mark.task_2_3
@pytest.mark.parametrize("kind", PARTS)
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    sizes = Sizes(6, 2, 11)
    module, _, candidates = make(submission, case, kind, sizes, 2, torch.float32)
    inputs, others = (draw(case, kind, sizes, (2, 4, 5), torch.float32, masked=True) for _ in range(2))
    expect_no_state(module, candidates, inputs, others, PARTS[kind])
