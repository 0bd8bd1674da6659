"""Your own tests (extension E.4): what must code do that keeps the contract, whoever has written it?

Each method `test_…` is a test. Its argument, `attention` or `LayerNorm`, is an implementation, and used as the function
or class of that name is used elsewhere. A test passes if nothing is raised. Rename these, remove some, write as many
more as you like. What counts is that correct code passes all tests, and that each kind of faulty code fails one.

    python -m pytest -m task_e_4

tries them on two correct and three faulty implementations of each. Grading has many more. What correct code must do is
in the docstrings of `scaled_dot_product_attention` and `LayerNorm`. Code is free in all that these do not say: which
numbers a query without keys gets, names and layout of parameters, how results are rounded. So compare with a tolerance
of 1e-6 in float64 and 1e-5 in float32.

A test may use all of PyTorch, also what the other tasks forbid, and `pytest.mark.parametrize`. It imports nothing of
this package. When graded, the implementation is in another process, which gets your tensors and returns results and
gradients, but no second derivatives. An object has `forward`, its parameters and what each `nn.Module` has, and no
other attribute. The text of an exception is not sent.
"""

from collections.abc import Callable
from typing import Any


class TestAttention:
    """Tests of `scaled_dot_product_attention`, which each of them gets as `attention`.

    A weak test:

    def test_shapes(self, attention):
        context, weights = attention(torch.randn(2, 3, 5, 4), torch.randn(2, 3, 6, 4), torch.randn(2, 3, 6, 4))
        assert context.shape == (2, 3, 5, 4) and weights.shape == (2, 3, 5, 6)
    """

    def test_values(self, attention: Callable[..., Any]) -> None:
        """Context and weights are those of equation 1."""
        # TODO E.4: compute what you expect in another way, for instance query by query, and compare.
        raise NotImplementedError("TODO E.4")

    def test_mask(self, attention: Callable[..., Any]) -> None:
        """A key that the mask forbids counts as little as one that is not there."""
        # TODO E.4: which shapes may a mask have? What do the other keys get?
        raise NotImplementedError("TODO E.4")

    def test_large_scores(self, attention: Callable[..., Any]) -> None:
        """Scores of any size give finite weights that sum to 1."""
        # TODO E.4: what could overflow? What if forbidden keys fit much better, or much worse, than the allowed ones?
        raise NotImplementedError("TODO E.4")

    def test_query_without_keys(self, attention: Callable[..., Any]) -> None:
        """Where everything is forbidden, all numbers are finite, in the gradient too."""
        # TODO E.4: what may you ask for, and what is free?
        raise NotImplementedError("TODO E.4")

    def test_gradients(self, attention: Callable[..., Any]) -> None:
        """All three inputs get the gradient of what was computed."""
        # TODO E.4: `torch.autograd.gradcheck` compares with differences.
        raise NotImplementedError("TODO E.4")

    def test_precision(self, attention: Callable[..., Any]) -> None:
        """Results have the precision of the inputs."""
        # TODO E.4: look at the dtype, and at whether something was rounded on the way.
        raise NotImplementedError("TODO E.4")

    def test_leaves_no_trace(self, attention: Callable[..., Any]) -> None:
        """A call changes none of its arguments, and what it returns does not depend on earlier calls."""
        # TODO E.4: call it more than once, also with views of other tensors as arguments.
        raise NotImplementedError("TODO E.4")


class TestLayerNorm:
    """Tests of `LayerNorm`, which each of them gets as a class of that name."""

    def test_mean_and_variance(self, LayerNorm: Callable[..., Any]) -> None:
        """Each position has mean 0 and variance 1 at first, whatever the number of axes."""
        # TODO E.4: which variance is it? What do other positions have to do with it?
        raise NotImplementedError("TODO E.4")

    def test_epsilon(self, LayerNorm: Callable[..., Any]) -> None:
        """Epsilon stands under the root, is the constructor's, and keeps constant features finite."""
        # TODO E.4: for which inputs does epsilon matter?
        raise NotImplementedError("TODO E.4")

    def test_gain_and_shift(self, LayerNorm: Callable[..., Any]) -> None:
        """Each feature has a gain and a shift of its own, both learned, and nothing else is learned."""
        # TODO E.4: how does the result depend on each parameter, whatever it is called and wherever it is?
        raise NotImplementedError("TODO E.4")

    def test_gradients(self, LayerNorm: Callable[..., Any]) -> None:
        """The gradient passes through mean and variance, too."""
        # TODO E.4: `torch.autograd.gradcheck` compares with differences.
        raise NotImplementedError("TODO E.4")

    def test_precision(self, LayerNorm: Callable[..., Any]) -> None:
        """Results have the precision of the inputs."""
        # TODO E.4: look at the dtype, and at whether something was rounded on the way.
        raise NotImplementedError("TODO E.4")

    def test_leaves_no_trace(self, LayerNorm: Callable[..., Any]) -> None:
        """A call changes neither its argument nor later results, in training as in evaluation."""
        # TODO E.4: call it more than once, in both modes.
        raise NotImplementedError("TODO E.4")
