"""Stacks and models that are made of parts of a submission's own, in which no stand-in can be recognised.

They are compared with the submission's own layers, or its own stacks, as they are, which get their parameters: what
such a part computes costs another task. If the submission offers no such parts, a formula is looked for that computes
the same with the stack's numbers, wherever they stand.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.testing.comparison import expect, expect_parts
from autograder.testing.fitting import Computation, leaves_of
from autograder.testing.results import CheckFailed, OtherPartsError
from autograder.testing.under_test import SubmissionUnderTest

from .by_behaviour import Component, Formula, find_formula, learned, normal
from .layers import KINDS, MOST_PARTS, Census, Norm, Sizes, final_norms
from .readings import needs_reader
from .written_out import own_formulas

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


def own_stacks(
    parts: OwnParts, kind: str, n_layers: int, rate: float, twin: Callable[[], nn.Module]
) -> list[Computation]:
    """Encoder or decoder over layers of its own, in each order."""
    options = {**parts.of_layers(), "dropout": rate}
    found = [*iter(partial(parts.take, f"layers.{kind}Layer", parts.sizes.d_model, **options), None)]
    if not found:
        return [placed_stack(parts, kind, n_layers, twin)]
    failure = OtherPartsError if 2 * len(found) > n_layers else CheckFailed
    expect(len(found) == n_layers, HOW_MANY, f"{n_layers}", f"{len(found)}", NEW_LAYERS, failure)
    ends = final_norms(parts.rest, parts.sizes.d_model) if parts.sizes.norm_first else [None]
    orders = permutations(found) if n_layers <= MOST_PARTS else [tuple(found)]
    return [partial(run_stack, order, end) for order in orders for end in ends]


def run_stack(layers: Sequence[Computation], end: Norm | None, x: Tensor, *others: Tensor | None) -> list[Any]:
    """Output and weights of a stack of layers, each called as the contract says."""
    seen = []
    names = ("x", "weights") if len(others) == 1 else ("x", "self_weights", "cross_weights")
    for layer in layers:
        x, *weights = expect_parts(layer(x, *others), names, "what a layer returns")
        seen.append([one if isinstance(one, Tensor) else x.new_zeros(()) for one in weights])
    return [x if end is None else end(x), *map(list, zip(*seen, strict=True))]


def placed_stack(parts: OwnParts, kind: str, n_layers: int, twin: Callable[[], nn.Module]) -> Computation:
    """The formula of a stack with its numbers in their places; for a reader if there is none."""
    sizes, n_attentions = parts.sizes, 1 + (kind == "Decoder")
    d_model, count = sizes.d_model, sum(leaf.numel() for leaf in parts.leaves)
    end_count = 2 * d_model * sizes.norm_first
    of_layer = own_formulas(Census([], [], [], [], [], []), (count - end_count) / n_layers, n_attentions, sizes, KINDS)
    others = [None] if n_attentions == 1 else [(2, 5, d_model), None, None]

    def component() -> Component:
        other = twin()
        return Component(other, learned(other), normal((2, 4, d_model), *others))

    formulas = [stack_formula(formula, n_layers, d_model, sizes.norm_first) for formula in of_layer]
    placed = find_formula(parts, (), component, parts.leaves, formulas)
    return placed or needs_reader("stack of layers of one's own")


def stack_formula(layer: Formula, n_layers: int, d_model: int, has_end: bool) -> Formula:
    """A stack of layers of one formula, perhaps with a LayerNorm at the end."""
    n = len(layer.shapes)

    def make(pieces: Sequence[Tensor]) -> Computation:
        layers = [layer.make(pieces[i * n : (i + 1) * n]) for i in range(n_layers)]
        kind = layers[0].norms[0].compute  # type: ignore[attr-defined]  # a Layer
        return partial(run_stack, layers, Norm(pieces[-2], pieces[-1], kind) if has_end else None)

    exchangeable = [i * n + part for i in range(n_layers) for part in layer.exchangeable]
    return Formula([*layer.shapes] * n_layers + [(d_model,)] * 2 * has_end, make, exchangeable)


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
        return [*stack(x, *others)]

    for table in [leaf for leaf in parts.rest if tuple(leaf.shape) == (vocab_size, d_model)]:
        for factor in (math.sqrt(d_model), 1.0):  # that is the embedding's task
            yield partial(side, table, factor)
