"""Whole models as subjects of tests: made with random parameters, with inputs for them.

The parts inside are stand-ins, see `layers`, or of the submission's own, see `own_parts`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.formulas import name_tokens, place, trace
from autograder.testing.case import Case, Inputs, SubmissionUnderTest
from autograder.testing.fitting import Computation, attempt, leaves_of
from autograder.testing.subject import Subject

from .flows import PARTS_ARE_RIGHT, flow_of
from .layers import Census, Sizes, look_tokens_up, usual_factor
from .modules import expect_plain, needs_reader
from .own_parts import OwnParts, in_float32
from .search import Component, Formula, find_formula, learned, normal

MOST_POSITIONS = 48
"""In a model with positions of its own, which are no task: some have a fixed number of them."""
PARTS_OF_MODELS = {"encode": ("memory", "weights"), "decode": ("output", "self_weights", "cross_weights")}


def predict(parts: Sequence[Tensor], output: Tensor) -> Tensor:
    """Log-probabilities by a matrix (vocab_size, d) and perhaps a bias."""
    return F.linear(output, *parts).log_softmax(dim=-1)


class ModelSubject:
    """A Transformer with random parameters, in eval mode."""

    def __init__(
        self,
        submission: SubmissionUnderTest,
        case: Case,
        sizes: Sizes,
        vocab_sizes: tuple[int, int],
        n_layers: int = 2,
        dropout: float = 0.3,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        """Builds it; n_layers and the following are arguments of the Transformer."""
        self.case, self.sizes, self.vocab_sizes, self.n_layers, self.dtype = case, sizes, vocab_sizes, n_layers, dtype
        self.submission, self.dropout = submission, dropout
        options = {**sizes.options, "d_model": sizes.d_model, "n_layers": n_layers, "dropout": dropout}
        self._build = partial(submission.build, "model.Transformer", *vocab_sizes, **options)
        self.model: Any = self._build(dtype=dtype).eval()
        expect_plain(self.model)
        self.has_own_parts = Census.of(list(self.model.parameters()), sizes.d_model).has_own_parts(sizes.d_model)
        if self.has_own_parts:
            self.model = self._build(dtype=dtype, isolated=False).eval()
        case.randomise(self.model.parameters())
        self.parameters = list(self.model.parameters())
        self.leaves = leaves_of(self.parameters)

    def side(self, method: str, kept: float = 1.0) -> Subject:
        """Its `encode` or `decode`, where dropout leaves so much of the embedded tokens."""
        flow, call, parts = flow_of(method), getattr(self.model, method), PARTS_OF_MODELS[method]
        own_parts = OwnParts(self.submission, self.parameters, self.sizes.d_model)
        inside: Callable[[Inputs], str] | None = None  # own parts have no stand-ins that could deviate
        if not self.has_own_parts:
            made_with = {**self.sizes.options, "n_layers": self.n_layers, "dropout": self.dropout}
            made_with["vocab_size"] = self.vocab_sizes[method == "decode"]
            inside = partial(flow.first_deviation, self.submission, self.model, method, made_with)

        def read() -> list[Computation]:
            pools = self._own_pools(method, own_parts) if self.has_own_parts else self._pools(method)
            return [partial(flow.run, ready, kept=kept) for ready in flow.arrangements(pools)]

        formulas = attempt(read)
        leaves = own_parts.leaves if self.has_own_parts else self.leaves
        pairs = list(zip(self.parameters, leaves, strict=True))
        without = partial(self.submission.apply, "call_without_dropout", self.model, method)
        options: dict[str, Any] = {"inside": inside, "if_parts_are_right": PARTS_ARE_RIGHT, "without_dropout": without}
        call = partial(in_float32, call) if self.has_own_parts else call
        options |= {"any_dtype": self.has_own_parts, "is_slow": self.has_own_parts}
        return Subject(call, parts, formulas, pairs, self.dtype, **options)

    def _pools(self, method: str) -> dict[str, list[Computation]]:
        """The stand-ins that may be parts of a side; that of a stack computes as one layer."""
        extra = trace(self.sizes.d_ff, self.dropout, self.sizes.norm_first, self.n_layers)
        known = Census.of(self.leaves, self.sizes.d_model).computations(self.sizes, extra)

        def as_stack(one_layer: Computation, *given: Tensor | None) -> list[Any]:
            x, *weights = one_layer(*given)
            return [x, *([of_layer] * self.n_layers for of_layer in weights)]

        pools: dict[str, list[Computation]] = {"P": [place]}
        pools |= {"T": [partial(name_tokens, table=table) for table in self._tables(method, self.leaves)]}
        return pools | {letter: [partial(as_stack, x) for x in known[of]] for letter, of in (("S", "E"), ("G", "D"))}

    def _own_pools(self, method: str, own_parts: OwnParts) -> dict[str, list[Computation]]:
        """Parts of the submission's own for a side."""
        options, d_model = {**self.sizes.options, "dropout": self.dropout}, self.sizes.d_model
        settings = self.n_layers, self.model.training
        stacks = {kind: own_parts.stack(kind, *settings, **options) for kind in ("Decoder", "Encoder")}
        side = stacks["Decoder" if method == "decode" else "Encoder"] or needs_reader("model with parts of its own")

        tables, factors = self._tables(method, own_parts.rest), (usual_factor(d_model), 1.0)  # the embedding's task
        embeddings: list[Computation] = [partial(look_tokens_up, table=x, factor=f) for x in tables for f in factors]
        return {"T": embeddings, "P": own_parts.positions(), "S": [side], "G": [side]}

    def _tables(self, method: str, leaves: Sequence[Tensor]) -> list[Tensor]:
        """The parameters that have the shape of a side's embedding."""
        shape = self.vocab_sizes[method == "decode"], self.sizes.d_model
        return [leaf for leaf in leaves if tuple(leaf.shape) == shape]

    def predictions(self) -> Subject:
        """Its `get_predictions`, whose matrix may be the target's table."""
        shape = vocab_size, d_model = self.vocab_sizes[1], self.sizes.d_model
        matrices = self._tables("decode", self.leaves)
        biases = [leaf.flatten() for leaf in self.leaves if leaf.numel() == vocab_size]
        computations: list[Computation] = [
            partial(predict, pair) for pair in [*product(matrices, biases), *product(matrices)]
        ]
        own = Census.of(self.leaves, d_model).count - sum(self.vocab_sizes) * d_model
        if len(matrices) < 2 and own >= vocab_size * d_model:

            def twin() -> Component:
                model: Any = self._build(dtype=torch.float64).eval()
                return Component(model.get_predictions, learned(model), normal((2, 5, d_model)))

            formulas = [Formula(shapes, partial(partial, predict)) for shapes in ([shape, (vocab_size,)], [shape])]
            leaves = [leaf for p, leaf in zip(self.parameters, self.leaves, strict=True) if p.requires_grad]
            placed = find_formula(self.submission, ("get_predictions", shape), twin, leaves, formulas)
            computations = [placed or needs_reader("output projection")]
        return Subject(self.model.get_predictions, ["the predictions"], computations, dtype=self.dtype)

    def draw(self, method: str, axes: tuple[int, int, int] = (3, 4, 5), masks: str = "padding") -> Inputs:
        """Random arguments of encode or decode; the memory is not the encoder's, so that they are judged separately."""
        longest = MOST_POSITIONS if self.has_own_parts else max(axes)
        b, t, s = (min(size, longest) for size in axes)
        d, vocab_size = self.sizes.d_model, self.vocab_sizes[method == "decode"]
        tokens = self.case.tokens(vocab_size, b, t)
        tokens[:, -1] = 0 if masks == "none" else vocab_size - 1
        tokens[0, 0] = vocab_size - 1
        own, cross = (None, None) if masks == "none" else (self.case.mask(b, 1, t, t), self.case.padding_mask(b, s))
        if method == "encode":
            return {"src": tokens, "encoder_mask": own}
        memory = self.case.normal(b, s, d, dtype=self.dtype)
        return {"tgt": tokens, "memory": memory, "src_mask": cross, "tgt_mask": own}
