"""Looks on: as a debugger while a component runs, for questions about it; and while `train_epoch` runs."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

TensorsByName = dict[str, Tensor]
Place = tuple[int, int, str, bool]
"""First and last line of a statement, an expression, and whether it is looked at after the statement, or before."""


def watch(function: Callable[..., Any], inputs: Sequence[Any], places: Sequence[Place]) -> list[Tensor | None]:
    """Call a function, or a module; return for each place the tensor that it holds for the first time, if any."""
    called: Any = function if hasattr(function, "__code__") else getattr(function, "forward", None)
    code = called.__code__
    tensors: list[Tensor | None] = [None] * len(places)
    seen = [False] * len(places)
    running: dict[int, set[int]] = {}

    def look(frame: FrameType, index: int) -> None:
        if not seen[index]:
            seen[index] = True
            with suppress(Exception):  # where the call is about to fail; an error here would end the watching
                value = eval(places[index][2], frame.f_globals, dict(frame.f_locals))  # noqa: S307  the student's own
                tensors[index] = value.detach().clone() if isinstance(value, Tensor) else None

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != code.co_filename or frame.f_code.co_name.startswith("<"):
            return None
        here = running.setdefault(id(frame), set())
        line = frame.f_lineno if event == "line" else 0
        for index in sorted(here):
            if event in ("line", "return") and not places[index][0] <= line <= places[index][1]:
                here.discard(index)
                if places[index][3]:
                    look(frame, index)
        for index, (first, _, _, is_after) in enumerate(places):
            if line == first and index not in here:
                here.add(index)
                if not is_after:
                    look(frame, index)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*inputs)
    finally:
        sys.settrace(before)
    return tensors


SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "whether gradients are computed": (torch.is_grad_enabled, torch.set_grad_enabled),
    "the default dtype": (torch.get_default_dtype, torch.set_default_dtype),
}
"""Of the whole program: how each is read and written."""


def left_behind(subject: Any, method: str, given: list[Tensor | None], others: list[Tensor | None]) -> str:
    """Call a function, or a method of a module, twice in each mode; name what the calls have changed.

    That is a setting of the whole program, a mode, the seed of random numbers, or an argument of the first call by the
    time of the second; "" for nothing. A call may draw random numbers. Where it does not work with gradients, it is
    called without.
    """
    call = getattr(subject, method) if method else subject
    parts = list(subject.modules()) if isinstance(subject, nn.Module) else []
    modes, before = [part.training for part in parts], [read() for read, _ in SETTINGS.values()]
    state, works = torch.get_rng_state(), True
    try:
        with suppress(Exception):
            works = False
            torch.set_grad_enabled(True)
            call(*(None if value is None else value.clone() for value in given))
            works = True
        reset(before)
        for is_training in (True, False) if parts else (False,):
            for part in parts:
                part.training = is_training
            torch.set_grad_enabled(works)
            wanted = [read() for read, _ in SETTINGS.values()]
            kept = [None if value is None else value.clone() for value in given]
            call(*given)
            drawn = torch.get_rng_state()
            torch.rand(())
            call(*others)
            if any(part.training is not is_training for part in parts):
                return "the mode, train or eval, of the module or of a part of it"
            if is_equal(torch.get_rng_state(), drawn):  # although the calls began in different states
                return "the seed of random numbers"
            for (name, (read, _)), value in zip(SETTINGS.items(), wanted, strict=True):
                if read() != value:
                    return name
            if not all(old is None or is_equal(now, old) for now, old in zip(given, kept, strict=True)):
                return "an argument of an earlier call"
    finally:
        for part, mode in zip(parts, modes, strict=True):
            part.training = mode
        reset(before)
        torch.set_rng_state(state)
    return ""


def reset(values: list[Any]) -> None:
    """Put settings back."""
    for (_, write), value in zip(SETTINGS.values(), values, strict=True):
        write(value)


class Recorder:
    """Watches a training: what it hands to the model and to the criterion, and the gradient at each step.

    Attributes:
        note: the first thing that was handed over that should not have been, in words; "" for none.
        steps: before each step of the optimizer the gradient of each parameter, the parameters, the number of batches
            read since the last step, whether the model was in train mode, and the learning rate.
    """

    def __init__(
        self,
        model: nn.Module,
        criterion: nn.CrossEntropyLoss,
        optimizer: torch.optim.Optimizer,
        batches: list[TensorsByName],
    ) -> None:
        """Begins to watch these objects."""
        self.note = ""
        self.steps: list[list[Any]] = []
        self._batches, self._batch = batches, batches[0]
        self._model, self._criterion, self._optimizer = model, criterion, optimizer
        self._n_read, self._losses, self._memory, self._scores = 0, 0, torch.empty(0), torch.empty(0)
        self._made = {name: getattr(model, name) for name in ("encode", "decode", "get_predictions")}
        for name in self._made:
            setattr(model, name, getattr(self, f"_{name}"))
        criterion.register_forward_pre_hook(self._count)
        optimizer.register_step_pre_hook(self._step)

    def _note(self, text: str) -> None:
        self.note = self.note or text

    def _check(self, method: str, argument: str, value: Any, wanted: str) -> None:
        """Notes an argument that is not the tensor of the batch that it should be."""
        if not is_equal(value, self._batch[wanted]):
            names = (f"batch.{name}" for name, tensor in self._batch.items() if is_equal(value, tensor))
            other = "None" if value is None else "another tensor"
            self._note(f"`{method}` gets {next(names, other)} as {argument}; batch.{wanted} is due")

    def _encode(self, src: Tensor, encoder_mask: Tensor) -> Any:
        self._batch = next((batch for batch in self._batches if is_equal(src, batch["src"])), self._batch)
        self._n_read += 1
        self._check("encode", "encoder_mask", encoder_mask, "encoder_mask")
        result = self._made["encode"](src, encoder_mask)
        self._memory = result[0]
        return result

    def _decode(self, tgt: Tensor, memory: Any, src_mask: Tensor, tgt_mask: Tensor) -> Any:
        self._check("decode", "tgt", tgt, "tgt_input")
        self._check("decode", "src_mask", src_mask, "src_mask")
        self._check("decode", "tgt_mask", tgt_mask, "tgt_mask")
        if isinstance(memory, (tuple, list)):
            self._note("`decode` gets all that `encode` has returned; the memory is the first part of it")
        elif not is_equal(memory, self._memory):
            self._note("`decode` gets another memory than `encode` has returned")
        elif self._memory.requires_grad and not memory.requires_grad:
            self._note("no gradient leads from the memory that `decode` gets back to `encode`")
        return self._made["decode"](tgt, memory, src_mask, tgt_mask)

    def _get_predictions(self, output: Tensor) -> Any:
        self._scores = self._made["get_predictions"](output)
        return self._scores

    def _count(self, criterion: nn.Module, given: tuple[Any, ...]) -> None:
        """Notes what the criterion gets."""
        self._losses += 1
        scores, labels, wanted = given[0], given[1].ravel(), self._batch["labels"].ravel()
        shapes = tuple(scores.shape), tuple(given[1].shape)
        if scores.dim() == 3 and (shapes[0][0], shapes[0][2]) != shapes[1]:
            takes = "it takes (positions, classes) and (positions,)"
            self._note(f"the criterion gets scores of shape {shapes[0]} with labels of shape {shapes[1]}; {takes}")
        n_labels, n_words, n_due = len(labels), self._words(labels), self._words(wanted)
        if (n_labels, n_words) != (len(wanted), n_due):
            due = f"the batch has {len(wanted)}, of which {n_due} are words"
            self._note(f"the criterion gets {n_labels} labels, of which {n_words} are words; {due}")
        elif not is_equal(labels, wanted):
            names = (f"batch.{name}" for name, tensor in self._batch.items() if is_equal(labels, tensor.ravel()))
            self._note(f"the criterion gets {next(names, 'labels in another order, or other ones')} as labels")
        elif scores.dim() == 2 and scores.tolist() != [*chain(*self._scores.tolist())]:
            is_order = sorted(scores.ravel().tolist()) == sorted(self._scores.ravel().tolist())
            other = "these scores in another order" if is_order else "other numbers"
            self._note(f"`get_predictions` has returned scores, and the criterion gets {other}")

    def _words(self, labels: Tensor) -> int:
        return len(labels) - labels.tolist().count(self._criterion.ignore_index)

    def _step(self, *given: object) -> None:
        """Notes the state before a step."""
        if not self._losses:
            self._note("the criterion is not called")
        parameters = list(self._model.parameters())
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad.detach().clone() for p in parameters]
        state = [gradients, [p.detach().clone() for p in parameters], self._n_read]
        state.append(all(part.training for part in self._model.modules()))
        state.append(float(self._optimizer.param_groups[0]["lr"]))
        self.steps.append(state)
        self._n_read = 0


def is_equal(value: Any, other: Tensor) -> bool:
    """True if something is a tensor with the same values."""
    return isinstance(value, Tensor) and value.shape == other.shape and bool((value == other).all())
