"""Layers, stacks of them and whole models as subjects of tests: made with random parameters, with inputs for them.

The parts inside are stand-ins of known formulas. A layer that writes such a part out is accepted, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.case import Case
from autograder.testing.comparison import expect, expect_parts, expect_shape
from autograder.testing.fitting import Computation, attempt, leaves_of
from autograder.testing.results import CheckFailed, OtherPartsError, UnreadableError
from autograder.testing.subject import Subject
from autograder.testing.submission import SubmissionUnderTest

from ..stand_ins.formulas import trace
from .by_behaviour import Component, Formula, find_formula, learned, normal
from .inside import PARTS_ARE_RIGHT, first_deviation, flow_of
from .layers import Census, Sizes, check_parts, layers, sides, stacks
from .own_parts import (
    PARTS_OF_MODELS,
    PARTS_OF_STACKS,
    OwnParts,
    has_own_parts,
    own_sides,
    own_stacks,
)
from .readings import expect_plain, needs_reader
from .written_out import SIZES as READABLE
from .written_out import WrittenOut, own_formulas

MOST_POSITIONS = 48
"""In a model with positions of its own, which are no task: some have a fixed number of them."""
PARTS_OF_LAYERS = {"EncoderLayer": ("x", "weights"), "DecoderLayer": ("x", "self_weights", "cross_weights")}


@dataclass(frozen=True)
class LayerSubject(Subject):
    """An encoder or decoder layer.

    Attributes:
        sizes: its own. A layout that nobody knows can be read at some sizes only; such a layer has these, and float64.
        kind: its class.
        case: draws parameters and inputs.
    """

    sizes: Sizes = READABLE
    kind: str = "EncoderLayer"
    case: Case = Case(0, "")

    @classmethod
    def make(
        cls,
        submission: SubmissionUnderTest,
        case: Case,
        kind: str,
        sizes: Sizes,
        dropout: float,
        dtype: torch.dtype = torch.float64,
    ) -> Self:
        """Builds one in eval mode."""
        options: dict[str, Any] = {"n_heads": sizes.n_heads, "d_ff": sizes.d_ff, "dropout": dropout}
        options |= {"norm_first": True} if sizes.norm_first else {}
        module = submission.build(f"layers.{kind}", sizes.d_model, **options, dtype=dtype).eval()
        expect_plain(module)
        case.randomise(module.parameters(), scale=min(0.7, 1.8 * sizes.d_model**-0.5))
        parts = PARTS_OF_LAYERS[kind]
        parameters = list(module.parameters())
        leaves = leaves_of(parameters)

        def read() -> list[Computation]:
            check_parts(parameters, len(parts) - 1, sizes)
            return list(layers(leaves, len(parts) - 1, sizes))

        found = attempt(read)
        used = next((parameter.dtype for parameter in parameters), dtype)
        readable = replace(READABLE, norm_first=sizes.norm_first)
        if isinstance(found, list) and not found:
            if (sizes, dtype) != (readable, torch.float64):
                return cls.make(submission, case, kind, readable, dropout, torch.float64)
            probe = cls(module, parts, (), (), used, sizes, kind, case).draw((2, 4, 5), "none")
            own = WrittenOut(module, list(probe.values()), sizes, case.number(0.6, 1.4))
            leaves = leaves_of(parameters)

            def twin() -> Component:
                other = submission.build(f"layers.{kind}", sizes.d_model, **options, dtype=dtype).eval()
                of_twin = list(other.parameters())
                with torch.no_grad():
                    for parameter, leaf in zip(of_twin, leaves, strict=True):
                        parameter.copy_(leaf)
                shapes = [None if one is None else tuple(one.shape) for one in probe.values()]
                return Component(other, Census.of(of_twin, sizes.d_model).others, normal(*shapes))

            try:
                found = [own.read(leaves)]
            except (CheckFailed, UnreadableError) as error:
                case.randomise(own.census.others, scale=0.4)  # some had all the same value
                leaves = leaves_of(parameters)
                census = Census.of(leaves, sizes.d_model)
                others = census.others
                count = sum(leaf.numel() for leaf in others)
                formulas = own_formulas(census, count, len(parts) - 1, sizes, own.kinds)
                placed = find_formula(submission, (kind, sizes), twin, others, formulas)
                if placed is None and not (isinstance(error, CheckFailed) and own.is_usual):
                    needs_reader("layer that writes parts out")
                # It may have all parts, and one is wrong: still it has gradients.
                found = [placed] if placed else OtherPartsError(str(error), getattr(error, "compared", None))
        flow = flow_of(kind, sizes.norm_first)
        inside = partial(first_deviation, submission, module, "forward", flow)
        pairs = list(zip(parameters, leaves, strict=True))
        return cls(
            module, parts, found, pairs, used, sizes, kind, case, inside=inside, if_parts_are_right=PARTS_ARE_RIGHT
        )

    def output(self, inputs: Inputs) -> Tensor:
        """What it returns first for copies of these inputs."""
        x, *_ = expect_parts(self.call(*copies_of(inputs.values())), self.parts, "what forward returns")
        return expect_shape(x, next(iter(inputs.values())).shape, "x").detach()  # type: ignore[union-attr]

    def draw(self, axes: tuple[int, int, int], masks: str) -> Inputs:
        """Random x (b, t, d), memory (b, s, d) and masks.

        Args:
            axes: b, t and s.
            masks: "padding", "none", "two axes", "each head", or "a query without keys", which is in one head. An
                attention of its own, task 1.3 judges with the last two; here its mask is one for all heads.
        """
        case, (b, t, s), d_model = self.case, axes, self.sizes.d_model
        is_own = len(Census.of([p for p, _ in self.parameters], d_model).attentions) < len(self.parts) - 1
        n_heads = 1 if is_own else self.sizes.n_heads
        x, memory = (case.normal(b, length, d_model, dtype=self.dtype or torch.float64) for length in (t, s))
        mask = case.mask(b, 1, t, t)
        mask[-1] = mask[..., -1, :] = True  # nothing is forbidden in the last sentence, or to the last query
        own: Tensor | None = mask
        cross: Tensor | None = case.padding_mask(b, s)
        x[1:, -1] = 0
        if masks == "none":
            own = cross = None
        elif masks == "two axes":
            own, cross = torch.ones(t, t, dtype=torch.bool).tril(), case.mask(t, s)
        elif masks in ("each head", "a query without keys"):
            own, cross = case.mask(b, n_heads, t, t), case.mask(b, n_heads, t, s)
            if masks == "a query without keys" and not is_own:
                (own if self.kind == "EncoderLayer" else cross)[0, 0, 0] = False
        if self.kind == "EncoderLayer":
            return {"x": x, "mask": own}
        return {"x": x, "memory": memory, "src_mask": cross, "tgt_mask": own}


@dataclass(frozen=True)
class StackSubject(Subject):
    """An encoder or a decoder: a stack of layers, which are stand-ins.

    Attributes:
        d_model: the number of features.
        has_own_layers: whether its layers are its own, with dropout inside, in place of stand-ins.
        kind: its class.
        case: draws parameters and inputs.
    """

    d_model: int = 1
    has_own_layers: bool = False
    kind: str = "Encoder"
    case: Case = Case(0, "")

    @classmethod
    def make(
        cls,
        submission: SubmissionUnderTest,
        case: Case,
        kind: str,
        sizes: Sizes,
        n_layers: int,
        dtype: torch.dtype = torch.float64,
        rate: float | None = None,
    ) -> Self:
        """Builds one in eval mode; its rate of dropout is random, unless one is given."""
        rate = case.number(0.2, 0.7) if rate is None else rate
        options: dict[str, Any] = {"n_heads": sizes.n_heads, "d_ff": sizes.d_ff, "n_layers": n_layers, "dropout": rate}
        options |= {"norm_first": True} if sizes.norm_first else {}
        build = partial(submission.build, f"model.{kind}", sizes.d_model, **options)
        module = build(dtype=dtype).eval()
        expect_plain(module)
        has_own_layers = has_own_parts(list(module.parameters()), sizes.d_model)
        if has_own_layers:
            module = build(dtype=dtype, isolated=False).eval()
        case.randomise(module.parameters(), scale=0.7 if has_own_layers else 1.0)
        # A post-norm stack may have the last LayerNorm, if it does not use it.
        idle = [] if sizes.norm_first else Census.of(list(module.parameters()), sizes.d_model).norms
        parameters = [p for p in module.parameters() if all(p is not one for one in idle)]
        own_parts = OwnParts(submission, parameters, sizes) if has_own_layers else None
        leaves = own_parts.leaves if own_parts else leaves_of(parameters)

        def read() -> list[Computation]:
            if own_parts:
                stack = build(dtype=torch.float64, isolated=False).eval()
                return own_stacks(own_parts, stack, kind, n_layers, rate)
            expect_own_layers(parameters, kind, n_layers, sizes)
            own = Census.of(parameters, sizes.d_model).others
            if len(own) > 2 and any(p.numel() > 1 for p in own):
                needs_reader("LayerNorm that ends the stack")
            settings = trace(sizes.d_ff, rate, sizes.norm_first)
            return list(stacks(leaves, kind == "Decoder", n_layers, sizes, settings))

        formulas, parts = attempt(read), PARTS_OF_STACKS[kind]
        pairs = list(zip(parameters, leaves, strict=True))
        inside: Callable[[Inputs], str] | None = None  # of own parts, no flow is known
        if not has_own_layers:
            inside = partial(first_deviation, submission, module, "forward", flow_of(kind, sizes.norm_first, n_layers))
        return cls(
            module,
            parts,
            formulas,
            pairs,
            dtype,
            sizes.d_model,
            has_own_layers,
            kind,
            case,
            inside=inside,
            if_parts_are_right=PARTS_ARE_RIGHT,
        )

    def draw(self, axes: tuple[int, int, int], masked: bool = True) -> Inputs:
        """Random x (b, t, d), memory (b, s, d) and masks."""
        case, (b, t, s) = self.case, axes
        x, memory = (case.normal(b, length, self.d_model, dtype=self.dtype or torch.float64) for length in (t, s))
        own, cross = (case.mask(b, 1, t, t), case.padding_mask(b, s)) if masked else (None, None)
        if own is not None:
            own[..., -1, :] = True  # nothing is forbidden to the last query
        if self.kind == "Encoder":
            return {"x": x, "mask": own}
        return {"x": x, "memory": memory, "src_mask": cross, "tgt_mask": own}


def expect_own_layers(parameters: list[nn.Parameter], kind: str, n_layers: int, sizes: Sizes) -> None:
    """There are n_layers different layers."""
    census = Census.of(parameters, sizes.d_model)
    found = census.decoder_layers if kind == "Decoder" else census.encoder_layers
    what = "how many layers with parameters of their own the stack has"
    look_at = "build each of the n_layers layers anew, in an nn.ModuleList"
    look_at += "; one layer in several places is still one layer" if found else "; a plain list hides its layers"
    failure = OtherPartsError if 2 * len(found) > n_layers else CheckFailed
    expect(len(found) == n_layers, what, f"{n_layers}", f"{len(found)}", look_at, failure)


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
        options: dict[str, Any] = {"norm_first": True} if sizes.norm_first else {}
        given = *vocab_sizes, sizes.d_model, sizes.n_heads, sizes.d_ff, n_layers, dropout
        self.submission, self._build = submission, partial(submission.build, "model.Transformer", *given, **options)
        self.model: Any = self._build(dtype=dtype).eval()
        expect_plain(self.model)
        self.has_own_parts = has_own_parts(list(self.model.parameters()), sizes.d_model)
        if self.has_own_parts:
            self.model = self._build(dtype=dtype, isolated=False).eval()
        case.randomise(self.model.parameters())
        self.parameters = list(self.model.parameters())
        self.leaves = leaves_of(self.parameters)
        self.of_settings = trace(sizes.d_ff, dropout, sizes.norm_first, n_layers)
        self.dropout = dropout

    def side(self, method: str, kept: float = 1.0) -> Subject:
        """Its `encode` or `decode`, where dropout leaves so much of the embedded tokens."""
        is_decoder = method == "decode"
        vocab_size, leaves = self.vocab_sizes[is_decoder], self.leaves
        call = getattr(self.model, method)
        inside: Callable[[Inputs], str] | None = None  # as above
        if self.has_own_parts:
            own = OwnParts(self.submission, self.parameters, self.sizes)
            given = vocab_size, self.n_layers, self.dropout, kept, self.model.training
            found, leaves = attempt(lambda: [*own_sides(own, method, *given)]), own.leaves
        else:
            found = [*sides(leaves, is_decoder, vocab_size, self.n_layers, self.sizes, self.of_settings, kept)]
            inside = partial(first_deviation, self.submission, self.model, method, flow_of(method, False))
        pairs = list(zip(self.parameters, leaves, strict=True))
        parts = PARTS_OF_MODELS[method]
        return Subject(call, parts, found, pairs, self.dtype, inside=inside, if_parts_are_right=PARTS_ARE_RIGHT)

    def predictions(self) -> Subject:
        """Its `get_predictions`, whose matrix may be the target's table."""
        shape = vocab_size, d_model = self.vocab_sizes[1], self.sizes.d_model
        matrices = [leaf for leaf in self.leaves if tuple(leaf.shape) == shape]
        biases = [leaf.flatten() for leaf in self.leaves if leaf.numel() == vocab_size]
        found: list[Computation] = [partial(predict, pair) for pair in [*product(matrices, biases), *product(matrices)]]
        own = sum(leaf.numel() for leaf in Census.of(self.leaves, d_model).others) - sum(self.vocab_sizes) * d_model
        if len(matrices) < 2 and own >= vocab_size * d_model:

            def twin() -> Component:
                model: Any = self._build(dtype=torch.float64).eval()
                return Component(model.get_predictions, learned(model), normal((2, 5, d_model)))

            formulas = [Formula(shapes, partial(partial, predict)) for shapes in ([shape, (vocab_size,)], [shape])]
            leaves = [leaf for p, leaf in zip(self.parameters, self.leaves, strict=True) if p.requires_grad]
            placed = find_formula(self.submission, ("get_predictions", shape), twin, leaves, formulas)
            found = [placed or needs_reader("output projection")]
        return Subject(self.model.get_predictions, ["the predictions"], found, dtype=self.dtype)

    def draw(self, method: str, axes: tuple[int, int, int] = (3, 4, 5), masked: bool = True) -> Inputs:
        """Random arguments of encode or decode; the memory is not the encoder's, so that they are judged separately."""
        longest = MOST_POSITIONS if self.has_own_parts else max(axes)
        b, t, s = (min(size, longest) for size in axes)
        d, vocab_size = self.sizes.d_model, self.vocab_sizes[method == "decode"]
        tokens = self.case.tokens(vocab_size, b, t)
        tokens[:, -1] = vocab_size - 1 if masked else 0
        tokens[0, 0] = vocab_size - 1
        own, cross = (self.case.mask(b, 1, t, t), self.case.padding_mask(b, s)) if masked else (None, None)
        if method == "encode":
            return {"src": tokens, "encoder_mask": own}
        memory = self.case.normal(b, s, d, dtype=self.dtype)
        return {"tgt": tokens, "memory": memory, "src_mask": cross, "tgt_mask": own}
