"""Layers and stacks of them as subjects of tests: made with random parameters, with inputs for them.

The parts inside are stand-ins, see `layers`. A layer may hold parts itself, and write them out: `search` finds them.
Stacks may consist of layers of their own, see `own_parts`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.formulas import trace
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
    norm_of,
    weights_formulas,
)
from .modules import expect_plain, needs_reader
from .own_parts import PARTS_OF_STACKS, OwnParts
from .readings import pairs_of
from .search import Component, find_formula, normal

PARTS_OF_LAYERS = {f"{kind}Layer": parts for kind, parts in PARTS_OF_STACKS.items()}
WRITTEN_OUT = "written out, each part must do what its component does; the layer can use that instead"

READABLE = Sizes(d_model=20, n_heads=4, d_ff=17)
"""Of a layer that holds parts itself: these are told apart by their sizes, so no two of them may coincide."""


@dataclass(frozen=True)
class PartsSubject(Subject):
    """A layer or a stack. A layer that holds parts itself can be read at some sizes only, and has these, and float64.

    `find_weights` finds the formula of a layer's weights, as a list, if it has its own attention, but another part is
    wrong: of a decoder layer's, gelu for relu in the network alone.
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
        "of x alone", "each head", or "a query without keys", which is in one head, and for a decoder its only mask. An
        attention of a layer's own, task 1.3 judges with the last two; here its mask is one for all heads.
        """
        case, (b, t, s), d_model = self.case, axes, self.sizes.d_model
        is_own = "Layer" in self.kind and len(self.census.known["A"]) < len(self.parts) - 1
        x, memory = (case.normal(b, length, d_model, dtype=self.dtype or torch.float64) for length in (t, s))
        is_wrong = isinstance(self.formulas, Exception)
        if not self.census.others or ("Layer" in self.kind and not self.sizes.norm_first and not is_wrong):
            x[1:, -1] = 0
        own: Tensor | None = None
        cross: Tensor | None = None
        if masks == "of x alone":
            own = case.mask(b, 1, t, t)
        elif masks == "padding":
            own, cross = case.mask(b, 1, t, t), case.padding_mask(b, s)
            own[..., -1, :] = True  # nothing is forbidden to the last query, or in the last of several sentences
            own[max(1, b - 1) :] = True
        elif masks == "two axes":
            own, cross = earlier_keys(t), case.mask(t, s)
        elif masks != "none":
            n_heads = 1 if is_own else self.sizes.n_heads
            own, cross = case.mask(b, n_heads, t, t), case.mask(b, n_heads, t, s)
            if masks == "a query without keys":
                (own if self.kind == "EncoderLayer" else cross)[0, 0, 0] &= is_own
                own = own if self.kind == "EncoderLayer" else None
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
    without = partial(submission.apply, "call_without_dropout", module, "forward")
    options: dict[str, Any] = {"inside": inside, "needs_most_parts": True, "without_dropout": without}
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
        if sizes.norm_first or census.known["A"]:
            return None
        if kind == "DecoderLayer":  # the second weights depend on what is around the first ones
            others = layer_formulas(flow, census, sizes, activation=F.gelu)
            placed = find_formula(submission, (kind, sizes, "weights"), twin, census.others, others)
            return placed and (lambda *given: placed(*given)[1:])
        of_weights = weights_formulas(sizes.d_model, sizes.n_heads)

        def second() -> Component:  # for the result beside the first one
            component = twin()
            return replace(component, call=lambda *given: component.call(*given)[1])

        weights = find_formula(submission, (kind, sizes, "weights"), second, census.others, of_weights)
        return weights and (lambda *given: [weights(*given)])

    formulas = attempt(read)
    if isinstance(formulas, list) and not formulas:
        torch.set_default_dtype(torch.float64)  # which is that of a test's inputs, until the test ends
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
    without = partial(submission.apply, "call_without_dropout", module, "forward")
    settings = dtype, sizes, kind, case
    more: dict[str, Any] = {"inside": inside, "without_dropout": without, "is_slow": is_own}
    return PartsSubject(module, parts, formulas, pairs, *settings, **more)
