"""Draws right components whose parameters are laid out in unusual ways.

The text of a layout is a class of the contract that computes what the reference does, by matrices which it puts
together from its parameters: `parts()` returns them, by name, each as (in, out) with its bias or None.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

"""


@dataclass(frozen=True)
class Map:
    """A linear map; its sizes are expressions in d, f, h, e (features, hidden features, heads, those of a head), V."""

    name: str
    rows: str
    columns: str
    has_bias: bool = True

    @property
    def numbers(self) -> str:
        return f"{self.rows} * {self.columns}"


class Storage:
    """Statements that make parameters, and the expression of each map's matrix and bias."""

    def __init__(self, chance: random.Random, prefix: str = "p") -> None:
        self.chance, self.prefix, self.lines, self.parts = chance, prefix, [], {}

    def new(self, *sizes: str) -> str:
        """Declares a parameter of this shape; returns its expression."""
        name = f"self.{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = nn.Parameter(torch.randn({', '.join(sizes)}) * 0.1)")
        return name

    def made(self, expression: str) -> str:
        """Declares a module or a list."""
        name = f"self.{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def biases(self, maps: Sequence[Map]) -> list[str]:
        """Biases of maps that keep them apart: each a vector, with more axes, or merged."""
        several = [one for one in maps if one.has_bias]
        style = self.chance.choice(["vector", "row", "column", "merged", "list", "pieces"])
        found = {}
        if style == "merged" and several:
            sizes = ", ".join(one.columns for one in several)
            merged = self.new(f"sum([{sizes}])")
            found = {one.name: f"{merged}.split([{sizes}])[{i}]" for i, one in enumerate(several)}
        elif style == "list" and several:
            items = ", ".join(f"torch.zeros({one.columns})" for one in several)
            held = self.made(f"nn.ParameterList([{items}])")
            found = {one.name: f"{held}[{i}]" for i, one in enumerate(several)}
        else:
            for one in several:
                shape = {"row": ("1", "1", one.columns), "column": (one.columns, "1")}.get(style, (one.columns,))
                found[one.name] = f"{self.new(*shape)}.flatten()"
        return [found.get(one.name, "None") for one in maps]

    def add(self, maps: Sequence[Map]) -> None:
        """Stores some maps in a way that is possible for them."""
        rows, columns = {one.rows for one in maps}, {one.columns for one in maps}
        ways: list[Callable[[Sequence[Map]], Sequence[tuple[str, str]]]] = [self.flat, self.listed, self.named]
        ways += [self.stacked] * 3 * (len(rows) == len(columns) == 1 and len(maps) > 1)
        ways += [self.fused] * 2 * (len(rows) == 1 and len({one.has_bias for one in maps}) == 1)
        ways += [self.by_head] * 6 * all(one.columns == "d" or one.rows == "d" for one in maps) * ("h" in self.known)
        if len(maps) == 1:
            ways += [self.linear, self.matrix, self.transposed, self.convolution, self.in_halves, self.by_rows]
            ways += [self.with_bias_inside] * 4 * maps[0].has_bias
        for one, pair in zip(maps, self.chance.choice(ways)(maps), strict=True):
            self.parts[one.name] = pair

    known = "hdefV"

    def linear(self, maps):
        [one] = maps
        held = self.made(f"nn.Linear({one.rows}, {one.columns}, bias={one.has_bias})")
        return [(f"{held}.weight.T", f"{held}.bias")]

    def convolution(self, maps):
        [one] = maps
        held = self.made(f"nn.Conv1d({one.rows}, {one.columns}, 1, bias={one.has_bias})")
        return [(f"{held}.weight[..., 0].T", f"{held}.bias")]

    def matrix(self, maps):
        return [(self.new(maps[0].rows, maps[0].columns), *self.biases(maps))]

    def transposed(self, maps):
        return [(f"{self.new(maps[0].columns, maps[0].rows)}.T", *self.biases(maps))]

    def in_halves(self, maps):
        [one] = maps
        upper = self.new(f"{one.rows} // 2", one.columns)
        lower = self.new(f"{one.rows} - {one.rows} // 2", one.columns)
        return [(f"torch.cat([{upper}, {lower}])", *self.biases(maps))]

    def by_rows(self, maps):
        [one] = maps
        held = self.made(f"nn.ParameterList(torch.randn({one.columns}) * 0.1 for _ in range({one.rows}))")
        return [(f"torch.stack([*{held}])", *self.biases(maps))]

    def with_bias_inside(self, maps):
        [one] = maps
        turn, place = self.chance.choice(["", ".T"]), self.chance.choice(["first", "last"])
        shape = [f"{one.rows} + 1", one.columns]
        whole = self.new(*(shape[::-1] if turn else shape)) + turn
        matrix, bias = (f"{whole}[1:]", f"{whole}[0]") if place == "first" else (f"{whole}[:-1]", f"{whole}[-1]")
        return [(matrix, bias)]

    def flat(self, maps):
        pieces = [(one.numbers, f"({one.rows}, {one.columns})", one, 0) for one in maps]
        pieces += [(one.columns, f"({one.columns},)", one, 1) for one in maps if one.has_bias]
        self.chance.shuffle(pieces)
        sizes = ", ".join(size for size, *_ in pieces)
        theta = self.new(f"sum([{sizes}])")
        found = {one.name: ["", "None"] for one in maps}
        for number, (_, shape, one, which) in enumerate(pieces):
            found[one.name][which] = f"{theta}.split([{sizes}])[{number}].view{shape}"
        return [tuple(found[one.name]) for one in maps]

    def listed(self, maps):
        turns = [self.chance.choice([False, True]) for _ in maps]
        shapes = [(one.columns, one.rows) if turn else (one.rows, one.columns) for one, turn in zip(maps, turns)]
        items = ", ".join(f"torch.randn({', '.join(shape)}) * 0.1" for shape in shapes)
        held = self.made(f"nn.ParameterList([{items}])")
        matrices = [f"{held}[{i}]" + ".T" * turn for i, turn in enumerate(turns)]
        return [*zip(matrices, self.biases(maps), strict=True)]

    def named(self, maps):
        items = ", ".join(f"{one.name!r}: nn.Parameter(torch.randn({one.rows}, {one.columns}) * 0.1)" for one in maps)
        held = self.made("nn.ParameterDict({" + items + "})")
        return [*zip([f"{held}[{one.name!r}]" for one in maps], self.biases(maps), strict=True)]

    def stacked(self, maps):
        axis, turn = self.chance.randrange(3), self.chance.choice([False, True])
        has_bias_inside = all(one.has_bias for one in maps) and self.chance.random() < 0.4
        shape = [maps[0].rows + " + 1" * has_bias_inside, maps[0].columns]
        shape = shape[::-1] if turn else shape
        held = self.new(*shape[:axis], f"{len(maps)}", *shape[axis:])
        matrices = [f"{held}.unbind({axis})[{i}]" + ".T" * turn for i in range(len(maps))]
        if has_bias_inside:
            return [(f"{one}[:-1]", f"{one}[-1]") for one in matrices]
        if all(one.has_bias for one in maps) and self.chance.random() < 0.5:
            middle = ", ".join([maps[0].columns, str(len(maps))][:: self.chance.choice([1, -1])])
            shifts = self.new(middle)
            axis = 0 if middle.startswith(str(len(maps))) else 1
            return [(one, f"{shifts}.unbind({axis})[{i}]") for i, one in enumerate(matrices)]
        return [*zip(matrices, self.biases(maps), strict=True)]

    def fused(self, maps):
        total, sizes = f"sum([{', '.join(m.columns for m in maps)}])", ", ".join(m.columns for m in maps)
        held = self.made(f"nn.Linear({maps[0].rows}, {total}, bias={maps[0].has_bias})")
        is_mixed = len({one.columns for one in maps}) == 1 and self.chance.random() < 0.5

        def cut(what: str, i: int) -> str:
            return f"{what}[{i}::{len(maps)}]" if is_mixed else f"{what}.split([{sizes}])[{i}]"

        return [
            (f"{cut(held + '.weight', i)}.T", cut(held + ".bias", i) if one.has_bias else "None")
            for i, one in enumerate(maps)
        ]

    def by_head(self, maps):
        """(heads, roles, d, e) with axes in any order, or a list with one of them for each head."""
        order = self.chance.sample(range(4), 4)
        sizes = ["h", str(len(maps)), "d", "e"]
        back = [order.index(axis) for axis in range(4)]
        if self.chance.random() < 0.4:
            held = self.made(f"nn.ParameterList(torch.randn({len(maps)}, d, e) * 0.1 for _ in range(h))")
            whole = f"torch.stack([*{held}])"
        else:
            whole = f"{self.new(*(sizes[axis] for axis in order))}.permute({', '.join(map(str, back))})"
        into = f"{whole}[:, {{i}}].transpose(0, 1).reshape(d, d)"  # features of a head are columns
        out_of = f"{whole}[:, {{i}}].transpose(1, 2).reshape(d, d)"
        matrices = [(out_of if one.name.endswith("o") else into).format(i=i) for i, one in enumerate(maps)]
        is_output = len(maps) == 1 and maps[0].name.endswith("o")
        if is_output and maps[0].has_bias and self.chance.random() < 0.3:
            return [(matrices[0], f"{self.new('h', 'd')}.sum(0)")]
        shifts = self.biases(maps)
        return [*zip(matrices, shifts, strict=True)]


def grouped(storage: Storage, maps: Sequence[Map], pattern: Sequence[int]) -> None:
    """Stores maps in groups of these sizes, which are made in any order."""
    groups, start = [], 0
    for size in pattern:
        groups.append(maps[start : start + size])
        start += size
    storage.chance.shuffle(groups)
    for group in groups:
        storage.add(group)


def apply_map(chance: random.Random, x: str, matrix: str, bias: str) -> str:
    """An expression for x @ matrix + bias."""
    plus = "" if bias == "None" else f" + {bias}"
    ways = [f"({x} @ {matrix}{plus})", f"F.linear({x}, {matrix}.T, {bias})"]
    ways.append(f"(torch.einsum('...i,io->...o', {x}, {matrix}){plus})")
    if chance.random() < 0.2:
        return f"F.conv1d({x}.transpose(1, 2), {matrix}.T[..., None], {bias}).transpose(1, 2)"
    return chance.choice(ways)


ATTENDS = {
    "at once": """
        context, weights = scaled_dot_product_attention(q, k, v, mask)
""",
    "each head": """
        masks = [None] * h if mask is None else [mask] * h if mask.dim() < 4 or mask.size(1) == 1 else mask.split(1, 1)
        heads = [scaled_dot_product_attention(q[:, [i]], k[:, [i]], v[:, [i]], masks[i]) for i in range(h)]
        context, weights = (torch.cat(found, dim=1) for found in zip(*heads))
""",
    "own": """
        scores = q @ k.mT / e**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        context = weights @ v
""",
    "own, each head": """
        contexts, heads = [], []
        for i in range(h):
            scores = torch.einsum("bqe,bke->bqk", q[:, i], k[:, i]) / e**0.5
            if mask is not None:
                own = mask if mask.dim() == 2 else mask[:, i if mask.size(1) > 1 else 0]
                scores = scores.masked_fill(~own, -1e9)
            heads.append(scores.softmax(-1))
            contexts.append(heads[-1] @ v[:, i])
        context, weights = torch.stack(contexts, dim=1), torch.stack(heads, dim=1)
""",
    "mapped": """
        allowed = torch.ones((), dtype=torch.bool) if mask is None else mask
        allowed = allowed.expand(q.size(0), h, q.size(2), k.size(2))
        one = lambda *head: [x.squeeze(1) for x in scaled_dot_product_attention(*(x.unsqueeze(1) for x in head))]
        context, weights = torch.vmap(one, in_dims=1, out_dims=1)(q, k, v, allowed)
""",
}


def attention_lines(storage: Storage, inputs: Sequence[str], prefix: str, mask: str) -> str:
    """Statements that compute `out` and `weights`."""
    chance = storage.chance
    style = chance.choice([*ATTENDS])
    lines = [f"mask = {mask}"] if mask != "mask" else []
    for role, x in zip("qkv", inputs, strict=True):
        projected = apply_map(chance, x, *storage.parts[prefix + role])
        lines.append(f"{role} = {projected}.unflatten(-1, (h, e)).transpose(1, 2)")
    text = "".join(f"        {line}\n" for line in lines) + ATTENDS[style].strip("\n") + "\n"
    return text + f"        out = {apply_map(chance, 'context.transpose(1, 2).flatten(2)', *storage.parts[prefix + 'o'])}\n"


def attention_maps(chance: random.Random, prefix: str = "") -> list[Map]:
    biases = chance.choice([[True] * 4, [False] * 4, [True, False, True, True], [False, False, False, True]])
    return [Map(prefix + role, "d", "d", has) for role, has in zip("qkvo", biases, strict=True)]


PATTERNS = [[1, 1, 1, 1], [3, 1], [3, 1], [1, 2, 1], [4], [2, 2]]


def text_of(name: str, signature: str, sizes: str, storage: Storage, methods: str, before: str = "") -> str:
    """A class with these methods, whose parameters are those of a storage."""
    init = "".join(f"        {line}\n" for line in storage.lines)
    pairs = ", ".join(f"{part!r}: ({matrix}, {bias})" for part, (matrix, bias) in storage.parts.items())
    kept = sizes.split(" = ")[0]
    methods = methods.replace("    SIZES", f"    {kept} = self.sizes")
    return (
        f"{HEAD}\nclass {name}(nn.Module):\n    def __init__(self, {signature}):\n        super().__init__()\n"
        f"{before}        {kept} = self.sizes = {sizes.split(' = ')[1]}\n{init}\n"
        f"    def parts(self):\n        {kept} = self.sizes\n        return {{{pairs}}}\n\n{methods}"
    )


def multi_headed_attention(chance: random.Random) -> str:
    storage = Storage(chance)
    grouped(storage, attention_maps(chance), chance.choice(PATTERNS))
    body = attention_lines(storage, ["query", "key", "value"], "", "mask")
    methods = f"    def forward(self, query, key, value, mask=None):\n        SIZES\n{body}        return out, weights\n"
    before = "        if d_model % n_heads:\n            raise ValueError('heads')\n"
    sizes = "d, h, e = d_model, n_heads, d_model // n_heads"
    imported = "from .attention import scaled_dot_product_attention\n"
    return imported + text_of("MultiHeadedAttention", "d_model, n_heads", sizes, storage, methods, before)


def heads_of_their_own(chance: random.Random) -> str:
    """A module for each head, with its own attention and maps; joined by one map, or each with a map of its own."""
    storage, head = Storage(chance), Storage(chance)
    bias = chance.choice([True, False])
    head.known = ""
    grouped(head, [Map(role, "d", "e", bias) for role in "qkv"], chance.choice([[1, 1, 1], [3], [1, 2]]))
    storage.known = ""
    storage.add([Map("o", "d", "d", chance.choice([True, False]))])
    is_own = chance.choice([True, False])
    lines = [f"{role} = {apply_map(chance, x, *head.parts[role])}" for role, x in zip("qkv", ("query", "key", "value"))]
    attend = """        scores = q @ k.mT / e**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float(torch.finfo(scores.dtype).min))
        weights = scores.softmax(-1)
        return weights @ v, weights
"""
    if not is_own:
        attend = """        mask = None if mask is None or mask.dim() == 2 else mask.unsqueeze(1) if mask is not None else mask
        context, weights = scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], mask)
        return context[:, 0], weights[:, 0]
""".replace("None if mask is None or mask.dim() == 2 else mask.unsqueeze(1) if mask is not None else mask",
            "mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)")
    forward = "".join(f"        {line}\n" for line in lines) + attend
    methods = f"    def forward(self, query, key, value, mask):\n        SIZES\n{forward}"
    text = text_of("Head", "d_model, d_head", "d, e = d_model, d_head", head, methods)
    body = """    def forward(self, query, key, value, mask=None):
        SIZES
        found = []
        for i, head in enumerate(self.heads):
            own = mask if mask is None or mask.dim() == 2 else mask[:, i if mask.size(1) > 1 else 0]
            found.append(head(query, key, value, own))
        contexts, weights = zip(*found)
"""
    body += f"        out = {apply_map(chance, 'torch.cat(contexts, dim=-1)', *storage.parts['o'])}\n"
    body += "        return out, torch.stack(weights, dim=1)\n"
    before = "        if d_model % n_heads:\n            raise ValueError('heads')\n"
    before += "        self.heads = nn.ModuleList(Head(d_model, d_model // n_heads) for _ in range(n_heads))\n"
    pairs = """
    def parts(self):
        heads, out = [head.parts() for head in self.heads], self.own_parts()
        join = lambda role, which, dim: torch.cat([head[role][which] for head in heads], dim=dim)
        has_bias = heads[0]["q"][1] is not None
        return {role: (join(role, 0, 1), join(role, 1, 0) if has_bias else None) for role in "qkv"} | out
"""
    sizes = "d, h, e = d_model, n_heads, d_model // n_heads"
    whole = text_of("MultiHeadedAttention", "d_model, n_heads", sizes, storage, body, before)
    whole = whole.replace("def parts(self)", "def own_parts(self)").replace(HEAD, "\n")
    return "from .attention import scaled_dot_product_attention\n" + text + whole + pairs


def feed_forward(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.known = ""
    grouped(storage, [Map("first", "d", "f"), Map("second", "f", "d")], chance.choice([[1, 1], [1, 1], [2]]))
    inner = apply_map(chance, "x", *storage.parts["first"])
    outer = apply_map(chance, "hidden", *storage.parts["second"])
    methods = f"    def forward(self, x):\n        SIZES\n        hidden = {inner}.relu()\n        return {outer}\n"
    return text_of("FeedForward", "d_model, d_ff", "d, f = d_model, d_ff", storage, methods)


def norm_pair(storage: Storage, number: str = "") -> tuple[str, str]:
    """Expressions of a gain and a shift, (d,), 1 and 0 at first."""
    style = storage.chance.choice(["vectors", "rows", "columns", "flat", "list", "side by side", "scalars", "halves"])
    one, zero = "torch.ones(d)", "torch.zeros(d)"
    from_zero = storage.chance.random() < 0.3
    first, plus = (zero, "1 + ") if from_zero else (one, "")
    if style == "vectors":
        shape = storage.chance.choice(["d", "1, 1, d"])
        names = [storage.made(f"nn.Parameter({x}.view({shape}))") for x in (first, zero)[:: storage.chance.choice([1, -1])]]
        names = names if storage.lines[-1].count("zeros") and not storage.lines[-2].count("zeros") or from_zero else names[::-1]
        gain, shift = (f"{name}.flatten()" for name in names)
    elif style in ("rows", "columns"):
        axis = int(style == "columns")
        held = storage.made(f"nn.Parameter(torch.stack([{first}, {zero}], dim={axis}))")
        gain, shift = f"{held}.unbind({axis})[0]", f"{held}.unbind({axis})[1]"
    elif style == "flat":
        held = storage.made(f"nn.Parameter(torch.cat([{zero}, {first}]))")
        gain, shift = f"{held}[d:]", f"{held}[:d]"
    elif style == "list":
        held = storage.made(f"nn.ParameterList([{first}, {zero}])")
        gain, shift = f"{held}[0]", f"{held}[1]"
    elif style == "side by side":
        held = storage.made(f"nn.Parameter(torch.stack([{first}, {zero}], dim=1).flatten())")
        gain, shift = f"{held}[::2]", f"{held}[1::2]"
    elif style == "scalars":
        held = storage.made(f"nn.ParameterList([*{first}.unbind(), *{zero}.unbind()])")
        gain, shift = f"torch.stack([*{held}][:d])", f"torch.stack([*{held}][d:])"
    else:
        held = storage.made(f"nn.ParameterList([{first}[: d // 2], {zero}[: d // 2], {first}[d // 2 :], {zero}[d // 2 :]])")
        gain, shift = f"torch.cat([{held}[0], {held}[2]])", f"torch.cat([{held}[1], {held}[3]])"
    return f"({plus}{gain})", shift


def normalise(x: str, gain: str, shift: str, epsilon: str = "1e-6") -> str:
    return f"({x} - {x}.mean(-1, keepdim=True)) / ({x}.var(-1, keepdim=True, unbiased=False) + {epsilon}).sqrt() * {gain} + {shift}"


def layer_norm(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.parts["norm"] = gain, shift = norm_pair(storage)
    methods = f"    def forward(self, x):\n        SIZES\n        return {normalise('x', gain, shift, 'epsilon')}\n"
    return text_of("LayerNorm", "d_model, epsilon=1e-6", "d, epsilon = d_model, epsilon", storage, methods)


def input_embedding(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.known = ""
    one = Map("table", "V", "d", has_bias=False)
    ways = [storage.linear, storage.convolution, storage.matrix, storage.transposed, storage.in_halves, storage.flat]
    ways += [storage.stacked_features, storage.by_columns]
    [storage.parts["table"]] = chance.choice(ways)([one])
    table = storage.parts["table"][0]
    looked_up = chance.choice([f"F.embedding(tokens, {table})", f"({table})[tokens]"])
    methods = f"    def forward(self, tokens):\n        SIZES\n        return {looked_up} * d**0.5\n"
    return text_of("InputEmbedding", "vocab_size, d_model", "V, d = vocab_size, d_model", storage, methods)


def _stacked_features(self: Storage, maps):
    held = self.new("d", "1", "V")
    return [(f"{held}[:, 0].T", "None")]


def _by_columns(self: Storage, maps):
    held = self.made("nn.ParameterList(torch.randn(V) for _ in range(d))")
    return [(f"torch.stack([*{held}], dim=1)", "None")]


Storage.stacked_features, Storage.by_columns = _stacked_features, _by_columns


def transformer(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.known = ""
    storage.add([Map("projection", "d", "V", chance.choice([True, True, False]))])
    methods = f"""    def encode(self, src, encoder_mask):
        return self.encoder(self.src_positions(self.src_embedding(src)), encoder_mask)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.decoder(self.tgt_positions(self.tgt_embedding(tgt)), memory, src_mask, tgt_mask)

    def get_predictions(self, output):
        SIZES
        return {apply_map(chance, "output", *storage.parts["projection"])}.log_softmax(-1)
"""
    before = """        self.src_embedding = InputEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = InputEmbedding(tgt_vocab_size, d_model)
        self.src_positions = PositionalEncoding(d_model, dropout)
        self.tgt_positions = PositionalEncoding(d_model, dropout)
        self.encoder = Encoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.decoder = Decoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)
"""
    signature = "src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False"
    return text_of("Transformer", signature, "d, V = d_model, tgt_vocab_size", storage, methods, before)


def layer(chance: random.Random, is_decoder: bool) -> str:
    """A layer that holds some of its parts itself, in one storage."""
    storage = Storage(chance)
    names = ["self", "cross"][: 1 + is_decoder]
    own = [name for name in names if chance.random() < 0.6]
    has_network, own_norms = chance.random() < 0.5, chance.random() < 0.4
    if not (own or has_network or own_norms):
        own = names[:1]
    maps = [one for name in own for one in attention_maps(chance, name + "_")]
    if chance.random() < 0.8:
        for start in range(0, len(maps), 4):
            grouped(storage, maps[start : start + 4], chance.choice(PATTERNS))
    elif maps:
        storage.add(maps)
    storage.known = ""
    if has_network:
        pattern = chance.choice([[1, 1], [2]])
        grouped(storage, [Map("first", "d", "f"), Map("second", "f", "d")], pattern)
    before = "        self.dropout, self.norm_first = nn.Dropout(dropout), norm_first\n"
    methods, steps = "", []
    for number, name in enumerate([*names, "network"]):
        if own_norms:
            storage.parts[f"norm{number}"] = norm_pair(storage)
            value = normalise("x", *storage.parts[f"norm{number}"])
            methods += f"    def norm{number}(self, x):\n        SIZES\n        return {value}\n\n"
        else:
            before += f"        self.norm{number} = LayerNorm(d_model)\n"
        if name == "network" and has_network:
            inner = apply_map(chance, "x", *storage.parts["first"])
            outer = apply_map(chance, "hidden", *storage.parts["second"])
            methods += f"    def network(self, x):\n        SIZES\n        hidden = {inner}.relu()\n        return {outer}\n\n"
        elif name == "network":
            before += "        self.network = FeedForward(d_model, d_ff)\n"
        elif name in own:
            body = attention_lines(storage, ["query", "key", "value"], name + "_", "mask")
            methods += f"    def {name}_attention(self, query, key, value, mask):\n        SIZES\n{body}"
            methods += "        return out, weights\n\n"
        else:
            before += f"        self.{name}_attention = MultiHeadedAttention(d_model, n_heads)\n"
    arguments = "x, memory, src_mask, tgt_mask" if is_decoder else "x, mask"
    calls = [("self", "y", "tgt_mask" if is_decoder else "mask"), ("cross", "memory", "src_mask")][: 1 + is_decoder]
    for number, (name, source, mask) in enumerate(calls):
        steps.append(f"y = self.norm{number}(x) if self.norm_first else x")
        steps.append(f"out, {name}_weights = self.{name}_attention(y, {source}, {source}, {mask})")
        steps.append("x = x + self.dropout(out)")
        steps.append(f"x = x if self.norm_first else self.norm{number}(x)")
    last = len(calls)
    steps.append(f"x = x + self.dropout(self.network(self.norm{last}(x) if self.norm_first else x))")
    steps.append(f"x = x if self.norm_first else self.norm{last}(x)")
    methods += f"    def forward(self, {arguments}):\n" + "".join(f"        {step}\n" for step in steps)
    methods += f"        return x, {', '.join(f'{name}_weights' for name in names)}\n"
    kind = "DecoderLayer" if is_decoder else "EncoderLayer"
    imported = "from .attention import MultiHeadedAttention, scaled_dot_product_attention\n"
    sizes = "d, h, e, f = d_model, n_heads, d_model // n_heads, d_ff"
    signature = "d_model, n_heads, d_ff, dropout=0.1, norm_first=False"
    return imported + text_of(kind, signature, sizes, storage, methods, before)
