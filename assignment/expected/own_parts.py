"""Stacks and models that are made of parts of a submission's own, in which no stand-in can be recognised.

They are compared with the submission's own layers, or its own stacks, as they are, which get their parameters: what
such a part computes costs another task. Where the submission offers no such parts, what holds for all stacks must
hold, and a reader decides the rest.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.testing.comparison import TOLERANCE, difference, expect, expect_close, expect_parts, expect_shape
from autograder.testing.fitting import Computation, leaves_of
from autograder.testing.results import CheckFailed, OtherPartsError, UnreadableError
from autograder.testing.submission import SubmissionUnderTest

from .layers import MOST_PARTS, Census, Norm, Sizes, final_norms
from .readings import needs_reader

PARTS_OF_STACKS = {"Encoder": ("x", "weights"), "Decoder": ("x", "self_weights", "cross_weights")}
PARTS_OF_MODELS = {"encode": ("memory", "weights"), "decode": ("output", "self_weights", "cross_weights")}
RULE = "a key that the mask hides counts for nothing, in every layer; the memory counts in each decoder layer"
HOW_MANY = "how many layers with parameters of their own the stack has"
NEW_LAYERS = "an nn.ModuleList of n_layers new layers; a plain list hides them from parameters()"


def has_own_parts(parameters: Sequence[Tensor], d_model: int) -> bool:
    """Whether a stack or a model consists of parts of its own, not of stand-ins."""
    census = Census.of(parameters, d_model)
    return not (census.encoder_layers or census.decoder_layers) and sum(p.numel() for p in census.others) > d_model**2


class OwnParts:
    """The parts of a stack or a model, each with its parameters.

    Attributes:
        leaves: for each parameter of the whole, what to compute with: that of a part, or a copy in float64.
    """

    def __init__(self, submission: SubmissionUnderTest, parameters: Sequence[nn.Parameter], sizes: Sizes) -> None:
        """Takes the parameters of the whole, and the sizes of its layers."""
        self.submission, self.sizes = submission, sizes
        self.leaves, self._is_free = leaves_of(parameters), [True] * len(parameters)

    def take(self, component: str, *sizes: int, **options: Any) -> nn.Module | None:
        """The submission's own component, with the first free parameters of its shapes; None if there are none."""
        try:
            part = self.submission.build(component, *sizes, isolated=False, dtype=torch.float64, **options).eval()
        except Exception:  # this part is not offered, or does not work; what is judged may do without
            return None
        own = [*part.parameters()]
        shapes = [p.shape for p in own]
        for start in range(len(self.leaves) - len(own) + 1):
            where = slice(start, start + len(own))
            if own and all(self._is_free[where]) and [leaf.shape for leaf in self.leaves[where]] == shapes:
                with torch.no_grad():
                    for parameter, leaf in zip(own, self.leaves[where], strict=True):
                        parameter.copy_(leaf)
                self.leaves[where], self._is_free[where] = own, [False] * len(own)
                return part
        return None

    @property
    def rest(self) -> list[Tensor]:
        """The leaves that no part has."""
        return [leaf for leaf, is_free in zip(self.leaves, self._is_free, strict=True) if is_free]

    def of_layers(self) -> dict[str, Any]:
        """Options of layers and stacks."""
        options = {"n_heads": self.sizes.n_heads, "d_ff": self.sizes.d_ff}
        return options | ({"norm_first": True} if self.sizes.norm_first else {})


def own_stacks(parts: OwnParts, stack: Computation, kind: str, n_layers: int, rate: float) -> list[Computation]:
    """An encoder or a decoder over layers of its own, in each order."""
    options = {**parts.of_layers(), "dropout": rate}
    found = [*iter(partial(parts.take, f"layers.{kind}Layer", parts.sizes.d_model, **options), None)]
    if not found:
        try:
            expect_masks_obeyed(stack, parts.sizes.d_model, kind)
        except CheckFailed as error:  # it may have all parts: still it has gradients
            raise OtherPartsError(str(error), error.compared) from None
        raise UnreadableError(
            f"the stack cannot be judged: its layers have other parameters than {kind}Layer, or there is none\n"
            f"  look at:  it is judged by its layers if adapters.py offers them, too, as {kind}Layer"
        )
    failure = OtherPartsError if 2 * len(found) > n_layers else CheckFailed
    expect(len(found) == n_layers, HOW_MANY, f"{n_layers}", f"{len(found)}", NEW_LAYERS, failure)
    ends: Sequence[Norm | None] = [None]
    if parts.sizes.norm_first:
        ends = final_norms(parts.rest, parts.sizes.d_model) or needs_reader("LayerNorm that ends the stack")
    orders = permutations(found) if n_layers <= MOST_PARTS else [tuple(found)]
    return [partial(run_stack, order, end) for order in orders for end in ends]


def run_stack(layers: Sequence[Computation], end: Norm | None, x: Tensor, *others: Tensor | None) -> list[Any]:
    """Output and weights of a stack of layers, each called as the contract says."""
    seen = []
    names = PARTS_OF_STACKS["Encoder" if len(others) == 1 else "Decoder"]
    for layer in layers:
        x, *weights = expect_parts(layer(x, *others), names, "what a layer returns")
        seen.append([tensor_or_zero(one) for one in weights])
    return [x if end is None else end(x), *map(list, zip(*seen, strict=True))]


def expect_masks_obeyed(stack: Computation, d_model: int, kind: str) -> None:
    """What holds for every stack: a key counts if its mask allows it, and not otherwise."""
    x, memory = torch.randn(2, 4, d_model, dtype=torch.float64), torch.randn(2, 5, d_model, dtype=torch.float64)
    causal, hides_last = torch.ones(4, 4, dtype=torch.bool).tril(), (torch.arange(5) < 4).view(1, 1, 1, 5)
    names = PARTS_OF_STACKS[kind]

    def output(x: Tensor, memory: Tensor) -> Tensor:
        others = [causal[None, None]] if kind == "Encoder" else [memory, hides_last, causal[None, None]]
        result = expect_parts(stack(x, *others), names, "what is returned")[0]
        return expect_shape(result, x.shape, "x").detach()[:, :-1]

    first, last = (torch.arange(n)[:, None] == place for n, place in ((5, 0), (4, 3)))
    at_first = output(x, memory)
    expect_close(output(x + last, memory), at_first, "x before a position that was changed", RULE)
    if kind == "Decoder":
        last = torch.arange(5)[:, None] == 4
        expect_close(output(x, memory + last), at_first, "x after a change of hidden memory", RULE)
        is_used = difference(output(x, memory + first), at_first) > TOLERANCE
        expect(is_used, "x after a change of the memory", "another one", "the same", RULE)


def tensor_or_zero(value: object) -> Tensor:
    """Weights that a part returns, or a number, which no weights are, if it returns none."""
    return value if isinstance(value, Tensor) else torch.zeros((), dtype=torch.float64)


def own_sides(
    parts: OwnParts, method: str, vocab_size: int, n_layers: int, dropout: float, kept: float, is_training: bool
) -> Iterator[Computation]:
    """`encode` or `decode` of a model over stacks of the submission's own."""
    d_model = parts.sizes.d_model
    options = {**parts.of_layers(), "n_layers": n_layers, "dropout": dropout}
    stacks = {kind: parts.take(f"model.{kind}", d_model, **options) for kind in ("Decoder", "Encoder")}
    stack = stacks["Decoder" if method == "decode" else "Encoder"]
    if stack is None:
        needs_reader("model with parts of its own")
    stack.train(is_training)
    positions = parts.submission.build("embedding.PositionalEncoding", d_model, dtype=torch.float64, isolated=False)

    def side(table: Tensor, factor: float, tokens: Tensor, *others: Tensor | None) -> list[Any]:
        x = kept * positions.eval()(factor * F.embedding(tokens, table))
        x, *weights = expect_parts(stack(x, *others), PARTS_OF_MODELS[method], f"what the stack of {method} returns")
        return [x, *([*map(tensor_or_zero, one)] if isinstance(one, (list, tuple)) else [] for one in weights)]

    for table in [leaf for leaf in parts.rest if tuple(leaf.shape) == (vocab_size, d_model)]:
        for factor in (math.sqrt(d_model), 1.0):  # that is the embedding's task
            yield partial(side, table, factor)
