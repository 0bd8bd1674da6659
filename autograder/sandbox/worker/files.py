"""What a submission writes goes nowhere, where it could not be written: a log file costs no marks."""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

NOTHING = 0
"""Descriptor of the null device: a worker's standard input."""


def write_nowhere() -> None:
    """From now on, this process makes folders and opens files for writing without a trace."""
    os.mkdir = lambda path, mode=0o777, *, dir_fd=None: None
    builtins.open = io.open = opening_nothing(open)
    torch.save = saving_nothing(torch.save)


def opening_nothing(opened: Callable[..., Any]) -> Callable[..., Any]:
    """The function `open`; a file that it would write is the null device."""
    is_told = False

    def open_file(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        nonlocal is_told
        if isinstance(file, int) or not set("wax+") & set(mode):
            return opened(file, mode, *arguments, **options)
        if not is_told:
            is_told = True
            print(f"(graded, files are not written: {os.fspath(file)!r})", file=sys.stderr)
        return opened(NOTHING, mode.replace("x", "w"), *arguments, **{**options, "closefd": False})

    return open_file


def saving_nothing(save: Callable[..., None]) -> Callable[..., None]:
    """The function `torch.save`, which opens files by itself."""

    def save_object(obj: object, f: Any, *arguments: Any, **options: Any) -> None:
        if not isinstance(f, (str, os.PathLike)):
            save(obj, f, *arguments, **options)

    return save_object
