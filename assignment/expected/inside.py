"""What the parts inside a layer, a stack or a model read, in the order of their calls: where do the numbers part?

A flow names each part with what it should read, as a sum of what is known by then: the arguments of the call, and what
earlier parts have returned. "N1 x+A1" is the first LayerNorm, which reads x plus the first attention's output; "= N2"
is what is returned.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import torch
from torch import Tensor

from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.comparison import alike
from autograder.testing.submission import SubmissionUnderTest

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
MOST_SUMMANDS = 3
PARTS_ARE_RIGHT = "each part inside gets what it should: is one made with other settings, or used in another way?"


def flow_of(kind: str, norm_first: bool, n_layers: int = 0) -> list[str]:
    """The flow of a component, one part after the other; that of a stack has so many layers."""
    if kind in ("encode", "decode"):
        return FLOWS[kind, False].split("; ")
    if not n_layers:
        return FLOWS[kind, norm_first].split("; ")
    letter, others = ("D", " memory src_mask tgt_mask") if kind == "Decoder" else ("E", " mask")
    steps = [f"{letter}{n} {f'{letter}{n - 1}' if n > 1 else 'x'}{others}" for n in range(1, n_layers + 1)]
    last = f"{letter}{n_layers}"
    return [*steps, f"N1 {last}", "= N1"] if norm_first else [*steps, f"= {last}"]


def first_deviation(
    submission: SubmissionUnderTest, module: Any, method: str, flow: Sequence[str], inputs: Inputs
) -> str:
    """Says which part is the first to read something else than it should, and what that is; "" if none does."""
    calls, result = submission.apply("inner_calls", module, method, copies_of(inputs.values()))
    known: dict[str, Tensor | None] = dict(inputs)
    words: dict[str, str] = {name: name for name in inputs}
    counts: dict[str, int] = {}
    steps = [step.split() for step in flow]
    for number, (kind, handed, returned) in enumerate(calls):
        letter, text, arguments = PARTS[str(kind)]
        counts[letter] = counts.get(letter, 0) + 1
        name, told = f"{letter}{counts[letter]}", text.format(counts[letter])
        wanted, *expected = steps[number]
        if wanted == "=":
            return f"{told} is called, after which nothing should follow"
        if wanted[0] != letter:
            return f"{told} is called where {word_of(wanted)} should be"
        for argument, value, sum_of in zip(arguments, handed, expected, strict=False):
            if not is_same(value, total(known, sum_of)):
                reads = f"{told} gets {described(value, known, words)}" + f" as {argument}" * (len(arguments) > 1)
                return f"{reads}; it should be {in_words(sum_of, words)}"
        known[name], words[name] = returned, f"the output of {told}"
    if steps[len(calls)][0] != "=" and result is not None:
        return f"{word_of(steps[len(calls)][0])} is not called"
    if result is None:
        return ""  # the call has ended with an error
    if not is_same(result, total(known, steps[-1][1])):
        return f"{described(result, known, words)} is returned; it should be {in_words(steps[-1][1], words)}"
    return ""


def word_of(name: str) -> str:
    """A part of a flow in words."""
    text = next(text for letter, text, _ in PARTS.values() if letter == name[0])
    return text.format(name[1:])


def in_words(sum_of: str, words: Mapping[str, str]) -> str:
    """A sum of a flow in words."""
    return " + ".join(words.get(name, name) for name in sum_of.split("+"))


def total(known: Mapping[str, Tensor | None], sum_of: str) -> Tensor | None:
    """What a sum of a flow is in numbers."""
    several = [known[name] for name in sum_of.split("+")]
    return several[0] if len(several) == 1 else torch.stack([one for one in several if one is not None]).sum(0)


def is_same(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two arguments are the same but for rounding."""
    if one is None or other is None:
        return one is other
    return alike(one, other)


def described(value: Tensor | None, known: Mapping[str, Tensor | None], words: Mapping[str, str]) -> str:
    """A value in words: what is known, a sum of that, or something else."""
    if value is None:
        return "None"
    names = [name for name, one in known.items() if one is not None and one.shape == value.shape]
    for count in range(1, MOST_SUMMANDS + 1) if value.is_floating_point() else (1,):
        for chosen in combinations_with_replacement(names, count):
            if is_same(value, total(known, "+".join(chosen))):
                return in_words("+".join(chosen), words)
    return "something else"


def what_heads_read(submission: SubmissionUnderTest, module: Any, inputs: Inputs) -> str:
    """Says what is wrong with the query, key and value that multi-headed attention hands to the attention inside."""
    query, names = inputs["query"], ("query", "key", "value")
    if query is None or query.size(1) < MOST_SUMMANDS:
        return ""
    given = [torch.randn_like(query) for _ in names]
    *handed, _ = submission.apply("attention_inputs", module, *given)
    for index, name in enumerate(names):
        moved = [one.clone() for one in given]
        moved[index][:, 0] += 1
        *others, _ = submission.apply("attention_inputs", module, *moved)
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
    return ""
