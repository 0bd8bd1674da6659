"""Dropout of a layer: does it act on each entry of each sublayer's output by itself?

The attention and the feed-forward network are silenced by their parameters, all or all but one, so that what dropout
leaves of the other shows in the output. Parts of a layer's own cannot be silenced.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.testing.comparison import expect
from autograder.testing.results import CheckFailed

from .layers import Census
from .subjects import PARTS_OF_LAYERS, PartsSubject

RATE, HIGH_RATE = 0.4, 0.96
RATE_OF_TWO = 0.8  # a part that drops what the layer drops again leaves one in 25, too
LOOK_AT = "dropout acts on each sublayer's output: every entry is dropped, or divided by 1 - rate"


def expect_dropped_entries(make: Callable[..., PartsSubject]) -> None:
    """Fail unless train mode drops single entries, or divides them by 1 - rate, of a layer that is made with a rate."""
    layer = make(dropout=RATE)
    if layer.census.others:
        try:
            expect_varied_entries(make(dropout=HIGH_RATE))
        except CheckFailed:
            expect_varied_entries(make(dropout=RATE_OF_TWO))
        return
    # One sublayer at a time computes something, the others return 0. The stand-in LayerNorms can be undone: where 0, 1,
    # … of them are, train mode must have left of each entry of eval mode 0 or 1 / (1 - rate).
    census, inputs = layer.census, layer.draw((3, 5, 4), "none")
    silence(census, census.sublayers, layer.sizes.d_ff)
    layer.call.eval()
    of_none = layer.output(inputs)
    for sublayer in census.sublayers:
        silence(census, [mix for mix in census.sublayers if mix is not sublayer], layer.sizes.d_ff)
        layer.call.train()
        first, second = layer.output(inputs), layer.output(inputs)
        layer.call.eval()
        whole = layer.output(inputs)
        is_random = not torch.equal(first, second)
        expect(is_random, "two passes in train mode", "different results", "equal results", LOOK_AT)
        fits = [drops_single_entries(first, whole, of_none, n) for n in range(len(census.known["N"]) + 1)]
        label = "what train mode leaves of a sublayer's output"
        expect(any(fits), label, "of each entry 0 or 1 / (1 - rate), independently", "other values", LOOK_AT)


def silence(census: Census, silent: Sequence[Tensor], d_ff: int) -> None:
    """Make these sublayers alone return 0, the others plain sums, the norms 0.9 tanh(x), which can be undone."""
    with torch.no_grad():
        for mix in census.sublayers:
            is_network = mix.size(0) == 3
            mix[1 if is_network else 3].fill_(float(all(mix is not other for other in silent)))
            if is_network:
                mix[2].fill_(-d_ff / 1000)
        for norm in census.known["N"]:
            norm[0].fill_(0.9)
            norm[1].zero_()


def drops_single_entries(trained: Tensor, whole: Tensor, silent: Tensor, n_norms: int) -> bool:
    """True if dropout has left 0 or 1 / (1 - rate) of each entry of the one sublayer that computes something.

    The outputs are those in train mode, in eval mode (`whole`), and there without the sublayer, which so many
    LayerNorms, 0.9 tanh(x), follow.
    """
    for _ in range(n_norms):
        trained, whole, silent = (torch.atanh(x / 0.9) for x in (trained, whole, silent))
    kept = (trained - silent) / (whole - silent)
    is_dropped, is_scaled = kept.abs() < 1e-4, (kept - 1 / (1 - RATE)).abs() < 1e-4
    is_mixed = [bool((is_dropped != is_dropped.select(axis, 0).unsqueeze(axis)).any()) for axis in range(3)]
    return bool((is_dropped | is_scaled).all()) and all(is_mixed)


def expect_varied_entries(layer: PartsSubject) -> None:
    """Fail where equal entries are dropped everywhere, of a layer that holds parts itself.

    In some passes dropout leaves nothing at a position, and the output there is the same in each of these: which passes
    agree must differ between positions. If it drops whole vectors, n sublayers that compute something leave at most
    2 ** n different ones.
    """
    census, inputs = layer.census, layer.draw((3, 5, 4), "none")
    inputs = {**inputs, "x": layer.case.normal(3, 5, layer.sizes.d_model)}  # what is dropped leaves no vector of zeros
    n_own = len(PARTS_OF_LAYERS[layer.kind]) - len(census.sublayers)
    layer.call.train()
    with torch.no_grad():
        for parameter in census.others:  # what is divided by 1 - rate must not be so large that each tanh is 1
            parameter.mul_(0.2)
    active: Any
    for active in (*census.sublayers, *[None] * bool(n_own)):
        silence(census, [mix for mix in census.sublayers if mix is not active], layer.sizes.d_ff)
        n_vectors = 2 ** (n_own + (active is not None))
        passes = torch.stack([layer.output(inputs) for _ in range(6 * n_vectors)], dim=2)  # (b, t, passes, d)
        agree = (passes[:, :, None] == passes[:, :, :, None]).all(-1)
        signs = {
            "the same entries in all sentences": torch.equal(agree, agree[:1].expand_as(agree)),
            "the same entries at all positions": torch.equal(agree, agree[:, :1].expand_as(agree)),
            "whole vectors": max(len(x.unique(dim=0)) for x in passes.flatten(0, 1)) <= n_vectors,
        }
        seen = " and ".join(text for text, is_so in signs.items() if is_so)
        expect(not seen, "what dropout drops in train mode", "single entries", seen, LOOK_AT)
