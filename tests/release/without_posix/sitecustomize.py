"""Takes from Python what Windows lacks: names of `os` and `signal`, and what its system refuses.

Python imports this first where its folder is on PYTHONPATH. Modules such as `fcntl` stay: other packages choose by the
platform, and need them here.
"""

import errno
import fcntl
import os
import signal
from pathlib import Path
from typing import Any

GONE = {
    os: "O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_NOCTTY fork killpg getpgid setsid wait4 mkfifo memfd_create",
    signal: "setitimer getitimer alarm ITIMER_REAL ITIMER_PROF ITIMER_VIRTUAL SIGALRM SIGPROF",
}
READ_ACCESS = fcntl.F_GETFL, os.O_ACCMODE, os.O_RDONLY
really_open, really_sync = os.open, os.fsync


def open_no_folder(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if Path(path).is_dir():
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return really_open(path, flags, mode)


def sync_what_may_be_written(descriptor: int) -> None:
    command, mask, reading = READ_ACCESS
    if fcntl.fcntl(descriptor, command) & mask == reading:
        raise OSError(errno.EBADF, "Bad file descriptor")
    really_sync(descriptor)


os.open, os.fsync = open_no_folder, sync_what_may_be_written
for module, names in GONE.items():
    for name in names.split():
        delattr(module, name)
