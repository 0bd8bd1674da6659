"""Which part of a layer, a stack or a model reads what: to compute what comes out, and to see where the numbers part.

A flow names each part with what it reads, as a sum of what is known by then: the arguments of the call, and what
earlier parts have returned. "N1 x+A1" is the first LayerNorm, which reads x plus the first attention's output; "= N2"
is what is returned.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from typing import Any, TypeVar

import torch
from torch import Tensor

from assignment.stand_ins.components import causal_mask as stand_in_for_causal_mask
from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.comparison import alike
from autograder.testing.fitting import Computation
from autograder.testing.observation import known as known_factor
from autograder.testing.observation import ratio
from autograder.testing.submission import SubmissionUnderTest

Slot = TypeVar("Slot")

FLOWS = {  # by class or method, and norm_first
    ("EncoderLayer", False): "A1 x x x mask; N1 x+A1; F1 N1; N2 N1+F1; = N2",
    ("EncoderLayer", True): "N1 x; A1 N1 N1 N1 mask; N2 x+A1; F1 N2; = x+A1+F1",
    ("DecoderLayer", False): (
        "A1 x x x tgt_mask; N1 x+A1; A2 N1 memory memory src_mask; N2 N1+A2; F1 N2; N3 N2+F1; = N3"
    ),
    ("DecoderLayer", True): (
        "N1 x; A1 N1 N1 N1 tgt_mask; N2 x+A1; A2 N2 memory memory src_mask; N3 x+A1+A2; F1 N3; = x+A1+A2+F1"
    ),
    ("encode", False): "T1 src; P1 T1; S1 P1 encoder_mask; = S1",
    ("decode", False): "T1 tgt; P1 T1; G1 P1 memory src_mask tgt_mask; = G1",
}
PARTS = {  # by the class of a stand-in: its letter, its name, and the arguments that it reads
    "MultiHeadedAttention": ("A", "attention {}", ("query", "key", "value", "mask")),
    "LayerNorm": ("N", "LayerNorm {}", ("x",)),
    "FeedForward": ("F", "the feed-forward network", ("x",)),
    "InputEmbedding": ("T", "the embedding", ("tokens",)),
    "PositionalEncoding": ("P", "the positional encoding", ("x",)),
    "EncoderLayer": ("E", "encoder layer {}", ("x", "mask")),
    "DecoderLayer": ("D", "decoder layer {}", ("x", "memory", "src_mask", "tgt_mask")),
    "Encoder": ("S", "the encoder", ("x", "mask")),
    "Decoder": ("G", "the decoder", ("x", "memory", "src_mask", "tgt_mask")),
}
DROPPED = "AFP"
"""Letters of the parts whose output dropout acts on."""
MOST_SUMMANDS = 3
PARTS_ARE_RIGHT = "each part inside gets what it should, and has the right settings: is each used as it is?"


@dataclass(frozen=True)
class Flow:
    """The flow of a component, one part after the other.

    Attributes:
        names: of the arguments of the call, in order.
        steps: each a part and what it reads.
        is_stack: whether weights are returned in a list for each kind, with an entry for each layer.
    """

    names: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    is_stack: bool = False

    @classmethod
    def of(cls, kind: str, norm_first: bool = False, n_layers: int = 1) -> "Flow":
        """That of a layer, of a stack of so many layers, or of `encode` or `decode`."""
        if kind in ("Encoder", "Decoder"):
            letter, *names = ("D", "x", "memory", "src_mask", "tgt_mask") if kind == "Decoder" else ("E", "x", "mask")
            before = ["x", *(f"{letter}{n}" for n in range(1, n_layers + 1))]
            steps = [(name, earlier, *names[1:]) for earlier, name in zip(before, before[1:], strict=False)]
            last = [("N1", before[-1]), ("=", "N1")] if norm_first else [("=", before[-1])]
            return cls(tuple(names), (*steps, *last), is_stack=True)
        steps = [tuple(step.split()) for step in FLOWS[kind, norm_first and "Layer" in kind].split("; ")]
        firsts = {"encode": ("src", "encoder_mask"), "decode": ("tgt", *PARTS["Decoder"][2][1:])}
        return cls(firsts.get(kind) or PARTS[kind][2], tuple(steps))

    @property
    def dropped(self) -> list[str]:
        """The parts whose output dropout acts on."""
        return [step[0] for step in self.steps if step[0][0] in DROPPED]

    @property
    def counts(self) -> Counter[str]:
        """How many parts of each letter it has."""
        return Counter(step[0][0] for step in self.steps[:-1])

    def arrangements(self, pools: Mapping[str, Sequence[Slot]]) -> Iterator[dict[str, Slot]]:
        """Yield each choice of parts from the pools, by letter; none where a pool has too few."""
        counts = self.counts
        names = [f"{letter}{n}" for letter, count in counts.items() for n in range(1, count + 1)]
        for chosen in product(*(permutations(pools.get(letter, ()), count) for letter, count in counts.items())):
            yield dict(zip(names, chain(*chosen), strict=True))

    def run(
        self,
        parts: Mapping[str, Computation],
        *arguments: Tensor | None,
        kept: float = 1.0,
        spared: Collection[str] = (),
    ) -> list[Any]:
        """Compute the output, and weights; dropout leaves so much of the outputs that it acts on, 1 or 0.

        It does not act on the `spared` parts.
        """
        known: dict[str, Tensor | None] = dict(zip(self.names, arguments, strict=True))
        seen: list[Any] = []
        for name, *reads in self.steps[:-1]:
            result = parts[name](*(total(known, sum_of) for sum_of in reads))
            output, *weights = result if isinstance(result, (tuple, list)) else [result]
            is_dropped = kept != 1 and name[0] in DROPPED and name not in spared
            known[name] = kept * output if is_dropped else output
            seen += [weights] if weights else []
        output = total(known, self.steps[-1][1])
        return [output, *(map(list, zip(*seen, strict=True)) if self.is_stack else chain(*seen))]

    def first_deviation(
        self,
        submission: SubmissionUnderTest,
        module: Any,
        method: str,
        settings: Mapping[str, float],
        inputs: Inputs,
    ) -> str:
        """Name the part that is the first to read something else than it should, and what that is; "" if none does.

        Each part should be one of its own, made with these settings.
        """
        calls, result = submission.apply("inner_calls", module, method, copies_of(inputs.values()))
        if module.training:  # dropout changes what parts read
            texts = (other_settings(str(kind), place, made_with, settings) for kind, *_, place, made_with in calls)
            return next(filter(None, texts), "")
        if not calls:
            return ""
        known: dict[str, Tensor | None] = dict(inputs)
        words: dict[str, str] = {name: name for name in inputs}
        counts: Counter[str] = Counter()
        parts: dict[str, str] = {}  # by name in the module
        for (kind, handed, returned, place, made_with), (wanted, *expected) in zip(calls, self.steps, strict=False):
            letter, text, arguments = PARTS[str(kind)]
            counts[letter] += 1
            part = text.format(counts[letter])
            if wanted == "=":
                return f"{part} is called, after which nothing should follow"
            if wanted[0] != letter:
                given = f", with {described(handed[0], known, words)}," if handed else ""
                return f"{part} is called{given} where {word_of(wanted)} should be"
            for argument, value, sum_of in zip(arguments, handed, expected, strict=False):
                if not is_same(value, total(known, sum_of)):
                    reads = f"{part} gets {described(value, known, words)}" + f" as {argument}" * (len(arguments) > 1)
                    due = in_words(sum_of, words)
                    return f"{reads}; it should be {due}" + ", None here" * (total(known, sum_of) is None)
            if text := other_settings(part, place, made_with, settings):
                return text
            if place in parts:
                return f"`{place}` serves as {parts[place]} and as {part}; each should be one of its own"
            parts[place] = part
            name = f"{letter}{counts[letter]}"
            known[name], words[name] = returned, f"the output of {part}"
        if result is None:
            return ""  # the call has ended with an error
        wanted, sum_of = self.steps[len(calls)][:2]
        if wanted != "=":
            return f"{word_of(wanted)} is not called"
        if not is_same(result, total(known, sum_of)):
            return f"{described(result, known, words)} is returned; it should be {in_words(sum_of, words)}"
        return ""


def other_settings(part: str, place: str, made_with: Mapping[str, Any], settings: Mapping[str, float]) -> str:
    """Names the settings of a part that are not as they should be; "" where there are none."""
    other = [name for name, value in made_with.items() if value != settings.get(name, value)]
    got, due = (in_numbers({name: of[name] for name in other}) for of in (made_with, settings))
    return f"{part}, `{place}`, is made with {got}; it should be {due}" if other else ""


def in_numbers(settings: Mapping[str, Any]) -> str:
    """Settings in words: "d_ff = 11 and dropout = 0.3"."""
    return " and ".join(f"{name} = {x:.4g}" if type(x) is float else f"{name} = {x}" for name, x in settings.items())


def word_of(name: str) -> str:
    """A part of a flow in words."""
    text = next(text for letter, text, _ in PARTS.values() if letter == name[0])
    return text.format(name[1:])


def in_words(sum_of: str, words: Mapping[str, str]) -> str:
    """A sum of a flow in words."""
    return " + ".join(words.get(name, name) for name in sum_of.split("+"))


def total(known: Mapping[str, Tensor | None], sum_of: str) -> Tensor | None:
    """A sum of a flow in numbers."""
    several = [known[name] for name in sum_of.split("+")]
    return several[0] if len(several) == 1 else torch.stack([x for x in several if x is not None]).sum(0)


def is_same(value: Tensor | None, other: Tensor | None) -> bool:
    """True if two arguments are the same but for rounding."""
    return value is other if value is None or other is None else alike(value, other)


def described(value: Tensor | None, known: Mapping[str, Tensor | None], words: Mapping[str, str]) -> str:
    """A value in words: what is known, a multiple or a sum of that, a mask made of others, or something else."""
    if value is None:
        return "None"
    if value.dtype == torch.bool:
        return next((text for text, mask in masks_of(value, known) if is_same_mask(value, mask)), "another mask")
    names = [name for name, other in known.items() if other is not None and other.shape == value.shape]
    for name in names if value.is_floating_point() else ():
        other = total(known, name)
        if other is not None and (factor := ratio(value.double(), other.double())) is not None:
            return f"{words[name]} times {factor:.4g}"
    for count in range(1, MOST_SUMMANDS + 1) if value.is_floating_point() else (1,):
        for chosen in combinations_with_replacement(names, count):
            if is_same(value, total(known, "+".join(chosen))):
                return in_words("+".join(chosen), words)
    return "something else" if names else f"something of shape {tuple(value.shape)}"


def masks_of(value: Tensor, known: Mapping[str, Tensor | None]) -> Iterator[tuple[str, Tensor]]:
    """Yield masks that a part may get, in words."""
    causal = torch.ones(value.shape[-2:], dtype=torch.bool).tril()
    yield "a mask that forbids nothing", torch.ones_like(value)
    yield "a mask that forbids everything", torch.zeros_like(value)
    masks = {name: mask for name, mask in known.items() if mask is not None and mask.dtype == torch.bool}
    for name, mask in masks.items():
        yield name, mask
        yield f"the inverted {name}", ~mask
        if mask.size(-1) == mask.size(-2):
            yield f"{name} with rows and columns swapped", mask.mT
        if mask.size(-1) == causal.size(-1):
            yield f"{name}, and later positions forbidden", mask & causal
    yield "a causal mask", causal
    if causal.size(0) == causal.size(1):
        yield "what `causal_mask` returns", stand_in_for_causal_mask(len(causal))
    for first, second in combinations(masks, 2):
        if masks[first].size(-1) == masks[second].size(-1):
            yield f"{first} and {second} together", masks[first] & masks[second]


def is_same_mask(value: Tensor, mask: Tensor) -> bool:
    """True if two masks are the same once they are broadcast."""
    try:
        return bool((value == mask).all())
    except RuntimeError:
        return False


def deviation_of_heads(
    submission: SubmissionUnderTest, module: Any, n_heads: int, formula: Computation | None, inputs: Inputs
) -> str:
    """Name what is wrong with the query, key and value that multi-headed attention hands to the attention inside.

    The formula is what the attention seems to compute, with its matrices and biases.
    """
    query, names = inputs["query"], ("query", "key", "value")
    usual = [x for name in names if (x := inputs[name]) is not None]
    d_head = usual[0].size(-1) // n_heads
    for name, x, part in zip(names, usual, submission.apply("attention_inputs", module, *usual), strict=False):
        if part.shape[-2:] != (x.size(1), d_head):
            shape = f"the attention gets {name} of shape {tuple(part.shape)}"
            return f"{shape}; its last axes should be {x.size(1)} positions and the {d_head} features of a head"
    if query is None or query.size(1) < MOST_SUMMANDS:
        return ""
    given = [torch.randn_like(query) for _ in names]
    handed = submission.apply("attention_inputs", module, *given)
    for index, name in enumerate(names):
        moved = [x.clone() for x in given]
        moved[index][:, 0] += 1
        others = submission.apply("attention_inputs", module, *moved)
        for before, after, of in zip(handed, others, names, strict=True):
            changed = (before - after).abs() > 1e-5
            positions = changed.any(-1).any(1).any(0).nonzero().flatten().tolist()
            if of != name and positions:
                return f"the {of} that heads get depends on {name}, too"
            if of == name and not positions:
                return f"the {of} that heads get does not depend on {name}"
            if of == name and positions != [0]:
                return f"a change at position 0 of {name} reaches position {positions[-1]} of the {of} that a head gets"
            if of == name and not bool(changed[:, :, 0].any(-1).all()):
                return f"not every head gets a part of position 0 of {name}"

    def in_heads(x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], n_heads, d_head).transpose(1, 2)

    maps = [getattr(formula, "keywords", {}).get(kind, ()) for kind in ("matrices", "biases")]
    strange: list[str] = []
    for name, x, part in zip(names, given, handed, strict=True):
        due = {of: in_heads(x.double() @ matrix + bias) for of, matrix, bias in zip(names, *maps, strict=False)}
        if name not in due or part.shape != due[name].shape:
            return ""
        if (factor := ratio(part.double(), due[name])) is not None:
            times = known_factor(factor, {"a head": part[0, 0]})
            return f"the {name} that heads get is {factor:.4g} times its projection{times}"
        if not alike(part, due[name]):
            other = next((f"projected with the matrix of {of}" for of in due if alike(part, due[of])), "")
            strange.append(f"the {name} that heads get is {other or 'not its projection, split into heads'}")
    return strange[0] if len(strange) == 1 else ""  # the others show that the matrices are read as they should be
