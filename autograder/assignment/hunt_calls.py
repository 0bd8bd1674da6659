"""How bug hunts call a component: from lists of numbers to lists of numbers, so that an answer is data.

Every matrix is the identity (row i has its 1 in column i, counted modulo the number of columns), every bias 0, a
LayerNorm as it was made, and nothing is dropped. So most results can be computed with a pencil.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from .stand_ins.models import Batch

PAD, BOS, EOS, N_TOKENS = 0, 1, 2, 8
D, N_HEADS, N_LAYERS = 4, 2, 2


@dataclass(frozen=True)
class Call:
    """A call of a component.

    Attributes:
        takes: the arguments by name: their axes, named or with a fixed length; "bool" and "int" say what is in them,
            "?" that they may be left out.
        told: what comes back, and what else is to be known.
        run: makes the call, with a component, all arguments as tensors or None, and a number for all
            matrices, if they are not to be as above.
        example: arguments.
    """

    takes: Mapping[str, str]
    told: str
    run: Callable[..., Any]
    example: tuple[Any, ...]


def identity(rows: int, columns: int) -> Tensor:
    """What the matrices are in all hunts."""
    return (torch.arange(rows)[:, None] % columns == torch.arange(columns) % rows).float()


def settle(module: nn.Module, fill: float | None) -> nn.Module:
    """Gives a module the weights that all hunts have; with `fill`, matrices in any layout hold this number."""
    parts = (part for part in module.modules() if type(part).__name__ != "LayerNorm")
    for parameter in (parameter for part in parts for parameter in part.parameters(recurse=False)):
        if parameter.dim() < 2:
            is_bias = bool((parameter != parameter.flatten()[:1]).any())  # not a gain or a shift
            parameter.data = torch.zeros_like(parameter) if is_bias else parameter.data
        else:
            parameter.data = identity(*parameter.shape) if fill is None else torch.full_like(parameter, fill)
    return module.eval()


def module(*sizes: int, n_kept: int = 1, **options: float) -> Callable[..., Any]:
    """A call of a module that is made with these sizes; of a tuple, only the first results come back."""

    def run(component: Any, *inputs: Tensor | None, fill: float | None = None) -> Any:
        for_heads = [one[:, None] if one is not None and one.dtype is torch.bool else one for one in inputs]
        found = settle(component(*sizes, **options), fill)(*for_heads)
        return found if isinstance(found, Tensor) else found[0] if n_kept == 1 else list(found[:n_kept])

    return run


def attend(component: Any, *inputs: Tensor | None, **_: float) -> Any:
    """One head."""
    return [part[:, 0] for part in component(*(None if one is None else one[:, None] for one in inputs))]


def predict(component: Any, src: Tensor, tgt: Tensor, fill: float | None = None) -> Any:
    """Padding and later positions are masked."""
    model: Any = settle(component(N_TOKENS, N_TOKENS, D, N_HEADS, D, 1, dropout=0.0), fill)
    src_mask, tgt_mask = (src != PAD)[:, None, None], (tgt != PAD)[:, None, None]
    memory, _ = model.encode(src, src_mask)
    causal = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()
    return model.get_predictions(model.decode(tgt, memory, src_mask, tgt_mask & causal)[0])


class Toy(nn.Module):
    """Scores for the next token: from a table of the last token, all 0 at first, or such that the source is copied."""

    def __init__(self, copies: bool) -> None:
        super().__init__()
        self.copies, self.table = copies, nn.Parameter(torch.zeros(D, D))

    def encode(self, src: Tensor, mask: Tensor) -> Any:
        """Each token as a vector with a single number; the end follows."""
        tokens = torch.cat([src, torch.full_like(src, EOS)], dim=1)
        return 9.0 * nn.functional.one_hot(tokens.where(tokens != PAD, EOS), N_TOKENS), []

    def decode(self, tgt: Tensor, memory: Tensor, *masks: Tensor) -> Any:
        """The scores; a copy counts the positions that are seen."""
        if not self.copies:
            return self.table[tgt], [], []
        places = masks[-1].sum(dim=-1).clamp(1, memory.size(1)) - 1
        return memory[: len(tgt), places.flatten()], [], []

    def get_predictions(self, output: Tensor) -> Tensor:
        """Log-probabilities."""
        return output.log_softmax(dim=-1)


def train(component: Any, batches: Tensor, accumulate: Tensor, max_norm: Tensor | None, **_: float) -> Any:
    """One epoch."""
    model = Toy(copies=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    rate = optimizer.param_groups[0]

    def halve() -> None:
        rate["lr"] /= 2

    masks = dict.fromkeys(("src_mask", "encoder_mask", "tgt_mask"), torch.ones(1, 1, 1, 1, dtype=torch.bool))
    parts = [Batch(src=one, tgt_input=one[:, :-1], labels=one[:, 1:], **masks) for one in batches]
    criterion, norm = nn.CrossEntropyLoss(ignore_index=PAD), None if max_norm is None else float(max_norm)
    with torch.enable_grad():
        loss = component(parts, model, optimizer, criterion, int(accumulate), SimpleNamespace(step=halve), norm)
    return [loss, rate["lr"], model.table.detach()]


def search(component: Any, src: Tensor, max_length: Tensor, **_: float) -> Any:
    """Translates with a model that copies."""
    ids = {"bos_id": BOS, "eos_id": EOS, "pad_id": PAD}
    return component(Toy(copies=True), src, (src != PAD)[:, None, None], **ids, max_length=int(max_length))


def mask(component: Any, *inputs: Tensor, **_: float) -> Any:
    """Lengths and ids are plain numbers."""
    return component(*(one if one.dim() else int(one) for one in inputs))


LAYER = f"d_model {D}, {N_HEADS} heads, d_ff {D}"
STACK = f"{LAYER}, {N_LAYERS} layers"
ONE, TWO = [[[1, 0, 0, 0]]], [[[1, 0, 0, 0], [0, 2, 0, 0]]]
ENCODING = {"x": "float b s 4", "mask?": "bool b s s"}
DECODING = {"x": "float b t 4", "memory": "float b s 4", "src_mask?": "bool b t s", "tgt_mask?": "bool b t t"}

CALLS: Mapping[str, Call] = {
    "embedding.InputEmbedding": Call(
        {"tokens": "int b s"}, f"vectors (b, s, 3): vocab_size {N_TOKENS}, d_model 3", module(N_TOKENS, 3), ([[1, 4]],)
    ),
    "attention.scaled_dot_product_attention": Call(
        {"query": "float b q d", "key": "float b k d", "value": "float b k e", "mask?": "bool b q k"},
        "context (b, q, e) and weights (b, q, k), of one head",
        attend,
        (ONE, TWO, TWO),
    ),
    "attention.MultiHeadedAttention": Call(
        {"query": "float b q 4", "key": "float b k 4", "value": "float b k 4", "mask?": "bool b q k"},
        f"output (b, q, 4) and the weights of {N_HEADS} heads: d_model {D}",
        module(D, N_HEADS, n_kept=2),
        (ONE, TWO, TWO),
    ),
    "layers.LayerNorm": Call({"x": "float b s 4"}, "the same shape", module(D), ([[[1, 3, 1, 3]]],)),
    "layers.FeedForward": Call({"x": "float b s 4"}, "the same shape: d_ff 4", module(D, D), ([[[1, -1, 0, 2]]],)),
    "masks.padding_mask": Call({"tokens": "int b s", "pad_id": "int"}, "the mask", mask, ([[5, 0]], 0)),
    "masks.causal_mask": Call({"length": "int"}, "the mask", mask, (2,)),
    "layers.EncoderLayer": Call(ENCODING, f"x (b, s, 4): {LAYER}", module(D, N_HEADS, D, dropout=0.0), (TWO,)),
    "layers.DecoderLayer": Call(DECODING, f"x (b, t, 4): {LAYER}", module(D, N_HEADS, D, dropout=0.0), (ONE, TWO)),
    "model.Encoder": Call(ENCODING, f"x (b, s, 4): {STACK}", module(D, N_HEADS, D, N_LAYERS, dropout=0.0), (TWO,)),
    "model.Decoder": Call(DECODING, f"x (b, t, 4): {STACK}", module(D, N_HEADS, D, N_LAYERS, dropout=0.0), (ONE, TWO)),
    "model.Transformer": Call(
        {"src": "int b s", "tgt": "int b t"},
        f"log-probabilities of the next token (b, t, {N_TOKENS}): {LAYER}, 1 layer; token {PAD} is padding; "
        f"tokens t and t + {D} have the same vector; the mistake may be in any part",
        predict,
        ([[3, 5]], [[1, 3]]),
    ),
    "train.train_epoch": Call(
        {"batches": "int n b t", "accumulate": "int", "max_grad_norm?": "float"},
        "the loss, the learning rate at the end, and the model: a table with a row for each token 0 to 3, the scores "
        "of the tokens after it, all 0 at first. SGD with the learning rate 1, which each step of the scheduler halves",
        train,
        ([[[1, 3, 2]], [[1, 2, 0]]], 1),
    ),
    "decode.greedy_decode": Call(
        {"src": "int b s", "max_length": "int"},
        f"translations, by a model that copies; the ids {PAD}, {BOS}, {EOS} are padding, beginning and end",
        search,
        ([[3, 5], [4, 0]], 4),
    ),
}
