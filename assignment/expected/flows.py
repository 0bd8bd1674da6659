"""PyTorch's own layers and stacks around other parts: to compute what comes out, and to see where numbers part."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from math import perm, prod
from types import SimpleNamespace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from assignment.stand_ins.components import causal_mask as stand_in_for_causal_mask
from autograder.testing.arguments import copies_of
from autograder.testing.case import Inputs, SubmissionUnderTest, earlier_keys
from autograder.testing.comparison import alike
from autograder.testing.fitting import Computation
from autograder.testing.observation import known as known_factor
from autograder.testing.observation import ratio

from .modules import needs_reader

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
DROPPED = "AFP"
"""Letters of the parts whose output dropout acts on."""
MASKS = "attn_mask", "src_mask", "memory_mask", "tgt_mask"
"""PyTorch's names of masks, in the order in which our parts take them."""
MOST_SUMMANDS, FEWEST_POSITIONS = 4, 3
MOST_CHOICES = 10_000
"""Of parts for places; each is a formula that a result is compared with."""
PARTS_ARE_RIGHT = "each part inside gets what it should, and has the right settings: is each used as it is?"


class DepartureError(Exception):
    """Where a submission does something else."""


class Flow:
    """PyTorch's layer or stack, or the parts of a model's side in a row, called with others in the places of its parts.

    Attributes:
        places: of its parts, each with the letter of what stands there.
        names: of what stands there, in words, by place.
    """

    def __init__(self, kind: str, norm_first: bool = False, n_layers: int = 1) -> None:
        """That of a class, or of `encode` or `decode`; in train mode, in which PyTorch calls each part."""
        self._module: Any
        if kind in ("encode", "decode"):
            self._module = nn.Sequential(nn.Identity(), nn.Identity(), nn.Identity())
            self.places = {"0": "T", "1": "P", "2": "G" if kind == "decode" else "S"}
        elif "Layer" in kind:
            with torch.random.fork_rng(devices=[]):  # its own parameters are random, and of no use
                options = {"activation": nn.Identity(), "norm_first": norm_first}
                self._module = getattr(nn, f"Transformer{kind}")(1, 1, 1, **options)
            for name, part in [*self._module.named_children()]:
                if isinstance(part, nn.Dropout):
                    setattr(self._module, name, nn.Identity())
            self._module.linear2 = nn.Identity()
            self.places = {name: LETTERS[name] for name, _ in self._module.named_children() if name in LETTERS}
        else:
            layer: Any = nn.Identity()
            layer.self_attn = SimpleNamespace(batch_first=True)  # all that PyTorch asks a layer for
            options = {"enable_nested_tensor": False} if kind == "Encoder" else {}
            self._module = getattr(nn, f"Transformer{kind}")(layer, n_layers, nn.Identity(), **options)
            self.places = {f"layers.{n}": kind[0] for n in range(n_layers)} | ({"norm": "N"} if norm_first else {})
        counts: Counter[str] = Counter()
        self.names = {}
        for place, letter in self.places.items():
            counts[letter] += 1
            self.names[place] = TEXTS[letter].format(counts[letter])
            self._module.get_submodule(place).forward = partial(self._stand_in, place)
        if "Layer" in kind:  # there is no quicker way to parts than by attributes that are functions
            vars(self._module).update({name: part.forward for name, part in self._module.named_children()})

    @property
    def dropped(self) -> list[str]:
        """The places of the parts whose output dropout acts on."""
        return [place for place, letter in self.places.items() if letter in DROPPED]

    def arrangements(self, pools: Mapping[str, Sequence[Slot]]) -> Iterator[dict[str, Slot]]:
        """Yield each choice of parts from the pools, by place; none where a pool has too few.

        Raises: UnreadableError where there are too many choices to be tried.
        """
        places = sorted(self.places, key=self.places.__getitem__)
        counts = sorted(Counter(self.places.values()).items())
        if prod(perm(len(pools.get(letter, ())), count) for letter, count in counts) > MOST_CHOICES:
            needs_reader("component")
        for chosen in product(*(permutations(pools.get(letter, ()), count) for letter, count in counts)):
            yield dict(zip(places, chain(*chosen), strict=True))

    def run(
        self,
        parts: Mapping[str, Computation],
        *arguments: Tensor | None,
        kept: float = 1.0,
        spared: Collection[str] = (),
    ) -> list[Any]:
        """Compute the output, and weights; dropout leaves so much of the outputs that it acts on, 1 or 0.

        It does not act on the parts in the `spared` places.
        """
        seen: list[Any] = []

        def call(place: str, *given: Tensor | None) -> Any:
            result = parts[place](*given)
            output, *weights = result if isinstance(result, (tuple, list)) else [result]
            seen.extend([weights] if weights else [])
            return kept * output if kept != 1 and place in self.dropped and place not in spared else output

        output = self._pass(call, *arguments)
        return [output, *(map(list, zip(*seen, strict=True)) if "layers.0" in self.places else chain(*seen))]

    def _pass(self, call: Callable[..., Any], x: Any, *others: Any) -> Any:
        """The result if `call` stands in for each part: it gets the place, and what is read there."""
        self._call, self._others = call, others
        if "0" in self.places:
            return self._module(x)
        first, *rest = numbers = [y.double() if y is not None and y.dtype == torch.bool else y for y in others]
        self._masks = dict(zip(map(id, numbers), others, strict=True))
        return self._module(x, first, *reversed(rest))  # in PyTorch the mask of x comes first

    def _stand_in(self, place: str, *given: Any, **named: Any) -> Any:
        """Call what stands in a place, from within PyTorch's module."""
        more = self._others if place == "2" else [self._masks[id(named[name])] for name in MASKS if name in named]
        output = self._call(place, *given, *more)
        return [output] if "attn_mask" in named else output

    def first_deviation(
        self, submission: SubmissionUnderTest, module: Any, method: str, settings: Mapping[str, float], inputs: Inputs
    ) -> str:
        """Name the part that is the first to read something else than it should, and what it reads; "" if none does.

        What it should read is for the student to find: whoever reads that needs no idea of a layer to write it.

        Each part should be one of its own, made with these settings.
        """
        calls, result = submission.apply("inner_calls", module, method, copies_of(inputs.values()))
        if module.training:  # dropout changes what parts read
            texts = (other_settings(str(kind), place, made_with, settings) for kind, *_, place, made_with in calls)
            return next(filter(None, texts), "")
        if not calls:
            return ""
        whole = "stack" if "layers.0" in self.places else "layer"
        known: dict[str, Tensor | None] = {f"the {whole}'s x" if n == "x" else n: x for n, x in inputs.items()}
        counts: Counter[str] = Counter()
        coming = iter(calls)
        parts: dict[str, str] = {}  # by name in the module

        def call(place: str, *wanted: Tensor | None) -> Any:
            counts[self.places[place]] += 1
            due = self.names[place]
            kind, handed, returned, name, made_with = next(coming, (None, (), None, "", {}))
            if kind is None:
                raise DepartureError("" if result is None else f"there is no call of {due}")
            letter, text, arguments = PARTS[str(kind)]
            if letter != self.places[place]:
                given = f", with {described(handed[0], known)}" if handed else ""
                raise DepartureError(f"here {text.format(counts[letter] + 1)} is called{given}; another part is due")
            for argument, value, right in zip(arguments, handed, wanted, strict=False):
                if not is_same(value, right):
                    role = f" as {argument}" * (len(arguments) > 1)
                    text = f"{due} gets {described(value, known)}{role}"
                    known[f"the output of {due}"] = returned
                    raise DepartureError(f"{text}{followed(coming, counts, known)}")
            if other := other_settings(due, name, made_with, settings):
                raise DepartureError(other)
            if name in parts:
                raise DepartureError(f"`{name}` serves as {parts[name]} and as {due}")
            parts[name] = due
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
            return f"{text.format(counts[letter] + 1)} is called, too"
        if result is None or is_same(result, output):
            return ""
        return f"{described(result, known)} is returned"


flow_of = cache(Flow)


def other_settings(part: str, place: str, made_with: Mapping[str, Any], settings: Mapping[str, float]) -> str:
    """Names the settings of a part that are not as they should be; "" where there are none."""
    other = [name for name, value in made_with.items() if value != settings.get(name, value)]
    got, due = (in_numbers({name: of[name] for name in other}) for of in (made_with, settings))
    return f"{part} is `{place}`, made with {got}; it should be one with {due}" if other else ""


def followed(coming: Iterator[Any], counts: Mapping[str, int], known: Mapping[str, Tensor | None]) -> str:
    """Continue a text with what the part that is called next gets; "" without one, or where it gets something else."""
    kind, handed, *_ = next(coming, (None, ()))
    if kind is None or not handed or (text := described(handed[0], known)).startswith("none"):
        return ""
    letter, name, _ = PARTS[str(kind)]
    return f"; then {name.format(counts[letter] + 1)} gets {text}"


def is_same(value: Tensor | None, other: Tensor | None) -> bool:
    """True if two arguments are the same but for rounding."""
    return value is other if value is None or other is None else alike(value, other)


def in_numbers(settings: Mapping[str, Any]) -> str:
    """Settings in words: "d_ff = 11 and dropout = 0.3"."""
    return " and ".join(f"{name} = {x:.4g}" if type(x) is float else f"{name} = {x}" for name, x in settings.items())


def described(value: Tensor | None, known: Mapping[str, Tensor | None]) -> str:
    """A value in words: what is known, a multiple or a sum of that, a mask made of others, or something else."""
    if value is None:
        return "None"
    if value.dtype == torch.bool:
        return next((text for text, mask in masks_of(value, known) if is_same_mask(value, mask)), "another mask")
    terms = {name: other for name, other in known.items() if other is not None and other.shape == value.shape}
    for name, other in terms.items() if value.is_floating_point() else ():
        if (factor := ratio(value.double(), other.double())) is not None:
            return f"{name} times {factor:.4g}"
    for count in range(1, MOST_SUMMANDS + 1) if value.is_floating_point() else (1,):
        for names in combinations_with_replacement(terms, count):
            if alike(value, reduce(torch.add, (terms[name] for name in names))):
                return " + ".join(names)
    return "none of the inputs, outputs and their sums" if terms else f"something of shape {tuple(value.shape)}"


def masks_of(value: Tensor, known: Mapping[str, Tensor | None]) -> Iterator[tuple[str, Tensor]]:
    """Yield masks that a part may get, in words."""
    causal = earlier_keys(*value.shape[-2:])
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
    if query is None or query.size(1) < FEWEST_POSITIONS:
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
                own = [torch.randn_like(x) if part == of else x for part, x in zip(names, given, strict=True)]
                depends = not alike(submission.apply("attention_inputs", module, *own)[names.index(of)], before)
                return f"the {of} that heads get depends on {name}{', too' if depends else f', not on {of}'}"
            if of == name and not positions:
                return f"the {of} that heads get does not depend on {name}"
            if of == name and positions != [0]:
                return f"a change at position 0 of {name} reaches position {positions[-1]} of the {of} that a head gets"
            if of == name and not bool(changed[:, :, 0].any(-1).all()):
                return f"not every head gets a part of position 0 of {name}"

    maps = [getattr(formula, "keywords", {}).get(kind, ()) for kind in ("matrices", "biases")]
    strange: list[str] = []
    for name, x, part in zip(names, given, handed, strict=True):
        due = {of: x.double() @ matrix + bias for of, matrix, bias in zip(names, *maps, strict=False)}
        joined = part.double().transpose(1, 2).flatten(2)
        if name not in due or joined.shape != due[name].shape:
            return ""
        if (factor := ratio(joined, due[name])) is not None:
            times = known_factor(factor, {"a head": part[0, 0]})
            return f"the {name} that heads get is {factor:.4g} times its projection{times}"
        if not alike(joined, due[name]):
            other = next((f"projected with the matrix of {of}" for of in due if alike(joined, due[of])), "")
            strange.append(f"the {name} that heads get is {other or 'not its projection, split into heads'}")
    return strange[0] if len(strange) == 1 else ""  # the others show that the matrices are read as they should be
