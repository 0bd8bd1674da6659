"""Extension E.2: `norm_first=True` in layers and stacks."""

import pytest

from autograder.assignment.checks import layer_situations, layers, model_situations, models, stack_situations, stacks
from autograder.assignment.checks.layer_case import make_layer
from autograder.testing.case import ALMOST_ALL, Case
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_e_2

each_layer = pytest.mark.parametrize("kind", ["EncoderLayer", "DecoderLayer"])
each_stack = pytest.mark.parametrize("kind", ["Encoder", "Decoder"])


@pytest.mark.core
@each_layer
def test_output_and_weights_of_layers(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layers.check_values(make_layer(submission, case, kind, norm_first=True), case)


@each_layer
def test_parts_of_layers(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layers.check_numbers(make_layer(submission, case, kind, norm_first=True))


@each_layer
def test_dropout_acts_on_the_sublayers(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layers.check_dropout_acts_on_sublayers(submission, case, kind, norm_first=True)


@each_layer
def test_dropout_of_single_entries(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layers.check_dropout_entries(submission, case, kind, norm_first=True)


@each_layer
def test_gradients_of_layers(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layers.check_gradients(make_layer(submission, case, kind, norm_first=True), case)


@pytest.mark.core
@each_stack
def test_output_and_weights_of_stacks(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_values(stacks.make_stack(submission, case, kind, norm_first=True), case)


@each_stack
def test_parts_of_stacks(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_layers_have_their_own_parameters(stacks.make_stack(submission, case, kind, norm_first=True))


@each_stack
def test_gradients_of_stacks(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_gradients(stacks.make_stack(submission, case, kind, norm_first=True), case)


def test_norm_first_reaches_both_stacks(submission: SubmissionUnderTest, case: Case) -> None:
    made = models.make_model(submission, case, norm_first=True)
    models.check_encode(made, case)
    models.check_decode(made, case)


def test_dropout_of_positions(submission: SubmissionUnderTest, case: Case) -> None:
    models.check_positions_have_dropout(models.make_model(submission, case, norm_first=True, dropout=ALMOST_ALL))


@pytest.mark.situations
@each_layer
def test_layers_in_many_situations(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    layer_situations.check_situations(submission, case, kind, norm_first=True)


@pytest.mark.situations
@each_stack
def test_stacks_in_many_situations(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stack_situations.check_stack(submission, case, kind, norm_first=True)


@pytest.mark.situations
def test_models_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    model_situations.check_model(submission, case, norm_first=True)
