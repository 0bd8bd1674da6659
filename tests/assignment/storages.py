"""Ways to keep the numbers of linear maps and LayerNorms in parameters, as statements and expressions of Python.

Sizes are expressions, too: d and f features, h heads of e features, V words.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

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
        biases = iter(parts[len(maps) :])
        return [(part, next(biases) if linear.has_bias else "None") for part, linear in zip(parts, maps, strict=False)]

    def _biases(self, maps: Sequence[Map]) -> list[str]:
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
        rest = iter(found)
        return [next(rest) if linear.has_bias else "None" for linear in maps]

    def _with_biases(self, matrices: Sequence[str], maps: Sequence[Map]) -> list[Pair]:
        return [*zip(matrices, self._biases(maps), strict=True)]

    def _matrices(self, maps: Sequence[Map]) -> list[Pair]:
        """A parameter for each matrix, on either side of x."""
        pairs = [(linear.rows, linear.columns) for linear in maps]
        matrices = [self.new(*pair) if self.flip() else f"{self.new(*pair[::-1])}.T" for pair in pairs]
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
