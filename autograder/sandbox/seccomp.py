"""The filter of system calls: an allow-list; any other call fails with EPERM, or with ENOENT where it names a file.

The kernel runs the filter as a small BPF program. The programs for the supported processors are compiled with
libseccomp in advance and kept in `seccomp_filters.json`, so that grading needs neither libseccomp nor a compiler
(see `docs/explanation/decisions-sandbox.md`). After a change of the policy run, with pyseccomp installed:

    python -m autograder.sandbox.seccomp
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import platform
import tempfile
from pathlib import Path

from foundation.whole_files import write_whole

FILTERS = Path(__file__).with_name("seccomp_filters.json")
MACHINES = {"x86_64": "X86_64", "amd64": "X86_64", "aarch64": "AARCH64", "arm64": "AARCH64"}
ALLOWED = """
read readv write writev close lseek fstat
mmap mprotect munmap mremap madvise brk
futex rseq set_robust_list membarrier restart_syscall
rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage
poll ppoll select pselect6
getpid gettid getuid geteuid getgid getegid getresuid getresgid getcpu sched_getaffinity sched_yield uname sysinfo
getrandom exit exit_group
"""
"""Calls on what a worker already holds: its memory, its pipes, its clock. None of them opens a descriptor, names a
file, reaches another process or starts one. (fstat, not newfstatat; F_SETOWN could send signals.)"""
MISSING = """
open openat openat2 stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat
"""
"""Calls to which every file is missing: code that looks for a file of its own goes on without it."""
F_GETFD, F_GETFL = 1, 3
ALLOWED_WITH = (
    ("fcntl", ((1, F_GETFD),)),
    ("fcntl", ((1, F_GETFL),)),
    ("prlimit64", ((0, 0), (2, 0))),  # reading one's own limits
)
"""Calls that are allowed only for certain values of some arguments: (position, value)."""


def filter_for_this_machine() -> bytes:
    """The compiled filter for this processor; b"" if there is none."""
    return bytes.fromhex(read_filters().get(MACHINES.get(platform.machine().lower(), ""), ""))


@functools.cache
def read_filters() -> dict[str, str]:
    """Machine -> program in hex; "policy" -> digest of the policy that they were compiled from."""
    filters: dict[str, str] = json.loads(FILTERS.read_text(encoding="utf-8"))
    return filters


def policy_digest() -> str:
    """Identifies the policy that a filter was compiled from."""
    return hashlib.sha256(repr((sorted(ALLOWED.split()), sorted(MISSING.split()), ALLOWED_WITH)).encode()).hexdigest()


def compile_filter(machine: str) -> bytes:
    """Compiles the policy for a machine by libseccomp's name ("X86_64"); needs pyseccomp."""
    import pyseccomp  # type: ignore[import-untyped]

    policy = pyseccomp.SyscallFilter(defaction=pyseccomp.ERRNO(errno.EPERM))
    native, wanted = pyseccomp.system_arch(), getattr(pyseccomp.Arch, machine)
    if wanted != native:
        policy.add_arch(wanted)
        policy.remove_arch(native)
    for name in MISSING.split():
        with contextlib.suppress(ValueError, OSError):  # a call that this processor does not have
            policy.add_rule(pyseccomp.ERRNO(errno.ENOENT), name)
    for name, conditions in (*((name, ()) for name in ALLOWED.split()), *ALLOWED_WITH):
        policy.add_rule(pyseccomp.ALLOW, name, *(pyseccomp.Arg(at, pyseccomp.EQ, value) for at, value in conditions))
    with tempfile.TemporaryFile() as file:
        policy.export_bpf(file)
        file.seek(0)
        return file.read()


def main() -> None:
    """Compiles the policy for all machines and writes the file."""
    filters = {name: compile_filter(name).hex() for name in sorted(set(MACHINES.values()))}
    text = json.dumps({"policy": policy_digest(), **filters}, indent=1)
    write_whole(FILTERS, text + "\n")


if __name__ == "__main__":
    main()
