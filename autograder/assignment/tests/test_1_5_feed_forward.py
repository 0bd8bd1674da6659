"""Task 1.5: W_2 relu(W_1 x + b_1) + b_2 at every position."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.assignment.checks import unreadable
from autograder.assignment.checks.situations import levels
from autograder.assignment.checks.situations.drawing import draw_shape, draw_values, lay_out
from autograder.assignment.checks.situations.judging import (
    Judged,
    in_turn,
    is_random_in_training,
    judge,
    leaves_of,
    nearest,
)
from autograder.assignment.checks.situations.situation import Situation
from autograder.assignment.checks.situations.sizes_in_code import built_by_numbers, led_by_numbers
from autograder.assignment.parameter_roles.by_behaviour import find_network
from autograder.assignment.parameter_roles.parts import Network, formula_readings, learned
from autograder.testing.case import Case
from autograder.testing.comparison import (
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_shape,
    expect_unchanged,
    run_backward,
)
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_5

COMPONENT = "layers.FeedForward"
FORMULA = "first map, relu, second map; both maps have a bias"


def make(submission: SubmissionUnderTest, case: Case) -> tuple[nn.Module, int, int]:
    d_model = case.size(3, 6)
    d_ff = case.choose([size for size in range(7, 13) if size != 2 * d_model])
    module = submission.build(COMPONENT, d_model, d_ff, dtype=torch.float64).eval()
    case.randomise(module.parameters())
    check_readable(module, case, d_model, d_ff)
    return module, d_model, d_ff


def check_readable(module: nn.Module, case: Case, d_model: int, d_ff: int) -> None:
    """Leaves it to a reader where no two maps are to be found, but as many numbers as they have."""
    parameters = learned(module)
    is_complete = sum(p.numel() for p in parameters) == 2 * d_model * d_ff + d_model + d_ff
    if is_complete and not read(module, parameters, d_model, d_ff):
        unreadable.check_network(module, case, d_model)


def expected(
    module: nn.Module, x: Tensor, d_model: int, d_ff: int, parameters: Sequence[Tensor] | None = None
) -> list[Tensor]:
    """The formula for each way to lay out the parameters."""
    parameters = [p.detach() for p in module.parameters()] if parameters is None else parameters
    parameters = [p for p in parameters if p.dtype == torch.float64]
    return [network(x) for network in read(module, parameters, d_model, d_ff)]


def read(module: nn.Module, parameters: Sequence[Tensor], d_model: int, d_ff: int) -> list[Network]:
    """All that the network may be, with the module's parameters or other tensors of the same shapes."""
    found = list(formula_readings(parameters, d_model, d_ff))
    if not found and (places := find_network(module, d_model, d_ff)) is not None:
        found = [places.of(parameters)]
    return found


@pytest.mark.core
def test_formula(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, d_ff = make(submission, case)
    x = case.normal(3, case.size(2, 6), d_model, scale=2.0)
    found = expected(module, x, d_model, d_ff)
    expect_equal_to_one(module(x), found, "the feed-forward network", FORMULA)


def test_large_values(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, d_ff = make(submission, case)
    x = case.normal(3, 4, d_model, scale=50.0)
    look_at = "relu has no upper limit"
    found = expected(module, x, d_model, d_ff)
    expect_equal_to_one(module(x), found, "the network for large values", look_at)


def test_keyword_arguments_and_float32(submission: SubmissionUnderTest, case: Case) -> None:
    d_model, d_ff = case.sizes(2, 3, 12)
    module = submission.build(COMPONENT, d_model=d_model, d_ff=d_ff)
    y = module(case.normal(2, 5, d_model, dtype=torch.float32))
    expect_shape(y, (2, 5, d_model), "the output", dtype=torch.float32)


def test_number_of_parameters(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, d_ff = make(submission, case)
    wanted = 2 * d_model * d_ff + d_model + d_ff
    total = sum(p.numel() for p in module.parameters())
    expect(
        total == wanted,
        "the learned parameters",
        f"two maps d_model -> d_ff -> d_model with biases, {wanted} numbers",
        f"{total}",
        FORMULA,
    )


def test_positions_do_not_mix(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, _ = make(submission, case)
    x = case.normal(3, 5, d_model)
    whole = module(x)
    expect_shape(whole, x.shape, "the output")
    expect_close(module(x[1:2, 3:4]), whole[1:2, 3:4], "one position by itself", "each position is computed separately")


def test_gradients(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, d_ff = make(submission, case)
    x = case.normal(6, 7, d_model, scale=2.0).requires_grad_()
    direction = case.normal(6, 7, d_model)
    parameters = list(module.parameters())
    leaves = [tensor.detach().clone().requires_grad_() for tensor in (x, *parameters)]
    run_backward(module(x), direction, "the output")
    expect_gradients([*parameters, x], "gradients of the parameters and of x")
    wanted = []
    for output in expected(module, leaves[0], d_model, d_ff, leaves[1:]):
        wanted.append(torch.autograd.grad((output * direction).sum(), leaves))
    index = expect_equal_to_one(x.grad, [grads[0] for grads in wanted], "the gradient of x", FORMULA)
    for parameter, one in zip(parameters, wanted[index][1:], strict=True):
        expect_close(parameter.grad, one, "the gradient of a parameter", "nothing is detached on the way")


def test_argument_stays_as_it_is(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, d_ff = make(submission, case)
    x = case.normal(2, 5, d_model)
    found = expected(module, x, d_model, d_ff)  # before a call that may change the parameters
    module(case.normal(2, 5, d_model))
    before = x.clone()
    first = module(x)
    expect_unchanged([x], [before], ["x"])
    look_at = "no state is kept between calls"
    expect_equal_to_one(first, found, "the output after a call with another x", look_at)
    expect_close(module(x), first.detach(), "the same call again", look_at)


MADE = (
    ("few", "float64"),
    Either(("few", "float32"), ("many", "float32")),
    Either(("d_ff = d_model", "float64"), ("d_ff = 1", "float64")),
    Either(("d_ff < d_model", "float32"), ("one feature", "float64")),
)
SITUATIONS = Covering(
    {
        "made": MADE,
        "shape": levels.SHAPES,
        "gradients": levels.GRADIENTS,
        "history": levels.OF_MODULES,
        "layout": levels.LAYOUTS,
        "values": levels.VALUES,
        "training": (False, True),
    },
    [*levels.learning_with(made=MADE), *levels.RELOADED, levels.FROZEN],
)


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    is_free: bool | None = None
    led = led_by_numbers(submission, case, COMPONENT, 3, made=("few", "float64"))
    led += built_by_numbers(submission, case, COMPONENT, lambda *sizes: [sizes])
    has_maps = False
    for (kind, dtype), rows in levels.by_object(SITUATIONS.rows(case, led), first=("few", torch.float64)):
        d_model, d_ff = sizes_of(kind, case)
        module = submission.build(COMPONENT, d_model, d_ff, dtype=dtype).eval()
        probe = case.normal(9, 13, d_model).to(dtype)
        # At its first call a module has other weights than it is judged with.
        is_free = is_random_in_training(submission, module, probe) if is_free is None else is_free
        scale = 20.0 if kind in ("d_ff = d_model", "d_ff = 1") else min(0.5, 3 * d_model**-0.5)
        case.randomise(module.parameters(), scale=scale)
        situations = [vectors_as(case, row, d_model) for row in rows if not (is_free and row["training"])]
        parameters = list(module.parameters())
        leaves = leaves_of(parameters)
        networks = [expected_of(network) for network in read(module, leaves, d_model, d_ff)]
        is_first = (kind, dtype) == ("few", torch.float64)
        has_maps = has_maps or (is_first and any(True for _ in formula_readings(parameters, d_model, d_ff)))
        if not networks and not is_first and not has_maps:
            continue  # not every layout can be read where sizes coincide, or in float32
        check_readable(module, case, d_model, d_ff)
        results = in_turn(submission, module, situations, is_trained=dtype == torch.float32)
        expect(bool(networks), "the learned parameters", "two maps with biases", "others", FORMULA)
        pairs = list(zip(parameters, leaves, strict=True))
        expected = nearest(networks, situations, results)
        what = f"the output for d_model = {d_model}, d_ff = {d_ff}"
        judge(case, Judged(what, ["output"], expected, pairs, FORMULA), situations, results)


def sizes_of(kind: levels.Kind, case: Case) -> tuple[int, int]:
    """d_model and d_ff."""
    if isinstance(kind, tuple):
        return kind
    return {
        "few": (case.size(3, 6), case.size(7, 12)),
        "d_ff = d_model": (5, 5),
        "d_ff < d_model": (case.size(5, 7), case.size(2, 4)),
        "one feature": (1, case.size(4, 6)),
        "d_ff = 1": (case.size(3, 5), 1),
        "many": (case.size(33, 35), case.size(36, 40)),
    }[kind]


def expected_of(network: Network) -> Any:
    """What the network should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Tensor]:
        return [network(inputs[0])]

    return expected


def vectors_as(case: Case, row: dict[str, Any], d_model: int) -> Situation:
    """A call as a row of the covering array says."""
    b, s = draw_shape(case, row["shape"], d_model)
    x = draw_values(case, row["values"], levels.DTYPES[row["dtype"]], b, s, d_model)
    return Situation((lay_out(x, row["layout"]),), ["x"], row, training=row["training"])
