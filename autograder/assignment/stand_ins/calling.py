"""Calls a component in many situations within one request: what a call costs is mostly the way there and back.

Tests reach these functions by `submission.apply`.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from .components import watched


@contextmanager
def frozen(subject: Any) -> Iterator[None]:
    """No parameter of a module needs a gradient inside."""
    learned = [p for p in subject.parameters() if p.requires_grad] if isinstance(subject, nn.Module) else []
    for parameter in learned:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in learned:
            parameter.requires_grad_()


GRADIENTS: dict[str, Callable[[Any], AbstractContextManager[object]]] = {
    "on": nullcontext,
    "frozen": frozen,
    "no_grad": lambda _: torch.no_grad(),
    "inference_mode": lambda _: torch.inference_mode(),
}
"""Modes in which a module, or a function, is called."""

HISTORIES = ("nothing", "same objects", "same shapes", "deep copy", "state dict")
"""What came before a call: nothing; a call with the same tensor objects, which had other contents then; a call with
other tensors of the same shapes; the object was copied, and the original has other weights now; the object is a copy
that had other weights, was called, and got these from a state dict."""

Call = tuple[str, str, str, bool, Sequence[Any], Sequence[Any], Sequence[str]]
"""The method, a key of GRADIENTS, one of HISTORIES, whether in train mode, the arguments, what stood in place of those
that are None in the call before, if there is one, and the names of the last arguments, which are given by name."""


def in_turn(subject: Any, calls: Sequence[Call], is_trained: bool = False) -> list[tuple[Any, bool]]:
    """What a module, or a function, returns in one situation after the other.

    Args:
        subject: the module or the function.
        calls: the situations.
        is_trained: the module had other weights when it was called first.

    Returns:
        Each result, and whether the call changed what the one before it had returned.
    """
    if is_trained and calls:
        call_with_other_weights(subject, calls[0])
    return Caller(subject).results(calls)


def train_with_seeds(module: nn.Module, inputs: Sequence[Tensor], seeds: Sequence[int]) -> list[Any]:
    """What a module returns in train mode with each seed of PyTorch's random numbers; its mode stays as it was."""
    was_training = module.training
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            return [_with_seed(seed, module.train(), inputs) for seed in seeds]
    finally:
        module.train(was_training)


def _with_seed(seed: int, module: nn.Module, inputs: Sequence[Tensor]) -> Any:
    torch.manual_seed(seed)
    return module(*(tensor.clone() for tensor in inputs))


@torch.no_grad()
def attention_inputs(module: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> list[Any]:
    """What the attention inside a module is handed, (b, h, positions, d_k) each, and what the module returns first.

    Nothing where the attention is not called exactly once.
    """
    seen: list[tuple[Tensor, Tensor, Tensor]] = []
    watched.append(seen)
    try:
        output, *_ = module(query, key, value, None)
    finally:
        watched.remove(seen)
    return [*seen[0], output] if len(seen) == 1 else []


class Caller:
    """Calls a module, or a function; what was called before stays as it was for later calls."""

    def __init__(self, subject: Any) -> None:
        self.subject = subject
        self._copies: dict[str, Any] = {}

    def results(self, calls: Sequence[Call]) -> list[tuple[Any, bool]]:
        """What the calls return, and whether they change what an earlier one has returned."""
        was_training = isinstance(self.subject, nn.Module) and self.subject.training
        for _, _, history, *_ in calls:
            if history in ("deep copy", "state dict"):
                self.copied(history)  # before the first call, which the object may remember
        try:
            return [self.call(*call) for call in calls]
        finally:
            if isinstance(self.subject, nn.Module):
                self.subject.train(was_training)

    def copied(self, history: str) -> Any:
        """A copy of the module; the module itself where it cannot be copied, which nobody has promised."""
        if history not in self._copies:
            try:
                self._copies[history] = copy.deepcopy(self.subject)
            except Exception:  # of any kind: submitted code
                self._copies[history] = self.subject
        return self._copies[history]

    def call(
        self,
        method: str,
        gradients: str,
        history: str,
        training: bool,
        inputs: Sequence[Any],
        earlier: Sequence[Any] = (),
        names: Sequence[str] = (),
    ) -> tuple[Any, bool]:
        """What one call returns, and whether it changes what the one before it has returned."""
        subject, kept, changes = self.subject, None, False
        if isinstance(subject, nn.Module):
            subject = self.copied(history) if history in ("deep copy", "state dict") else subject
            subject.train(training)
            if subject is not self.subject:
                kept = self.prepare_copy(history, method, inputs)
        function = subject if method == "forward" else getattr(subject, method)
        try:
            with GRADIENTS[gradients](subject):
                if history in ("same objects", "same shapes"):
                    other_of = {id(one): other_contents(one) for one in inputs}  # an object may come twice
                    others = [other_of[id(one)] for one in inputs]
                    before = [earlier[i] if one is None and earlier else one for i, one in enumerate(others)]
                    first = call_by_name(function, before, names)
                    returned = outside(first)
                    if history == "same objects":
                        inputs = [put(other, one) for other, one in zip(others, inputs, strict=True)]
                    result = call_by_name(function, inputs, names)
                    changes = not same(first, returned)
                else:
                    result = call_by_name(function, inputs, names)
        finally:
            if kept is not None:
                for parameter, value in zip(self.subject.parameters(), kept, strict=True):
                    parameter.data = value
        return outside(result) if gradients == "inference_mode" else result, changes

    def prepare_copy(self, history: str, method: str, inputs: Sequence[Any]) -> list[Tensor] | None:
        """What must be done before the copy is called; returns the values of the module's own parameters to put back.

        A copy must not depend on the original, whose weights change meanwhile; and not on the weights that it had
        itself before it loaded others.
        """
        if history == "state dict":
            restore(self.copied(history), self.subject, method, inputs)
            return None
        kept = [parameter.data for parameter in self.subject.parameters()]
        for parameter in self.subject.parameters():  # not in place: graphs of earlier calls need the values
            parameter.data = other_weights(parameter.data)
        return kept


def call_by_name(function: Callable[..., Any], inputs: Sequence[Any], names: Sequence[str]) -> Any:
    """Calls a function, whose last arguments are given by these names."""
    count = len(inputs) - len(names)
    return function(*inputs[:count], **dict(zip(names, inputs[count:], strict=True)))


def call_with_other_weights(module: nn.Module, call: Call) -> None:
    """Calls a module, which gets its weights back afterwards."""
    method, _, _, training, inputs, *_ = call
    kept = [parameter.data for parameter in module.parameters()]
    was_training = module.training
    module.train(training)
    try:
        for parameter in module.parameters():
            parameter.data = other_weights(parameter.data)
        with torch.no_grad():
            (module if method == "forward" else getattr(module, method))(*inputs)
    finally:
        for parameter, value in zip(module.parameters(), kept, strict=True):
            parameter.data = value
        module.train(was_training)


def restore(other: nn.Module, module: nn.Module, method: str, inputs: Sequence[Any]) -> None:
    """Gives a copy other weights, calls it, and gives it the module's weights back as a state dict."""
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.copy_(other_weights(parameter))
        (other if method == "forward" else getattr(other, method))(*inputs)
    other.load_state_dict(module.state_dict())


def other_weights(values: Tensor) -> Tensor:
    """Other values for a parameter."""
    return (values.flip(-1) if values.dim() else values) - 0.25


def other_contents(value: Any) -> Any:
    """A tensor of the same shape and layout with other contents; anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    other = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype) if dense(value) else value.clone()
    with torch.no_grad():
        other.copy_(turned(value.detach()))
    return other.requires_grad_(value.requires_grad)


def dense(tensor: Tensor) -> bool:
    """Whether no two places of a tensor share memory."""
    return all(step > 0 or size == 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True))


def turned(tensor: Tensor) -> Tensor:
    """Other contents that are as good as the tensor's own."""
    if tensor.is_floating_point():
        return tensor.flip(-1) * 0.5 - 0.25 if tensor.dim() else tensor - 0.25
    return tensor.roll(1, -1) if tensor.dim() else tensor


def put(other: Any, value: Any) -> Any:
    """Writes the contents of a tensor into another object."""
    if isinstance(other, Tensor):
        other.data.copy_(value.detach())
    return other


def same(one: Any, other: Any) -> bool:
    """Whether nested results hold equal tensors; NaN equals NaN."""
    if isinstance(one, Tensor):
        return one.shape == other.shape and bool(((one == other) | (one != one) & (other != other)).all())
    if isinstance(one, (list, tuple)):
        return all(map(same, one, other))
    return True


def outside(value: Any) -> Any:
    """Copies of results as ordinary tensors, those of inference mode too."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(outside(item) for item in value)
    return value
