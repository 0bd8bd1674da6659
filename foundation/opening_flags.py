"""Flags for opening a file that is not trusted."""

import os


def opening_flags(*names: str) -> int:
    """Joins flags of `os.open`, given by name: to read, in bytes, and not handed on to child processes.

    Windows, where students test their code, lacks some of them, and other systems lack `O_BINARY`.
    """
    flags = os.O_RDONLY
    for name in (*names, "O_BINARY", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    return flags
