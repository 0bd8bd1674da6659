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
        """Assigns a module, a list or a parameter to an attribute, and returns that."""
        name = f"self.p{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        return name

    def new(self, *sizes: str) -> str:
        """A parameter of random numbers."""
        return self.hold(f"nn.Parameter(torch.randn({', '.join(sizes)}) * 0.1)")

    def flip(self, share: float = 0.5) -> bool:
        return self.chance.random() < share

    def add(self, maps: Sequence[Map], pattern: Sequence[int] = (1,)) -> None:
        """Stores maps in groups of these sizes, which are made in any order."""
        numbers = [*range(len(pattern))]
        self.chance.shuffle(numbers)
        for number in numbers:
            start = sum(pattern[:number])
            group = maps[start : start + pattern[number]]
            self.parts |= dict(zip((one.name for one in group), self._store(group), strict=True))

    def _store(self, maps: Sequence[Map]) -> Sequence[Pair]:
        has_bias = all(one.has_bias for one in maps)
        is_alike = len({(one.rows, one.columns) for one in maps}) == 1
        ways = [self._flat, self._in_a_list, self._in_a_dict]
        ways += [self._by_head] * 5 * all(one.has_heads for one in maps)
        if len(maps) == 1:
            ways += [self._linear, self._convolution, self._matrix, self._matrix, self._in_halves, self._row_by_row]
            ways += [self._with_bias_inside] * 4 * has_bias
        elif is_alike:
            ways += [self._stacked] * 4
        if len({(one.rows, one.has_bias) for one in maps}) == 1 and len(maps) > 1:
            ways += [self._fused] * 3
        return self.chance.choice(ways)(maps)

    def _biases(self, maps: Sequence[Map]) -> list[str]:
        """Biases beside the matrices: each a vector, perhaps with more axes, or in a list, or all in one vector."""
        several = [one for one in maps if one.has_bias]
        sizes = ", ".join(one.columns for one in several)
        style = self.chance.choice([["d"], ["1", "1", "d"], ["d", "1"], "list", "merged"])
        if several and style == "list":
            held = self.hold(f"nn.ParameterList(torch.randn(n) * 0.1 for n in [{sizes}])")
            found = [f"{held}[{i}]" for i in range(len(several))]
        elif several and style == "merged":
            held = self.new(f"sum([{sizes}])")
            found = [f"{held}.split([{sizes}])[{i}]" for i in range(len(several))]
        else:
            shapes = [[one.columns if size == "d" else size for size in style] for one in several]
            found = [f"{self.new(*shape)}.flatten()" for shape in shapes]
        rest = iter(found)
        return [next(rest) if one.has_bias else "None" for one in maps]

    def _with_biases(self, matrices: Sequence[str], maps: Sequence[Map]) -> list[Pair]:
        return [*zip(matrices, self._biases(maps), strict=True)]

    def _linear(self, maps: Sequence[Map]) -> list[Pair]:
        held = self.hold(f"nn.Linear({maps[0].rows}, {maps[0].columns}, bias={maps[0].has_bias})")
        return [(f"{held}.weight.T", f"{held}.bias" if maps[0].has_bias else "None")]

    def _convolution(self, maps: Sequence[Map]) -> list[Pair]:
        held = self.hold(f"nn.Conv1d({maps[0].rows}, {maps[0].columns}, 1, bias={maps[0].has_bias})")
        return [(f"{held}.weight[..., 0].T", f"{held}.bias" if maps[0].has_bias else "None")]

    def _matrix(self, maps: Sequence[Map]) -> list[Pair]:
        sizes = [maps[0].rows, maps[0].columns]
        matrix = self.new(*sizes) if self.flip() else f"{self.new(*sizes[::-1])}.T"
        return self._with_biases([matrix], maps)

    def _in_halves(self, maps: Sequence[Map]) -> list[Pair]:
        rows, columns = maps[0].rows, maps[0].columns
        halves = self.new(f"{rows} // 2", columns), self.new(f"{rows} - {rows} // 2", columns)
        return self._with_biases([f"torch.cat([{', '.join(halves)}])"], maps)

    def _row_by_row(self, maps: Sequence[Map]) -> list[Pair]:
        size, count = (maps[0].rows, maps[0].columns) if self.flip() else (maps[0].columns, maps[0].rows)
        held = self.hold(f"nn.ParameterList(torch.randn({size}) * 0.1 for _ in range({count}))")
        return self._with_biases([f"torch.stack([*{held}], dim={int(size == maps[0].rows)})"], maps)

    def _with_bias_inside(self, maps: Sequence[Map]) -> list[Pair]:
        sizes = [f"{maps[0].rows} + 1", maps[0].columns]
        whole = self.new(*sizes) if self.flip() else f"{self.new(*sizes[::-1])}.T"
        return [(f"{whole}[1:]", f"{whole}[0]") if self.flip() else (f"{whole}[:-1]", f"{whole}[-1]")]

    def _flat(self, maps: Sequence[Map]) -> list[Pair]:
        pieces = [(one.name, 0, f"{one.rows}, {one.columns}") for one in maps]
        pieces += [(one.name, 1, one.columns) for one in maps if one.has_bias]
        self.chance.shuffle(pieces)
        sizes = ", ".join(shape.replace(",", " *") for *_, shape in pieces)
        held = self.new(f"sum([{sizes}])")
        found = {one.name: ["", "None"] for one in maps}
        for number, (name, which, shape) in enumerate(pieces):
            found[name][which] = f"{held}.split([{sizes}])[{number}].view({shape})"
        return [(matrix, bias) for matrix, bias in found.values()]

    def _in_a_list(self, maps: Sequence[Map]) -> list[Pair]:
        shapes = [[one.rows, one.columns][:: self.chance.choice([1, -1])] for one in maps]
        items = ", ".join(f"torch.randn({', '.join(shape)}) * 0.1" for shape in shapes)
        held = self.hold(f"nn.ParameterList([{items}])")
        turns = [".T" * (shape[0] != one.rows) for one, shape in zip(maps, shapes, strict=True)]
        return self._with_biases([f"{held}[{i}]{turn}" for i, turn in enumerate(turns)], maps)

    def _in_a_dict(self, maps: Sequence[Map]) -> list[Pair]:
        items = ", ".join(f"{one.name!r}: torch.randn({one.rows}, {one.columns}) * 0.1" for one in maps)
        held = self.hold(f"nn.ParameterDict({{{items}}})")
        return self._with_biases([f"{held}[{one.name!r}]" for one in maps], maps)

    def _stacked(self, maps: Sequence[Map]) -> list[Pair]:
        has_bias = all(one.has_bias for one in maps)
        is_inside, is_turned, axis = has_bias and self.flip(), self.flip(), self.chance.randrange(3)
        shape = [maps[0].rows + " + 1" * is_inside, maps[0].columns][:: -1 if is_turned else 1]
        held = self.new(*shape[:axis], str(len(maps)), *shape[axis:])
        matrices = [f"{held}.unbind({axis})[{i}]" + ".T" * is_turned for i in range(len(maps))]
        if is_inside:
            return [(f"{one}[:-1]", f"{one}[-1]") for one in matrices]
        if has_bias and self.flip():
            axis = self.chance.randrange(2)
            held = self.new(*[str(len(maps)), maps[0].columns][:: 1 - 2 * axis])
            return [(one, f"{held}.unbind({axis})[{i}]") for i, one in enumerate(matrices)]
        return self._with_biases(matrices, maps)

    def _fused(self, maps: Sequence[Map]) -> list[Pair]:
        """One linear map for all; the columns of a map stand together, or every n-th one."""
        sizes = ", ".join(one.columns for one in maps)
        held = self.hold(f"nn.Linear({maps[0].rows}, sum([{sizes}]), bias={maps[0].has_bias})")
        cuts = [f".split([{sizes}])[{i}]" for i in range(len(maps))]
        if len({one.columns for one in maps}) == 1 and self.flip():
            cuts = [f"[{i}::{len(maps)}]" for i in range(len(maps))]
        return [(f"{held}.weight{cut}.T", f"{held}.bias{cut}" if maps[0].has_bias else "None") for cut in cuts]

    def _by_head(self, maps: Sequence[Map]) -> list[Pair]:
        """One parameter of heads, maps, d and e, in any order; or a list with one of them for each head."""
        order, sizes = self.chance.sample(range(4), 4), ["h", str(len(maps)), "d", "e"]
        if self.flip(0.3):
            held = self.hold(f"nn.ParameterList(torch.randn({len(maps)}, d, e) * 0.1 for _ in range(h))")
            whole = f"torch.stack([*{held}])"
        else:
            whole = f"{self.new(*(sizes[axis] for axis in order))}.permute{tuple(map(order.index, range(4)))}"
        # Heads are columns of a projection into them, and rows of the one out of them.
        axes = ["1, 2" if one.name.endswith("o") else "0, 1" for one in maps]
        matrices = [f"{whole}[:, {i}].transpose({axis}).reshape(d, d)" for i, axis in enumerate(axes)]
        if len(maps) == 1 and maps[0].name.endswith("o") and maps[0].has_bias and self.flip(0.3):
            return [(matrices[0], f"{self.new('h', 'd')}.sum(0)")]
        return self._with_biases(matrices, maps)

    def add_norm(self, name: str) -> None:
        """Stores a gain and a shift, 1 and 0 at first; the gain perhaps as its difference from 1."""
        is_from_1 = self.flip(0.3)
        vectors = ["torch.zeros(d)" if is_from_1 else "torch.ones(d)", "torch.zeros(d)"]
        order = self.chance.sample(range(2), 2)
        first, second = (vectors[i] for i in order)
        style = self.chance.choice(["vectors", "stack", "flat", "list", "scalars", "halves"])
        if style == "vectors":
            shape = self.chance.choice(["d", "1, 1, d", "d, 1"])
            found = [f"{self.hold(f'nn.Parameter({one}.view({shape}))')}.flatten()" for one in (first, second)]
        elif style == "stack":
            axis = self.chance.randrange(2)
            held = self.hold(f"nn.Parameter(torch.stack([{first}, {second}], dim={axis}))")
            found = [f"{held}.unbind({axis})[{i}]" for i in range(2)]
        elif style == "flat":
            held = self.hold(f"nn.Parameter(torch.stack([{first}, {second}], dim=1).flatten())")
            found = [f"{held}[::2]", f"{held}[1::2]"]
        elif style == "list":
            held = self.hold(f"nn.ParameterList([{first}, {second}])")
            found = [f"{held}[0]", f"{held}[1]"]
        elif style == "scalars":
            held = self.hold(f"nn.ParameterList([*{first}.unbind(), *{second}.unbind()])")
            found = [f"torch.stack([*{held}][:d])", f"torch.stack([*{held}][d:])"]
        else:
            pieces = ", ".join(f"{one}{cut}" for cut in ("[: d // 2]", "[d // 2 :]") for one in (first, second))
            held = self.hold(f"nn.ParameterList([{pieces}])")
            found = [f"torch.cat([{held}[0], {held}[2]])", f"torch.cat([{held}[1], {held}[3]])"]
        gain, shift = (found[order.index(i)] for i in range(2))
        self.parts[name] = f"({'1 + ' * is_from_1}{gain})", shift
