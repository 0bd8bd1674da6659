"""Task 1.5: W_2 relu(W_1 x + b_1) + b_2 at every position.

How such tests are written: `autograder.testing.subject`.
"""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from assignment.expected.layers import network_formula
from assignment.expected.modules import learned_by
from assignment.expected.readings import expect_numbers, usual_readings
from assignment.expected.readings import feed_forward as make
from autograder.testing.arguments import CONVERTED
from autograder.testing.case import Case, SubmissionUnderTest, default_dtype, each_dtype, each_row, in_float32
from autograder.testing.comparison import alike, expect_shape
from autograder.testing.fitting import Candidates, Computation
from autograder.testing.results import CheckFailed
from autograder.testing.side_effects import expect_no_side_effects
from autograder.testing.subject import Subject

pytestmark = pytest.mark.task_1_5

COMPONENT = "layers.FeedForward"
FORMULA = "compute one position by hand with the formula of the docstring: where do the numbers part?"

OTHERS: list[Any] = [F.gelu, partial(F.gelu, approximate="tanh"), F.silu, F.leaky_relu, F.relu6, F.elu, F.softplus]
OTHERS += [torch.tanh, torch.sigmoid, torch.abs, torch.square, torch.clone]


def with_others(formulas: Candidates) -> Candidates:
    """The same networks, with other nonlinearities and with none, too."""
    if isinstance(formulas, Exception):
        return formulas
    return [*formulas, *(partial(formula, activation=other) for formula in formulas for other in OTHERS)]


def with_other_maps(subject: Subject, d_model: int) -> Candidates:
    """The subject's networks; of one with another inner size or without a bias, those that it may be."""
    if not isinstance(subject.formulas, CheckFailed):
        return subject.formulas
    leaves = [leaf for _, leaf in subject.parameters]
    networks: list[Computation] = []
    count = sum(leaf.numel() for leaf in leaves)
    for inner, outer in product((1, 0), (1, 0)):  # how many biases each map has
        d_ff, rest = divmod(count - outer * d_model, 2 * d_model + inner)
        if d_ff > 0 and not rest:
            missing = [torch.zeros(d_ff).double()] * (1 - inner) + [torch.zeros(d_model).double()] * (1 - outer)
            networks += usual_readings(network_formula(d_model, d_ff), [*leaves, *missing])
    return networks or subject.formulas


CASES = {  # the shape of x, d_ff, the size of x, and where to look
    "a batch": ((3, 5, 4), 9, 1.0, FORMULA),
    "one sentence": ((1, 5, 3), 7, 1.0, FORMULA),
    "one position and one feature": ((2, 1, 1), 9, 1.0, "the features are the last axis"),
    "d_ff below d_model": ((2, 3, 6), 4, 1.0, FORMULA),
    "equal sizes": ((4, 4, 4), 4, 1.0, "the features are the last axis, and both maps always count"),
    "many positions and hidden features": (
        (1, 351, 64),
        256,
        1.0,
        "does a position depend on others, or on how many there are?",
    ),
    "large values": ((3, 4, 5), 8, 2000.0, "is there a limit to what a hidden feature can be?"),
    "small values": ((3, 4, 5), 8, 1e-3, "what does the nonlinearity give just below zero, and just above?"),
}
SPECIAL = {
    "special cases": [
        *("one position and one feature", "equal sizes", "many positions and hidden features"),
        *("large values", "small values"),
    ]
}


@pytest.mark.item("both maps")
@each_row(["a batch", "equal sizes"], in_float32=["a batch"])
def test_maps(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    # Whatever stands between them: that is for the next test, which takes any inner size, with biases and without.
    shape, d_ff, scale, look_at = CASES[name]
    subject = make(submission, case, shape[-1], d_ff, dtype=dtype)
    subject = replace(subject, formulas=with_others(subject.formulas))
    subject.expect_values({"x": case.normal(*shape, scale=scale, dtype=dtype)}, look_at)


@pytest.mark.item("relu between them")
@each_row(CASES, in_float32=["a batch"], items=SPECIAL)
def test_network(submission: SubmissionUnderTest, case: Case, name: str, dtype: torch.dtype) -> None:
    shape, d_ff, scale, look_at = CASES[name]
    subject = make(submission, case, shape[-1], d_ff, dtype=dtype)
    x = case.normal(*shape, scale=scale, dtype=dtype)
    x[0, 0] = 0
    subject = replace(subject, formulas=with_other_maps(subject, shape[-1]))
    if name == "one sentence":
        subject.train_unless_random({"x": x})
    replace(subject, inside=partial(other_nonlinearity, subject)).expect_values({"x": x}, look_at)


@pytest.mark.item("special cases")
def test_another_default_dtype(submission: SubmissionUnderTest, case: Case) -> None:
    with default_dtype(torch.float32):
        subject = make(submission, case, 4, 7, any_dtype=False)
        subject = replace(subject, formulas=with_others(with_other_maps(subject, 4)))
        subject.expect_values({"x": case.normal(2, 5, 4)}, CONVERTED)


def other_nonlinearity(subject: Subject, inputs: dict[str, Any]) -> str:
    """Name what stands between the maps of a network that is right but for that; "" where it is not."""
    x, returned = inputs["x"], subject.call(*inputs.values())
    networks = [] if isinstance(subject.formulas, Exception) else subject.formulas
    if any(alike(returned, network(x.double())) for network in networks):
        return ""  # right where x is laid out otherwise, and below 6 like relu6
    pairs = ((network, other) for network in networks for other in OTHERS)
    fits = (other for network, other in pairs if alike(returned, network(x.double(), activation=other)))
    names = (getattr(other, "func", other).__name__.replace("clone", "nothing") for other in fits)
    if name := next(names, ""):
        return f"between the maps there is {name}"
    for network in networks:
        linear = partial(network, activation=torch.clone)
        places = {"x, before both": linear(torch.relu(x.double())), "the result of both": linear(x.double()).relu()}
        for place, other in places.items():
            if alike(returned, other):
                return f"relu acts on {place} maps"
    return ""


@pytest.mark.item("both maps")
@in_float32
def test_number_of_parameters(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    module = submission.build(COMPONENT, d_model=4, d_ff=11)
    expect_numbers(learned_by(module), 2 * 4 * 11 + 4 + 11, FORMULA)
    y = module(case.normal(2, 5, 4, dtype=dtype))
    expect_shape(y, (2, 5, 4), "the network", dtype=dtype)


@pytest.mark.item("gradients")
@each_dtype
def test_gradients(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject = make(submission, case, 5, 8, dtype=dtype)
    subject.expect_gradients(case, {"x": case.normal(6, 7, 5, scale=20.0, dtype=dtype)}, FORMULA)


@pytest.mark.item("no side effects")
@in_float32
def test_no_side_effects(submission: SubmissionUnderTest, case: Case, dtype: torch.dtype) -> None:
    subject = make(submission, case, 8, 9, dtype=dtype, called_before_with=case.normal(2, 5, 8, dtype=dtype))
    inputs, others = ({"x": case.normal(2, 5, 8, dtype=dtype)} for _ in range(2))
    copied = partial(submission.apply, "call_copy", subject.call)
    fresh = partial(make, submission, case, 8, 9, dtype=dtype)
    left = partial(submission.apply, "left_behind", subject.call, "forward")
    expect_no_side_effects(subject, inputs, others, left, fresh, copied, another=lambda: fresh().call)
