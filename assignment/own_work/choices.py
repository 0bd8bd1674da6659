"""Questions about attention weights, which the student's own function answers; and the component tests in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log

import torch
from torch import Tensor

from autograder.course.assignment_code import Choice
from autograder.testing.case import Case
from autograder.testing.submission import SubmissionUnderTest

ATTENTION = "attention.scaled_dot_product_attention"
ROWS = ([0.1, 0.2, 0.3, 0.4], [0.05, 0.15, 0.3, 0.5], [0.1, 0.1, 0.2, 0.6], [0.08, 0.12, 0.3, 0.5])
ORDINALS = ("first", "second", "third", "fourth")
CLEARLY = 0.02
"""By how much two rows of weights have to differ somewhere to be different answers."""
BEFORE = (
    "For one query and four keys your `scaled_dot_product_attention` returns the weights {}, with a mask that allows "
)
BEFORE += "all four keys."


def attend(
    submission: SubmissionUnderTest, row: Sequence[float], allowed: Sequence[bool] = (True,) * 4, factor: float = 1.0
) -> Tensor:
    """The weights of one query for keys that get these weights without a mask; d_k is 1.

    Args:
        submission: whose function is called.
        row: the weights.
        allowed: the mask.
        factor: the query.
    """
    key = torch.tensor([[[[log(weight)] for weight in row]]], dtype=torch.float64)
    query = torch.tensor([[[[factor]]]], dtype=torch.float64)
    _, weights = submission.call(ATTENTION, query, key, torch.ones_like(key), torch.tensor([[[[*allowed]]]]))
    values: Tensor = weights.detach().view(len(row))
    return values


def one_more_key_forbidden(submission: SubmissionUnderTest, case: Case) -> Choice:
    """Ask for the weights where the mask forbids one more key."""
    row = case.shuffle(case.choose(ROWS))
    before, gone = attend(submission, row), case.size(0, 3)
    after = attend(submission, row, [index != gone for index in range(4)])
    zeroed, shared = before.clone(), before + before[gone] / 3
    zeroed[gone] = shared[gone] = 0
    text = (
        BEFORE.format(as_text(before)),
        f"Now the mask forbids the {ORDINALS[gone]} key, and nothing else changes. Which weights come out?",
    )
    why = (
        "The forbidden score leaves the softmax, so the other weights keep their ratios and are divided by their sum. "
        "Wrong are: only set to 0, without dividing again; shared out equally; unchanged."
    )
    return Choice(text, different(after, zeroed, shared, before), why)


def no_key_allowed(submission: SubmissionUnderTest, case: Case) -> Choice:
    """Ask for the weights of a query that may attend to nothing."""
    row = case.shuffle(case.choose(ROWS))
    before, after = attend(submission, row), attend(submission, row, [False] * 4)
    wrong = (torch.full_like(before, number) for number in (0.25, 0.0, torch.nan))
    text = (
        BEFORE.format(as_text(before)),
        "Now the mask forbids all four. Which weights does your code return? Which line of it decides that?",
    )
    why = (
        "Any finite weights are correct here, so this is about the student's own code: equal ones if a large negative "
        "number takes the place of each score, zeros where they are set to 0 after the softmax."
    )
    return Choice(text, different(after, before, *wrong), why)


def query_twice_as_long(submission: SubmissionUnderTest, case: Case) -> Choice:
    """Ask for the weights where the query is twice as long."""
    row = case.shuffle(case.choose(ROWS))
    before, after = attend(submission, row), attend(submission, row, factor=2.0)
    flat = before.sqrt() / before.sqrt().sum()
    text = (
        BEFORE.format(as_text(before)),
        "Now the query is multiplied by 2, and nothing else changes. Which weights come out?",
    )
    why = (
        "Each score doubles, so each weight is squared, and the squares are divided by their sum: the weights get "
        "sharper. That is what the division by sqrt(d_k) holds back. Wrong are: unchanged; flatter; all doubled."
    )
    return Choice(text, different(after, before, flat, 2 * before), why)


def different(*rows: Tensor) -> list[str]:
    """The first row, and of the others those that clearly differ from all before."""
    kept: list[Tensor] = []
    for row in rows:
        if not any(torch.allclose(row, other, 0, CLEARLY, equal_nan=True) for other in kept):
            kept.append(row)
    return [*map(as_text, kept)]


def as_text(weights: Tensor) -> str:
    """A row of weights: 0.1, 0.25, 0.65, 0."""
    return ", ".join("NaN" if value != value else f"{value:.3f}".rstrip("0").rstrip(".") for value in weights.tolist())


CHOICES: Mapping[str, Sequence[Callable[[SubmissionUnderTest, Case], Choice]]] = {
    ATTENTION: (one_more_key_forbidden, no_key_allowed, query_twice_as_long)
}

IF_WRONG_MASKED = "where the first result with a mask is wrong, or for layers and stacks"
IF_WRONG = "where the results for ordinary inputs are wrong anyway"
TESTS: Mapping[str, str] = {
    "test_rows_of_the_table": "whether each token gets its vector of the table, times any number",
    "test_embedding": "the vectors of random tokens against the formula",
    "test_one_table_is_learned": "how many numbers are learned",
    "test_attention": "the context of random inputs without a mask against the formula",
    "test_weights": f"the weights returned in eval mode, against the formula; {IF_WRONG_MASKED}, without a mask",
    "test_masks": f"the first result with masks of several shapes; {IF_WRONG}, only that forbidden keys do not count",
    "test_masks_among_large_scores": "the context with a mask among very large and very negative scores; "
    f"{IF_WRONG}, only that forbidden keys do not count",
    "test_query_without_keys": "the context with a query that may attend to nothing, and that gradients are finite; "
    f"{IF_WRONG}, only that all of it is finite",
    "test_large_and_small_scores": "the context without a mask, with very large and very small scores; "
    f"{IF_WRONG}, only that it is finite",
    "test_multi_head": "the output without a mask, for a query, a key and a value that all differ, against the formula",
    "test_one_tensor_in_several_roles": "the output without a mask, and its gradients, where the same tensor is query "
    "and key, key and value, or all three",
    "test_mask_of_a_wide_model": "the output with a mask in a model of many heads; "
    f"{IF_WRONG}, only that forbidden keys do not count",
    "test_heads_that_do_not_divide_are_refused": "numbers of heads that do not divide d_model",
    "test_layer_norm": "inputs with a large variance against the formula, with random gain and shift",
    "test_epsilon": "inputs with a small variance against the formula, with several values of epsilon",
    "test_constant_input_stays_finite": "an input whose features are all the same, and that its gradient is finite",
    "test_gain_is_one_and_shift_zero_at_first": "how many numbers are learned, and that a new layer only multiplies "
    "inputs of mean 0 by one number",
    "test_one_parameter_as_at_first": "inputs with a large variance against the formula, with gain and shift as the "
    "layer has them, one of them random",
    "test_network": "the result for random inputs against the formula, with relu in it",
    "test_number_of_parameters": "how many numbers are learned, and the shape of the result",
    "test_padding": "the result of `padding_mask`",
    "test_later_positions": "the result of `causal_mask`",
    "test_layer": "the first result, x, in eval mode and without masks, against the formula",
    "test_dropout_acts_on_the_sublayers": "the first result, x, in train mode and without masks, with dropout 0 "
    "and with dropout near 1",
    "test_dropout_of_single_entries": "which entries of a sublayer's output dropout sets to 0 in train mode and "
    "without masks, and what the others are multiplied by",
    "test_stack": "the first result, x, in eval mode and without masks, against the formula",
    "test_sides": "the first result of `encode`, or of `decode`, in eval mode and without masks, against the formula",
    "test_predictions": "the result of `get_predictions` for random numbers",
    "test_both_sides_have_their_own_embedding": "whether source and target share a table",
    "test_gradients_reach_every_parameter": "whether every parameter gets a gradient from the predictions",
    "test_training": "the parameters after some epochs, and that train_epoch changes nothing else",
    "test_mean_loss_is_returned": "the loss that is returned for batches with padding and a model in train mode, with "
    "a learning rate of 0 and without clipping",
    # of several components
    "test_no_side_effects": "whether a call changes its arguments, or depends on an earlier call or on chance",
}
"""The tests in words, "the test that checks very large scores", by name.

Tests are left out of which nobody can tell from such words what passes: gradients need only be those of a wrong
formula, FeedForward may have some other nonlinearities, and where sizes are the same a wrong one goes unnoticed.
"""
