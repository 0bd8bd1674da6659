"""Task 1.2: the mean of squared differences."""

import pytest

from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import expect_close

pytestmark = pytest.mark.task_1_2


@pytest.mark.parametrize("rows", [1, 4])
def test_values(submission: SubmissionUnderTest, case: Case, rows: int) -> None:
    d = case.size(2, 5)
    prediction, target = case.normal(rows, d), case.normal(rows, d)
    loss = submission.call("loss.squared_error", prediction, target)
    expect_close(loss, (prediction - target).square().mean(), "the loss", "the mean over all numbers")
