"""The loss, which training minimises."""

from torch import Tensor


def squared_error(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of the squared differences over all numbers, a scalar."""
    # TODO 1.2: compute the loss.
    ### BEGIN SOLUTION
    return (prediction - target).square().mean()
    ### END SOLUTION
