"""What the tests of encoder layer, decoder layer and pre-norm share.

The attention, the feed-forward network and the LayerNorms inside are stand-ins with random parameters. Which
LayerNorm belongs to which sublayer is found by trying: only the true assignment gives the output.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product

import torch
from torch import Tensor, nn

from autograder.checking import laws
from autograder.checking.case import ALMOST_ALL, Case
from autograder.checking.comparison import (
    CheckFailed,
    copies,
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_parts,
    expect_shape,
    expect_unchanged,
    run_backward,
)
from autograder.checking.parts import Census, missing_numbers, network_readings, norm_readings, take_census
from autograder.worker.stand_ins import mixed_look_up

POST_NORM = "LayerNorm(x + dropout(sublayer(x))) for each sublayer in turn"
PRE_NORM = "x + dropout(sublayer(LayerNorm(x))) for each sublayer in turn"
MASKS = "; self-attention gets tgt_mask, cross-attention src_mask and as key and value the memory"
DROPOUT = "dropout acts on the sublayer's output before it is added to x, with the rate of the constructor"


@dataclass
class LayerCase:
    """One layer with random parameters, and random inputs for it."""

    layer: nn.Module
    inputs: tuple[Tensor, ...]  # x and mask; or x, memory, src_mask, tgt_mask
    n_heads: int
    d_ff: int
    dropout: float
    norm_first: bool

    @property
    def is_decoder(self) -> bool:
        return len(self.inputs) == 4

    @property
    def d_model(self) -> int:
        return self.inputs[0].size(-1)

    @property
    def n_attentions(self) -> int:
        return 2 if self.is_decoder else 1

    @property
    def argument_names(self) -> tuple[str, ...]:
        return ("x", "memory", "src_mask", "tgt_mask") if self.is_decoder else ("x", "mask")

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that forward returns."""
        return ("x", "self_weights", "cross_weights") if self.is_decoder else ("x", "weights")

    @property
    def rule(self) -> str:
        return (PRE_NORM if self.norm_first else POST_NORM) + (MASKS if self.is_decoder else "")

    def run(self, *inputs: Tensor | None, what: str = "what forward returns") -> list[Tensor]:
        """The parts that forward returns for these inputs, each of the right shape."""
        inputs = inputs or self.inputs
        parts = expect_parts(self.layer(*inputs), self.names, what)
        b, t, d = inputs[0].shape
        shapes = [(b, t, d), (b, self.n_heads, t, t), (b, self.n_heads, t, inputs[1].size(1) if self.is_decoder else 0)]
        for part, shape, name in zip(parts, shapes, self.names, strict=False):
            expect_shape(part, shape, name, dtype=inputs[0].dtype)
        return parts

    def census(self, parameters: Sequence[Tensor] | None = None) -> Census:
        """What the layer is made of."""
        return take_census(list(self.layer.parameters()) if parameters is None else parameters, self.d_model)


def make_layer(
    submission, case: Case, kind: str, dropout: float = 0.3, norm_first: bool = False, d_head: int | None = None
) -> LayerCase:
    """Builds "EncoderLayer" or "DecoderLayer" of the submission among stand-ins, in eval mode."""
    n_heads = 2 if d_head else case.size(2, 3)
    d_model, d_ff = n_heads * (d_head or case.size(2, 3)), case.size(10, 20)
    options = {"norm_first": True} if norm_first else {}
    component = f"layers.{kind}"
    layer = submission.build(component, d_model, n_heads, d_ff, dropout, dtype=torch.float64, **options).eval()
    case.randomise(layer.parameters(), scale=0.7)
    b, s, t = case.sizes(3, 3, 6)
    if kind == "EncoderLayer":
        inputs = case.normal(b, s, d_model), case.mask(b, 1, s, s)
    else:
        src_mask, tgt_mask = case.padding_mask(b, s), case.mask(b, 1, t, t)
        inputs = case.normal(b, t, d_model), case.normal(b, s, d_model), src_mask, tgt_mask
    return LayerCase(layer, inputs, n_heads, d_ff, dropout, norm_first)


@dataclass(frozen=True)
class Sublayers:
    """The parts of a layer in their roles."""

    made: LayerCase
    attentions: tuple[Tensor, ...]  # stand-ins
    network: object
    norms: tuple

    def sublayer(self, number: int, state: Tensor) -> tuple[Tensor, Tensor | None]:
        """What the sublayer computes of `state` (b, t, d), and its weights."""
        if number == self.made.n_attentions:
            return self.network(state), None
        x, *rest = self.made.inputs
        if number == 0:
            source, mask = state, rest[-1]
        else:
            source, mask = rest[0], rest[1]
        return mixed_look_up(state, source, source, mask, self.attentions[number], self.made.n_heads)

    def run(self, surviving: float = 1.0) -> list[Tensor]:
        """What the layer returns; `surviving` scales what the sublayers compute."""
        state, weights = self.made.inputs[0], []
        for number, norm in enumerate(self.norms):
            out, seen = self.sublayer(number, norm(state) if self.made.norm_first else state)
            state = state + surviving * out
            state = state if self.made.norm_first else norm(state)
            weights += [] if seen is None else [seen]
        return [state, *weights]


def assignments(made: LayerCase, parameters: Sequence[Tensor] | None = None) -> Iterator[Sublayers]:
    """Each assignment of roles to the parts found inside; none where the layer attends by itself."""
    census = made.census(list(made.layer.parameters()) if parameters is None else parameters)
    n_norms = made.n_attentions + 1
    for norms, others in norm_readings(census, n_norms, made.d_model):
        for network in network_readings(census, others, made.d_model, made.d_ff):
            for attentions in permutations(census.attentions, made.n_attentions):
                for order in permutations(norms, n_norms):
                    yield Sublayers(made, attentions, network, order)


def find_sublayers(made: LayerCase, came: list[Tensor], parameters: Sequence[Tensor] | None = None) -> Sublayers | None:
    """The assignment that explains the output; None where the layer is laid out in a way that cannot be tried."""
    found = list(assignments(made, parameters))
    if not found:
        check_numbers(made)
        return None
    results = [sublayers.run() for sublayers in found]
    index = expect_equal_to_one(came[0], [result[0] for result in results], "the output of the layer", made.rule)
    for name, actual, wanted in zip(made.names[1:], came[1:], results[index][1:], strict=True):
        expect_close(actual, wanted, f"{name} of the layer", "the weights of its own attention, unchanged")
    return found[index]


def check_values(made: LayerCase, case: Case) -> None:
    """Output and weights in eval mode, also after a call with other inputs."""
    made.run(*(case.normal(*i.shape) if i is not None and i.is_floating_point() else i for i in made.inputs))
    if find_sublayers(made, made.run()) is None:
        law = laws.check_decoder_layer if made.is_decoder else laws.check_encoder_layer
        law(made.run, *made.inputs, made.n_heads)


def check_numbers(made: LayerCase) -> None:
    """Each sublayer has a LayerNorm and an attention of its own, and there is nothing else to learn."""
    census = made.census()
    wanted = made.n_attentions, 1, made.n_attentions + 1
    came = len(census.attentions), len(census.feed_forwards), len(census.norms)
    fewest, most = missing_numbers(census, wanted[0], wanted[2], made.d_model, made.d_ff)
    numbers = sum(p.numel() for p in census.others)
    fits = all(one <= other for one, other in zip(came, wanted, strict=True)) and fewest <= numbers <= most
    expect(
        fits,
        "how many MultiHeadedAttention, FeedForward and LayerNorm the layer has",
        "{}, {} and {}".format(*wanted),
        "{}, {} and {}".format(*came) + (f", and {numbers} other numbers to learn" if numbers else ""),
        "each sublayer has its own; build them in __init__",
    )


def check_without_masks(made: LayerCase) -> None:
    """None as a mask is handed on."""
    made.inputs = tuple(tensor if tensor.is_floating_point() else None for tensor in made.inputs)
    find_sublayers(made, made.run())


def check_small_sizes(made: LayerCase) -> None:
    """One sentence; one position (and one of the memory)."""
    parts = made.run()
    made.inputs = tuple(tensor[:1] for tensor in made.inputs)
    for name, part, whole in zip(made.names, made.run(), parts, strict=True):
        expect_close(part, whole[:1], f"{name} of one sentence by itself", "sentences do not mix")
    made.inputs = tuple(t[:, :1] if t.is_floating_point() else torch.ones_like(t[..., :1, :1]) for t in made.inputs)
    find_sublayers(made, made.run())


def check_dropout_acts_on_sublayers(submission, case: Case, kind: str, norm_first: bool = False) -> None:
    """In training with a rate of almost 1, nothing of the sublayers survives, and the residuals do."""
    made = make_layer(submission, case, kind, ALMOST_ALL, norm_first)
    in_eval = made.run()
    made.layer.train()
    came = made.run(what="what forward returns in train mode")
    expect_close(came[1], in_eval[1], f"{made.names[1]} in train mode", "the weights that the attention returned")
    what = "the output in train mode with a dropout of almost 1"
    x = made.inputs[0]
    if norm_first:
        expect_close(came[0], x, what, DROPOUT)
        return
    found, count = [], made.n_attentions + 1
    for norms, _ in norm_readings(made.census(), count, made.d_model):
        for order in permutations(norms, count):
            state = x
            for norm in order:
                state = norm(state)
            found.append(state)
    if found:
        expect_equal_to_one(came[0], found, what, DROPOUT)
    else:
        check_numbers(made)


def check_dropout_entries(submission, case: Case, kind: str, norm_first: bool = False) -> None:
    """In training each entry of a sublayer's output is dropped or scaled up, whatever happens to the others.

    For every position all patterns of the attention's dropped entries are tried; the last sublayer's show in the
    output, where the LayerNorm stand-in can be turned back.
    """
    rate = case.number(0.3, 0.6)
    made = make_layer(submission, case, kind, rate, norm_first, d_head=2)
    sublayers = find_sublayers(made, made.run())
    if sublayers is None or not all(norm.is_stand_in for norm in sublayers.norms):
        return
    made.layer.train()
    came = made.run(what="what forward returns in train mode")[0]
    keep = 1 / (1 - rate)
    patterns = torch.tensor(list(product([0.0, keep], repeat=made.d_model)), dtype=torch.float64)  # (2^d, d)
    look_at = f"{DROPOUT}; what survives is divided by 1 - rate, each entry by itself"
    chosen = torch.empty(came.shape[:2], dtype=torch.int64)  # (b, t): a pattern for each position
    for b, t in product(range(came.size(0)), range(came.size(1))):
        pattern = _explain(sublayers, patterns, came, b, t, keep)
        fits = pattern is not None
        what = f"the output in train mode with a dropout of {rate:.2f}"
        expect(fits, what, "each entry of a sublayer's output dropped or scaled", "something else", look_at)
        chosen[b, t] = pattern
    for axis, what in enumerate(("sentences", "positions")):
        own_fate = bool((chosen != chosen.select(axis, 0).unsqueeze(axis)).any())
        came = f"the same entries at all {what}"
        expect(own_fate, f"dropout at different {what}", "other entries at each", came, look_at)


def _explain(sublayers: Sublayers, patterns: Tensor, came: Tensor, b: int, t: int, keep: float) -> int | None:
    """Which pattern of the first sublayer's dropped entries explains the output of position t; None = none does."""
    made = sublayers.made
    first, *later = sublayers.norms
    x = made.inputs[0]
    out, _ = sublayers.sublayer(0, first(x) if made.norm_first else x)
    states = x[b, t] + patterns * out[b, t]  # (n, d), n patterns
    number = torch.arange(len(patterns))
    states = states if made.norm_first else first(states)
    if made.is_decoder:
        _, memory, src_mask, _ = made.inputs
        cross, norm = partial(mixed_look_up, mix=sublayers.attentions[1], n_heads=made.n_heads), later.pop(0)
        query = (norm(states) if made.norm_first else states)[None]
        out, _ = cross(query, memory[b : b + 1], memory[b : b + 1], None if src_mask is None else src_mask[b : b + 1])
        states = (states[:, None] + patterns[None] * out[0][:, None]).flatten(0, 1)  # (n n, d)
        states = states if made.norm_first else norm(states)
        number = number.repeat_interleave(len(patterns))
    [norm] = later
    out = sublayers.network(norm(states) if made.norm_first else states)
    dropped, kept = states, states + keep * out
    if not made.norm_first:
        dropped, kept = norm(dropped), norm(kept)
    error = torch.minimum((came[b, t] - dropped).abs(), (came[b, t] - kept).abs()).amax(dim=-1).detach()
    best, index = error.min(dim=0)
    return int(number[index]) if best < 1e-6 else None


def check_no_dropout_is_deterministic(submission, case: Case, kind: str, norm_first: bool = False) -> None:
    """With a rate of 0 training and eval agree."""
    made = make_layer(submission, case, kind, 0.0, norm_first)
    in_eval = made.run()
    look_at = "the dropout rate is the constructor's; nothing else is random"
    made.layer.train()
    in_training = made.run()
    for name, one, other in zip(made.names, in_training, in_eval, strict=True):
        expect_close(one, other, f"{name} in train mode with dropout 0", look_at)


def check_dropout_is_random_in_training_only(made: LayerCase) -> None:
    """Two passes differ in training and agree in eval; the weights are those of the attention in both."""
    first, second = made.run(), made.run()
    expect_close(second[0], first[0], "two passes in eval mode", "dropout does nothing in eval mode")
    made.layer.train()
    passes = [made.run()[0] for _ in range(2)]
    agree = torch.equal(*passes)
    expect(not agree, "two passes in train mode", "different ones: dropout is random", "equal ones", made.rule)


def check_gradients(made: LayerCase, case: Case) -> None:
    """The gradient reaches every parameter and the inputs, and has the right value."""
    floats = [tensor.requires_grad_() for tensor in made.inputs if tensor.is_floating_point()]
    output, *_ = made.run()
    direction = case.normal(*output.shape)
    run_backward(output, direction, "the output of the layer")
    parameters = list(made.layer.parameters())
    expect_gradients([*parameters, *floats], "gradients of the parameters and inputs", made.rule)
    actual = [tensor.grad for tensor in (*parameters, *floats)]
    others = [tensor.detach().clone().requires_grad_() for tensor in parameters]
    made.inputs = tuple(i.detach().clone().requires_grad_() if i.is_floating_point() else i for i in made.inputs)
    try:
        sublayers = find_sublayers(made, [output, *_], others)
    except CheckFailed:
        return  # wrong values are another test's business
    if sublayers is not None:
        run_backward(sublayers.run()[0], direction, "the expected output")
        inputs = [tensor for tensor in made.inputs if tensor.is_floating_point()]
        for came, wanted in zip(actual, [*others, *inputs], strict=True):
            if wanted.grad is None:
                continue  # a part too many: another test's business
            expect_close(came, wanted.grad, "a gradient", "nothing is detached on the way, residuals included")


def check_arguments_stay(made: LayerCase) -> None:
    """Inputs are not changed, and no state is kept."""
    before = copies(made.inputs)
    first = made.run()
    expect_unchanged(made.inputs, before, made.argument_names)
    for name, part, old in zip(made.names, made.run(), first, strict=True):
        expect_close(part, old, f"{name}: the same call again", "no state is kept between calls")
