"""Task 2.1: encoder layer: self-attention, then feed-forward, post-norm."""

import pytest

from autograder.assignment.checks import layer_situations, layers
from autograder.assignment.checks.layer_case import make_layer
from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_2_1

KIND = "EncoderLayer"


@pytest.mark.core
def test_output_and_weights(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_values(make_layer(submission, case, KIND), case)


def test_without_masks(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_without_masks(make_layer(submission, case, KIND))


def test_small_sizes(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_small_sizes(make_layer(submission, case, KIND))


def test_each_sublayer_has_its_own_parts(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_numbers(make_layer(submission, case, KIND))


def test_dropout_acts_on_the_sublayers(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_dropout_acts_on_sublayers(submission, case, KIND)


def test_dropout_of_single_entries(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_dropout_entries(submission, case, KIND)


def test_no_dropout_is_deterministic(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_no_dropout_is_deterministic(submission, case, KIND)


def test_dropout_is_random_in_training_only(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_dropout_is_random_in_training_only(make_layer(submission, case, KIND))


def test_gradients(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_gradients(make_layer(submission, case, KIND), case)


def test_arguments_stay_as_they_are(submission: SubmissionUnderTest, case: Case) -> None:
    layers.check_arguments_stay(make_layer(submission, case, KIND))


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    layer_situations.check_situations(submission, case, KIND)
