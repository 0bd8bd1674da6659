"""PyTorch's own layers and stacks around other parts: to compute what comes out, and to see where numbers part."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import chain, combinations_with_replacement, permutations, product
from types import SimpleNamespace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.comparison import alike
from autograder.testing.fitting import Computation
from autograder.testing.submission import SubmissionUnderTest

Slot = TypeVar("Slot")

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
TEXTS = {letter: text for letter, text, _ in PARTS.values()}
LETTERS = {"self_attn": "A", "multihead_attn": "A", "linear1": "F", "norm1": "N", "norm2": "N", "norm3": "N"}
"""By the names that parts have in PyTorch's layers, whose first map becomes the whole feed-forward network."""
MASKS = "attn_mask", "src_mask", "memory_mask", "tgt_mask"
"""PyTorch's names of masks, in the order in which our parts take them."""
MOST_SUMMANDS, FEWEST_POSITIONS = 4, 3
PARTS_ARE_RIGHT = "each part inside gets what it should: is one made with other settings, or used in another way?"


class DepartureError(Exception):
    """Where a submission does something else."""


class Flow:
    """PyTorch's layer or stack, or the parts of a model's side in a row, called with others in the places of its parts.

    Attributes:
        places: of its parts, each with the letter of what stands there.
    """

    def __init__(self, kind: str, norm_first: bool = False, n_layers: int = 1) -> None:
        """That of a class, or of `encode` or `decode`; in train mode, in which PyTorch calls each part."""
        self._module: Any
        if kind in ("encode", "decode"):
            self._module = nn.Sequential(nn.Identity(), nn.Identity(), nn.Dropout(), nn.Identity())
            self.places = {"0": "T", "1": "P", "3": "G" if kind == "decode" else "S"}
        elif "Layer" in kind:
            with torch.random.fork_rng(devices=[]):  # its own parameters are random, and of no use
                self._module = getattr(nn, f"Transformer{kind}")(
                    1, 1, 1, activation=nn.Identity(), norm_first=norm_first
                )
            self._module.linear2 = nn.Identity()
            self.places = {name: LETTERS[name] for name, _ in self._module.named_children() if name in LETTERS}
        else:
            layer: Any = nn.Identity()
            layer.self_attn = SimpleNamespace(batch_first=True)  # all that PyTorch asks a layer for
            options = {"enable_nested_tensor": False} if kind == "Encoder" else {}
            self._module = getattr(nn, f"Transformer{kind}")(layer, n_layers, nn.Identity(), **options)
            self.places = {f"layers.{n}": kind[0] for n in range(n_layers)} | ({"norm": "N"} if norm_first else {})
        for place in self.places:
            self._module.get_submodule(place).forward = partial(self._stand_in, place)
        dropouts: Any = [part for part in self._module.modules() if isinstance(part, nn.Dropout)]
        for dropout in dropouts:
            dropout.forward = lambda x: x if self._kept == 1 else self._kept * x
        if "Layer" in kind:  # there is no quicker way to parts than by attributes that are functions
            vars(self._module).update({name: part.forward for name, part in self._module.named_children()})

    def arrangements(self, pools: Mapping[str, Sequence[Slot]]) -> Iterator[dict[str, Slot]]:
        """Yield each choice of parts from the pools, by place; none where a pool has too few."""
        places = sorted(self.places, key=self.places.__getitem__)
        counts = sorted(Counter(self.places.values()).items())
        for chosen in product(*(permutations(pools.get(letter, ()), count) for letter, count in counts)):
            yield dict(zip(places, chain(*chosen), strict=True))

    def run(self, parts: Mapping[str, Computation], *arguments: Tensor | None, kept: float = 1.0) -> list[Any]:
        """Compute the output, and weights; dropout leaves so much of the outputs that it acts on, 1 or 0."""
        seen: list[Any] = []

        def call(place: str, *given: Tensor | None) -> Any:
            result = parts[place](*given)
            output, *weights = result if isinstance(result, (tuple, list)) else [result]
            seen.extend([weights] if weights else [])
            return output

        output = self._pass(call, *arguments, kept=kept)
        return [output, *(map(list, zip(*seen, strict=True)) if "layers.0" in self.places else chain(*seen))]

    def _pass(self, call: Callable[..., Any], x: Any, *others: Any, kept: float = 1.0) -> Any:
        """The result if `call` stands in for each part: it gets the place, and what is read there."""
        self._call, self._others, self._kept = call, others, kept
        if "3" in self.places:
            return self._module(x)
        first, *rest = numbers = [y.double() if y is not None and y.dtype == torch.bool else y for y in others]
        self._masks = dict(zip(map(id, numbers), others, strict=True))
        return self._module(x, first, *reversed(rest))  # in PyTorch the mask of x comes first

    def _stand_in(self, place: str, *given: Any, **named: Any) -> Any:
        """Call what stands in a place, from within PyTorch's module."""
        more = self._others if place == "3" else [self._masks[id(named[name])] for name in MASKS if name in named]
        output = self._call(place, *given, *more)
        return [output] if "attn_mask" in named else output

    def first_deviation(self, submission: SubmissionUnderTest, module: Any, method: str, inputs: Inputs) -> str:
        """Name the part that is the first to read something else than it should, and what that is; "" if none does."""
        calls, result = submission.apply("inner_calls", module, method, copies_of(inputs.values()))
        known: dict[str, Tensor | None] = dict(inputs)
        counts: Counter[str] = Counter()
        coming = iter(calls)

        def call(place: str, *wanted: Tensor | None) -> Any:
            counts[self.places[place]] += 1
            due = TEXTS[self.places[place]].format(counts[self.places[place]])
            kind, handed, returned = next(coming, (None, (), None))
            if kind is None:
                raise DepartureError("" if result is None else f"{due} is not called")
            letter, text, arguments = PARTS[str(kind)]
            if letter != self.places[place]:
                raise DepartureError(f"{text.format(counts[letter] + 1)} is called where {due} should be")
            for argument, value, right in zip(arguments, handed, wanted, strict=False):
                if not is_same(value, right):
                    reads = f"{due} gets {described(value, known)}" + f" as {argument}" * (len(arguments) > 1)
                    raise DepartureError(f"{reads}; it should be {described(right, known)}")
            if returned is None:
                raise DepartureError("")  # the call has ended with an error
            known[f"the output of {due}"] = returned
            return returned

        try:
            output = self._pass(call, *inputs.values())
        except DepartureError as departure:
            return str(departure)
        for kind, *_ in coming:
            letter, text, _ = PARTS[str(kind)]
            return f"{text.format(counts[letter] + 1)} is called, after which nothing should follow"
        if result is None or is_same(result, output):
            return ""
        return f"{described(result, known)} is returned; it should be {described(output, known)}"


flow_of = cache(Flow)


def is_same(value: Tensor | None, other: Tensor | None) -> bool:
    """True if two arguments are the same but for rounding."""
    return value is other if value is None or other is None else alike(value, other)


def described(value: Tensor | None, known: Mapping[str, Tensor | None]) -> str:
    """A value in words: what is known, a sum of that, or something else."""
    if value is None:
        return "None"
    terms = {name: other for name, other in known.items() if other is not None and other.shape == value.shape}
    for count in range(1, MOST_SUMMANDS + 1) if value.is_floating_point() else (1,):
        for names in combinations_with_replacement(terms, count):
            if alike(value, reduce(torch.add, (terms[name] for name in names))):
                return " + ".join(names)
    return "something else"


def deviation_of_heads(submission: SubmissionUnderTest, module: Any, inputs: Inputs) -> str:
    """Name what is wrong with the query, key and value that multi-headed attention hands to the attention inside."""
    query, names = inputs["query"], ("query", "key", "value")
    if query is None or query.size(1) < FEWEST_POSITIONS:
        return ""
    given = [torch.randn_like(query) for _ in names]
    *handed, _ = submission.apply("attention_inputs", module, *given)
    for index, name in enumerate(names):
        moved = [x.clone() for x in given]
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
