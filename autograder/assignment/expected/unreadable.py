"""Components whose parameters play no part that can be made out, although what they compute looks right.

Layouts are endless, and right code must not lose points for being unusual: where neither the list of layouts nor the
component's behaviour tells which number plays which part, laws are checked that hold for any parameters. A component
that keeps them needs a reader; one that breaks them is wrong, like any other.
"""

from typing import NoReturn

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.comparison import TOLERANCE, expect, expect_close, expect_shape
from autograder.testing.results import UnreadableError

FARTHER = 7.0
"""By this factor x is stretched where a law is about its direction."""


def needs_reader(what: str, checked: str) -> NoReturn:
    """Ends a test without a verdict.

    Args:
        what: "feed-forward network", for the message.
        checked: what holds.
    """
    raise UnreadableError(
        f"the {what} cannot be judged: the tests cannot tell which of its numbers plays which part\n"
        f"  checked:  {checked}\n"
        "  look at:  a person reads this code; parameters in one of the usual shapes are judged at once"
    )


def check_embedding(module: nn.Module, case: Case, vocab_size: int) -> NoReturn:
    """A token has one vector, whatever stands beside it, and twice the parameters give twice the vector."""
    tokens = case.tokens(vocab_size, 2, 5)
    vectors = module(tokens).detach()
    expect_close(module(tokens.flip(1)).flip(1), vectors, "the same tokens in another order", "one vector a token")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(2)
    expect_close(module(tokens), 2 * vectors, "with parameters twice as large", "the vectors are the parameters")
    needs_reader("embedding", "one vector for each token, in proportion to the parameters")


def check_network(module: nn.Module, case: Case, d_model: int) -> NoReturn:
    """Every position by itself, and straight lines between the kinks of relu."""
    x, step = case.normal(3, 4, d_model), case.normal(3, 4, d_model, scale=1e-4)
    first = module(x).detach()
    expect_shape(first, x.shape, "the network")
    expect_close(module(x[1:2, 2:3]), first[1:2, 2:3], "one position by itself", "positions do not mix")
    bend = (module(x + step) - 2 * first + module(x - step)).detach().abs().amax(dim=-1)
    straight = float((bend < TOLERANCE * 1e-4).double().mean())
    expect(straight > 0.5, "small steps of x", "straight lines between the kinks of relu", "curves", "relu")
    far = module(FARTHER * x).detach()
    expect(not _is_affine(first, far, module), "x and 7 x", "a bend somewhere between", "one straight line", "relu")
    needs_reader("feed-forward network", "shapes, one position at a time, straight lines with kinks")


def _is_affine(first: Tensor, far: Tensor, module: nn.Module) -> bool:
    """Whether the step from 0 to x is a part of that to 7 x in proportion."""
    origin = module(torch.zeros_like(first)).detach()
    return bool(((far - origin) - FARTHER * (first - origin)).abs().max() < TOLERANCE)
