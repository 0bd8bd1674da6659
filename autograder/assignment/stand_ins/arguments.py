"""What tests of training and decoding hand to the submission: a batch, small models, optimizers."""

from typing import NoReturn

import torch
from torch import Tensor, nn

from .formulas import spread


class Batch:
    """What `train_epoch` reads of a batch, or some of it."""

    def __init__(self, **tensors: Tensor) -> None:
        vars(self).update(tensors)

    def to(self, device: torch.device | str) -> "Batch":
        """As the batch of the assignment."""
        return Batch(**{name: tensor.to(device) for name, tensor in vars(self).items()})


class Part(nn.Module):
    """A part of a model, with a mode of its own."""


class TinyTranslator(nn.Module):
    """In place of a Transformer, with few parameters; what it computes depends on every argument and on the mode."""

    def __init__(
        self, src_vocab_size: int, tgt_vocab_size: int, d_model: int, dtype: torch.dtype = torch.float64
    ) -> None:
        super().__init__()
        self.src_table, self.tgt_table = spread(src_vocab_size, d_model), spread(tgt_vocab_size, d_model)
        self.projection, self.shift = spread(d_model, tgt_vocab_size), spread(tgt_vocab_size)
        self.part = Part()
        self.to(dtype)

    def mode(self) -> float:
        """A factor that differs between train and eval mode, also of its part."""
        return (1.0 if self.training else 0.5) * (1.0 if self.part.training else 0.75)

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
        return (output @ self.projection + self.shift).log_softmax(dim=-1)

    def forward(self, *arguments: object) -> NoReturn:
        """Not part of the contract."""
        raise NotImplementedError("call encode, decode and get_predictions, not the model itself")


def adam(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """The optimizer of the short training run."""
    return torch.optim.Adam(model.parameters(), lr=rate)


def cross_entropy(pad_id: int, smoothing: float) -> nn.CrossEntropyLoss:
    """The criterion of the assignment."""
    return nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)


class Oracle(nn.Module):
    """In place of a trained model: the next token's log-probabilities stand in a table.

    `table` is (sentences, positions, vocabulary, vocabulary): a sentence is named by its first source token, and the
    next token depends on the position and on the token before it. In train mode, with another mask for the encoder
    than it expects, with another source mask than its sentence has, or if it could see later tokens, it always
    predicts the token `odd_one`. So it does while its part is in train mode.
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
        self.part = Part()

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
        wrong = (sentence < 0) | torch.tensor(self.training or self.part.training)
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
