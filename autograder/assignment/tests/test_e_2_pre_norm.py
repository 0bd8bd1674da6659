"""Extension E.2: `norm_first=True` in layers and stacks."""

import pytest

from . import layer_checks, model_checks, stack_checks

pytestmark = pytest.mark.task_e_2

each_layer = pytest.mark.parametrize("kind", ["EncoderLayer", "DecoderLayer"])
each_stack = pytest.mark.parametrize("kind", ["Encoder", "Decoder"])


@pytest.mark.core
@each_layer
def test_output_and_weights_of_layers(submission, case, kind):
    layer_checks.check_values(layer_checks.make_layer(submission, case, kind, norm_first=True), case)


@each_layer
def test_parts_of_layers(submission, case, kind):
    layer_checks.check_numbers(layer_checks.make_layer(submission, case, kind, norm_first=True))


@each_layer
def test_dropout_acts_on_the_sublayers(submission, case, kind):
    layer_checks.check_dropout_acts_on_sublayers(submission, case, kind, norm_first=True)


@each_layer
def test_dropout_of_single_entries(submission, case, kind):
    layer_checks.check_dropout_entries(submission, case, kind, norm_first=True)


@each_layer
def test_gradients_of_layers(submission, case, kind):
    layer_checks.check_gradients(layer_checks.make_layer(submission, case, kind, norm_first=True), case)


@pytest.mark.core
@each_stack
def test_output_and_weights_of_stacks(submission, case, kind):
    stack_checks.check_values(stack_checks.make_stack(submission, case, kind, norm_first=True), case)


@each_stack
def test_parts_of_stacks(submission, case, kind):
    stack_checks.check_layers_have_their_own_parameters(
        stack_checks.make_stack(submission, case, kind, norm_first=True)
    )


@each_stack
def test_gradients_of_stacks(submission, case, kind):
    stack_checks.check_gradients(stack_checks.make_stack(submission, case, kind, norm_first=True), case)


def test_norm_first_reaches_both_stacks(submission, case):
    made = model_checks.make_model(submission, case, norm_first=True)
    model_checks.check_encode(made, case)
    model_checks.check_decode(made, case)
