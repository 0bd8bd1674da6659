"""Chooses the layers of containment, and the command that starts the zygote in them.

Layers are found by trying. Namespaces are tried here, before the zygote starts; the others by each worker, which
reports the layers that it reached before it sees submitted code. A missing layer that is required stops the grading;
nothing is weakened silently.

The filter of system calls is the allow-list in `seccomp_policy.toml`. The kernel runs it as a small BPF program. The
programs for the supported processors are compiled with libseccomp in advance and kept in `seccomp_filters.json`, so
that grading needs neither libseccomp nor a compiler (see `docs/explanation/decisions-sandbox.md`).
"""

import contextlib
import errno
import functools
import hashlib
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundation.whole_files import write_whole

from .errors import SandboxUnavailableError

LEVELS = {
    "auto": "seccomp at least, and every further layer that the machine offers",
    "require-namespaces": "as auto, but refuse without bubblewrap's namespaces",
    "require-landlock": "as auto, but refuse without Landlock",
    "require-uid": "as auto, but refuse without a change to another user",
    "unsafe": "whatever the machine offers, even if that is only resource limits; every result says so",
}
LAYERS = ("seccomp", "namespaces", "uid", "landlock")
REMEDIES = {
    "namespaces": "install bubblewrap, and allow it namespaces",
    "landlock": "it needs Linux 5.13 or later, with Landlock enabled",
}
REMEDY_PAGE = "docs/how-to/grade-a-class.md, 'When a layer is missing'"
UIDS = range(200_000, 260_000)
"""Users that no account has."""
PROBE_SECONDS = 20

FILTERS = Path(__file__).with_name("seccomp_filters.json")
MACHINES = {"x86_64": "X86_64", "amd64": "X86_64", "aarch64": "AARCH64", "arm64": "AARCH64"}
POLICY: dict[str, Any] = tomllib.loads(FILTERS.with_name("seccomp_policy.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Containment:
    """A choice of layers."""

    layers: dict[str, str]  # name -> "required" or "wanted", for those that the worker applies itself
    bubblewrap: tuple[str, ...] = ()  # the arguments that run a command in namespaces; empty without namespaces
    uids: Sequence[int] = ()  # users that workers change to, another one each time; empty where that is impossible

    def command(self, packages: Mapping[str, Path]) -> list[str]:
        """The command that starts the zygote, with the worker's package and others beside it."""
        folders = ["/"] if self.bubblewrap else [str(folder.parent) for folder in packages.values()]
        code = f"import sys; sys.path[:0] = {folders!r}; from worker.zygote import main; main()"
        return [*self.bubblewrap, sys.executable, "-s", "-B", "-c", code]

    def environment(self) -> dict[str, str]:
        """The zygote's whole environment."""
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "VECLIB")}
        fixed = {"PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1", "LC_ALL": "C.UTF-8", "CUDA_VISIBLE_DEVICES": ""}
        places = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TMPDIR": "/tmp"}  # noqa: S108  an empty folder in the worker's own namespace
        loader = {key: os.environ[key] for key in ("LD_LIBRARY_PATH",) if key in os.environ}
        return {**threads, **fixed, **places, **loader}

    def plan(self) -> dict[str, Any]:
        """The part of a worker's plan, as `surroundings.harden` takes it, that is the same for all submissions."""
        uid = random.SystemRandom().choice(self.uids) if self.uids else None
        program = read_filters().get(MACHINES.get(platform.machine().lower(), ""), "")
        return {"layers": self.layers, "uid": uid, "seccomp": program}

    def in_force(self, reached: Collection[str]) -> tuple[str, ...]:
        """The layers for the record, from a worker's report before it ran submitted code."""
        return tuple(layer for layer in LAYERS if layer in reached or (layer == "namespaces" and self.bubblewrap))


def satisfies(level: str, layers: Collection[str] | None) -> bool:
    """True if the layers in force in a run are as many as a level asks for; None = there was no code to contain."""
    if level == "unsafe" or layers is None:
        return True
    needed = {"seccomp", level.removeprefix("require-")} - {"auto"}
    return needed <= set(layers)


def lacking(layers: Collection[str]) -> dict[str, str]:
    """Return the layers that every machine can have and that were not in force, each with what remedies that."""
    return {layer: f"{remedy} ({REMEDY_PAGE})" for layer, remedy in REMEDIES.items() if layer not in layers}


def why_no_namespaces(packages: Mapping[str, Path]) -> str:
    """Return why this machine offers no namespaces, and what remedies it; "" where it offers them."""
    bubblewrap, _, reason = find_bubblewrap(packages)
    return "" if bubblewrap else f"{reason}; {lacking(())['namespaces']}"


def choose_containment(level: str, packages: Mapping[str, Path]) -> Containment:
    """The containment for one of LEVELS, with packages, by name, that are visible inside."""
    if level not in LEVELS:
        raise ValueError(f"sandbox level {level!r} is unknown")
    must = "wanted" if level == "unsafe" else "required"
    layers = {"no_new_privs": must, "seccomp": must, "landlock": "wanted"}
    bubblewrap, can_change_user, reason = find_bubblewrap(packages)
    if level == "require-namespaces" and not bubblewrap:
        raise SandboxUnavailableError(f"level {level}: this machine offers no namespaces ({reason})")
    if can_change_user:
        layers["uid"] = "required" if bubblewrap else "wanted"  # already tried inside bubblewrap
    if level in ("require-landlock", "require-uid"):
        layers[level.removeprefix("require-")] = "required"
    return Containment(layers, bubblewrap, UIDS if can_change_user else ())


def find_bubblewrap(packages: Mapping[str, Path]) -> tuple[tuple[str, ...], bool, str]:
    """Bubblewrap's arguments, whether a worker can change to another user, and why there are no arguments."""
    program, is_root = shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin"), os.geteuid() == 0
    if program is None:
        return (), is_root, "bwrap is not installed"
    return _working_arguments(program, is_root, tuple(visible(packages)))


@functools.cache
def _working_arguments(program: str, is_root: bool, view: tuple[str, ...]) -> tuple[tuple[str, ...], bool, str]:
    """Finds, by running Python in it, how bubblewrap works on this machine; tried once in a process.

    Root needs no user namespace, and in the zygote keeps only the rights to read Python's files, to change a worker to
    another user, and to end it. Others get a user namespace without any rights, in which, where bubblewrap can prevent
    it, no further one can be made.
    """
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    rights = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_READ_SEARCH")
    ways = [(False, ["--unshare-user", "--disable-userns"]), (False, ["--unshare-user"])]
    if is_root:
        ways.insert(0, (True, [option for right in rights for option in ("--cap-add", right)]))
    change = "import os; os.setgroups([]); os.setresgid(*[{uid}] * 3); os.setresuid(*[{uid}] * 3)".format(uid=UIDS[0])
    for keeps_root, more in ways:
        arguments = (program, *options, *more, *view)
        command = [*arguments, sys.executable, "-I", "-S", "-c", change if keeps_root else "pass"]
        try:
            subprocess.run(  # noqa: S603  the command is ours: bwrap and this interpreter
                command, capture_output=True, timeout=PROBE_SECONDS, stdin=subprocess.DEVNULL, cwd="/", check=True
            )
            return arguments, keeps_root, ""
        except (OSError, subprocess.SubprocessError) as error:
            printed: bytes = getattr(error, "stderr", None) or b""
            reason = printed.decode("utf-8", "replace").strip()[-200:] or str(error)[-200:]
    return (), is_root, reason


def visible(packages: Mapping[str, Path]) -> list[str]:
    """Options for a read-only view of the system's libraries, Python, and the worker's package."""
    options = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108  a new, empty file system
    python = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    python |= {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    for folder in ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", *sorted(python)):
        options += ["--ro-bind-try", folder, folder]
    for name, package in packages.items():
        options += ["--ro-bind", str(package), f"/{name}"]
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]


@functools.cache
def read_filters() -> dict[str, str]:
    """Machine -> program in hex; "policy" -> digest of the policy that they were compiled from."""
    filters: dict[str, str] = json.loads(FILTERS.read_text(encoding="utf-8"))
    return filters


def policy_digest() -> str:
    """Identifies the policy that a filter was compiled from."""
    return hashlib.sha256(json.dumps(POLICY).encode()).hexdigest()


def compile_filter(machine: str) -> bytes:
    """Compiles the policy for a machine by libseccomp's name ("X86_64"); needs pyseccomp."""
    import pyseccomp  # type: ignore[import-untyped]

    policy = pyseccomp.SyscallFilter(defaction=pyseccomp.ERRNO(errno.EPERM))
    native, wanted = pyseccomp.system_arch(), getattr(pyseccomp.Arch, machine)
    if wanted != native:
        policy.add_arch(wanted)
        policy.remove_arch(native)
    for name in POLICY["missing"].split():
        with contextlib.suppress(ValueError, OSError):  # a call that this processor does not have
            policy.add_rule(pyseccomp.ERRNO(errno.ENOENT), name)
    for name, conditions in (*((name, ()) for name in POLICY["allowed"].split()), *POLICY["allowed_with"]):
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
