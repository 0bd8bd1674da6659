"""Task 2.3: the stacks of layers."""

import pytest

from . import stack_checks as checks

pytestmark = pytest.mark.task_2_3

both = pytest.mark.parametrize("kind", ["Encoder", "Decoder"])


@pytest.mark.core
@both
def test_output_and_weights(submission, case, kind):
    checks.check_values(checks.make_stack(submission, case, kind), case)


@both
def test_one_layer(submission, case, kind):
    checks.check_values(checks.make_stack(submission, case, kind, n_layers=1), case)


@both
def test_layers_have_their_own_parameters(submission, case, kind):
    checks.check_layers_have_their_own_parameters(checks.make_stack(submission, case, kind))


@both
def test_one_sentence(submission, case, kind):
    checks.check_small_sizes(checks.make_stack(submission, case, kind))


@both
def test_gradients(submission, case, kind):
    checks.check_gradients(checks.make_stack(submission, case, kind), case)


@both
def test_arguments_stay_as_they_are(submission, case, kind):
    checks.check_repeats(checks.make_stack(submission, case, kind))
