"""Task 1.3: projections, heads, attention in each head, output projection.

The attention inside is a stand-in, so that a fault in task 1.2 costs nothing here; attention that is
written out in the class is accepted too.
"""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.assignment.checks.multi_head import (
    COMPONENT,
    NAMES,
    PARTS,
    SPLIT,
    attend,
    by_behaviour,
    check_laws,
    check_numbers,
    draw,
    leave_to_a_reader,
    make,
    recognise,
    tell_what_does_not_fit,
)
from autograder.assignment.checks.situations import levels
from autograder.assignment.checks.situations.drawing import (
    draw_mask,
    draw_values,
    lay_out,
    lay_out_mask,
    made_the_same,
    mask_before,
    served,
)
from autograder.assignment.checks.situations.judging import Judged, in_turn, is_random_in_training, judge, leaves_of
from autograder.assignment.checks.situations.situation import Situation
from autograder.assignment.checks.situations.sizes_in_code import (
    WIDEST,
    built_by_numbers,
    heads_and_features,
    led_by_numbers,
)
from autograder.assignment.parameter_roles.laws import check_weights
from autograder.assignment.parameter_roles.parts import learned
from autograder.assignment.parameter_roles.projections import FoundAttention, find_attention
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    copies,
    describe,
    expect,
    expect_close,
    expect_gradients,
    expect_parts,
    expect_unchanged,
    fail,
    run_backward,
)
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_1_3


@pytest.mark.core
def test_self_attention(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, n_heads = make(submission, case)
    found = recognise(submission, module, case, d_model, n_heads)
    x = case.normal(case.size(2, 4), case.size(5, 7), d_model)
    output, weights = attend(module, n_heads, x, x, x)
    expect_close(weights, found(x, x, x)[1], "self-attention: weights", SPLIT)
    expect_close(output, found(x, x, x)[0], "self-attention: output", SPLIT)


@pytest.mark.core
def test_query_key_and_value_differ(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, n_heads = make(submission, case)
    recognise(submission, module, case, d_model, n_heads)
    check_laws(module, case, d_model, n_heads)


@pytest.mark.parametrize("kind", ["(b, 1, 1, k)", "(q, k)", "(b, 1, q, k)", "(b, h, q, k)"])
def test_mask_reaches_every_head(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    module, d_model, n_heads = make(submission, case)
    found = recognise(submission, module, case, d_model, n_heads)
    b, q, k = case.sizes(3, 3, 7)
    shapes = {"(q, k)": (q, k), "(b, 1, q, k)": (b, 1, q, k), "(b, h, q, k)": (b, n_heads, q, k)}
    mask = case.mask(*shapes[kind]) if kind in shapes else case.padding_mask(b, k)
    inputs = case.normal(b, q, d_model), case.normal(b, k, d_model), case.normal(b, k, d_model)
    output, weights = attend(module, n_heads, *inputs, mask)
    look_at = "the mask is passed to the attention unchanged"
    check_weights(weights, weights.shape, mask, f"weights with the mask {kind}")
    expect_close(weights, found(*inputs, mask)[1], f"weights with the mask {kind}", look_at)
    expect_close(output, found(*inputs, mask)[0], f"output with the mask {kind}", look_at)


def test_heads_that_do_not_divide_are_refused(submission: SubmissionUnderTest, case: Case) -> None:
    n_heads = case.size(3, 5)
    for d_model in (n_heads * 4 + 1, n_heads - 1):
        try:
            submission.build(COMPONENT, d_model, n_heads)
        except ValueError:
            continue
        what = f"{n_heads} heads for d_model = {d_model}"
        fail(what, "a ValueError from __init__", "no error", "d_model is divided among the heads")


@pytest.mark.parametrize("n_heads", [1, 6, 8])
def test_number_of_heads(submission: SubmissionUnderTest, case: Case, n_heads: int) -> None:
    module, d_model, _ = make(submission, case, n_heads, d_head=case.size(2, 3) if n_heads > 2 else case.size(5, 6))
    found = recognise(submission, module, case, d_model, n_heads)
    x = case.normal(2, 4, d_model)
    output, weights = attend(module, n_heads, x, x, x)
    expect_close(weights, found(x, x, x)[1], f"weights for n_heads = {n_heads}", SPLIT)
    expect_close(output, found(x, x, x)[0], f"output for n_heads = {n_heads}", SPLIT)


def test_small_sizes(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, n_heads = make(submission, case)
    found = recognise(submission, module, case, d_model, n_heads)
    x = case.normal(1, 1, d_model)
    output, weights = attend(module, n_heads, x, x, x)
    expect_close(weights, torch.ones_like(weights), "weights of one position", "a single key gets all the weight")
    expect_close(output, found(x, x, x)[0], "output for one sentence of one position", SPLIT)
    query, key, value = draw(case, d_model)
    whole, _ = attend(module, n_heads, query, key, value)
    part, _ = attend(module, n_heads, query[:1, 1:2], key[:1], value[:1])
    expect_close(part, whole[:1, 1:2], "output for one query of one sentence by itself", "queries do not mix")


def test_four_projections_are_learned(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, n_heads = make(submission, case)
    check_numbers(learned(module), d_model, n_heads)


def test_gradients(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, n_heads = make(submission, case)
    inputs = [x.requires_grad_() for x in draw(case, d_model)]
    output, _ = attend(module, n_heads, *inputs)
    direction = case.normal(*output.shape)
    run_backward(output, direction, "output")
    parameters = learned(module)
    # With a true softmax the gradient of the key's bias is zero by nature: only matrices must have one.
    matrices = [p for p in parameters if p.numel() > d_model]
    expect_gradients([*matrices, *inputs], "gradients of the projections and inputs")
    gradients = [tensor.grad for tensor in (*parameters, *inputs)]
    others = [tensor.detach().clone().requires_grad_() for tensor in parameters]
    found = recognise(submission, module, case, d_model, n_heads, others)
    copied = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    expected = torch.autograd.grad(found(*copied)[0], [*others, *copied], direction, allow_unused=True)
    for got, wanted in zip(gradients, expected, strict=True):
        if got is not None and wanted is not None:
            expect_close(got, wanted, "a gradient", "nothing is detached on the way")


def test_arguments_stay_as_they_are(submission: SubmissionUnderTest, case: Case) -> None:
    module, d_model, n_heads = make(submission, case)
    found = recognise(submission, module, case, d_model, n_heads)
    inputs = [*(case.normal(2, 4, d_model) for _ in range(3)), case.mask(4, 4)]
    attend(module, n_heads, *(case.normal(2, 4, d_model) for _ in range(3)), case.mask(4, 4))
    before = copies(inputs)
    first, _ = attend(module, n_heads, *inputs)
    expect_unchanged(inputs, before, NAMES)
    again, _ = attend(module, n_heads, *inputs)
    expect_close(again, first, "the same call again", "no state is kept between calls")
    expect_close(first, found(*inputs)[0], "output after a call with other arguments", "no state is kept")


def test_keyword_arguments_and_float32(submission: SubmissionUnderTest, case: Case) -> None:
    module = submission.build(COMPONENT, d_model=12, n_heads=3).eval()
    make_input = partial(case.normal, 2, 5, 12, dtype=torch.float32)
    scattered = make_input().transpose(0, 1).contiguous().transpose(0, 1)
    inputs = make_input(), scattered, make_input(), case.mask(5, 5)
    parts = expect_parts(module(**dict(zip(NAMES, inputs, strict=True))), PARTS, "the result")
    for name, part, same in zip(PARTS, parts, module(*inputs), strict=True):
        got = getattr(part, "dtype", describe(part))
        expect(got == torch.float32, f"dtype of {name}", "float32, like the inputs", str(got))
        expect_close(part, same.detach(), f"{name} of a call by keyword", "as without keywords")


MADE = (
    ("few", "float64"),
    Either(("one head", "float32"), ("many", "float32")),
    Either(("one feature a head", "float64"), ("one feature", "float64")),
)
SITUATIONS = Covering(
    {
        "made": MADE,
        "b": ("few", Either("one", "many"), "q"),
        "q": ("few", Either("one", "many"), "d"),
        "k": ("few", Either("one", "many"), "q", Either(*levels.SAME)),
        "mask": levels.MASKS,
        "gradients": levels.OF_SEVERAL,
        "history": levels.OF_MODULES,
        "called": levels.CALLED,
        "layout": levels.LAYOUTS,
        "values": levels.VALUES,
        "training": (False, True),
    },
    [
        *levels.learning_with(k=levels.SAME),
        *levels.learning_with(made=MADE),
        *levels.AGAIN,
        levels.OTHERS,
        *levels.NOTHING_LEFT,
        levels.MANY_KEYS,
        levels.LEARNING | {"made": ("many", "float32"), "mask": "(q, k)"},
        *(levels.LEARNING | levels.FEW | {"q": "h", "k": k, "mask": "(q, k)"} for k in ("few", "q")),
        *(
            levels.LEARNING | levels.OWN_MASKS | {"b": "q", "q": "h", "k": "q", "mask": mask}
            for mask in ("(b, 1, q, k)", "(b, 1, 1, k)")
        ),
        levels.LEARNING | {"b": "q", "q": "few", "k": "q", "mask": "(q, k)"},
        *levels.RELOADED,
        levels.FROZEN,
        *levels.ALMOST_FREE,
        *(levels.PLAIN | {"k": k, "history": "same objects", "gradients": "no_grad"} for k in levels.SAME[:2]),
    ],
)
HEADS: dict[str, levels.Sizes] = {
    "few": (4, 3),
    "one head": (1, 5),
    "one feature a head": (5, 1),
    "one feature": (1, 1),
    "many": (5, 7),
}
"""Heads, and features of each."""


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    is_free: bool | None = None
    led = led_by_numbers(submission, case, COMPONENT, 5, made=("one head", "float32"))
    led += built_by_numbers(submission, case, COMPONENT, heads_and_features, most=WIDEST)
    is_found = False
    for (kind, dtype), rows in levels.by_object(SITUATIONS.rows(case, led), first=("few", torch.float64)):
        n_heads, d_head = levels.size_of(kind, HEADS)
        d_model = n_heads * d_head
        module = submission.build(COMPONENT, d_model, n_heads, dtype=dtype).eval()
        simple = [case.normal(2, n, d_model).to(dtype) for n in (3, 8, 8)]
        probe = [case.normal(9, 13, d_model).to(dtype) for _ in range(3)]
        # At its first call a module has other weights than it is judged with.
        is_free = is_random_in_training(submission, module, *probe) if is_free is None else is_free
        if dtype == torch.float32:
            attend(module, n_heads, *simple)
        case.randomise(module.parameters(), scale=min(0.5, 1.5 * d_model**-0.5))
        situations = [situation_of(case, row, d_model, n_heads) for row in rows if not (is_free and row["training"])]
        output, weights = attend(module, n_heads, *simple)
        parameters = learned(module)
        check_numbers(parameters, d_model, n_heads)
        leaves = leaves_of(parameters)
        tolerance = TOLERANCE if dtype == torch.float64 else TOLERANCE_OF_FLOAT32 / 10
        inputs, output, weights = [x.double() for x in simple], output.detach().double(), weights.detach().double()
        search = find_attention(leaves, n_heads, inputs, output, weights, tolerance=tolerance)
        found = search.found or by_behaviour(submission, module, leaves, d_model, n_heads)
        if found is None:
            if kind == "few" and dtype == torch.float64:
                leave_to_a_reader(search, module, case, d_model, n_heads)
            if (is_found and search.is_known_layout) or (kind == "few" and dtype == torch.float64):
                tell_what_does_not_fit(search, parameters)
            continue  # where sizes coincide, not every layout can be read
        is_found = is_found or search.found is not None
        results = in_turn(submission, module, situations)
        expected = expected_of(found)
        pairs = list(zip(parameters, leaves, strict=True))
        what = f"output for d_model = {d_model}, n_heads = {n_heads}"
        judge(case, Judged(what, PARTS, expected, pairs, SPLIT), situations, results)


def expected_of(found: FoundAttention) -> Any:
    """What the module should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
        return found(*inputs)

    return expected


def situation_of(case: Case, row: dict[str, Any], d_model: int, n_heads: int) -> Situation:
    """A call as a row of the covering array says."""
    same = {"d": min(d_model, 13), "h": n_heads}
    q = levels.size_of(row["q"], {"one": 1, "few": case.size(2, 5), "many": case.size(13, 14)} | same)
    b = levels.size_of(row["b"], {"one": 1, "few": case.size(2, 4), "many": 9, "q": q})
    others = dict.fromkeys(("q", *levels.SAME), q)
    k = levels.size_of(row["k"], {"one": 1, "few": case.size(2, 6), "many": case.size(65, 66)} | others)
    dtype = levels.DTYPES[row["dtype"]]
    calm = "normal" if row["values"] == "large" else row["values"]  # large scores would drown all weights but one
    query, key = (lay_out(draw_values(case, calm, dtype, b, n, d_model), row["layout"]) for n in (q, k))
    is_alone = row["k"] not in levels.SAME
    value = lay_out(draw_values(case, row["values"] if is_alone else calm, dtype, b, k, d_model), row["layout"])
    query, key, value = made_the_same(row["k"], query, key, value)
    mask = lay_out_mask(draw_mask(case, row["mask"], b, n_heads, q, k), row["layout"])
    counts = served(mask)
    counted = counts, None if counts is None else counts[..., None]
    earlier = None, None, None, mask_before(case, row, b, q, k)
    return Situation((query, key, value, mask), NAMES, row, counted, training=row["training"], earlier=earlier)
