"""Right components, drawn at random, whose parameters are laid out in unusual ways, as the text of a class."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.intake.sources import Sources
from validity.variants import splice

from .storages import Map, Storage

IMPORTS = """from .attention import scaled_dot_product_attention
import torch
import torch.nn.functional as F
from torch import nn


"""
PATTERNS = [1, 1, 1, 1], [3, 1], [3, 1], [1, 2, 1], [4], [2, 2]
BIASES = [True] * 4, [False] * 4, [True, False, True, True], [False, False, False, True]
SIGNATURE_OF_LAYERS = "d_model, n_heads, d_ff, dropout=0.1, norm_first=False"
CHECK = ["if d_model % n_heads:", "    raise ValueError('heads')"]

ATTENDS = (
    """
        context, weights = scaled_dot_product_attention(q, k, v, mask)
""",
    """
        masks = [mask] * h if mask is None or mask.dim() == 2 or mask.size(1) == 1 else mask.split(1, dim=1)
        heads = [scaled_dot_product_attention(q[:, [i]], k[:, [i]], v[:, [i]], masks[i]) for i in range(h)]
        context, weights = (torch.cat(found, dim=1) for found in zip(*heads))
""",
    """
        scores = q @ k.mT / e**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        context = weights @ v
""",
    """
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
)
"""From q, k and v, (b, h, positions, e), to context and weights: by the component for attention, or written out."""


def class_text(
    name: str, signature: str, sizes: dict[str, str], storage: Storage, methods: str, first: Sequence[str] = ()
) -> str:
    """A class whose constructor runs the first lines, then makes the storage; its methods know the sizes."""
    known = f"{', '.join(sizes)} = self.sizes"
    lines = ["super().__init__()", *first, f"{known} = {', '.join(sizes.values())}", *storage.lines]
    constructor = "".join(f"        {line}\n" for line in lines)
    text = f"class {name}(nn.Module):\n    def __init__(self, {signature}):\n{constructor}\n{methods}"
    return text.replace("SIZES", known)


def applied(storage: Storage, name: str, x: str) -> str:
    """An expression for a map of x (b, positions, in)."""
    matrix, bias = storage.parts[name]
    plus = f" + {bias}" * (bias != "None")
    ways = f"({x} @ {matrix}{plus})", f"F.linear({x}, {matrix}.T, {bias})"
    return storage.chance.choice([*ways, f"(torch.einsum('...i,io->...o', {x}, {matrix}){plus})"])


def attention_maps(chance: random.Random, prefix: str = "") -> list[Map]:
    """Query, key, value and output, with all biases, with none or with some."""
    biases = chance.choice(BIASES)
    return [Map(prefix + role, "d", "d", has, True) for role, has in zip("qkvo", biases, strict=True)]


def attention_method(storage: Storage, head: str, prefix: str = "") -> str:
    """A method that projects, attends and projects again."""
    text = f"    def {head}:\n        SIZES\n"
    for role, x in zip("qkv", ("query", "key", "value"), strict=True):
        text += f"        {role} = {applied(storage, prefix + role, x)}.unflatten(-1, (h, e)).transpose(1, 2)\n"
    text += storage.chance.choice(ATTENDS)[1:] + "        joined = context.transpose(1, 2).flatten(2)\n"
    return text + f"        return {applied(storage, prefix + 'o', 'joined')}, weights\n\n"


def network_method(storage: Storage, name: str) -> str:
    """A method that is a feed-forward network."""
    hidden, out = applied(storage, "first", "x"), applied(storage, "second", "hidden")
    return f"    def {name}(self, x):\n        SIZES\n        hidden = {hidden}.relu()\n        return {out}\n\n"


def norm_method(storage: Storage, name: str, part: str, epsilon: str) -> str:
    """A method that is a LayerNorm."""
    gain, shift = storage.parts[part]
    body = "spread, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)\n        return (x - mean) / (spread"
    return f"    def {name}(self, x):\n        SIZES\n        {body} + {epsilon}).sqrt() * {gain} + {shift}\n\n"


def multi_headed_attention(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add(attention_maps(chance), chance.choice(PATTERNS))
    methods = attention_method(storage, "forward(self, query, key, value, mask=None)")
    sizes = {"d": "d_model", "h": "n_heads", "e": "d_model // n_heads"}
    return IMPORTS + class_text("MultiHeadedAttention", "d_model, n_heads", sizes, storage, methods, CHECK)


def feed_forward(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add([Map("first", "d", "f"), Map("second", "f", "d")], chance.choice([[1, 1], [1, 1], [2]]))
    sizes = {"d": "d_model", "f": "d_ff"}
    return IMPORTS + class_text("FeedForward", "d_model, d_ff", sizes, storage, network_method(storage, "forward"))


def layer_norm(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add_norm("norm")
    methods = norm_method(storage, "forward", "norm", "epsilon")
    sizes = {"d": "d_model", "epsilon": "epsilon"}
    return IMPORTS + class_text("LayerNorm", "d_model, epsilon=1e-6", sizes, storage, methods)


def input_embedding(chance: random.Random) -> str:
    storage = Storage(chance)
    storage.add([Map("table", "V", "d", has_bias=False)])
    table = storage.parts["table"][0]
    found = chance.choice([f"F.embedding(tokens, {table})", f"({table})[tokens]"])
    methods = f"    def forward(self, tokens):\n        SIZES\n        return {found} * d**0.5\n"
    sizes = {"V": "vocab_size", "d": "d_model"}
    return IMPORTS + class_text("InputEmbedding", "vocab_size, d_model", sizes, storage, methods)


def transformer(chance: random.Random) -> str:
    """The output projection is its own; all else are components."""
    storage = Storage(chance)
    storage.add([Map("projection", "d", "V", chance.choice([True, True, False]))])
    predicted = applied(storage, "projection", "output")
    methods = f"""    def encode(self, src, encoder_mask):
        return self.encoder(self.positions(self.src_embedding(src)), encoder_mask)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.decoder(self.positions(self.tgt_embedding(tgt)), memory, src_mask, tgt_mask)

    def get_predictions(self, output):
        SIZES
        return {predicted}.log_softmax(-1)
"""
    first = [
        "self.src_embedding = InputEmbedding(src_vocab_size, d_model)",
        "self.tgt_embedding = InputEmbedding(tgt_vocab_size, d_model)",
        "self.positions = PositionalEncoding(d_model, dropout)",
        "self.encoder = Encoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)",
        "self.decoder = Decoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)",
    ]
    signature = "src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False"
    sizes = {"d": "d_model", "V": "tgt_vocab_size"}
    return IMPORTS + class_text("Transformer", signature, sizes, storage, methods, first)


def encoder(chance: random.Random) -> str:
    """A stack whose last LayerNorm, in pre-norm, is its own."""
    storage = Storage(chance)
    storage.add_norm("norm")
    storage.lines = ["if norm_first:", *(f"    {line}" for line in storage.lines)]
    methods = norm_method(storage, "norm", "norm", "1e-6")
    methods += """    def forward(self, x, mask):
        found = []
        for layer in self.layers:
            x, weights = layer(x, mask)
            found.append(weights)
        return self.norm(x) if self.norm_first else x, found
"""
    made = "EncoderLayer(d_model, n_heads, d_ff, dropout, norm_first)"
    lists = [f"nn.ModuleList({made} for _ in range(n_layers))", f"nn.Sequential(*({made} for _ in range(n_layers)))"]
    first = ["self.norm_first = norm_first", f"self.layers = {chance.choice(lists)}"]
    signature = SIGNATURE_OF_LAYERS.replace("d_ff", "d_ff, n_layers")
    return IMPORTS + class_text("Encoder", signature, {"d": "d_model", "h": "n_heads"}, storage, methods, first)


def layer(chance: random.Random, kind: str) -> str:
    """A layer that holds one or more of its parts itself."""
    storage = Storage(chance)
    names = ["self", "cross"][: 1 + (kind == "DecoderLayer")]
    own = [name for name in (*names, "network", "norm") if chance.random() < 0.5] or names[:1]
    for name in names:
        if name in own:
            storage.add(attention_maps(chance, f"{name}_"), chance.choice(PATTERNS))
    if "network" in own:
        storage.add([Map("first", "d", "f"), Map("second", "f", "d")], chance.choice([[1, 1], [2]]))
    first, methods = ["self.dropout, self.norm_first = nn.Dropout(dropout), norm_first"], ""
    for number, name in enumerate([*names, "network"]):
        if "norm" in own:
            storage.add_norm(f"norm{number}")
            methods += norm_method(storage, f"norm{number}", f"norm{number}", "1e-6")
        else:
            first.append(f"self.norm{number} = LayerNorm(d_model)")
        if name == "network":
            methods += network_method(storage, name) if name in own else ""
            first += ["self.network = FeedForward(d_model, d_ff)"] * (name not in own)
        elif name in own:
            methods += attention_method(storage, f"{name}(self, query, key, value, mask)", f"{name}_")
        else:
            first.append(f"self.{name} = MultiHeadedAttention(d_model, n_heads)")
    sublayers = [("self", "y, y, y, tgt_mask"), ("cross", "y, memory, memory, src_mask")][: len(names)]
    arguments = "x, memory, src_mask, tgt_mask" if len(names) > 1 else "x, tgt_mask"
    methods += f"    def forward(self, {arguments}):\n        found = []\n"
    for number, (name, given) in enumerate([*sublayers, ("network", "y")]):
        methods += f"        y = self.norm{number}(x) if self.norm_first else x\n        out = self.{name}({given})\n"
        if name != "network":
            methods += "        found.append(out[1])\n        out = out[0]\n"
        methods += "        x = x + self.dropout(out)\n"
        methods += f"        x = x if self.norm_first else self.norm{number}(x)\n"
    methods += "        return x, *found\n"
    methods = methods if len(names) > 1 else methods.replace("tgt_mask", "mask")
    sizes = {"d": "d_model", "h": "n_heads", "e": "d_model // n_heads", "f": "d_ff"}
    return IMPORTS + class_text(kind, SIGNATURE_OF_LAYERS, sizes, storage, methods, first)


KINDS: dict[str, Callable[[random.Random], str]] = {
    "embedding.InputEmbedding": input_embedding,
    "attention.MultiHeadedAttention": multi_headed_attention,
    "layers.LayerNorm": layer_norm,
    "layers.FeedForward": feed_forward,
    "layers.EncoderLayer": lambda chance: layer(chance, "EncoderLayer"),
    "layers.DecoderLayer": lambda chance: layer(chance, "DecoderLayer"),
    "model.Encoder": encoder,
    "model.Transformer": transformer,
}
"""For each component with parameters the function that draws a layout."""


@dataclass(frozen=True)
class Layout:
    """A drawn component in the reference's place."""

    name: str
    component: str
    text: str
    sources: Sources


def drawn(reference: Sources, component: str, number: int, change: Callable[[str], str] = str) -> Layout:
    """A layout, whose text may be changed."""
    module, name = component.partition(".")[0], f"{component}, {number}"
    text = change(KINDS[component](random.Random(name)))
    path, whole = reference[module]
    return Layout(name, component, text, {**reference, module: (f"{path} {name}", splice(whole, text, Path(name))[0])})
