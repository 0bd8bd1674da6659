"""Whole models: small ones that tests of training and decoding hand to a submission, and what is run with them."""

import contextlib
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .formulas import spread
from .watching import Recorder

DROPOUTS = ((torch, "dropout"), (F, "dropout"), (F, "dropout1d"), (F, "alpha_dropout"))


class Batch:
    """The tensors that `train_epoch` reads of a batch, or some of them."""

    def __init__(self, **tensors: Tensor) -> None:
        vars(self).update(tensors)

    def to(self, device: torch.device | str) -> "Batch":
        """As the batch of the assignment."""
        return Batch(**{name: tensor.to(device) for name, tensor in vars(self).items()})


class Part(nn.Module):
    """A part of a model, with a mode of its own."""


class TinyTranslator(nn.Module):
    """In place of a Transformer, with few parameters; what it computes depends on every argument and on the mode."""

    mode_matters = True

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
        factor = (1.0 if self.training else 0.5) * (1.0 if self.part.training else 0.75)
        return factor if self.mode_matters else 1.0

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

    Attributes:
        wrong: the first of these that has happened, in words; "" for none.
    """

    table: Tensor

    def __init__(
        self, table: Tensor, odd_one: int, encoder_masks: Tensor | None = None, src_masks: Tensor | None = None
    ) -> None:
        """The masks that it expects, by sentence: (sentences, 1, s, s) or (sentences, 1, 1, s); None = any."""
        super().__init__()
        self.register_buffer("table", table)
        self.odd_one = odd_one
        self.encoder_masks, self.src_masks, self.wrong = encoder_masks, src_masks, ""
        self.anchor = spread(1)  # a model has parameters, and a device
        self.part = Part()

    def encode(self, src: Tensor, encoder_mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """The number of the sentence at each position, (b, s, 1); -1 with another mask than expected."""
        sentence = src[:, 0]
        if self.encoder_masks is not None:
            wanted = self.encoder_masks[sentence]
            same = encoder_mask is not None and (encoder_mask.expand_as(wanted) == wanted).flatten(1).all(dim=1)
            sentence = torch.where(torch.as_tensor(same), sentence, -1)
            self._note(sentence < 0, "`encode` gets another mask than the one for the encoder")
        return sentence[:, None, None].expand(-1, src.size(1), 1).to(self.table.dtype), []

    def decode(
        self, tgt: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The negative log-probabilities (b, t, vocabulary) from the table."""
        sentence = memory[:, 0, 0].long()
        is_training = torch.tensor(self.training or self.part.training)
        self._note(is_training, "the model, or a part of it, is in train mode during the search")
        wrong = (sentence < 0) | is_training
        sentence = sentence.clamp(min=0)
        if self.src_masks is not None:
            wanted = self.src_masks[sentence]
            same = src_mask is not None and (src_mask.expand_as(wanted) == wanted).flatten(1).all(dim=1)
            is_other = ~torch.as_tensor(same)
            wrong = wrong | is_other
            self._note(is_other, "`decode` gets a source mask that is not that of a row's sentence")
        length = tgt.size(1)
        may_see = (torch.tensor(True) if tgt_mask is None else tgt_mask).expand(tgt.size(0), 1, length, length)[:, 0]
        sentences, query, key = may_see.nonzero(as_tuple=True)
        sees_wrong = torch.zeros_like(wrong).index_fill(0, sentences[query < key], True) | ~may_see[:, -1].all(dim=1)
        self._note(sees_wrong, "`decode` gets a target mask that is not the causal one")
        wrong = wrong | sees_wrong
        position = torch.arange(length).clamp(max=self.table.size(1) - 1)
        scores = self.table[sentence[:, None], position[None, :], tgt]  # (b, t, vocabulary)
        odd = torch.zeros_like(scores)
        odd[..., self.odd_one] = 50.0
        return -torch.where(wrong[:, None, None], odd, scores), [], []

    def _note(self, happens: Tensor, text: str) -> None:
        if happens.any():
            self.wrong = self.wrong or text

    def get_predictions(self, output: Tensor) -> Tensor:
        """(b, t, vocabulary) -> log-probabilities of the same shape."""
        return (-output).log_softmax(dim=-1)  # the sign reveals a search that takes the output itself for predictions


def call_each(function: Callable[..., Any], calls: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function with each of some lists of arguments."""
    return [function(*arguments) for arguments in calls]


def call_after(function: Callable[..., Any], earlier: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """Call a function with some arguments, once the mask that it returned for earlier ones was written over."""
    function(*earlier).zero_()
    return function(*arguments)


def device_of(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """Name the device of what a function returns; on "meta" a tensor has no values."""
    return str(function(*arguments).device)


def call_copy(module: nn.Module, *inputs: Any) -> Any:
    """Call a deep copy of a module while the original has other parameters."""
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


def call_without_dropout(subject: Any, method: str, *arguments: Any) -> Any:
    """Call a function, or a method of a module, while PyTorch's dropout leaves everything as it is."""
    kept = [(place, name, getattr(place, name)) for place, name in DROPOUTS]
    try:
        for place, name, _ in kept:
            setattr(place, name, lambda x, *settings, **options: x)
        return (getattr(subject, method) if method else subject)(*arguments)
    finally:
        for place, name, function in kept:
            setattr(place, name, function)


@dataclass(frozen=True)
class Run:
    """A training: the parameters of a TinyTranslator, batches, and in what state `train_epoch` gets them."""

    start: Sequence[Tensor]
    batches: Sequence[dict[str, Tensor]]  # their tensors by name
    rate: float  # of gradient descent
    pad: int  # the label that the criterion ignores
    smoothing: float  # of the criterion's labels
    options: dict[str, Any]  # further arguments for `train_epoch`
    epochs: int = 1  # how often it is called, with the same objects
    is_training: bool = True  # the mode in which it gets the model, in each epoch
    is_mixed: bool = False  # a part of the model is in the other mode
    mode_matters: bool = False  # what the model computes depends on its mode
    schedule: bool = False  # passes a scheduler that halves the rate at each step
    old_gradients: bool = False  # leaves gradients behind in the model, as an earlier use of it would
    as_generator: bool = False  # passes an iterator, which can be read only once and has no length
    parameter_groups: int = 1  # of the optimizer, n of them: parameter i has in group i % n the rate / (1 + i % n)
    momentum: float = 0.0  # of the optimizer; without it a step shows the gradient itself
    weight_decay: float = 0.0  # likewise
    without_gradient: str = ""  # "the last" parameter is frozen, or the model has "one more", which plays no part


Trained = tuple[list[Any], list[Tensor], int | None, list[str]]
"""The returned losses of the epochs, the model's parameters, the scheduler's steps, and changed settings."""


def train(train_epoch: Callable[..., Any], run: dict[str, Any]) -> Trained:
    """Train by a `Run`."""
    return _train(train_epoch, Run(**run))


def watch_training(train_epoch: Callable[..., Any], run: dict[str, Any]) -> tuple[str, list[list[Any]]]:
    """Train, and return what was handed over that should not be, and the state before each step: see `Recorder`."""
    recorders: list[Recorder] = []
    with contextlib.suppress(Exception):  # what it raises, another test has found
        _train(train_epoch, Run(**run), recorders)
    return recorders[0].note, recorders[0].steps


def _train(train_epoch: Callable[..., Any], run: Run, recorders: list[Recorder] | None = None) -> Trained:
    """Train; a list of recorders gets one that watches."""
    (src_size, d_model), tgt_size, dtype = run.start[0].shape, run.start[1].size(0), run.start[0].dtype
    model = TinyTranslator(src_size, tgt_size, d_model, dtype)
    model.mode_matters = run.mode_matters
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), run.start, strict=True):
            parameter.copy_(value)
            parameter.grad = torch.ones_like(parameter) if run.old_gradients else None
    if run.without_gradient == "one more":
        model.spare = nn.Parameter(run.start[-1][:3].clone())
    parameters, n, options = list(model.parameters()), run.parameter_groups, run.options
    if run.without_gradient == "the last":
        parameters[-1].requires_grad_(False)
    groups = [{"params": parameters[i::n], "lr": run.rate / (1 + i)} for i in range(n)]
    descent = torch.optim.SGD(groups, lr=run.rate, momentum=run.momentum, weight_decay=run.weight_decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(descent, lambda step: 0.5**step) if run.schedule else None
    if scheduler:
        options = {**options, "scheduler": scheduler}
    criterion = nn.CrossEntropyLoss(ignore_index=run.pad, label_smoothing=run.smoothing)
    batches = [Batch(**tensors) for tensors in run.batches]
    if recorders is not None:
        recorders.append(Recorder(model, criterion, descent, [*map(dict, run.batches)]))
    given = model, criterion, descent, scheduler, batches
    before, losses = settings(*given), []
    for _ in range(run.epochs):
        model.train(run.is_training)  # as dev BLEU between two epochs leaves it
        model.part.train(run.is_training is not run.is_mixed)
        several = iter(batches) if run.as_generator else batches
        losses.append(train_epoch(several, model, descent, criterion, **options))
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
    """Settings that a training leaves as they are, by name; the rates may change with the scheduler."""
    names = "reduction", "ignore_index", "label_smoothing", "weight", "training"
    groups = optimizer.param_groups
    rates = [group["lr"] for group in groups]
    others = [[(name, value) for name, value in group.items() if name not in ("params", "lr")] for group in groups]
    values: dict[str, Any] = {f"criterion.{name}": getattr(criterion, name, None) for name in names} | {
        "which of the model's parameters are learned": [p.requires_grad for p in model.parameters()],
        "the optimizer's defaults": optimizer.defaults,
        "the optimizer's parameters": [[id(parameter) for parameter in group["params"]] for group in groups],
        "the optimizer's learning rates": rates if scheduler is None else rates == scheduler.get_last_lr(),
        "the optimizer's settings": others,
        "the scheduler's first rates": scheduler and scheduler.base_lrs,
        "the list of batches": [id(batch) for batch in batches],
    }
    return {name: repr(value) for name, value in values.items()}


def search(decode: Callable[..., Any], how: dict[str, Any]) -> tuple[Any, bool, str]:
    """Decode with an `Oracle` for a model: the result, whether it is in train mode afterwards, and what was wrong.

    Args:
        decode: of the submission.
        how: "oracle", arguments that make the model; "is_training", the mode in which the search gets it; "is_mixed",
            whether a part of it is in the other mode; "given" and "options", the search's other arguments.
    """
    model = Oracle(*how["oracle"]).train(how["is_training"])
    model.part.train(how["is_training"] is not how.get("is_mixed", False))
    returned = decode(model, *how["given"], **how["options"])
    return returned, model.training, model.wrong


def make_batch(batch: Any, sources: list[list[int]], targets: list[list[int]]) -> dict[str, Tensor]:
    """Make a batch of the submission's class; its tensors by name."""
    return dict(vars(batch.from_ids(sources, targets)))
