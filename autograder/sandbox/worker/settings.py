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


def default_device() -> torch.device:
    """Where tensors are made."""
    try:
        return torch.get_default_device()
    except AttributeError:  # older PyTorch, as on Colab, once it was set to None
        return torch.device("cpu")


SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.is_grad_enabled, torch._C._set_grad_enabled),
    (lambda: torch.is_autocast_enabled("cpu"), lambda is_on: torch.set_autocast_enabled("cpu", is_on)),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    (default_device, lambda device: torch.set_default_device(None if device.type == "cpu" else device)),
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
