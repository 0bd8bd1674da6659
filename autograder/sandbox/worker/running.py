"""Settings, parameters and arguments around submitted code, in a worker and in a student's own run alike.

Settings that a module makes for the whole process while it is imported are taken back: so a default dtype that
`train.py` sets changes nothing for the layers. (Code that relies on its own module's setting can fail; that costs its
own component alone.) Parameters of objects are looked at, and changes of arguments.
"""

import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from .failures import UnreadableError

MAX_PARAMETERS, MAX_PARAMETER_BYTES = 2_000, 8 << 20
"""Limits of one object: tests build small ones, and both sides hold several copies."""
LEARNED = (torch.float64, torch.float32, torch.float16, torch.bfloat16)

detach, is_in_inference, is_equal = torch.Tensor.detach, torch.Tensor.is_inference, torch.equal
without_overrides = torch._C.DisableTorchFunctionSubclass
"""Bound before submitted code can put others in their place, or into a tensor."""
Kept = list[tuple[torch.Tensor, int, torch.Tensor]]
"""Tensors with their versions and copies, as `has_changed` takes them."""


def named_parameters(module: nn.Module, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield what PyTorch's method of that name yields, which a submission may override, like all that it calls."""
    seen = set() if seen is None else seen
    kept = vars(module)
    for name, value in (*kept.get("_parameters", {}).items(), *kept.get("_modules", {}).items()):
        if value is not None and id(value) not in seen:
            seen.add(id(value))
            is_module = isinstance(value, nn.Module)
            yield from named_parameters(value, f"{prefix}{name}.", seen) if is_module else [(f"{prefix}{name}", value)]


def parameters_of(value: object) -> dict[str, nn.Parameter]:
    """The parameters of a module by name, in its order; none of what is no module.

    Leaves out whole numbers and empty tensors, which cannot be learned. Raises UnreadableError for more or larger ones
    than an object of a test may have, and ValueError for some that share memory or have no size yet.
    """
    if not isinstance(value, nn.Module):
        return {}
    named = dict(named_parameters(value))
    for name, parameter in named.items():
        if nn.parameter.is_lazy(parameter):
            raise ValueError(f"{name} has no size before the first call: give all sizes, without nn.Lazy modules")
    plain = {name: detached(parameter) for name, parameter in named.items()}
    learned = {name: named[name] for name, p in plain.items() if p.numel() and p.dtype in LEARNED}
    size = sum(plain[name].numel() * plain[name].element_size() for name in learned)
    if len(learned) > MAX_PARAMETERS or size > MAX_PARAMETER_BYTES:
        has = f"a module has {len(learned):,} parameters of {size / (1 << 20):,.1f} MiB in all"
        most = f"at most {MAX_PARAMETERS:,} of {MAX_PARAMETER_BYTES >> 20} MiB can be judged"
        raise UnreadableError(f"{has}: {most}\n  look at:  a person reads this code")
    for name in learned:
        if any(step == 0 and n > 1 for step, n in zip(plain[name].stride(), plain[name].shape, strict=True)):
            raise ValueError(f"the parameter {name} was expanded, its values share memory: make it with .clone()")
    return learned


def detached(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers of a tensor, as one of PyTorch's own class, of which no other class overrides anything."""
    with without_overrides():
        plain = detach(tensor)
    if type(plain) is not torch.Tensor:
        raise TypeError("a tensor of a class with operators of its own")
    return plain


def keep(tensors: Iterable[torch.Tensor]) -> Kept:
    """Some tensors as they are before a call."""
    return [(tensor, version_of(tensor), detached(tensor).clone()) for tensor in tensors]


def version_of(tensor: torch.Tensor) -> int:
    """How often something was written into a tensor; always 0 where PyTorch does not count, in inference mode."""
    return 0 if is_in_inference(tensor) else tensor._version


def has_changed(tensor: torch.Tensor, version: int, copy: torch.Tensor) -> bool:
    """True if something was written into a tensor; what is written through `.data` leaves its version as it was."""
    now = detached(tensor)
    if version_of(tensor) != version or now.shape != copy.shape or now.dtype != copy.dtype:
        return True
    return not (is_equal(now, copy) or bool(((now == copy) | (now != now) & (copy != copy)).all()))  # NaN stays NaN


def undisturbed() -> AbstractContextManager[object]:
    """A block whose backward pass gets what its forward pass has read, whatever was written there since."""
    return saved_tensors_hooks(lambda tensor: tensor.detach().clone(), lambda tensor: tensor)


SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.is_grad_enabled, torch._C._set_grad_enabled),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    (lambda: torch.empty(0).device, lambda device: torch.set_default_device(None if device.type == "cpu" else device)),
    (lambda: torch.is_autocast_enabled("cpu"), lambda is_on: torch.set_autocast_enabled("cpu", is_on)),
    (lambda: sys.stdout, lambda stream: setattr(sys, "stdout", stream)),
    (lambda: sys.stderr, lambda stream: setattr(sys, "stderr", stream)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (torch.get_rng_state, torch.set_rng_state),
    (random.getstate, random.setstate),
)
"""How each is read and written."""


@contextmanager
def settings_kept() -> Iterator[None]:
    """All settings, and the states of the generators of random numbers, are afterwards what they were before.

    A module is imported with PyTorch's own default dtype, whatever that of the test is.
    """
    before = [read() for read, _ in SETTINGS]
    torch.set_default_dtype(torch.float32)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        for (_, write), value in zip(SETTINGS, before, strict=True):
            write(value)


def compile_nothing() -> None:
    """Compilers return what they are given: a worker has none, and compiled code is harder to debug."""

    def as_written(model: Any = None, *inputs: object, **options: object) -> Any:
        return model if model is not None else lambda function: function

    for owner, name in ((torch, "compile"), (torch.jit, "script"), (torch.jit, "trace")):
        setattr(owner, name, as_written)
