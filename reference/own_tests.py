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

import torch


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
        ### BEGIN SOLUTION
        for dtype in (torch.float32, torch.float64):
            query, key, value = (torch.randn(2, 3, length, 7, dtype=dtype) for length in (5, 4, 4))
            context, weights = attention(query, key, value)
            powers = torch.einsum("bhqd, bhkd -> bhqk", query, key).div(7**0.5).exp()
            shares = powers / powers.sum(3, keepdim=True)
            torch.testing.assert_close(weights, shares, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(context, torch.einsum("bhqk, bhkd -> bhqd", shares, value), atol=1e-5, rtol=1e-5)
        ### END SOLUTION

    def test_mask(self, attention: Callable[..., Any]) -> None:
        """A key that the mask forbids counts as little as one that is not there."""
        # TODO E.4: which shapes may a mask have? What do the other keys get?
        ### BEGIN SOLUTION
        query, key, value = (torch.randn(2, 2, length, 8, dtype=torch.float64) for length in (3, 4, 4))
        _, shares = attention(query, key, value)
        for shape in ((2, 1, 1, 4), (1, 2, 3, 4), (3, 4)):
            mask = torch.rand(shape) < 0.5
            mask[..., 0] = True
            mask[(0,) * (len(shape) - 1)] = torch.tensor([True, False, True, True])
            context, weights = attention(query, key, value, mask)
            expected = shares * mask / (shares * mask).sum(-1, keepdim=True)
            torch.testing.assert_close(weights, expected, atol=1e-6, rtol=0)
            torch.testing.assert_close(context, expected @ value, atol=1e-6, rtol=0)
        ### END SOLUTION

    def test_large_scores(self, attention: Callable[..., Any]) -> None:
        """Scores of any size give finite weights that sum to 1."""
        # TODO E.4: what could overflow? What if forbidden keys fit much better, or much worse, than the allowed ones?
        ### BEGIN SOLUTION
        query = torch.full((1, 1, 1, 4), 30.0, dtype=torch.float64)
        value = torch.arange(3.0, dtype=torch.float64).view(1, 1, 3, 1).expand(1, 1, 3, 4)
        _, weights = attention(
            query, torch.tensor([30.0, -30.0, 30.0]).double().view(1, 1, 3, 1).expand(1, 1, 3, 4), value
        )
        torch.testing.assert_close(weights.flatten(), torch.tensor([0.5, 0.0, 0.5]).double(), atol=1e-6, rtol=0)
        for kept, forbidden in ((-20.0, 20.0), (-20.0, 0.0), (20.0, 0.0)):
            key = torch.tensor([kept, forbidden, kept]).double().view(1, 1, 3, 1).expand(1, 1, 3, 4)
            context, weights = attention(query, key, value, torch.tensor([[True, False, True]]))
            torch.testing.assert_close(weights.flatten(), torch.tensor([0.5, 0.0, 0.5]).double(), atol=1e-6, rtol=0)
            torch.testing.assert_close(context, torch.ones_like(context), atol=1e-6, rtol=0)
        ### END SOLUTION

    def test_query_without_keys(self, attention: Callable[..., Any]) -> None:
        """Where everything is forbidden, all numbers are finite, in the gradient too."""
        # TODO E.4: what may you ask for, and what is free?
        ### BEGIN SOLUTION
        query, key, value = (torch.randn(2, 2, n, 4, dtype=torch.float64, requires_grad=True) for n in (3, 5, 5))
        mask = torch.ones(2, 1, 3, 5, dtype=torch.bool)
        mask[0, 0, 1] = False
        context, weights = attention(query, key, value, mask)
        gradients = torch.autograd.grad(context.square().sum() + weights.square().sum(), (query, key, value))
        for tensor in (context, weights, *gradients):
            assert torch.isfinite(tensor).all()
        ### END SOLUTION

    def test_gradients(self, attention: Callable[..., Any]) -> None:
        """All three inputs get the gradient of what was computed."""
        # TODO E.4: `torch.autograd.gradcheck` compares with differences.
        ### BEGIN SOLUTION
        gradients, x = [], torch.randn(1, 2, 3, 3, dtype=torch.float64, requires_grad=True)
        mask = torch.tensor([[True, True, False], [False, True, True], [True, True, True]])
        for attend in (lambda *inputs: attention(*inputs)[0], torch.nn.functional.scaled_dot_product_attention):
            context = attend(x, 2 * x, x.tanh(), mask)
            gradients.append(torch.autograd.grad(context.pow(3).sum(), x)[0])
        torch.testing.assert_close(*gradients, atol=1e-6, rtol=0)
        ### END SOLUTION

    def test_precision(self, attention: Callable[..., Any]) -> None:
        """Results have the precision of the inputs."""
        # TODO E.4: look at the dtype, and at whether something was rounded on the way.
        ### BEGIN SOLUTION
        inputs = [torch.randn(2, 2, 3, 4, dtype=torch.float64) for _ in range(3)]
        precise = attention(*inputs)
        coarse = attention(*(tensor.float() for tensor in inputs))
        assert {tensor.dtype for tensor in precise} == {torch.float64}
        assert {tensor.dtype for tensor in coarse} == {torch.float32}
        torch.testing.assert_close(coarse[0].double(), precise[0], atol=1e-5, rtol=1e-5)
        ### END SOLUTION

    def test_leaves_no_trace(self, attention: Callable[..., Any]) -> None:
        """A call changes none of its arguments, and what it returns does not depend on earlier calls."""
        # TODO E.4: call it more than once, also with views of other tensors as arguments.
        ### BEGIN SOLUTION
        query, key, value = (torch.randn(2, 3, 2, 4).transpose(1, 2) for _ in range(3))
        masks = [torch.tensor([[True, False, True]]), torch.tensor([[True, True, False]])]
        before = [tensor.clone() for tensor in (query, key, value, masks[0])]
        first = attention(query, key, value, masks[0])
        assert not attention(query, key, value, masks[1])[1][..., 2].any()
        for masked, other in zip(attention(query, key, value, masks[0]), first, strict=True):
            torch.testing.assert_close(masked, other)
        assert all(map(torch.equal, before, (query, key, value, masks[0])))
        ### END SOLUTION


class TestLayerNorm:
    """Tests of `LayerNorm`, which each of them gets as a class of that name."""

    def test_mean_and_variance(self, LayerNorm: Callable[..., Any]) -> None:
        """Each position has mean 0 and variance 1 at first, whatever the number of axes."""
        # TODO E.4: which variance is it? What do other positions have to do with it?
        ### BEGIN SOLUTION
        norm = LayerNorm(7).double()
        for shape in ((7,), (3, 7), (2, 3, 7)):
            x = 2 * torch.randn(shape, dtype=torch.float64) + 3
            x[..., 0] += 40
            result = norm(x)
            centred = x - x.sum(-1, keepdim=True) / 7
            expected = centred / (centred.pow(2).sum(-1, keepdim=True) / 7 + 1e-6) ** 0.5
            torch.testing.assert_close(result, expected, atol=1e-6, rtol=0)
        ### END SOLUTION

    def test_epsilon(self, LayerNorm: Callable[..., Any]) -> None:
        """Epsilon stands under the root, is the constructor's, and keeps constant features finite."""
        # TODO E.4: for which inputs does epsilon matter?
        ### BEGIN SOLUTION
        for arguments, epsilon in ((), 1e-6), ((0.5,), 0.5):
            x = torch.tensor([[1.0, -1.0, 1.0, -1.0]], dtype=torch.float64) * epsilon**0.5
            result = LayerNorm(4, *arguments).double()(x)
            torch.testing.assert_close(result, x / (2 * epsilon) ** 0.5, atol=1e-6, rtol=0)
        assert torch.isfinite(LayerNorm(4)(torch.ones(2, 4))).all()
        ### END SOLUTION

    def test_gain_and_shift(self, LayerNorm: Callable[..., Any]) -> None:
        """Each feature has a gain and a shift of its own, both learned, and nothing else is learned."""
        # TODO E.4: how does the result depend on each parameter, whatever it is called and wherever it is?
        ### BEGIN SOLUTION
        norm, x = LayerNorm(3).double(), torch.randn(3, dtype=torch.float64)
        parameters = list(norm.parameters())
        assert sum(parameter.numel() for parameter in parameters) == 6
        normed = norm(x).detach()
        with torch.no_grad():
            for parameter in parameters:
                parameter.add_(torch.rand_like(parameter) + 0.5)
        rows = []
        for feature in norm(x):
            gradients = torch.autograd.grad(feature, parameters, retain_graph=True)
            rows.append(torch.cat([gradient.flatten() for gradient in gradients]))
        changes = sorted((row[row != 0] - 1).abs().min().item() for row in rows)  # by the shift, each result moves by 1
        assert all((row != 0).sum() == 2 for row in rows) and max(changes) < 1e-6
        torch.testing.assert_close(torch.stack(rows).sum(1), normed + 1, atol=1e-6, rtol=0)
        ### END SOLUTION

    def test_gradients(self, LayerNorm: Callable[..., Any]) -> None:
        """The gradient passes through mean and variance, too."""
        # TODO E.4: `torch.autograd.gradcheck` compares with differences.
        ### BEGIN SOLUTION
        gradients, x = [], torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
        for result in (LayerNorm(4).double()(x), torch.nn.functional.layer_norm(x, (4,), eps=1e-6)):
            gradients.append(torch.autograd.grad(result.pow(3).sum(), x)[0])
        torch.testing.assert_close(*gradients, atol=1e-6, rtol=0)
        ### END SOLUTION

    def test_precision(self, LayerNorm: Callable[..., Any]) -> None:
        """Results have the precision of the inputs."""
        # TODO E.4: look at the dtype, and at whether something was rounded on the way.
        ### BEGIN SOLUTION
        x = torch.randn(3, 6, dtype=torch.float64)
        norm = LayerNorm(6)
        coarse = norm(x.float())
        precise = norm.double()(x)
        assert coarse.dtype == torch.float32
        assert precise.dtype == torch.float64
        assert (coarse.double() - precise).abs().max() > 1e-9  # float32 has been too coarse for some of them
        ### END SOLUTION

    def test_leaves_no_trace(self, LayerNorm: Callable[..., Any]) -> None:
        """A call changes neither its argument nor later results, in training as in evaluation."""
        # TODO E.4: call it more than once, in both modes.
        ### BEGIN SOLUTION
        norm, x = LayerNorm(4), torch.randn(3, 4)
        before = x.clone()
        first = norm(x)
        norm(torch.randn(3, 4) + 10)
        torch.testing.assert_close(norm(x), first)
        torch.testing.assert_close(norm.eval()(x), first)
        assert torch.equal(x, before)
        ### END SOLUTION
