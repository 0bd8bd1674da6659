"""Stand-ins for the components of the contract.

Each keeps the signature and the shapes of its component, depends on each of its arguments, and computes something else.
Its parameters are few and have shapes that nothing else has, by which the tests recognise them. Attributes that the
skeleton's given code sets are there too. Further arguments are accepted and ignored: a submission may pass a dropout
rate to its own attention.
"""

from typing import Any

import torch
from torch import Tensor, nn

from . import formulas
from .formulas import VECTORS, spread

ENOUGH = 350
"""Positions that every sentence of the usual corpora has room in."""

LEVELS = {
    **dict.fromkeys(
        ("scaled_dot_product_attention", "LayerNorm", "FeedForward", "InputEmbedding", "PositionalEncoding"), 0
    ),
    "MultiHeadedAttention": 1,
    **dict.fromkeys(("EncoderLayer", "DecoderLayer"), 2),
    **dict.fromkeys(("Encoder", "Decoder"), 3),
}
"""Components are built of those of lower levels, and may use those of their own; all others may use all of these."""

isolated = [""]
"""The component that is being tested, "module.Name", with stand-ins around it; "" = none."""


def isolate(component: str) -> None:
    """Make the stand-ins raise that are built of a component, until the next one is tested."""
    isolated[0] = component


def refuse_above(part: nn.Module) -> None:
    """Raise where a stand-in is built of the component that uses it: it would do that one's work."""
    name = next(kind.__name__ for kind in type(part).__mro__ if kind.__module__ == __name__)
    if LEVELS[name] > LEVELS.get(isolated[0].rpartition(".")[2], max(LEVELS.values())):
        raise RuntimeError(f"{isolated[0]} uses {name}, which is built of it")


watched: list[list[tuple[Tensor, Tensor, Tensor]]] = []
"""Lists to which each call of the stand-in for attention adds what it gets."""


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *extra: object, **more: object
) -> tuple[Tensor, Tensor]:
    """Stand-in; see `look_up`."""
    for seen in watched:
        seen.append((query, key, value))
    return formulas.look_up(query, key, value, mask)


@torch.no_grad()
def attention_inputs(module: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
    """The arguments of the attention inside a module, all heads on one axis.

    Those of its first call alone where shapes differ, nothing where it is not called.
    """
    seen: list[tuple[Tensor, Tensor, Tensor]] = []
    watched.append(seen)
    try:
        module(query, key, value, None)
    except Exception:
        return [*seen[0]] if seen else []
    finally:
        watched.remove(seen)
    if len({tuple(x.shape for x in call) for call in seen}) != 1:
        return [*seen[0]] if seen else []
    return [torch.cat(given, dim=1) for given in zip(*seen, strict=True)]


@torch.no_grad()
def inner_calls(module: nn.Module, method: str, inputs: list[Tensor | None]) -> tuple[list[list[Any]], Tensor | None]:
    """The calls of the stand-ins inside a module, and its first result.

    Of each call there are the stand-in's class, the arguments, the result, the stand-in's name in the module, and the
    settings that it was made with. After an error there are the calls until then, and None is returned.
    """
    calls: list[list[Any]] = []
    running: list[list[Any]] = []
    names = {part: name for name, part in module.named_modules()}

    def begin(part: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        handed = [x for x in (*given, *named.values()) if x is None or isinstance(x, Tensor)]
        settings = {
            name: value if isinstance(value, (bool, int, float)) else repr(value)
            for name, value in getattr(part, "made_with", {}).items()
        }
        running.append([type(part).__name__, handed, None, names[part], settings])
        calls.append(running[-1])

    def end(part: nn.Module, given: object, result: Any) -> None:
        running.pop()[2] = result[0] if isinstance(result, tuple) else result

    parts = [part for part in module.modules() if type(part).__module__ == __name__]
    hooks = [part.register_forward_pre_hook(begin, with_kwargs=True) for part in parts]
    hooks += [part.register_forward_hook(end) for part in parts]
    try:
        result = getattr(module, method)(*inputs)
    except Exception:
        return calls, None
    finally:
        for hook in hooks:
            hook.remove()
    return calls, result[0]


class LayerNorm(nn.Module):
    """Stand-in; see `squash`. Gain and shift are one parameter, which cannot be confused with any other."""

    def __init__(self, d_model: int, epsilon: float = 1e-6, *extra: object, **more: object) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.mix = spread(VECTORS["LayerNorm"], 1, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., d)."""
        return formulas.squash(x, *self.mix.unbind())


class FeedForward(nn.Module):
    """Stand-in; see `wave`."""

    def __init__(self, d_model: int, d_ff: int, *extra: object, **more: object) -> None:
        super().__init__()
        self.d_ff, self.made_with = d_ff, {"d_ff": d_ff}
        self.mix = spread(VECTORS["FeedForward"], 1, d_model)

    def forward(self, x: Tensor, *extra: object, **more: object) -> Tensor:
        """(b, s, d) -> (b, s, d)."""
        return formulas.wave(x, self.mix, self.d_ff)


class MultiHeadedAttention(nn.Module):
    """Stand-in; see `mixed_look_up`."""

    def __init__(self, d_model: int, n_heads: int, *extra: object, **more: object) -> None:
        super().__init__()
        refuse_above(self)
        self.n_heads, self.made_with = n_heads, {"n_heads": n_heads}
        self.mix = spread(VECTORS["MultiHeadedAttention"], 1, d_model)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *extra: object, **more: object
    ) -> tuple[Tensor, Tensor]:
        """Output (b, q, d) and weights (b, h, q, k)."""
        refuse_above(self)
        return formulas.mixed_look_up(query, key, value, mask, self.mix, self.n_heads)


class Layer(nn.Module):
    """The constructor of the stand-ins for both layers."""

    n_vectors: int

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm_first: bool = False,
        *extra: object,
        **more: object,
    ) -> None:
        super().__init__()
        refuse_above(self)
        self.n_heads, self.norm_first, self.extra = n_heads, norm_first, formulas.trace(d_ff, dropout, norm_first)
        self.made_with: dict[str, object] = {"n_heads": n_heads, "d_ff": d_ff, "dropout": dropout}
        self.made_with["norm_first"] = norm_first
        self.mix = spread(self.n_vectors, 1, d_model)


class EncoderLayer(Layer):
    """Stand-in; see `encoder_layer`."""

    n_vectors = VECTORS["EncoderLayer"]

    def forward(self, x: Tensor, mask: Tensor | None, *extra: object, **more: object) -> tuple[Tensor, Tensor]:
        """The output (b, s, d) and weights (b, h, s, s)."""
        refuse_above(self)
        return formulas.encoder_layer(x, mask, self.mix, self.n_heads, self.extra)


class DecoderLayer(Layer):
    """Stand-in; see `decoder_layer`."""

    n_vectors = VECTORS["DecoderLayer"]

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None,
        *extra: object,
        **more: object,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The output (b, t, d) and weights (b, h, t, t), (b, h, t, s)."""
        refuse_above(self)
        return formulas.decoder_layer(x, memory, src_mask, tgt_mask, self.mix, self.n_heads, self.extra)


class Stack(Layer):
    """An encoder or decoder, as one layer whose weights are returned once per layer."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.1,
        norm_first: bool = False,
        *extra: object,
        **more: object,
    ) -> None:
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)
        self.n_layers, self.extra = n_layers, formulas.trace(d_ff, dropout, norm_first, n_layers)
        self.made_with["n_layers"] = n_layers

    def forward(self, *inputs: Any, **named: Any) -> tuple[Any, ...]:
        """The output (b, s, d), and a list of each kind of weights."""
        x, *weights = super().forward(*inputs, **named)
        return x, *([of_layer] * self.n_layers for of_layer in weights)


class Encoder(Stack, EncoderLayer):
    """Stand-in; see `encoder_layer`."""


class Decoder(Stack, DecoderLayer):
    """Stand-in; see `decoder_layer`."""


class Table(nn.Parameter):
    """Its own `weight`. A class, because copies of a parameter lose what was set on it."""

    weight = property(lambda self: self)


class InputEmbedding(nn.Module):
    """Stand-in; see `name_tokens`.

    A model may tie its output projection to a table of the embedding, `tgt_embedding.<anything>` or
    `tgt_embedding.<anything>.weight`: every other attribute that it might look for is the table, and so is its
    `weight`.
    """

    table: Table

    def __init__(self, vocab_size: int, d_model: int, *extra: object, **more: object) -> None:
        super().__init__()
        self.d_model, self.made_with = d_model, {"vocab_size": vocab_size}
        self.register_parameter("table", Table(formulas.distinct(vocab_size, d_model).float()))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__") or "table" not in self._parameters:
                raise
            return self._parameters["table"]

    def forward(self, tokens: Tensor) -> Tensor:
        """(b, s) -> (b, s, d)."""
        if (largest := int(tokens.max())) >= (size := len(self.table)):
            raise IndexError(f"index {largest} is out of bounds for dimension 0 with size {size}")
        return formulas.name_tokens(tokens, self.table)


class PositionalEncoding(nn.Module):
    """Stand-in; see `place`."""

    def __init__(
        self, d_model: int, dropout: float = 0.1, max_length: int = 512, *extra: object, **more: object
    ) -> None:
        super().__init__()
        self.d_model, self.max_length = d_model, max_length
        self.dropout, self.made_with = nn.Dropout(dropout), {"dropout": dropout}
        self.register_buffer("code", formulas.place(torch.zeros(1, max_length, d_model))[0], persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(b, s, d) -> (b, s, d)."""
        if x.size(-1) != self.d_model:
            raise ValueError(f"PositionalEncoding was made with d_model = {self.d_model}; x has {x.size(-1)} features")
        if x.size(1) > self.max_length < ENOUGH:  # a submission may set a bound, but not too small a one
            raise ValueError(f"a sequence of {x.size(1)} positions, but max_length is {self.max_length}")
        dropped: Tensor = self.dropout(formulas.place(x))
        return dropped


def padding_mask(tokens: Tensor, pad_id: int) -> Tensor:
    """(b, s) -> (b, 1, 1, s), where nothing is forbidden."""
    return torch.ones(tokens.size(0), 1, 1, tokens.size(1), dtype=torch.bool, device=tokens.device)


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """(length, length), where only the last position sees what is before it: enough for whoever writes one by one."""
    mask = torch.eye(length, dtype=torch.bool, device=device)
    mask[-1:] = True
    return mask
