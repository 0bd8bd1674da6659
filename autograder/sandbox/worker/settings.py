"""Settings that hold for a whole process: what a module sets while it is imported is taken back afterwards.

So a default dtype that `train.py` sets changes nothing for the layers, in a worker and in a student's own run alike.
Code that relies on its own module's setting can fail; that costs its own component alone.
"""

import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

AUTOCAST = ("cpu", "cuda")


def autocast() -> tuple[Any, ...]:
    """What `torch.autocast` switches: on or off and type for each kind of device, cache, number of blocks."""
    depth = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    kinds = [(kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in AUTOCAST]
    return kinds, torch.is_autocast_cache_enabled(), depth


def set_autocast(state: tuple[Any, ...]) -> None:
    """Sets what `autocast` reads, and forgets the weights that were cast."""
    kinds, is_cached, depth = state
    for kind, is_enabled, dtype in kinds:
        torch.set_autocast_enabled(kind, is_enabled)
        torch.set_autocast_dtype(kind, dtype)
    torch.set_autocast_cache_enabled(is_cached)
    while torch.autocast_increment_nesting() <= depth:
        pass
    while torch.autocast_decrement_nesting() > depth:
        pass
    torch.clear_autocast_cache()


def default_device() -> torch.device:
    """Where tensors are made."""
    try:
        return torch.get_default_device()
    except AttributeError:  # older PyTorch, as on Colab, once it was set to None
        return torch.device("cpu")


def set_inference_mode(is_on: bool) -> None:
    """Goes back to a mode that some block which never ends has left."""
    if torch.is_inference_mode_enabled() != is_on:
        guard = torch._C._InferenceMode(is_on)
        guard.__enter__()
        _ENTERED.append(guard)  # it would end its block when it goes


_ENTERED: list[object] = []


def cut_to(size: Callable[[], int], pop: Callable[[], object]) -> Callable[[int], None]:
    """A function that takes the newest modes from a stack until it has the given size."""

    def cut(wanted: int) -> None:
        while size() > wanted:
            pop()

    return cut


_FUNCTION_MODES, _DISPATCH_MODES = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack
SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (autocast, set_autocast),
    (torch.is_inference_mode_enabled, set_inference_mode),
    (torch.is_grad_enabled, torch._C._set_grad_enabled),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    (default_device, lambda device: torch.set_default_device(None if device.type == "cpu" else device)),
    (_FUNCTION_MODES, cut_to(_FUNCTION_MODES, torch._C._pop_torch_function_stack)),
    (_DISPATCH_MODES, cut_to(_DISPATCH_MODES, torch._C._pop_torch_dispatch_stack)),
    (torch.get_num_threads, torch.set_num_threads),
    (lambda: sys.stdout, lambda stream: setattr(sys, "stdout", stream)),
    (lambda: sys.stderr, lambda stream: setattr(sys, "stderr", stream)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (torch.get_rng_state, torch.set_rng_state),
    (random.getstate, random.setstate),
)
"""How each is read and written."""


@contextmanager
def kept() -> Iterator[None]:
    """All settings, and the states of the generators of random numbers, are afterwards what they were before."""
    before = [read() for read, _ in SETTINGS]
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
