"""Bubblewrap: separate namespaces around the zygote with a read-only view of Python and nothing else of the system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

PROBE_SECONDS = 20


def find_bubblewrap(packages: Mapping[str, Path], uid: int | None) -> tuple[tuple[str, ...], bool, str]:
    """Finds, by running Python in it, how bubblewrap works on this machine.

    Args:
        packages: the folders that are visible inside, each as `/NAME`.
        uid: where this process is root, a user to change to; None otherwise.

    Returns:
        Its arguments (empty if it does not work), whether a program in it is root and may change to other users, and
        the reason why it does not work.
    """
    program = shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin")
    if program is None or sys.platform != "linux":
        return (), uid is not None, "bwrap is not installed"
    reason = ""
    for keeps_root, separation in separations(uid is not None):
        arguments = (program, *separation, *visible(packages))
        change = f"import os; os.setgroups([]); os.setresgid(*[{uid}] * 3); os.setresuid(*[{uid}] * 3)"
        reason = try_out([*arguments, sys.executable, "-I", "-S", "-c", change if keeps_root else "pass"])
        if not reason:
            return arguments, keeps_root, ""
    return (), uid is not None, reason


def separations(is_root: bool) -> list[tuple[bool, list[str]]]:
    """Ways to separate, the best first: (stays root inside, bubblewrap's options).

    Root needs no user namespace, and in the zygote keeps only the rights to read Python's files, to change a worker to
    another user, and to end it. Others get a user namespace without any rights, in which, where bubblewrap can prevent
    it, no further one can be made.
    """
    shared = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    shared += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    rights = ["CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_READ_SEARCH"]
    kept = [option for right in rights for option in ("--cap-add", right)]
    without_user = [(True, [*shared, *kept])] if is_root else []
    with_user = [
        (False, ["--unshare-user", "--disable-userns", *shared]),
        (False, ["--unshare-user", *shared]),
    ]
    return without_user + with_user


def try_out(command: list[str]) -> str:
    """Runs a command; returns "" if it succeeds, otherwise the reason."""
    try:
        done = subprocess.run(  # noqa: S603  the command is ours: bwrap and this interpreter
            command,
            capture_output=True,
            timeout=PROBE_SECONDS,
            stdin=subprocess.DEVNULL,
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)[-200:]
    if done.returncode == 0:
        return ""
    return done.stderr.decode("utf-8", "replace").strip()[-200:] or f"exit status {done.returncode}"


def visible(packages: Mapping[str, Path]) -> list[str]:
    """Options for a read-only view of the system's libraries, Python, and the worker's package."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib32", "lib64", "bin", "sbin"):
        path = Path("/", name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108  a new, empty file system
    for folder in python_folders():
        options += ["--ro-bind", folder, folder]
    for name, package in packages.items():
        options += ["--ro-bind", str(package), f"/{name}"]
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]


def python_folders() -> list[str]:
    """The folders outside /usr that this interpreter and its packages live in, outermost only."""
    paths = sysconfig.get_paths()
    found = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    found |= {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    chosen: list[str] = []
    for folder in sorted(found):
        if Path(folder).is_dir() and not any(f"{folder}/".startswith(f"{outer}/") for outer in ["/usr", *chosen]):
            chosen.append(folder)
    return chosen
