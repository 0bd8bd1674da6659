"""Task 1.1: token embedding times sqrt(d_model)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.assignment.checks import unreadable
from autograder.assignment.checks.situations import levels
from autograder.assignment.checks.situations.drawing import draw_shape, lay_out
from autograder.assignment.checks.situations.judging import (
    Judged,
    in_turn,
    is_random_in_training,
    judge,
    leaves_of,
    nearest,
)
from autograder.assignment.checks.situations.situation import Situation
from autograder.assignment.checks.situations.sizes_in_code import LONGEST, built_by_numbers, led_by_numbers
from autograder.assignment.parameter_roles.by_behaviour import find_table, in_a_row
from autograder.assignment.parameter_roles.parts import learned
from autograder.testing.case import Case
from autograder.testing.code_numbers import MOST
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

pytestmark = pytest.mark.task_1_1

COMPONENT = "embedding.InputEmbedding"
SCALE = "the vectors are multiplied by sqrt(d_model) (section 3.4 of the paper)"


def draw_sizes(case: Case) -> tuple[int, int]:
    """The size of the vocabulary, and d_model, which is not a perfect square."""
    d_model = case.choose([5, 6, 7, 8, 10, 11, 12])
    return d_model + case.size(3, 12), d_model


def tables(parameters: Iterable[Tensor], vocab_size: int, d_model: int) -> Iterator[Tensor]:
    """Each parameter that holds one vector per token, (vocab_size, d_model) however it is laid out."""
    for parameter in parameters:
        if tuple(parameter.shape) == (vocab_size, d_model):
            yield parameter
        if tuple(parameter.shape) == (d_model, vocab_size):
            yield parameter.T


def make(submission: SubmissionUnderTest, case: Case) -> tuple[nn.Module, int, int]:
    vocab_size, d_model = draw_sizes(case)
    module = submission.build(COMPONENT, vocab_size, d_model, dtype=torch.float64).eval()
    case.randomise(module.parameters())
    check_readable(module, case, vocab_size, d_model)
    return module, vocab_size, d_model


def expected(module: nn.Module, tokens: Tensor, vocab_size: int, d_model: int) -> list[Tensor]:
    """The vectors, looked up and scaled, for each parameter that may be the table."""
    parameters = [p.detach() for p in learned(module)]
    found = tables_of(module, parameters, vocab_size, d_model)
    return [F.embedding(tokens, table) * math.sqrt(d_model) for table in found]


def tables_of(module: nn.Module, parameters: Sequence[Tensor], vocab_size: int, d_model: int) -> list[Tensor]:
    """All that may be the table: of the module's parameters, or of other tensors of the same shapes."""
    found = list(tables(parameters, vocab_size, d_model))
    if not found and sum(p.numel() for p in parameters) == vocab_size * d_model:
        places = find_table(module, vocab_size, d_model)
        found = [] if places is None else [in_a_row(parameters)[places]]
    return found


def check_readable(module: nn.Module, case: Case, vocab_size: int, d_model: int) -> None:
    """Leaves it to a reader where there is no table to be found, but as many numbers as one has."""
    parameters = learned(module)
    is_complete = sum(p.numel() for p in parameters) == vocab_size * d_model
    if is_complete and not tables_of(module, parameters, vocab_size, d_model):
        unreadable.check_embedding(module, case, vocab_size)


@pytest.mark.core
def test_vectors_are_looked_up_and_scaled(submission: SubmissionUnderTest, case: Case) -> None:
    module, vocab_size, d_model = make(submission, case)
    tokens = case.tokens(vocab_size, 3, case.size(2, 9))
    found = expected(module, tokens, vocab_size, d_model)
    expect_equal_to_one(module(tokens), found, "the embedding of random tokens", SCALE)


def test_keyword_arguments_and_float32(submission: SubmissionUnderTest, case: Case) -> None:
    vocab_size, d_model = draw_sizes(case)
    module = submission.build(COMPONENT, vocab_size=vocab_size, d_model=d_model)
    tokens = case.tokens(vocab_size, 2, 7)
    expect_shape(module(tokens), (2, 7, d_model), "the embedding of tokens (2, 7)", dtype=torch.float32)


def test_one_table_is_learned(submission: SubmissionUnderTest, case: Case) -> None:
    module, vocab_size, d_model = make(submission, case)
    total = sum(parameter.numel() for parameter in module.parameters())
    wanted = vocab_size * d_model
    expect(
        total == wanted,
        "the learned parameters of the embedding",
        f"vocab_size * d_model = {wanted} numbers",
        f"{total}",
        "one vector of d_model features for each token, registered as a parameter or a submodule",
    )


def test_gradient_reaches_the_tokens_that_occur(submission: SubmissionUnderTest, case: Case) -> None:
    module, vocab_size, d_model = make(submission, case)
    # The last token does not occur. Token 0 is padding, whose vector need not be learned.
    tokens = case.tokens(vocab_size - 1, 2, 6, low=1)
    direction = case.normal(2, 6, d_model)
    run_backward(module(tokens), direction, "the embedding")
    wanted = torch.zeros(vocab_size, d_model, dtype=torch.float64)
    wanted.index_add_(0, tokens.flatten(), direction.flatten(0, 1) * math.sqrt(d_model))
    parameters = learned(module)
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
    found = tables_of(module, gradients, vocab_size, d_model)
    expect_close(found[0] if found else None, wanted, "the gradient of the table", SCALE)


def test_single_token_and_batch_of_one(submission: SubmissionUnderTest, case: Case) -> None:
    module, vocab_size, d_model = make(submission, case)
    tokens = case.tokens(vocab_size, 4, 5)
    whole, part = module(tokens), module(tokens[1:2, 3:4])
    expect_shape(whole, (4, 5, d_model), "the embedding of tokens (4, 5)")
    expect_close(part, whole[1:2, 3:4], "one token alone, compared with the same token in a batch")


def test_tokens_stay_as_they_are(submission: SubmissionUnderTest, case: Case) -> None:
    module, vocab_size, d_model = make(submission, case)
    tokens = case.tokens(vocab_size, 2, 5)
    found = expected(module, tokens, vocab_size, d_model)  # before a call that may change the table
    module((tokens + 1) % vocab_size)
    before = tokens.clone()
    first = module(tokens)
    expect_unchanged([tokens], [before], ["tokens"])
    look_at = "no state is kept between calls"
    expect_equal_to_one(first, found, "the embedding after a call with other tokens", look_at)
    expect_close(module(tokens), first.detach(), "the same tokens a second time", look_at)


MADE = (
    ("few", "float64"),
    ("few", "float32"),
    ("as many tokens as features", "float64"),
    ("fewer tokens than features", "float64"),
    ("one feature", "float32"),
    ("many", "float64"),
)
SITUATIONS = Covering(
    {
        "made": MADE,
        "shape": levels.SHAPES,
        "ids": ("any", Either("the first", "the last", "in order"), "the same"),
        "gradients": levels.GRADIENTS,
        "history": levels.OF_MODULES,
        "layout": levels.LAYOUTS,
        "training": (False, True),
    },
    [
        *levels.learning_with(made=MADE),
        {"made": ("many", "float64"), "ids": "the last"},
        *levels.RELOADED,
        levels.FROZEN,
    ],
)


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    is_free: bool | None = None
    led = led_by_numbers(submission, case, COMPONENT, 5, made=("few", "float64"))
    led += built_by_numbers(submission, case, COMPONENT, tokens_and_features, most=MOST, ids="the last")
    has_table = False
    for (kind, dtype), rows in levels.by_object(SITUATIONS.rows(case, led), first=("few", torch.float64)):
        vocab_size, d_model = sizes_of(kind, case)
        module = submission.build(COMPONENT, vocab_size, d_model, dtype=dtype).eval()
        probe = case.tokens(vocab_size, 9, 13)
        # At its first call a module has other weights than it is judged with.
        is_free = is_random_in_training(submission, module, probe) if is_free is None else is_free
        case.randomise(module.parameters(), scale=50.0 if kind == "as many tokens as features" else 0.5)
        situations = [tokens_as(case, row, vocab_size, d_model) for row in rows if not (is_free and row["training"])]
        parameters = learned(module)
        leaves = leaves_of(parameters)
        results = in_turn(submission, module, situations, is_trained=dtype == torch.float32)
        found = [table_of(one, math.sqrt(d_model)) for one in tables_of(module, leaves, vocab_size, d_model)]
        is_first = (kind, dtype) == ("few", torch.float64)
        has_table = has_table or (is_first and any(True for _ in tables(parameters, vocab_size, d_model)))
        if not found and not is_first and not has_table:
            continue  # where sizes coincide, not every layout can be read
        check_readable(module, case, vocab_size, d_model)
        expect(bool(found), "the embedding's table", f"{vocab_size} x {d_model} numbers", "no such parameter")
        pairs = list(zip(parameters, leaves, strict=True))
        expected = nearest(found, situations, results)
        judged = Judged("the embedding", ["vectors"], expected, pairs, SCALE, dtype)
        judge(case, judged, situations, results)


def tokens_and_features(one: int, other: int) -> Iterator[tuple[int, int]]:
    """So many tokens, or two more, so that there is an id beyond the number; and so many features, if not too many."""
    yield one + (one > other), 6
    if one <= LONGEST:
        yield 9, one


def sizes_of(kind: levels.Kind, case: Case) -> tuple[int, int]:
    """The size of the vocabulary, and d_model."""
    if isinstance(kind, tuple):
        return kind
    return {
        "few": draw_sizes(case),
        "as many tokens as features": (7, 7),
        "fewer tokens than features": (case.size(3, 5), case.size(6, 8)),
        "one feature": (case.size(5, 9), 1),
        "many": (case.size(258, 300), case.size(33, 35)),
    }[kind]


def table_of(table: Tensor, scale: float) -> Any:
    """What the embedding with this table should return."""

    def expected(situation: Situation, inputs: tuple[Any, ...]) -> list[Tensor]:
        return [table[inputs[0]] * scale]

    return expected


def tokens_as(case: Case, row: dict[str, Any], vocab_size: int, d_model: int) -> Situation:
    """A call as a row of the covering array says. Id 0 is padding, which need not be learned."""
    b, s = draw_shape(case, row["shape"], d_model)
    tokens = case.tokens(vocab_size, b, s, low=1)
    if row["ids"] == "the last":
        tokens[:, -1] = vocab_size - 1
    elif row["ids"] == "the first" and not row["gradients"].startswith("of"):
        tokens[:, 0] = 0
    elif row["ids"] == "in order":
        tokens = tokens.sort(dim=1).values
    elif row["ids"] == "the same":
        tokens[:] = case.size(1, vocab_size - 1)
    return Situation((lay_out(tokens, row["layout"]),), ["tokens"], row, training=row["training"])
