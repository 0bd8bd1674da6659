"""Task 2.3: the stacks of layers."""

import pytest

from autograder.assignment.checks import stack_situations, stacks
from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_2_3

both = pytest.mark.parametrize("kind", ["Encoder", "Decoder"])


@pytest.mark.core
@both
def test_output_and_weights(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_values(stacks.make_stack(submission, case, kind), case)


@both
def test_one_layer(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_values(stacks.make_stack(submission, case, kind, n_layers=1), case)


@both
def test_layers_have_their_own_parameters(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_layers_have_their_own_parameters(stacks.make_stack(submission, case, kind))


@both
def test_one_sentence(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_small_sizes(stacks.make_stack(submission, case, kind))


@both
def test_gradients(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_gradients(stacks.make_stack(submission, case, kind), case)


@both
def test_arguments_stay_as_they_are(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stacks.check_repeats(stacks.make_stack(submission, case, kind))


@pytest.mark.situations
@both
def test_in_many_situations(submission: SubmissionUnderTest, case: Case, kind: str) -> None:
    stack_situations.check_stack(submission, case, kind)
