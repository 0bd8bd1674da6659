"""Stand-ins for the components of the contract, so that each can be judged on its own.

A stand-in keeps the signature and the shapes of its component, depends on each of its arguments, and computes
something else: it gives nothing away, and a mistake in what is passed to it shows in its result. Its parameters
are few and have shapes that nothing else has, by which the tests recognise them. The functions above the classes
compute the same from explicit parameters. Attributes that the skeleton's given code sets are there too.

They accept further arguments and ignore them: a submission may pass a dropout rate to its own attention.

At the end of the file: stand-ins for a model, an optimizer and so on in the tests of training and decoding.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import torch
from torch import Tensor, nn


def spread(*shape: int) -> nn.Parameter:
    """A parameter of distinct values between -1 and 1, the same in each instance; tests overwrite it."""
    count = torch.Size(shape).numel()
    return nn.Parameter(torch.cos(torch.arange(count, dtype=torch.float64) * 1.7).view(shape).float())


def allowed(mask: Tensor | None, scores: Tensor) -> Tensor:
    """The mask as factors 0 and 1, of the shape of the scores (b, h, q, k)."""
    if mask is None:
        return torch.ones_like(scores)
    try:
        return mask.to(scores.dtype).expand_as(scores)
    except RuntimeError:
        sizes = f"{tuple(mask.shape)} cannot be broadcast to the scores' (b, h, q, k) = {tuple(scores.shape)}"
        raise RuntimeError(f"a mask of shape {sizes}") from None


def look_up(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """In place of attention, (b, h, positions, d_k): weights are sigmoids, divided by their sum.

    Like true weights they lie between 0 and 1, sum to 1 and are 0 where the mask forbids: a submission may check.
    """
    scores = query @ key.transpose(-2, -1)
    weights = torch.sigmoid(scores) * allowed(mask, scores)
    total = weights.sum(dim=-1, keepdim=True)
    weights = weights / (total + (total == 0))  # 0 where nothing is allowed; else exact, however small the total is
    return weights @ value, weights


def mixed_look_up(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, mix: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """In place of multi-head attention, (b, positions, d), with mix (4, d, d): each head scales the query."""
    scale = torch.arange(1, n_heads + 1, dtype=query.dtype, device=query.device)[:, None, None]
    queries = torch.sin(query @ mix[0]).unsqueeze(1) * scale
    context, weights = look_up(queries, torch.sin(key @ mix[1]).unsqueeze(1), (value @ mix[2]).unsqueeze(1), mask)
    return torch.sin(context.sum(dim=1) @ mix[3]), weights


def squash(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """In place of LayerNorm."""
    return torch.tanh(x) * gain + shift


def wave(x: Tensor, mix: Tensor, d_ff: int) -> Tensor:
    """In place of the feed-forward network, with mix (2, d, d)."""
    return torch.sin(x @ mix[0]) @ mix[1] + d_ff / 1000


def trace(*settings: float) -> float:
    """One small number that depends on each setting: it shows in the output whether all were passed on."""
    return sum(float(setting) * 0.01 * (index + 1) for index, setting in enumerate(settings))


def encoder_layer(x: Tensor, mask: Tensor | None, mix: Tensor, n_heads: int, extra: float) -> tuple[Tensor, Tensor]:
    """In place of an encoder layer, with mix (5, d, d)."""
    context, weights = mixed_look_up(x, x, x, mask, mix[:4], n_heads)
    return torch.sin(x @ mix[4]) + context + extra, weights


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    src_mask: Tensor | None,
    tgt_mask: Tensor | None,
    mix: Tensor,
    n_heads: int,
    extra: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """In place of a decoder layer, with mix (9, d, d)."""
    context, self_weights = mixed_look_up(x, x, x, tgt_mask, mix[:4], n_heads)
    x = torch.sin(x @ mix[8]) + context
    context, cross_weights = mixed_look_up(x, memory, torch.sin(memory), src_mask, mix[4:8], n_heads)
    return x + context + extra, self_weights, cross_weights


def place(x: Tensor) -> Tensor:
    """In place of the positional encoding."""
    ramp = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None]
    return x + 0.3 * torch.sin(ramp + 1)


def name_tokens(tokens: Tensor, table: Tensor) -> Tensor:
    """In place of the input embedding, with table (vocab_size, d)."""
    return torch.sin(table)[tokens]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *extra: object, **more: object
) -> tuple[Tensor, Tensor]:
    """Stand-in; see `look_up`."""
    return look_up(query, key, value, mask)


class LayerNorm(nn.Module):
    """Stand-in; see `squash`. Gain and shift are one parameter, which cannot be confused with any other."""

    def __init__(self, d_model: int, epsilon: float = 1e-6, *extra: object, **more: object) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.mix = spread(2, 1, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., d)."""
        return squash(x, *self.mix.unbind())


class FeedForward(nn.Module):
    """Stand-in; see `wave`."""

    def __init__(self, d_model: int, d_ff: int, *extra: object, **more: object) -> None:
        super().__init__()
        self.d_ff = d_ff
        self.mix = spread(2, d_model, d_model)

    def forward(self, x: Tensor, *extra: object, **more: object) -> Tensor:
        """(b, s, d) -> (b, s, d)."""
        return wave(x, self.mix, self.d_ff)


class MultiHeadedAttention(nn.Module):
    """Stand-in; see `mixed_look_up`."""

    def __init__(self, d_model: int, n_heads: int, *extra: object, **more: object) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.mix = spread(4, d_model, d_model)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *extra: object, **more: object
    ) -> tuple[Tensor, Tensor]:
        """Output (b, q, d) and weights (b, h, q, k)."""
        return mixed_look_up(query, key, value, mask, self.mix, self.n_heads)


class EncoderLayer(nn.Module):
    """Stand-in; see `encoder_layer`."""

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
        self.n_heads, self.norm_first, self.extra = n_heads, norm_first, trace(d_ff, dropout, norm_first)
        self.mix = spread(5, d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None, *extra: object, **more: object) -> tuple[Tensor, Tensor]:
        """The output (b, s, d) and weights (b, h, s, s)."""
        return encoder_layer(x, mask, self.mix, self.n_heads, self.extra)


class DecoderLayer(nn.Module):
    """Stand-in; see `decoder_layer`."""

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
        self.n_heads, self.norm_first, self.extra = n_heads, norm_first, trace(d_ff, dropout, norm_first)
        self.mix = spread(9, d_model, d_model)

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
        return decoder_layer(x, memory, src_mask, tgt_mask, self.mix, self.n_heads, self.extra)


class Encoder(nn.Module):
    """Stand-in; one `encoder_layer`, whose weights are returned once per layer."""

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
        super().__init__()
        self.n_heads, self.n_layers, self.norm_first = n_heads, n_layers, norm_first
        self.extra = trace(d_ff, dropout, norm_first, n_layers)
        self.mix = spread(5, d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None, *extra: object, **more: object) -> tuple[Tensor, list[Tensor]]:
        """The output (b, s, d), and the weights for each layer."""
        x, weights = encoder_layer(x, mask, self.mix, self.n_heads, self.extra)
        return x, [weights] * self.n_layers


class Decoder(nn.Module):
    """Stand-in; one `decoder_layer`, whose weights are returned once per layer."""

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
        super().__init__()
        self.n_heads, self.n_layers, self.norm_first = n_heads, n_layers, norm_first
        self.extra = trace(d_ff, dropout, norm_first, n_layers)
        self.mix = spread(9, d_model, d_model)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None,
        *extra: object,
        **more: object,
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The output (b, t, d), and both kinds of weights for each layer."""
        x, self_weights, cross_weights = decoder_layer(
            x, memory, src_mask, tgt_mask, self.mix, self.n_heads, self.extra
        )
        return x, [self_weights] * self.n_layers, [cross_weights] * self.n_layers


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
        self.d_model = d_model
        self.register_parameter("table", Table(torch.randn(vocab_size, d_model)))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__") or "table" not in self._parameters:
                raise
            return self._parameters["table"]

    def forward(self, tokens: Tensor) -> Tensor:
        """(b, s) -> (b, s, d)."""
        return name_tokens(tokens, self.table)


class PositionalEncoding(nn.Module):
    """Stand-in; see `place`."""

    def __init__(
        self, d_model: int, dropout: float = 0.1, max_length: int = 512, *extra: object, **more: object
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("code", place(torch.zeros(1, max_length, d_model))[0], persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(b, s, d) -> (b, s, d)."""
        if x.size(-1) != self.d_model:
            raise ValueError(f"PositionalEncoding was made with d_model = {self.d_model}; x has {x.size(-1)} features")
        dropped: Tensor = self.dropout(place(x))
        return dropped


def padding_mask(tokens: Tensor, pad_id: int) -> Tensor:
    """As given in the assignment."""
    return (tokens != pad_id)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """As given in the assignment."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


# For the tests of training and decoding: arguments for the submission.


class Batch:
    """What `train_epoch` reads of a batch, or some of it."""

    def __init__(self, **tensors: Tensor) -> None:
        vars(self).update(tensors)

    def to(self, device: torch.device | str) -> "Batch":
        """As the batch of the assignment."""
        return Batch(**{name: tensor.to(device) for name, tensor in vars(self).items()})


def one_shot(batches: Iterable[Batch]) -> Iterator[Batch]:
    """An iterator over batches: it can be read only once, and has no length."""
    return iter(batches)


class TinyTranslator(nn.Module):
    """In place of a Transformer, with few parameters; what it computes depends on every argument and on the mode."""

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.src_table, self.tgt_table = spread(src_vocab_size, d_model), spread(tgt_vocab_size, d_model)
        self.projection = spread(d_model, tgt_vocab_size)
        self.double()

    def mode(self) -> float:
        """A factor that differs between train and eval mode."""
        return 1.0 if self.training else 0.5

    def encode(self, src: Tensor, encoder_mask: Tensor) -> tuple[Tensor, list[Tensor]]:
        """(b, s) -> (b, s, d), and no weights."""
        vectors = torch.sin(self.src_table[src]) * self.mode()
        seen = encoder_mask.to(vectors.dtype).mean(dim=(1, 2)).unsqueeze(-1)  # (b, s, 1)
        return vectors * seen, []

    def decode(
        self, tgt: Tensor, memory: Tensor, src_mask: Tensor, tgt_mask: Tensor
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """(b, t) -> (b, t, d), and no weights."""
        read = (memory * src_mask.to(memory.dtype)[:, 0, 0, :, None]).mean(dim=1, keepdim=True)
        so_far = tgt_mask.to(memory.dtype).expand(tgt.size(0), 1, tgt.size(1), tgt.size(1))[:, 0]
        return torch.tanh(so_far @ torch.sin(self.tgt_table[tgt]) + 2 * read), [], []

    def get_predictions(self, output: Tensor) -> Tensor:
        """(b, t, d) -> log-probabilities (b, t, vocabulary)."""
        return (output @ self.projection).log_softmax(dim=-1)

    def forward(self, *arguments: object) -> NoReturn:
        """Not part of the contract."""
        raise NotImplementedError("call encode, decode and get_predictions, not the model itself")


class OldGradients:
    """Leaves gradients behind in a model, as an earlier use of it would."""

    def __init__(self, model: nn.Module) -> None:
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)


def sgd(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """Plain gradient descent: a step shows the gradient itself."""
    return torch.optim.SGD(model.parameters(), lr=rate)


def adam(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """The optimizer of the short training run."""
    return torch.optim.Adam(model.parameters(), lr=rate)


def halving(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
    """A schedule that halves the learning rate at each step."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)


def cross_entropy(pad_id: int, smoothing: float) -> nn.CrossEntropyLoss:
    """The criterion of the assignment."""
    return nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)


class Oracle(nn.Module):
    """In place of a trained model: the next token's log-probabilities stand in a table.

    `table` is (sentences, positions, vocabulary, vocabulary): a sentence is named by its first source token, and the
    next token depends on the position and on the token before it. In train mode, with another mask for the encoder
    than it expects, with another source mask than its sentence has, or if it could see later tokens, it always
    predicts the token `odd_one`.
    """

    table: Tensor

    def __init__(
        self, table: Tensor, odd_one: int, encoder_masks: Tensor | None = None, src_masks: Tensor | None = None
    ) -> None:
        """The masks that it expects, by sentence: (sentences, 1, s, s) or (sentences, 1, 1, s); None = any."""
        super().__init__()
        self.register_buffer("table", table)
        self.odd_one = odd_one
        self.encoder_masks, self.src_masks = encoder_masks, src_masks
        self.anchor = nn.Parameter(torch.zeros(1))  # a model has parameters, and a device

    def encode(self, src: Tensor, encoder_mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """The number of the sentence at each position, (b, s, 1); -1 with another mask than expected."""
        sentence = src[:, 0]
        if self.encoder_masks is not None:
            wanted = self.encoder_masks[sentence]
            same = encoder_mask is not None and (encoder_mask.expand_as(wanted) == wanted).flatten(1).all(dim=1)
            sentence = torch.where(torch.as_tensor(same), sentence, -1)
        return sentence[:, None, None].expand(-1, src.size(1), 1).to(self.table.dtype), []

    def decode(
        self, tgt: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The negative log-probabilities (b, t, vocabulary) from the table."""
        sentence = memory[:, 0, 0].long()
        wrong = (sentence < 0) | torch.tensor(self.training)
        sentence = sentence.clamp(min=0)
        if self.src_masks is not None:
            wanted = self.src_masks[sentence]
            same = src_mask is not None and (src_mask.expand_as(wanted) == wanted).flatten(1).all(dim=1)
            wrong = wrong | ~torch.as_tensor(same)
        length = tgt.size(1)
        if tgt_mask is None:
            tgt_mask = torch.ones(length, length, dtype=torch.bool)
        may_see = tgt_mask.expand(tgt.size(0), 1, length, length)
        wrong = wrong | may_see.triu(1).flatten(1).any(dim=1) | ~may_see[:, 0, -1].all(dim=1)
        position = torch.arange(length).clamp(max=self.table.size(1) - 1)
        scores = self.table[sentence[:, None], position[None, :], tgt]  # (b, t, vocabulary)
        odd = torch.zeros_like(scores)
        odd[..., self.odd_one] = 50.0
        return -torch.where(wrong[:, None, None], odd, scores), [], []

    def get_predictions(self, output: Tensor) -> Tensor:
        """(b, t, vocabulary) -> log-probabilities of the same shape."""
        return (-output).log_softmax(dim=-1)  # the sign reveals a search that takes the output itself for predictions
