"""Task 2.1: encoder layer: self-attention, then feed-forward, post-norm."""

import pytest

from . import layer_checks as checks

pytestmark = pytest.mark.task_2_1

KIND = "EncoderLayer"


@pytest.mark.core
def test_output_and_weights(submission, case):
    checks.check_values(checks.make_layer(submission, case, KIND), case)


def test_without_masks(submission, case):
    checks.check_without_masks(checks.make_layer(submission, case, KIND))


def test_small_sizes(submission, case):
    checks.check_small_sizes(checks.make_layer(submission, case, KIND))


def test_each_sublayer_has_its_own_parts(submission, case):
    checks.check_numbers(checks.make_layer(submission, case, KIND))


def test_dropout_acts_on_the_sublayers(submission, case):
    checks.check_dropout_acts_on_sublayers(submission, case, KIND)


def test_dropout_of_single_entries(submission, case):
    checks.check_dropout_entries(submission, case, KIND)


def test_no_dropout_is_deterministic(submission, case):
    checks.check_no_dropout_is_deterministic(submission, case, KIND)


def test_dropout_is_random_in_training_only(submission, case):
    checks.check_dropout_is_random_in_training_only(checks.make_layer(submission, case, KIND))


def test_gradients(submission, case):
    checks.check_gradients(checks.make_layer(submission, case, KIND), case)


def test_arguments_stay_as_they_are(submission, case):
    checks.check_arguments_stay(checks.make_layer(submission, case, KIND))
