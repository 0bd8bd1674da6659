"""Rights that a fresh fork gives up before it sees any submitted code.

The trusted side chooses them, and ends a process that lacks a required layer.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
from collections.abc import Callable
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
SIGKILL = 9
CREATE_RULESET, RESTRICT_SELF = ctypes.c_long(444), ctypes.c_long(446)  # the same numbers on every processor
CREATE_VERSION = ctypes.c_ulong(1)
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # ABI -> how many rights there are, from bit 0
NETWORK_RIGHTS = 0b11  # bind, connect (ABI 4)
SCOPES = 0b11  # abstract sockets, signals (ABI 6)


class LayerMissingError(Exception):
    """The system lacks this layer."""


def granted(result: int) -> int:
    """The result of a call of the C library; where the kernel refuses, LayerMissingError with the reason."""
    if result < 0:
        raise LayerMissingError(os.strerror(ctypes.get_errno()))
    return result


def prctl(option: int, value: int, pointer: object = None) -> None:
    """Sets an attribute of this process."""
    zero = ctypes.c_ulong(0)
    granted(LIBC.prctl(option, ctypes.c_ulong(value), pointer or zero, zero, zero))


def harden(memory_bytes: int, cpu_seconds: int, layers: dict[str, str], uid: int | None, seccomp: str) -> list[str]:
    """Applies the layers in an order in which each is still permitted; returns the names of those in force.

    Args:
        memory_bytes: limit on top of the libraries.
        cpu_seconds: limit.
        layers: name -> "required" or "wanted"; a required one that cannot be had is an error.
        uid: the user to become; None = there is none.
        seccomp: the filter's program in hexadecimal digits; "" = none for this processor.
    """
    _be_alone()
    with contextlib.suppress(OSError):  # where the machine runs out of memory, this process goes, not the grader
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    _limit(memory_bytes, cpu_seconds)
    steps: dict[str, Callable[[], None]] = {
        "uid": lambda: _drop_user(uid),
        "no_new_privs": _forbid_gains,
        "landlock": enter_landlock,
        "seccomp": lambda: _filter_calls(bytes.fromhex(seccomp)),
    }
    reached = []
    for name in filter(layers.get, steps):
        try:
            steps[name]()
            reached.append(name)
        except (LayerMissingError, OSError, ValueError) as error:
            if layers[name] == "required":
                raise LayerMissingError(f"this machine lacks a required layer: {name}: {error}") from error
    return reached


def _limit(memory_bytes: int, cpu_seconds: int) -> None:
    n_pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    with_libraries = memory_bytes + n_pages * os.sysconf("SC_PAGE_SIZE")
    limits = dict.fromkeys(("NPROC", "FSIZE", "CORE", "MEMLOCK", "MSGQUEUE"), (0, 0))
    limits |= {"AS": (with_libraries, with_libraries), "CPU": (cpu_seconds, cpu_seconds + 1), "NOFILE": (64, 64)}
    for name, limit in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), limit)


def _be_alone() -> None:
    """A helper that a library has started while it was imported would stay outside of all that follows."""
    if len([*Path("/proc/self/task").iterdir()]) != 1:
        raise LayerMissingError("an import has started a thread")
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
        raise LayerMissingError("an import has started a process")


def _drop_user(uid: int | None) -> None:
    if uid is None:
        raise LayerMissingError("only root can change to another user")
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid, uid, uid) or os.getresgid() != (uid, uid, uid) or os.getgroups():
        raise LayerMissingError("the user is not the one asked for")


def _forbid_gains() -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 0)  # setresuid has reset it, and the next one too
    prctl(PR_SET_PDEATHSIG, SIGKILL)


def _filter_calls(program: bytes) -> None:
    """Installs a seccomp filter, whose instructions have eight bytes each."""
    if not program or len(program) % 8:
        raise LayerMissingError("no filter for this processor")
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(code)), 16)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header)


def enter_landlock() -> None:
    """Shuts this thread, and all that it will start, off from files, TCP, and signals beyond its own domain.

    Needs Linux 5.13 and no_new_privs. Behind seccomp this is a second lock on the same doors, built differently.
    """
    version = granted(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), CREATE_VERSION))
    rights = [(1 << FILE_RIGHTS[min(version, 5)]) - 1]
    if version >= 4:
        rights.append(NETWORK_RIGHTS)
    if version >= 6:
        rights.append(SCOPES)
    attribute = struct.pack(f"@{len(rights)}Q", *rights)
    ruleset = granted(LIBC.syscall(CREATE_RULESET, attribute, ctypes.c_size_t(len(attribute)), ctypes.c_ulong(0)))
    try:
        granted(LIBC.syscall(RESTRICT_SELF, ctypes.c_long(ruleset), ctypes.c_ulong(0)))
    finally:
        os.close(ruleset)
