"""Right components, drawn at random, whose parameters are laid out in unusual ways, as the text of a class.

Statements and expressions are those of Python. Sizes are expressions, too: d and f features, h heads of e features, V
words.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course.catalogue import extent_of
from autograder.intake.sources import Sources
from foundation.assignment_file import read_assignment
from validity.run_tests import Version, markers_of_tasks
from validity.variants import splice

from ..conftest import examples_in

TEXTS = examples_in("assignment/layouts.toml")

PATTERNS = [1, 1, 1, 1], [3, 1], [3, 1], [1, 2, 1], [4], [2, 2]
BIASES = [True] * 4, [False] * 4, [True, False, True, True], [False, False, False, True]
CHECK = ["if d_model % n_heads:", "    raise ValueError('heads')"]


Pair = tuple[str, str]
"""Expressions of a matrix (in, out) and its bias, "None" for none; or of a gain and a shift."""


@dataclass(frozen=True)
class Map:
    """A linear map from so many rows to so many columns; `has_heads` where one of these is heads times e."""

    name: str
    rows: str
    columns: str
    has_bias: bool = True
    has_heads: bool = False


def pairs(matrices: Sequence[str], biases: Sequence[str], maps: Sequence[Map]) -> list[Pair]:
    """The matrices of maps, with the biases of those that have one."""
    rest = iter(biases)
    return [(matrix, next(rest) if linear.has_bias else "None") for matrix, linear in zip(matrices, maps, strict=False)]


class Storage:
    """Parameters of a class: statements for its constructor, and the parts made of them by name."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []
        self.parts: dict[str, Pair] = {}

    def hold(self, value: str) -> str:
        """Assign a module, a list or a parameter to an attribute, and return that."""
        name = f"self.p{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        return name

    def new(self, *sizes: str) -> str:
        """A parameter of random numbers."""
        return self.hold(f"nn.Parameter(torch.randn({', '.join(sizes)}) * 0.1)")

    def flip(self, share: float = 0.5) -> bool:
        return self.chance.random() < share

    def add(self, maps: Sequence[Map], pattern: Sequence[int] = (1,)) -> None:
        """Store maps in groups of these sizes, which are made in any order."""
        numbers = [*range(len(pattern))]
        self.chance.shuffle(numbers)
        for number in numbers:
            start = sum(pattern[:number])
            group = maps[start : start + pattern[number]]
            self.parts |= dict(zip((linear.name for linear in group), self._store(group), strict=True))

    def _store(self, maps: Sequence[Map]) -> Sequence[Pair]:
        ways = [self._merged, self._matrices]
        ways += [self._by_head] * 2 * all(linear.has_heads for linear in maps)
        if len({(linear.rows, linear.columns, linear.has_bias) for linear in maps}) == 1:
            ways += [self._modules, *[self._fused, self._stacked, self._stacked] * (len(maps) > 1)]
        return self.chance.choice(ways)(maps)

    def _merged(self, maps: Sequence[Map]) -> list[Pair]:
        """One vector of all numbers."""
        shapes = [f"{linear.rows}, {linear.columns}" for linear in maps]
        shapes += [linear.columns for linear in maps if linear.has_bias]
        sizes = ", ".join(shape.replace(",", " *") for shape in shapes)
        held = self.new(f"sum([{sizes}])")
        parts = [f"{held}.split([{sizes}])[{i}].view({shape})" for i, shape in enumerate(shapes)]
        return pairs(parts, parts[len(maps) :], maps)

    def _with_biases(self, matrices: Sequence[str], maps: Sequence[Map]) -> list[Pair]:
        """Biases beside the matrices: each a vector, perhaps with more axes, or all in one vector."""
        several = [linear for linear in maps if linear.has_bias]
        sizes = ", ".join(linear.columns for linear in several)
        style = self.chance.choice([["d"], ["1", "1", "d"], ["d", "1"], []])
        if several and not style:
            held = self.new(f"sum([{sizes}])")
            found = [f"{held}.split([{sizes}])[{i}]" for i in range(len(several))]
        else:
            shapes = [[linear.columns if size == "d" else size for size in style] for linear in several]
            found = [f"{self.new(*shape)}.flatten()" for shape in shapes]
        return pairs(matrices, found, maps)

    def _matrices(self, maps: Sequence[Map]) -> list[Pair]:
        """A parameter for each matrix, on either side of x."""
        sizes = [(linear.rows, linear.columns) for linear in maps]
        matrices = [self.new(*of) if self.flip() else f"{self.new(*of[::-1])}.T" for of in sizes]
        return self._with_biases(matrices, maps)

    def _modules(self, maps: Sequence[Map]) -> list[Pair]:
        """A module for each map."""
        kind, width, cut = self.chance.choice([("Linear", "", ""), ("Conv1d", ", 1", "[..., 0]")])
        made = [f"nn.{kind}({linear.rows}, {linear.columns}{width}, bias={linear.has_bias})" for linear in maps]
        return [
            (f"{held}.weight{cut}.T", f"{held}.bias" if maps[0].has_bias else "None") for held in map(self.hold, made)
        ]

    def _fused(self, maps: Sequence[Map]) -> list[Pair]:
        """One linear map for all; the columns of a map stand together, or every n-th one."""
        n, columns = len(maps), maps[0].columns
        held = self.hold(f"nn.Linear({maps[0].rows}, {n} * {columns}, bias={maps[0].has_bias})")
        cut = "[{i}::{n}]" if self.flip() else "[{i} * {size} : ({i} + 1) * {size}]"
        cuts = [cut.format(i=i, n=n, size=columns) for i in range(n)]
        return [(f"{held}.weight{cut}.T", f"{held}.bias{cut}" if maps[0].has_bias else "None") for cut in cuts]

    def _stacked(self, maps: Sequence[Map]) -> list[Pair]:
        """One parameter with an axis for the maps, where a bias may be a further row."""
        is_inside, is_turned, axis = maps[0].has_bias and self.flip(), self.flip(), self.chance.randrange(3)
        shape = [maps[0].rows + " + 1" * is_inside, maps[0].columns][:: -1 if is_turned else 1]
        held = self.new(*shape[:axis], str(len(maps)), *shape[axis:])
        matrices = [f"{held}.unbind({axis})[{i}]" + ".T" * is_turned for i in range(len(maps))]
        if is_inside:
            return [(f"{matrix}[:-1]", f"{matrix}[-1]") for matrix in matrices]
        return self._with_biases(matrices, maps)

    def _by_head(self, maps: Sequence[Map]) -> list[Pair]:
        """One parameter of heads, maps, d and e, in any order; or a list with one of them for each head."""
        order, sizes = self.chance.sample(range(4), 4), ["h", str(len(maps)), "d", "e"]
        if self.flip(0.3):
            held = self.hold(f"nn.ParameterList(torch.randn({len(maps)}, d, e) * 0.1 for _ in range(h))")
            whole = f"torch.stack([*{held}])"
        else:
            whole = f"{self.new(*(sizes[axis] for axis in order))}.permute{tuple(map(order.index, range(4)))}"
        # Heads are columns of a projection into them, and rows of the one out of them.
        axes = ["1, 2" if linear.name.endswith("o") else "0, 1" for linear in maps]
        matrices = [f"{whole}[:, {i}].transpose({axis}).reshape(d, d)" for i, axis in enumerate(axes)]
        if len(maps) == 1 and maps[0].name.endswith("o") and maps[0].has_bias and self.flip(0.3):
            return [(matrices[0], f"{self.new('h', 'd')}.sum(0)")]
        return self._with_biases(matrices, maps)

    def add_norm(self, name: str) -> None:
        """Store a gain and a shift, 1 and 0 at first; the gain perhaps as its difference from 1."""
        is_from_1, order = self.flip(0.3), self.chance.sample(["gain", "shift"], 2)
        values = {"gain": "torch.zeros(d)" if is_from_1 else "torch.ones(d)", "shift": "torch.zeros(d)"}
        if self.flip():
            shape = self.chance.choice(["d", "1, 1, d", "d, 1"])
            found = {part: f"{self.hold(f'nn.Parameter({values[part]}.view({shape}))')}.flatten()" for part in order}
        else:
            axis, both = self.chance.randrange(2), ", ".join(values[part] for part in order)
            held = self.hold(f"nn.Parameter(torch.stack([{both}], dim={axis}).flatten())")
            cuts = [".view(2, d)[0]", ".view(2, d)[1]"] if axis == 0 else ["[::2]", "[1::2]"]
            found = {part: held + cut for part, cut in zip(order, cuts, strict=True)}
        self.parts[name] = f"({'1 + ' * is_from_1}{found['gain']})", found["shift"]


def class_text(head: str, sizes: str, storage: Storage, forward: str, body: str, first: Sequence[str] = ()) -> str:
    """A class, by its name and the arguments of its constructor, which runs the first lines and makes the storage.

    The sizes are some of these arguments, under one letter each, which `forward` knows.
    """
    (name, signature), (letters, values) = head.split("(", 1), sizes.split(" = ")
    known = f"{letters} = self.sizes"
    lines = ["super().__init__()", *first, f"{known} = {values}", *storage.lines]
    constructor = "".join(f"        {line}\n" for line in lines)
    methods = f"    def forward(self, {forward}):\n        {known}\n{body}"
    return f"class {name}(nn.Module):\n    def __init__(self, {signature}:\n{constructor}\n{methods}"


def applied(storage: Storage, name: str, x: str) -> str:
    """An expression for a map of x (b, positions, in)."""
    matrix, bias = storage.parts[name]
    plus = f" + {bias}" * (bias != "None")
    ways = f"({x} @ {matrix}{plus})", f"F.linear({x}, {matrix}.T, {bias})"
    return storage.chance.choice([*ways, f"(torch.einsum('...i,io->...o', {x}, {matrix}){plus})"])


def multi_headed_attention(chance: random.Random) -> str:
    """Query, key, value and output, with all biases, with none or with some."""
    storage, biases = Storage(chance), chance.choice(BIASES)
    maps = [Map(role, "d", "d", has, True) for role, has in zip("qkvo", biases, strict=True)]
    storage.add(maps, chance.choice(PATTERNS))
    body = ""
    for role, x in zip("qkv", ("query", "key", "value"), strict=True):
        body += f"        {role} = {applied(storage, role, x)}.unflatten(-1, (h, e)).transpose(1, 2)\n"
    body += chance.choice(TEXTS["attends"]) + "        joined = context.transpose(1, 2).flatten(2)\n"
    body += f"        return {applied(storage, 'o', 'joined')}, weights\n"
    head, sizes = "MultiHeadedAttention(d_model, n_heads)", "d, h, e = d_model, n_heads, d_model // n_heads"
    return class_text(head, sizes, storage, "query, key, value, mask=None", body, CHECK)


def feed_forward(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add([Map("first", "d", "f"), Map("second", "f", "d")], chance.choice([[1, 1], [1, 1], [2]]))
    hidden, out = applied(storage, "first", "x"), applied(storage, "second", "hidden")
    body = f"        hidden = {hidden}.relu()\n        return {out}\n"
    return class_text("FeedForward(d_model, d_ff)", "d, f = d_model, d_ff", storage, "x", body)


def layer_norm(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add_norm("norm")
    gain, shift = storage.parts["norm"]
    body = "        spread, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)\n"
    body += f"        return (x - mean) / (spread + epsilon).sqrt() * {gain} + {shift}\n"
    return class_text("LayerNorm(d_model, epsilon=1e-6)", "d, epsilon = d_model, epsilon", storage, "x", body)


def input_embedding(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add([Map("table", "V", "d", has_bias=False)])
    table = storage.parts["table"][0]
    found = chance.choice([f"F.embedding(tokens, {table})", f"({table})[tokens]"])
    body = f"        return {found} * d**0.5\n"
    return class_text("InputEmbedding(vocab_size, d_model)", "V, d = vocab_size, d_model", storage, "tokens", body)


def linear(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add([Map("projection", "d", "V", chance.choice([True, True, False]))])
    body = f"        return {applied(storage, 'projection', 'x')}\n"
    return class_text("Linear(d_model, vocab_size)", "d, V = d_model, vocab_size", storage, "x", body)


DRAWN: dict[str, Callable[[random.Random], str]] = {
    "embedding.InputEmbedding": input_embedding,
    "attention.MultiHeadedAttention": multi_headed_attention,
    "layers.LayerNorm": layer_norm,
    "layers.FeedForward": feed_forward,
    "nn.Linear": linear,
}
"""For each component with parameters the function that draws a layout."""
OWN_PARTS = {
    "layers.EncoderLayer": ("attention.MultiHeadedAttention", "layers.FeedForward", "layers.LayerNorm"),
    "layers.DecoderLayer": ("attention.MultiHeadedAttention", "layers.FeedForward", "layers.LayerNorm"),
    "model.Encoder": ("layers.LayerNorm",),
    "model.Transformer": ("nn.Linear",),
}
"""For each component of several parts those that may be drawn, as classes of its own module."""


def drawn(reference: Sources, component: str, number: int, change: Callable[[str], str] = str) -> Version:
    """A drawn component in the reference's place, whose text may be changed, with the tests of its tasks."""
    module, name = component.partition(".")[0], f"{component}, {number}"
    path, whole = reference[module]
    chance = random.Random(name)
    if component in DRAWN:
        text = DRAWN[component](chance)
    else:
        start, end = extent_of(whole, component)
        text, parts = whole[start:end], OWN_PARTS[component]
        for part in chance.sample(parts, chance.randint(1, len(parts))):
            kind = part.partition(".")[2]
            text = re.sub(rf"(?:nn\.)?\b{kind}\(", f"Own{kind}(", text)
            text = DRAWN[part](chance).replace(f"class {kind}(", f"class Own{kind}(") + "\n\n" + text
    sources = {**reference, module: (f"{path} {name}", splice(whole, change(TEXTS["imports"] + text), Path(name))[0])}
    return Version(name, sources, [0], markers_of_tasks(read_assignment(), [component]))


def replaced(sources: Sources, module: str, changes: Iterable[tuple[str, str]]) -> Sources:
    """Sources in which a module has other texts in the places of some, each of which it has once."""
    path, text = sources[module]
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {**sources, module: (path, text)}
