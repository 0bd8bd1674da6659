"""Task 1.4: mean 0 and variance 1 over the features, then gain and shift."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.assignment.checks.situations import levels
from autograder.assignment.checks.situations.drawing import draw_shape, draw_values, lay_out
from autograder.assignment.checks.situations.judging import Judged, in_turn, judge, leaves_of, nearest
from autograder.assignment.checks.situations.situation import Situation
from autograder.assignment.checks.situations.sizes_in_code import built_by_numbers, led_by_numbers
from autograder.assignment.parameter_roles.by_behaviour import find_gain_and_shift, in_a_row
from autograder.assignment.parameter_roles.parts import learned
from autograder.testing.case import Case
from autograder.testing.comparison import (
    expect,
    expect_close,
    expect_equal_to_one,
    expect_shape,
    expect_unchanged,
    run_backward,
)
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_4

COMPONENT = "layers.LayerNorm"


def make(
    submission: SubmissionUnderTest, case: Case, d_model: int | None = None, **options: Any
) -> tuple[nn.Module, int]:
    d_model = d_model or case.size(4, 12)
    module = submission.build(COMPONENT, d_model, dtype=torch.float64, **options).eval()
    case.randomise(module.parameters())
    return module, d_model


def draw(case: Case, *shape: int) -> Tensor:
    """Vectors of so large a variance that epsilon does not matter: it has tests of its own."""
    return case.normal(*shape, scale=300.0) + case.number(10, 20)


def vectors(tensors: Sequence[Tensor], d_model: int) -> Iterator[list[Tensor]]:
    """Ways to read the parameters as vectors: each is one, or a single one holds both as its rows or columns."""
    if len(tensors) == 1 and tensors[0].numel() == 2 * d_model:
        both = tensors[0].squeeze()
        ways = (both, both.mT) if both.dim() == 2 else (both.reshape(2, d_model), both.reshape(d_model, 2).mT)
        yield from ([row.flatten() for row in matrix] for matrix in ways if matrix.size(0) == 2)
    else:
        yield [tensor.flatten() for tensor in tensors]


def gain_and_shift(tensors: Sequence[Tensor], d_model: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The vectors in both orders, the gain as it is or as its difference from 1; nothing unless they fit d_model."""
    for found in vectors(tensors, d_model):
        if [tensor.numel() for tensor in found] == [d_model, d_model]:
            for gain, shift in (found, found[::-1]):
                yield gain, shift
                yield 1 + gain, shift


def read(
    module: nn.Module, parameters: Sequence[Tensor], d_model: int, epsilon: float = 1e-6
) -> list[tuple[Tensor, Tensor]]:
    """All that may be gain and shift: of the module's parameters, or of other tensors of the same shapes."""
    found = list(gain_and_shift(parameters, d_model))
    if not found and (places := find_gain_and_shift(module, d_model, epsilon)) is not None:
        gain, shift = (in_a_row(parameters)[place] for place in places)
        found = [(gain, shift), (1 + gain, shift)]
    return found


def expected(module: nn.Module, x: Tensor, d_model: int, epsilon: float = 1e-6) -> list[Tensor]:
    """PyTorch's own layer norm, with the parameters as gain and shift in each order that may be."""
    parameters = [p.detach() for p in learned(module)]
    found = read(module, parameters, d_model, epsilon)
    return [F.layer_norm(x, (d_model,), gain, shift, epsilon) for gain, shift in found]


def expect_norm(module: nn.Module, x: Tensor, d_model: int, what: str, look_at: str, epsilon: float = 1e-6) -> None:
    """Fails unless the module normalises x as PyTorch does."""
    found = expected(module, x, d_model, epsilon)  # before a call that may change the parameters
    expect_equal_to_one(module(x), found, what, look_at)


@pytest.mark.core
def test_three_axes(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case)
    x = draw(case, 3, case.size(2, 6), d_model)
    look_at = (
        "mean and variance (which divides by d_model) over the last axis, separately for each position; "
        "then gain and shift"
    )
    expect_norm(module, x, d_model, "the norm of a batch", look_at)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4), ()])
def test_any_number_of_axes(submission: SubmissionUnderTest, case: Case, shape: tuple[int, ...]) -> None:
    module, d_model = make(submission, case)
    x = draw(case, *shape, d_model)
    look_at = "take mean and variance over dim=-1 with keepdim, however many axes come before it"
    expect_norm(module, x, d_model, f"the norm of a tensor with {len(shape) + 1} axes", look_at)


def test_population_variance(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case, d_model=2)
    mean, deviation = draw(case, 4, 3, 1), case.choose([-1, 1]) * case.number(50, 100)
    x = torch.cat([mean - deviation, mean + deviation], dim=-1)
    look_at = "the population variance divides by d_model, not by d_model - 1 (torch.var's default)"
    expect_norm(module, x, d_model, "the norm of two features", look_at)


def test_epsilon_stands_under_the_root(submission: SubmissionUnderTest, case: Case) -> None:
    epsilon = case.number(0.3, 0.9)
    module, d_model = make(submission, case, epsilon=epsilon)
    x = case.normal(4, 3, d_model)
    look_at = "sqrt(var + epsilon), with the constructor's epsilon"
    expect_norm(module, x, d_model, f"the norm with epsilon = {epsilon:.3f}", look_at, epsilon)


def test_default_epsilon(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case)
    x = case.normal(4, 3, d_model, scale=1e-3)
    look_at = "sqrt(var + epsilon), with epsilon = 1e-6 by default"
    expect_norm(module, x, d_model, "the norm of small differences", look_at)


def test_constant_input_stays_finite(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case)
    x = torch.full((2, 3, d_model), case.number(-3, 3), dtype=torch.float64, requires_grad=True)
    y = module(x)
    look_at = "epsilon keeps the root away from zero, in the gradient as well"
    expect_shape(y, x.shape, "the norm of a constant", look_at)
    run_backward(y, case.normal(2, 3, d_model), "the norm of a constant")
    expect_shape(x.grad, x.shape, "the gradient at a constant", look_at)


def check_first_values(module: nn.Module, case: Case, d_model: int) -> None:
    """A gain of ones, or of zeros if they are its difference from 1, and a shift of zeros."""
    readings = vectors([p.detach() for p in learned(module)], d_model)
    values = [sorted(vector.tolist() for vector in reading) for reading in readings]
    wanted = [[0.0] * d_model, [1.0] * d_model]
    numbers = sorted(number for reading in values[:1] for vector in reading for number in vector)
    is_difference = numbers == [0.0] * 2 * d_model
    expect(
        wanted in values or numbers == sum(wanted, []) or is_difference,
        "the learned parameters of a new LayerNorm",
        f"a gain of {d_model} ones and a shift of {d_model} zeros",
        f"parameters of {[p.numel() for p in learned(module)]} values, or other initial values",
        "one gain and one shift for each feature, each an nn.Parameter",
    )
    if is_difference and d_model > 1:
        check_first_gain(module, case, d_model)


def check_first_gain(module: nn.Module, case: Case, d_model: int) -> None:
    """What a new LayerNorm returns has about the variance 1; which variance it divides by is for other tests."""
    dtype = next(module.parameters()).dtype
    y = module(draw(case, 3, 4, d_model).to(dtype))
    expect_shape(y, (3, 4, d_model), "the norm by a new LayerNorm")
    size = float(y.detach().double().square().mean().sqrt())
    what = "the standard deviation of the features that a new LayerNorm returns"
    expect(0.5 < size < 1.5, what, "about 1", f"{size:.3g}", "the gain is 1 and the shift 0 at first")


def test_gain_and_shift_at_first(submission: SubmissionUnderTest, case: Case) -> None:
    d_model = case.size(4, 12)
    module = submission.build(COMPONENT, d_model=d_model)
    check_first_values(module, case, d_model)
    check_first_gain(module, case, d_model)


def test_gradients(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case)
    x = draw(case, 3, 4, d_model).requires_grad_()
    direction = case.normal(3, 4, d_model)
    parameters = learned(module)
    leaves = [tensor.detach().clone().requires_grad_() for tensor in (x, *parameters)]
    run_backward(module(x), direction, "the norm")
    wanted = []
    for gain, shift in read(module, leaves[1:], d_model):
        wanted.append(torch.autograd.grad(F.layer_norm(leaves[0], (d_model,), gain, shift, 1e-6), leaves, direction))
    look_at = "mean and variance depend on x; nothing is detached"
    index = expect_equal_to_one(x.grad, [grads[0] for grads in wanted], "the gradient of the input", look_at)
    for parameter, one in zip(parameters, wanted[index][1:], strict=True):
        expect_close(parameter.grad, one, "the gradient of gain and shift", "both are learned; nothing is detached")


def test_same_in_training(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case)
    x = draw(case, 2, 5, d_model)
    look_at = "LayerNorm computes the same in training"
    module.train()
    expect_norm(module, x, d_model, "the norm in train mode", look_at)


def test_float32(submission: SubmissionUnderTest, case: Case) -> None:
    d_model = case.size(4, 12)
    x = case.normal(2, 5, d_model, dtype=torch.float32)
    expect_shape(submission.build(COMPONENT, d_model)(x), x.shape, "the norm of float32", dtype=torch.float32)


def test_argument_stays_as_it_is(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model = make(submission, case)
    x = draw(case, 2, 5, d_model)
    module(draw(case, 2, 5, d_model))
    before = x.clone()
    first = module(x)
    expect_unchanged([x], [before], ["x"])
    expect_norm(module, x, d_model, "the norm after a call with another x", "no state is kept between calls")
    expect_close(module(x), first.detach(), "the same call again", "no state is kept between calls")
    expect_close(module(x[1:, 2:3]), first[1:, 2:3].detach(), "one position by itself", "positions do not mix")


MADE = (
    ("few", "float64"),
    Either(("few", "float32"), ("epsilon 0", "float32")),
    Either(("epsilon", "float64"), ("one feature", "float64")),
    ("many", "float32"),
)
AS_AT_FIRST = {"gains of 1": 1, "shifts of 0": 0}
"""Objects of which some parameters keep their first values."""
SITUATIONS = Covering(
    {
        "made": MADE,
        "shape": (*levels.SHAPES, Either("one axis", "two axes", "four axes")),
        "gradients": levels.GRADIENTS,
        "history": levels.OF_MODULES,
        "layout": levels.LAYOUTS,
        "values": (*levels.VALUES[:2], Either(*levels.VALUES[2], "one outlier")),
        "training": (False, True),
    },
    [
        *levels.learning_with(made=MADE),
        {"made": ("epsilon 0", "float32"), "values": "small"},
        {"made": ("many", "float32"), "values": "one outlier"},
        *levels.REMARKABLE,
        levels.LEARNING | {"gradients": "no_grad", "history": "same shapes", "shape": "few"},
        *(row | {"made": ("epsilon", "float64")} for row in (*levels.RELOADED, levels.FROZEN)),
        *(levels.LEARNING | {"made": (kind, "float64")} for kind in AS_AT_FIRST),
    ],
)


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    led = led_by_numbers(submission, case, COMPONENT, 4, made=("few", "float64"))
    led += built_by_numbers(submission, case, COMPONENT, lambda d_model, _: [(d_model,)])
    for (kind, dtype), rows in levels.by_object(SITUATIONS.rows(case, led)):
        named = {"one feature": 1, "many": case.size(128, 135)}.get(str(kind), case.size(4, 9))
        d_model = kind[0] if isinstance(kind, tuple) else named
        epsilon = {"epsilon": case.number(0.3, 0.9), "epsilon 0": 0.0, "many": 1e-3}.get(str(kind), 1e-6)
        options: dict[str, Any] = {} if epsilon == 1e-6 else {"epsilon": epsilon}
        module = submission.build(COMPONENT, d_model, dtype=dtype, **options).eval()
        check_first_values(module, case, d_model)
        kept = AS_AT_FIRST.get(str(kind))
        others = [parameter for parameter in module.parameters() if kept is None or bool((parameter != kept).any())]
        case.randomise(others, scale=20.0 if kind in ("epsilon", "one feature") else 0.5)
        situations = [features_as(case, row, d_model, epsilon) for row in rows]
        parameters = learned(module)
        leaves = leaves_of(parameters)
        results = in_turn(submission, module, situations, is_trained=dtype == torch.float32)
        norms = [norm_of(gain, shift, epsilon) for gain, shift in read(module, leaves, d_model, epsilon)]
        if not norms and (kind, dtype) != ("few", torch.float64):
            continue  # where sizes coincide, not every layout can be read
        expect(bool(norms), "the learned parameters", f"a gain and a shift of {d_model} numbers each", "others")
        pairs = list(zip(parameters, leaves, strict=True))
        expected = nearest(norms, situations, results)
        look_at = f"mean and variance over the last axis, epsilon = {epsilon:.3g} under the root"
        judge(case, Judged("the norm", ["norm"], expected, pairs, look_at), situations, results)


def norm_of(gain: Tensor, shift: Tensor, epsilon: float) -> Any:
    """PyTorch's own layer norm with these parameters."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Tensor]:
        return [F.layer_norm(inputs[0], gain.shape, gain, shift, epsilon)]

    return expected


def features_as(case: Case, row: dict[str, Any], d_model: int, epsilon: float) -> Situation:
    """A call as a row of the covering array says."""
    kind = row["shape"]
    shape = {"one axis": (), "two axes": (case.size(2, 5),), "four axes": (2, case.size(2, 3), 3)}.get(kind)
    shape = draw_shape(case, kind, d_model) if shape is None else shape
    values = row["values"] if epsilon or row["values"] == "small" else "normal"  # without it, no vector may be constant
    dtype = levels.DTYPES[row["dtype"]]
    x = draw_values(case, values, dtype, *shape, d_model)
    return Situation((lay_out(x, row["layout"]),), ["x"], row, training=row["training"])
