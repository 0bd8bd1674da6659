"""Landlock: no access to any file, no TCP, no signals or abstract sockets beyond the own domain. Linux 5.13 and on.

Behind seccomp this is a second lock on the same doors, built differently.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

CREATE_RULESET, RESTRICT_SELF = 444, 446  # the same numbers on every processor
CREATE_VERSION = 1
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # ABI -> how many rights there are, from bit 0
NETWORK_RIGHTS = 0b11  # bind, connect (ABI 4)
SCOPES = 0b11  # abstract sockets, signals (ABI 6)


class LandlockMissingError(Exception):
    """This kernel lacks Landlock."""


def restrict() -> None:
    """Shuts this thread, and all that it will start, off from files. Needs no_new_privs."""
    if sys.platform != "linux":
        raise LandlockMissingError("not Linux")
    version = call(CREATE_RULESET, None, 0, CREATE_VERSION)
    rights = [(1 << FILE_RIGHTS[min(version, 5)]) - 1]
    if version >= 4:
        rights.append(NETWORK_RIGHTS)
    if version >= 6:
        rights.append(SCOPES)
    attribute = struct.pack(f"@{len(rights)}Q", *rights)
    ruleset = call(CREATE_RULESET, attribute, len(attribute), 0)
    try:
        call(RESTRICT_SELF, None, 0, 0, first=ruleset)
    finally:
        os.close(ruleset)


def call(number: int, pointer: bytes | None, size: int, flags: int, first: int | None = None) -> int:
    """A raw system call `(pointer or first, size, flags)`; errors become LandlockMissingError."""
    libc = ctypes.CDLL(None, use_errno=True)
    start = ctypes.c_char_p(pointer) if first is None else ctypes.c_long(first)
    result: int = libc.syscall(ctypes.c_long(number), start, ctypes.c_size_t(size), ctypes.c_ulong(flags))
    if result < 0:
        raise LandlockMissingError(os.strerror(ctypes.get_errno()))
    return result
