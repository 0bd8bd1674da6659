"""Whole models: small ones that tests of training and decoding hand to a submission, and what is run with them."""

import contextlib
import copy
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from .formulas import spread
from .watching import Recorder


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
        return (0.4 * (output @ self.projection + self.shift)).log_softmax(dim=-1)

    def forward(self, *arguments: object) -> NoReturn:
        """Not part of the contract."""
        raise NotImplementedError("call encode, decode and get_predictions, not the model itself")


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


def call_each(function: Callable[..., Any], calls: Sequence[Sequence[Any]]) -> list[Any]:
    """What a function returns for each of some lists of arguments."""
    return [function(*arguments) for arguments in calls]


def call_after(function: Callable[..., Any], earlier: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """What a function returns for some arguments, once the mask that it returned for earlier ones was written over."""
    function(*earlier).zero_()
    return function(*arguments)


def call_copy(module: nn.Module, *inputs: Any) -> Any:
    """What a deep copy of a module returns while the original has other parameters."""
    try:
        twin = copy.deepcopy(module)
    except Exception:  # the contract does not ask for it
        twin = module
    parameters = [] if twin is module else [*module.parameters()]
    values = [parameter.detach().clone() for parameter in parameters]
    try:
        for parameter in parameters:
            parameter.data.add_(1)
        return twin(*inputs)
    finally:
        for parameter, value in zip(parameters, values, strict=True):
            parameter.data.copy_(value)


def train(
    train_epoch: Callable[..., Any], run: dict[str, Any]
) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
    """What a training ends with; `run` has the arguments of `_train` by name."""
    return _train(train_epoch, **run)


def watch_training(train_epoch: Callable[..., Any], run: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """What a training hands over that it should not, and its state before each step: see `Recorder`."""
    recorders: list[Recorder] = []
    with contextlib.suppress(Exception):  # what it raises, another test has found
        _train(train_epoch, **run, recorders=recorders)
    return recorders[0].notes, recorders[0].steps


def _train(
    train_epoch: Callable[..., Any],
    start: Sequence[Tensor],
    batches: Sequence[dict[str, Tensor]],
    rate: float,
    pad: int,
    smoothing: float,
    options: dict[str, Any],
    epochs: int = 1,
    is_training: bool = True,
    is_mixed: bool = False,
    schedule: bool = False,
    old_gradients: bool = False,
    as_generator: bool = False,
    parameter_groups: int = 1,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    without_gradient: str = "",
    recorders: list[Recorder] | None = None,
) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
    """What `train_epoch` returns after each epoch, and what it leaves behind.

    That is: the model's parameters, the scheduler's steps, and the names of changed settings (none should be).

    Args:
        train_epoch: of the submission.
        start: the parameters of a TinyTranslator.
        batches: their tensors by name.
        rate: of gradient descent.
        pad: the label that the criterion ignores.
        smoothing: of the criterion's labels.
        options: further arguments for `train_epoch`.
        epochs: how often it is called, with the same objects.
        is_training: the mode in which it gets the model, in each epoch.
        is_mixed: a part of the model is in the other mode.
        schedule: passes a scheduler that halves the rate at each step.
        old_gradients: leaves gradients behind in the model, as an earlier use of it would.
        as_generator: passes an iterator, which can be read only once and has no length.
        parameter_groups: of the optimizer, n of them: parameter i is in group i % n, whose rate is rate / (1 + i % n).
        momentum: of the optimizer; without it a step shows the gradient itself.
        weight_decay: likewise.
        without_gradient: "the last" parameter is frozen, or the model has "one more", which plays no part.
        recorders: gets one that watches.
    """
    (src_size, d_model), tgt_size = start[0].shape, start[1].size(0)
    model = TinyTranslator(src_size, tgt_size, d_model, start[0].dtype)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), start, strict=True):
            parameter.copy_(value)
            parameter.grad = torch.ones_like(parameter) if old_gradients else None
    if without_gradient == "one more":
        model.spare = nn.Parameter(torch.ones(3, dtype=start[0].dtype))
    parameters, n = list(model.parameters()), parameter_groups
    if without_gradient == "the last":
        parameters[-1].requires_grad_(False)
    groups = [{"params": parameters[i::n], "lr": rate / (1 + i)} for i in range(n)]
    descent = torch.optim.SGD(groups, lr=rate, momentum=momentum, weight_decay=weight_decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(descent, lambda step: 0.5**step) if schedule else None
    if schedule:
        options = {**options, "scheduler": scheduler}
    criterion = nn.CrossEntropyLoss(ignore_index=pad, label_smoothing=smoothing)
    several = [Batch(**tensors) for tensors in batches]
    if recorders is not None:
        recorders.append(Recorder(model, criterion, descent, [*map(dict, batches)]))
    given = model, criterion, descent, scheduler, several
    before, losses = settings(*given), []
    for _ in range(epochs):
        model.train(is_training)  # as dev BLEU between two epochs leaves it
        model.part.train(is_training is not is_mixed)
        losses.append(train_epoch(iter(several) if as_generator else several, model, descent, criterion, **options))
    steps, after = scheduler.last_epoch if scheduler else None, settings(*given)
    changed = [name for name, value in before.items() if after.get(name) != value]
    return losses, [parameter.detach() for parameter in model.parameters()], steps, changed


def settings(
    model: nn.Module,
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None,
    batches: Sequence[Batch],
) -> dict[str, str]:
    """What a training leaves as it is, by name; the rates may change as the scheduler says."""
    names = "reduction", "ignore_index", "label_smoothing", "weight", "training"
    values: dict[str, Any] = {f"criterion.{name}": getattr(criterion, name, None) for name in names}
    groups = optimizer.param_groups
    values["which of the model's parameters are learned"] = [one.requires_grad for one in model.parameters()]
    values["the optimizer's defaults"] = optimizer.defaults
    values["the optimizer's parameters"] = [[id(parameter) for parameter in group["params"]] for group in groups]
    rates = [group["lr"] for group in groups]
    values["the optimizer's learning rates"] = rates if scheduler is None else rates == scheduler.get_last_lr()
    values["the optimizer's settings"] = [
        [(name, value) for name, value in group.items() if name not in ("params", "lr")] for group in groups
    ]
    values["the scheduler's first rates"] = scheduler and scheduler.base_lrs
    values["the list of batches"] = [id(batch) for batch in batches]
    return {name: repr(value) for name, value in values.items()}


def search(decode: Callable[..., Any], how: dict[str, Any]) -> tuple[Any, bool]:
    """What a search finds with an `Oracle` for a model, and whether that is in train mode afterwards.

    Args:
        decode: of the submission.
        how: "oracle", arguments that make the model; "is_training", the mode in which the search gets it; "is_mixed",
            whether a part of it is in the other mode; "given" and "options", the search's other arguments.
    """
    model = Oracle(*how["oracle"]).train(how["is_training"])
    model.part.train(how["is_training"] is not how.get("is_mixed", False))
    found = decode(model, *how["given"], **how["options"])
    return found, model.training
