"""Layers, stacks of them and whole models as subjects of tests: made with random parameters, with inputs for them.

The parts inside are stand-ins, see `layers`. A layer may hold parts itself, and write them out: `search` finds them.
Stacks and models may consist of layers of their own, see `own_parts`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.formulas import name_tokens, place, trace
from autograder.testing.arguments import copies_of
from autograder.testing.case import Case, Inputs, SubmissionUnderTest, earlier_keys
from autograder.testing.comparison import expect_shape, fail
from autograder.testing.fitting import Computation, attempt, first_part, leaves_of
from autograder.testing.results import OtherPartsError
from autograder.testing.subject import Subject

from .flows import PARTS_ARE_RIGHT, flow_of
from .layers import (
    KINDS,
    Census,
    Sizes,
    check_parts,
    expect_own_layers,
    has_usual_shapes,
    layer_formulas,
    look_tokens_up,
    norm_of,
    usual_factor,
    weights_formulas,
)
from .modules import expect_plain, needs_reader
from .own_parts import PARTS_OF_STACKS, OwnParts, in_float32
from .readings import pairs_of
from .search import Component, Formula, find_formula, learned, normal

MOST_POSITIONS = 48
"""In a model with positions of its own, which are no task: some have a fixed number of them."""
PARTS_OF_LAYERS = {f"{kind}Layer": parts for kind, parts in PARTS_OF_STACKS.items()}
PARTS_OF_MODELS = {"encode": ("memory", "weights"), "decode": ("output", "self_weights", "cross_weights")}
WRITTEN_OUT = "written out, each part must do what its component does; the layer can use that instead"

READABLE = Sizes(d_model=20, n_heads=4, d_ff=17)
"""Of a layer that holds parts itself: these are told apart by their sizes, so no two of them may coincide."""


@dataclass(frozen=True)
class PartsSubject(Subject):
    """A layer or a stack. A layer that holds parts itself can be read at some sizes only, and has these, and float64.

    `find_weights` finds the formula of an encoder layer's weights if it has its own attention, but another part is
    wrong.
    """

    sizes: Sizes = READABLE
    kind: str = "EncoderLayer"  # its class
    case: Case = Case(0, "")  # draws parameters and inputs
    find_weights: Callable[[], Computation | None] = lambda: None
    if_parts_are_right: str = field(default=PARTS_ARE_RIGHT, kw_only=True)

    @property
    def census(self) -> Census:
        """Its parameters."""
        return Census.of([parameter for parameter, _ in self.parameters], self.sizes.d_model)

    @property
    def has_own_layers(self) -> bool:
        """True if the layers of a stack are its own, with dropout inside, in place of stand-ins."""
        return "Layer" not in self.kind and self.census.has_own_parts(self.sizes.d_model)

    def output(self, inputs: Inputs) -> Tensor:
        """The first part that it returns."""
        x = first_part(self.call(*copies_of(inputs.values())), self.parts)
        return expect_shape(x, next(iter(inputs.values())).shape, "x").detach()  # type: ignore[union-attr]

    def draw(self, axes: tuple[int, int, int], masks: str = "padding") -> Inputs:
        """Random x (b, t, d), memory (b, s, d) and masks.

        In x are vectors of zeros, unless a norm of the submission's own may get one, as in pre-norm or a wrong layer:
        what that makes of it costs another task. The axes are b, t and s, the masks "padding", "none", "two axes",
        "each head", or "a query without keys", which is in one head. An attention of a layer's own, task 1.3 judges
        with the last two; here its mask is one for all heads.
        """
        case, (b, t, s), d_model = self.case, axes, self.sizes.d_model
        is_own = "Layer" in self.kind and len(self.census.known["A"]) < len(self.parts) - 1
        x, memory = (case.normal(b, length, d_model, dtype=self.dtype or torch.float64) for length in (t, s))
        is_wrong = isinstance(self.formulas, Exception)
        if not self.census.others or ("Layer" in self.kind and not self.sizes.norm_first and not is_wrong):
            x[1:, -1] = 0
        own: Tensor | None = None
        cross: Tensor | None = None
        if masks == "padding":
            own, cross = case.mask(b, 1, t, t), case.padding_mask(b, s)
            own[..., -1, :] = True  # nothing is forbidden to the last query, or in the last of several sentences
            own[max(1, b - 1) :] = True
        elif masks == "two axes":
            own, cross = earlier_keys(t), case.mask(t, s)
        elif masks != "none":
            n_heads = 1 if is_own else self.sizes.n_heads
            own, cross = case.mask(b, n_heads, t, t), case.mask(b, n_heads, t, s)
            if masks == "a query without keys" and not is_own:
                (own if self.kind == "EncoderLayer" else cross)[0, 0, 0] = False
        if self.kind.startswith("Encoder"):
            return {"x": x, "mask": own}
        return {"x": x, "memory": memory, "src_mask": cross, "tgt_mask": own}


def layer(
    submission: SubmissionUnderTest,
    case: Case,
    kind: str,
    sizes: Sizes,
    dropout: float = 0.3,
    dtype: torch.dtype = torch.float64,
) -> PartsSubject:
    """An encoder or decoder layer, in eval mode."""
    build = partial(submission.build, f"layers.{kind}", sizes.d_model, **sizes.options, dropout=dropout, dtype=dtype)
    module = build().eval()
    expect_plain(module)
    case.randomise(module.parameters(), scale=min(0.7, 1.8 * sizes.d_model**-0.5))
    parameters, parts, flow = list(module.parameters()), PARTS_OF_LAYERS[kind], flow_of(kind, sizes.norm_first)
    leaves, readable = leaves_of(parameters), replace(READABLE, norm_first=sizes.norm_first)
    census = Census.of(leaves, sizes.d_model)
    used = next((parameter.dtype for parameter in parameters), dtype)
    pairs = list(zip(parameters, leaves, strict=True))
    inside = partial(flow.first_deviation, submission, module, "forward", sizes.options)
    options: dict[str, Any] = {"inside": inside, "needs_most_parts": True}
    subject = PartsSubject(module, parts, (), pairs, used, sizes, kind, case, **options)

    def twin() -> Component:
        other = build().eval()
        of_twin = list(other.parameters())
        with torch.no_grad():
            for parameter, leaf in zip(of_twin, leaves, strict=True):
                parameter.copy_(leaf)
        shapes = [None if value is None else tuple(value.shape) for value in subject.draw((2, 4, 5), "none").values()]
        return Component(other, Census.of(of_twin, sizes.d_model).others, normal(*shapes))

    def read() -> list[Computation]:
        check_parts(census, len(parts) - 1, sizes)
        formulas = layer_formulas(flow, census, sizes)
        if not census.count:
            return [formula.make([]) for formula in formulas]
        if (sizes, dtype) != (readable, torch.float64):
            return []
        if placed := find_formula(submission, (kind, sizes), twin, census.others, formulas):
            return [placed]
        if not has_usual_shapes(census.others, sizes):
            needs_reader("layer that writes parts out")
        # It may have all parts, and one is wrong: still it has gradients.
        wanted = "attention and feed-forward network, each with its residual connection and LayerNorm"
        return fail("a layer that holds parts itself", wanted, "something else", WRITTEN_OUT, kind=OtherPartsError)

    def find_weights() -> Computation | None:
        if kind != "EncoderLayer" or sizes.norm_first or census.known["A"]:
            return None
        of_weights = weights_formulas(sizes.d_model, sizes.n_heads)

        def second() -> Component:  # for the result beside the first one
            component = twin()
            return replace(component, call=lambda *given: component.call(*given)[1])

        return find_formula(submission, (kind, sizes, "weights"), second, census.others, of_weights)

    formulas = attempt(read)
    if isinstance(formulas, list) and not formulas:
        return layer(submission, case, kind, readable, dropout)
    return replace(subject, formulas=formulas, find_weights=find_weights)


def stack(
    submission: SubmissionUnderTest,
    case: Case,
    kind: str,
    sizes: Sizes,
    n_layers: int,
    dtype: torch.dtype = torch.float64,
    rate: float | None = None,
) -> PartsSubject:
    """An encoder or a decoder in eval mode; its rate of dropout is random, unless one is given."""
    rate = case.chance.uniform(0.2, 0.7) if rate is None else rate
    options, d_model = {**sizes.options, "dropout": rate}, sizes.d_model
    build = partial(submission.build, f"model.{kind}", d_model, n_layers=n_layers, **options)
    module = build(dtype=dtype).eval()
    expect_plain(module)
    is_own = Census.of(list(module.parameters()), d_model).has_own_parts(d_model)
    if is_own:
        module = build(dtype=dtype, isolated=False).eval()
    case.randomise(module.parameters(), scale=0.7 if is_own else 1.0)
    # A post-norm stack may have the last LayerNorm, if it does not use it.
    idle = [] if sizes.norm_first else Census.of(list(module.parameters()), d_model).known["N"]
    parameters = [p for p in module.parameters() if all(p is not norm for norm in idle)]
    own_parts = OwnParts(submission, parameters, d_model) if is_own else None
    leaves, flow = own_parts.leaves if own_parts else leaves_of(parameters), flow_of(kind, sizes.norm_first, n_layers)
    letter = "D" if kind == "Decoder" else "E"

    def are_called() -> bool:
        x = torch.zeros(1, 1, d_model, dtype=dtype)
        given = [x, None] if kind == "Encoder" else [x, x, None, None]
        return is_own or bool(submission.apply("inner_calls", module, "forward", given)[0])

    def read() -> list[Computation]:
        census = Census.of(leaves, d_model)
        pools = census.computations(sizes, trace(sizes.d_ff, rate, sizes.norm_first))
        if own_parts:
            whole = partial(build, dtype=torch.float64, isolated=False)
            pools[letter] = own_parts.layers(kind, lambda: whole().eval(), **options)
        expect_own_layers(pools[letter], n_layers, are_called)
        rest = own_parts.rest if own_parts else census.others
        if sizes.norm_first and not pools["N"]:  # the last LayerNorm is the stack's own
            pairs = pairs_of(rest, d_model)
            pools["N"] = [norm_of(pair, least, way) for way in KINDS for least in (0.0, 1.0) for pair in pairs]
        has_many = len(rest) > 2 and any(p.numel() > 1 for p in rest)
        if (sizes.norm_first and not pools["N"]) if own_parts else has_many:
            needs_reader("LayerNorm that ends the stack")
        return [partial(flow.run, ready) for ready in flow.arrangements(pools)]

    inside: Callable[[Inputs], str] | None = None  # of own parts, no flow is known
    if not is_own:
        inside = partial(flow.first_deviation, submission, module, "forward", {"norm_first": False, **options})
    formulas, pairs, parts = attempt(read), list(zip(parameters, leaves, strict=True)), PARTS_OF_STACKS[kind]
    return PartsSubject(module, parts, formulas, pairs, dtype, sizes, kind, case, inside=inside)


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
        inside: Callable[[Inputs], str] | None = None  # as above
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
        options: dict[str, Any] = {"inside": inside, "if_parts_are_right": PARTS_ARE_RIGHT}
        call = partial(in_float32, call) if self.has_own_parts else call
        return Subject(call, parts, formulas, pairs, self.dtype, any_dtype=self.has_own_parts, **options)

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
